/* Mechanisms: one table, from which lists, flags and what an operation does follow. */
#ifndef COPRIME_TOKEN_MECHANISM_H
#define COPRIME_TOKEN_MECHANISM_H

#include "aes.h"
#include "crypto.h"
#include "cryptoki.h"
#include "padding.h"

/* What a mechanism does: a padding of RSA, or AES. */
enum scheme { NO_SCHEME, RAW, PKCS1, OAEP, PSS, RSA_AES, AES };

struct mechanism {
    CK_MECHANISM_TYPE type;
    CK_MECHANISM_INFO info;
    enum scheme scheme;
    CK_MECHANISM_TYPE digest; /* that the mechanism computes itself; NO_DIGEST: none */
};

#define NO_DIGEST CK_UNAVAILABLE_INFORMATION

/* Longest label of OAEP in bytes. */
enum { MAX_LABEL = 1024 };

/* Parameters of one operation; those of OAEP and PSS are a `struct padding`. */
struct parameters {
    struct padding padding;
    uint8_t label[MAX_LABEL];
    uint8_t iv[AES_BLOCK];
    size_t aes_size; /* bytes of the temporary key of CKM_RSA_AES_KEY_WRAP */
};

const struct mechanism *mechanism_find(CK_MECHANISM_TYPE type);
/* The one at a place in the list; null at its end. */
const struct mechanism *mechanism_at(CK_ULONG place);

/* Read the parameters that a caller gave. CKR_MECHANISM_PARAM_INVALID. */
CK_RV mechanism_parameters(const struct mechanism *mechanism, const CK_MECHANISM *given,
                           struct parameters *parameters);

#endif
