/* ECDH (SP 800-56A) and the functions X25519 and X448 (RFC 7748), on an engine. */
#ifndef COPRIME_TOKEN_ECDH_H
#define COPRIME_TOKEN_ECDH_H

#include "crypto.h"
#include "cryptoki.h"
#include "curve_key.h"
#include "device.h"
#include "mechanism.h"

/* secret = what both sides have in common, curve->bytes bytes; `point` is the other side's public key.
   CKR_MECHANISM_PARAM_INVALID unless that is a point of the curve, and one of no low order; errors as
   device_run. */
CK_RV ecdh(const struct crypto *crypto, struct device *device, struct curve_key *key,
           struct value point, uint8_t *secret);

/* The same in software. */
CK_RV ecdh_in_software(const struct crypto *crypto, struct curve_key *key, struct value point,
                       uint8_t *secret);

/* A key derivation function, of the secret and what is shared beside it. */
bool ecdh_expand(const struct crypto *crypto, const struct ecdh_kdf *function, struct value secret,
                 struct value shared, uint8_t *result, size_t size);

#endif
