/* Private keys in PKCS #8: the form in which they are wrapped. */
#ifndef COPRIME_TOKEN_PKCS8_H
#define COPRIME_TOKEN_PKCS8_H

#include "attributes.h"
#include "crypto.h"
#include "cryptoki.h"

/* The encoding of a key, in secret memory that the caller frees; null if that fails. */
uint8_t *pkcs8_encode(const struct crypto *crypto, const struct attributes *attributes,
                      size_t *size);

/* Set the numbers of an encoded key. CKR_WRAPPED_KEY_INVALID if it is none of the type that the
   attributes have. */
CK_RV pkcs8_decode(const struct crypto *crypto, const uint8_t *bytes, size_t size,
                   struct attributes *attributes);

#endif
