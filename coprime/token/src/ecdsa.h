/* ECDSA (FIPS 186-5): an engine signs, libcrypto verifies. */
#ifndef COPRIME_TOKEN_ECDSA_H
#define COPRIME_TOKEN_ECDSA_H

#include <stddef.h>
#include <stdint.h>

#include "crypto.h"
#include "cryptoki.h"
#include "curve_key.h"
#include "device.h"

/* Sign a digest, of which the leftmost bits count. The signature, r and s of curve->signature bytes, is
   verified before it is given. The nonce is the engine's, if it draws any; else it is a hash of a
   random number, the private key and the digest. Errors as device_run. */
CK_RV ecdsa_sign(const struct crypto *crypto, struct device *device, struct curve_key *key,
                 const uint8_t *digest, size_t size, uint8_t *signature);

/* Verify a signature of a digest: r and s, each in half of at most curve->signature bytes; who does not
   know n leaves out the zeros in front of both. CKR_SIGNATURE_INVALID, CKR_SIGNATURE_LEN_RANGE;
   CKR_HOST_MEMORY. */
CK_RV ecdsa_verify(const struct crypto *crypto, const struct curve_key *key, const uint8_t *digest,
                   size_t size, const uint8_t *signature, size_t signature_size);

#endif
