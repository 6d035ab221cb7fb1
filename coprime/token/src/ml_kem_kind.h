/* Keys of ML-KEM (FIPS 203) as objects of a token, and what is done with them: an engine decapsulates. */
#ifndef COPRIME_TOKEN_ML_KEM_KIND_H
#define COPRIME_TOKEN_ML_KEM_KIND_H

#include <stddef.h>
#include <stdint.h>

#include "key_kind.h"
#include "ml_kem.h"

extern const struct key_kind ml_kem_kind;

/* Bytes of a ciphertext for a key. */
size_t ml_kem_ciphertext_size(struct key *key);

/* A ciphertext and its secret, in software. CKR_FUNCTION_FAILED without random numbers. */
CK_RV ml_kem_key_encapsulate(const struct crypto *crypto, struct key *key, uint8_t *c,
                             uint8_t secret[ML_KEM_SECRET]);

/* The secret of a ciphertext, of its length. Computed in software, too, and compared: a disturbed
   engine gives no other secret. Errors as device_run. */
CK_RV ml_kem_key_decapsulate(struct device *device, struct key *key, const uint8_t *c,
                             uint8_t secret[ML_KEM_SECRET]);

#endif
