/* AES and ChaCha20-Poly1305 as operations of a session: in one call, in parts, or as a message whose tag
   is apart from it. */
#ifndef COPRIME_TOKEN_CIPHER_H
#define COPRIME_TOKEN_CIPHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto.h"
#include "cryptoki.h"
#include "mechanism.h"

struct cipher;

/* Begin with a key; null without memory, or for a key of another size. */
struct cipher *cipher_begin(const struct crypto *crypto, CK_MECHANISM_TYPE type,
                            const uint8_t *key, size_t key_size,
                            const struct cipher_parameters *parameters, bool encrypts);
void cipher_end(struct cipher *cipher); /* null is allowed */

/* The input and the output of all calls may overlap. */

/* More input. `*output_size` is the room, and becomes the length; a null `output` asks for the length
   only. What is decrypted with an authentication tag is given at the end, when the tag was found to be
   right. CKR_BUFFER_TOO_SMALL: nothing was taken. */
CK_RV cipher_update(struct cipher *cipher, const uint8_t *input, size_t size, uint8_t *output,
                    CK_ULONG *output_size);

/* All of the input at once, or the end after all parts; the cipher stays as it is, for a caller who had
   no room. CKR_DATA_LEN_RANGE and CKR_ENCRYPTED_DATA_LEN_RANGE unless there are whole blocks, where the
   mode has no padding; CKR_ENCRYPTED_DATA_INVALID for a wrong padding or tag. */
CK_RV cipher_whole(const struct cipher *cipher, const uint8_t *input, size_t size, uint8_t *output,
                   CK_ULONG *output_size);
CK_RV cipher_finish(const struct cipher *cipher, uint8_t *output, CK_ULONG *output_size);

/* The last part of a message, which may be all of it, where the tag is apart; else as above. */
CK_RV cipher_last(struct cipher *cipher, const uint8_t *input, size_t size, uint8_t *output,
                  CK_ULONG *output_size);
/* Where the tag is or will be, in the caller's memory. */
void cipher_set_tag(struct cipher *cipher, uint8_t *tag);

#endif
