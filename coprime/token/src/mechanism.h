/* Mechanisms: one table, from which lists, flags and what an operation does follow. */
#ifndef COPRIME_TOKEN_MECHANISM_H
#define COPRIME_TOKEN_MECHANISM_H

#include "attributes.h"
#include "cipher_parameters.h"
#include "crypto.h"
#include "cryptoki.h"
#include "padding.h"

/* What a mechanism does: a padding of RSA, something on curves, on lattices, or with secret keys. */
enum scheme {
    NO_SCHEME, RAW, PKCS1, OAEP, PSS, RSA_AES, ECDSA, EDDSA, ECDH, ECDH_AES, CIPHER, HMAC, CMAC, HKDF,
    KBKDF, ENCRYPTION, KEM, ML_DSA, HASH_ML_DSA, SCHEMES
};

struct mechanism {
    CK_MECHANISM_TYPE type;
    CK_MECHANISM_INFO info;
    CK_KEY_TYPE key; /* the type of its keys; NO_KEY: it has none */
    enum scheme scheme;
    CK_MECHANISM_TYPE digest; /* that the mechanism computes itself; NO_DIGEST: none */
};

#define NO_DIGEST CK_UNAVAILABLE_INFORMATION
#define NO_KEY CK_UNAVAILABLE_INFORMATION

/* Longest label of OAEP, and context of EdDSA and ML-DSA, in bytes. */
enum { MAX_LABEL = 1024, MAX_CONTEXT = 255 };

/* What may be shared beside a key that is derived, in bytes. */
enum { MAX_SHARED = 4096 };

/* What EdDSA signs: Ed25519, or Ed448 with an empty context, unless something is set. */
struct eddsa_variant {
    bool prehashed; /* Ed25519ph, Ed448ph */
    size_t context_size;
    uint8_t context[MAX_CONTEXT];
};

/* What ML-DSA signs: with random numbers and an empty context, unless something is set. */
struct ml_dsa_variant {
    CK_ULONG hedge; /* CKH_HEDGE_PREFERRED and so on */
    CK_MECHANISM_TYPE hash; /* of CKM_HASH_ML_DSA: with which the message has been hashed */
    size_t context_size;
    uint8_t context[MAX_CONTEXT];
};

/* A key derivation function of ECDH: of ANSI X9.63, or the one-step function of SP 800-56C, which counts
   before the secret instead of after it. */
struct ecdh_kdf {
    const struct digest *digest; /* null: there is no function, the secret is the key */
    bool one_step;
};

/* The longest key of HMAC, in bytes. */
enum { MAX_MAC_KEY = 1024 };

/* Parameters of one operation; those of OAEP and PSS are a `struct padding`. */
struct parameters {
    struct padding padding;
    uint8_t label[MAX_LABEL];
    struct eddsa_variant variant;
    struct ml_dsa_variant ml_dsa;
    struct cipher_parameters cipher;
    size_t mac_size; /* of HMAC and CMAC: bytes of the result */
    /* Of CKM_RSA_AES_KEY_WRAP and CKM_ECDH_AES_KEY_WRAP: bytes of the temporary key; of the latter also
       its derivation, and what the caller has beside the secret. */
    size_t aes_size;
    struct ecdh_kdf kdf;
    struct value shared;
};

const struct mechanism *mechanism_find(CK_MECHANISM_TYPE type);
/* The one at a place in the list; null at its end. */
const struct mechanism *mechanism_at(CK_ULONG place);

/* Whether the mechanism takes keys of this type. */
bool mechanism_takes(const struct mechanism *mechanism, CK_KEY_TYPE type);

/* Whether the mechanism takes the bytes of a secret key. */
bool mechanism_is_secret(const struct mechanism *mechanism);

/* Whether the mechanism derives keys from a secret key. */
bool mechanism_derives_from_secret(const struct mechanism *mechanism);

/* Whether it is a MAC of the full length: a pseudorandom function. */
bool mechanism_is_prf(const struct mechanism *mechanism);

/* Whether its input comes in one call only. */
bool mechanism_is_single_part(const struct mechanism *mechanism);

/* A key derivation function of ECDH by its number; false if it is unknown. */
bool mechanism_kdf(CK_EC_KDF_TYPE type, struct ecdh_kdf *kdf);

/* Read the parameters that a caller gave. CKR_MECHANISM_PARAM_INVALID. */
CK_RV mechanism_parameters(const struct mechanism *mechanism, const CK_MECHANISM *given,
                           struct parameters *parameters);

#endif
