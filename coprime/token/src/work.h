/* What an operation works with. */
#ifndef COPRIME_TOKEN_WORK_H
#define COPRIME_TOKEN_WORK_H

#include "crypto.h"
#include "cryptoki.h"
#include "device.h"
#include "key.h"
#include "mechanism.h"

/* The token's. */
struct context {
    const struct crypto *crypto;
    struct device *device;
};

/* A mechanism with its parameters, and a key of two halves. */
struct work {
    struct context context;
    const struct mechanism *mechanism;
    const struct parameters *parameters;
    struct key *key;
};

/* What mechanisms of a scheme do with such keys; null for what they do not. A text is the whole input, or
   its digest where the mechanism computes one. */
struct scheme_functions {
    /* Whether the key is long enough: CKR_KEY_SIZE_RANGE. */
    CK_RV (*check)(const struct work *work);
    /* Absorb what the digest begins with. False without memory. */
    bool (*begin)(const struct work *work, EVP_MD_CTX *digest);
    /* Bytes of a signature, or a ciphertext; and the most that is collected of a text in parts, where
       that is not the same. */
    size_t (*size)(const struct work *work);
    size_t most;
    CK_RV (*sign)(const struct work *work, struct value text, uint8_t *signature);
    CK_RV (*verify)(const struct work *work, struct value text, struct value signature);
    CK_RV (*encrypt)(const struct work *work, struct value text, uint8_t *ciphertext);
    /* The message is as long as the modulus at most. */
    CK_RV (*decrypt)(const struct work *work, struct value text, uint8_t *message, size_t *size);
};

#endif
