/* EdDSA (RFC 8032): an engine multiplies and does what is modulo n; hashes and encodings are here. */
#ifndef COPRIME_TOKEN_EDDSA_H
#define COPRIME_TOKEN_EDDSA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto.h"
#include "cryptoki.h"
#include "curve.h"
#include "curve_key.h"
#include "device.h"
#include "mechanism.h"

/* Whether these bytes are a point of the curve. */
bool eddsa_is_point(const struct crypto *crypto, const struct curve *curve, const uint8_t *bytes,
                    size_t size);

/* The scalar, modulo n, and the prefix of a private key. */
bool eddsa_expand(const struct crypto *crypto, const struct curve *curve, const uint8_t *bytes,
                  uint32_t *scalar, uint8_t *prefix);

/* Sign a message. The signature, of curve->signature bytes, is verified before it is given. Errors as
   device_run. */
CK_RV eddsa_sign(const struct crypto *crypto, struct device *device, struct curve_key *key,
                 const struct eddsa_variant *variant, const uint8_t *message, size_t size,
                 uint8_t *signature);

/* Whether a signature, of curve->signature bytes, is that of the message: CKR_SIGNATURE_INVALID if it
   is not. */
CK_RV eddsa_verify(const struct crypto *crypto, struct curve_key *key,
                   const struct eddsa_variant *variant, const uint8_t *message, size_t size,
                   const uint8_t *signature);

#endif
