/* What callers give a mode of a cipher: the parameter of a mechanism, or of one message of many. */
#ifndef COPRIME_TOKEN_CIPHER_PARAMETERS_H
#define COPRIME_TOKEN_CIPHER_PARAMETERS_H

#include <stddef.h>
#include <stdint.h>

#include "crypto.h"
#include "cryptoki.h"

enum { MAX_IV = 128, MAX_TAG = 16 };

struct cipher_parameters {
    uint8_t iv[MAX_IV]; /* or a counter's first value */
    size_t iv_size;
    uint64_t blocks; /* of CTR: until the counter would overflow */
    size_t tag_size; /* of an authentication tag; 0: there is none */
    uint8_t *tag; /* where a message has it, in the caller's memory; null: behind the text */
    size_t text_size; /* of CCM, which has to know it before */
    const uint8_t *data; /* the caller's, that is authenticated, too */
    size_t data_size;
};

/* The most bytes that are authenticated beside a text. */
enum { MAX_DATA = 1 << 24 };

/* Read a mechanism's parameter. CKR_MECHANISM_PARAM_INVALID. */
CK_RV cipher_parameters_read(const CK_MECHANISM *given, struct cipher_parameters *cipher);

/* Read a message's, of so many bytes, and draw its nonce if it asks for one that is `drawn` here. What
   is authenticated beside it is given apart. CKR_MECHANISM_PARAM_INVALID. */
CK_RV cipher_parameters_of_message(const struct crypto *crypto, CK_MECHANISM_TYPE type,
                                   const void *given, CK_ULONG size, bool drawn,
                                   struct cipher_parameters *cipher);

#endif
