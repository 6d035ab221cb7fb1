/* RSA operations on a complete input. */
#ifndef COPRIME_TOKEN_RSA_OPERATION_H
#define COPRIME_TOKEN_RSA_OPERATION_H

#include "operation.h"
#include "rsa_key.h"

/* Whether the key is long enough for the padding of any message: CKR_KEY_SIZE_RANGE. */
CK_RV rsa_check(const struct operation *operation);

/* The text is the digest of what was given, after the head of a DigestInfo where PKCS #1 wants one; or
   what was given itself. Results are as long as the modulus. CKR_DATA_LEN_RANGE, CKR_DATA_INVALID. */
CK_RV rsa_sign(const struct context *context, const struct operation *operation,
               struct value text, uint8_t *signature);
CK_RV rsa_verify(const struct context *context, const struct operation *operation,
                 struct value text, const uint8_t *signature);
CK_RV rsa_encrypt(const struct context *context, const struct operation *operation,
                  struct value text, uint8_t *ciphertext);
/* The message is as long as the modulus at most. */
CK_RV rsa_decrypt(const struct context *context, const struct operation *operation,
                  struct value text, uint8_t *message, size_t *size);

#endif
