/* AES, and ChaCha20-Poly1305, in software: for secret keys of the token, and for keys that are
   wrapped. */
#ifndef COPRIME_TOKEN_AES_H
#define COPRIME_TOKEN_AES_H

#include "crypto.h"
#include "cryptoki.h"

enum { AES_BLOCK = 16, CHACHA_KEY = 32 };

/* Whether a secret key of AES can have this many bytes. */
bool aes_has_size(size_t size);

/* Begin a mode, by its mechanism; `tag_size` is 0 where it has no authentication tag. Null without
   memory, or for a key of another size. */
EVP_CIPHER_CTX *aes_begin(const struct crypto *crypto, CK_MECHANISM_TYPE type, const uint8_t *key,
                          size_t key_size, const uint8_t *iv, size_t iv_size, size_t tag_size,
                          bool encrypts);

/* Wrap a key, or unwrap it, by CKM_AES_CBC_PAD, CKM_AES_KEY_WRAP (RFC 3394), or
   CKM_AES_KEY_WRAP_KWP or CKM_AES_KEY_WRAP_PAD (RFC 5649); `iv` is CBC's. `output` has room for `size` + 16 bytes. False if
   the mechanism does not take this many bytes, or what is unwrapped is not what was wrapped. */
bool aes_wrap(const struct crypto *crypto, CK_MECHANISM_TYPE type, const uint8_t *key,
              size_t key_size, const uint8_t *iv, bool wraps, const uint8_t *input, size_t size,
              uint8_t *output, size_t *output_size);

#endif
