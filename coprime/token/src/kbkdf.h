/* Key derivation from a secret key by a pseudorandom function (SP 800-108r1, 4): HMAC or CMAC, in counter,
   feedback or double-pipeline mode, on an input that the caller composes. */
#ifndef COPRIME_TOKEN_KBKDF_H
#define COPRIME_TOKEN_KBKDF_H

#include "crypto.h"
#include "cryptoki.h"
#include "mechanism.h"

enum { MAX_FIELDS = 16, MAX_FIELD = 4096 };

/* What the function is given, the caller's: fields that are joined for each block of the result. */
struct kbkdf {
    CK_MECHANISM_TYPE mode;
    const struct mechanism *prf; /* of an HMAC or CMAC */
    struct {
        CK_PRF_DATA_TYPE type;
        size_t width; /* bytes of a counter or a length; 0: it is no number */
        bool little_endian;
        bool of_blocks; /* the length is that of all blocks, not of the key */
        struct value bytes;
    } fields[MAX_FIELDS];
    size_t count;
    struct value start; /* of the feedback */
};

/* Read a mechanism's parameter. CKR_MECHANISM_PARAM_INVALID. */
CK_RV kbkdf_read(const CK_MECHANISM *given, struct kbkdf *kbkdf);

/* Derive `size` bytes from a key, which is one for the pseudorandom function. CKR_KEY_SIZE_RANGE if the key
   does not have the length for it, or a number does not fit its field. */
CK_RV kbkdf_derive(const struct crypto *crypto, const struct kbkdf *kbkdf, struct value key,
                   uint8_t *result, size_t size);

#endif
