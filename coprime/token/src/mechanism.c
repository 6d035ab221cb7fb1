#include "mechanism.h"

#include <string.h>

#include "aes.h"
#include "curve.h"
#include "ml_dsa.h"
#include "ml_kem.h"
#include "rsa_key.h"

#define SIGNS_ALONE (CKF_SIGN | CKF_VERIFY | CKF_MESSAGE_SIGN | CKF_MESSAGE_VERIFY)
#define SIGNS (CKF_HW | SIGNS_ALONE)
#define DECRYPTS (CKF_HW | CKF_ENCRYPT | CKF_DECRYPT)
#define RSA(type, flags, scheme, digest) \
    {type, {MIN_RSA_BITS, MAX_RSA_BITS, flags}, CKK_RSA, scheme, digest}
#define ON_PRIME_FIELD (CKF_HW | CKF_EC_F_P | CKF_EC_NAMEDCURVE | CKF_EC_UNCOMPRESS)
#define CURVE(type, flags, scheme, digest) \
    {type, {224, MAX_CURVE_BITS, ON_PRIME_FIELD | (flags)}, CKK_EC, scheme, digest}
#define OTHER_CURVE(type, flags, key, scheme) \
    {type, {255, 448, CKF_HW | CKF_EC_NAMEDCURVE | (flags)}, key, scheme, NO_DIGEST}
#define ML_KEM(type, flags, scheme) \
    {type, {800, MAX_ML_KEM_EK, CKF_HW | (flags)}, CKK_ML_KEM, scheme, NO_DIGEST}
#define DSA(type, flags, scheme, digest) \
    {type, {1312, MAX_ML_DSA_PK, flags}, CKK_ML_DSA, scheme, digest}
#define HASHED_DSA(hash) \
    DSA(CKM_HASH_ML_DSA_##hash, SIGNS_ALONE, HASH_ML_DSA, CKM_##hash)
#define SHAKED_DSA(hash) \
    DSA(CKM_HASH_ML_DSA_##hash, SIGNS_ALONE, HASH_ML_DSA, CKM_HASH_ML_DSA_##hash)
#define WRAPS (CKF_WRAP | CKF_UNWRAP)
#define ENCRYPTS (CKF_ENCRYPT | CKF_DECRYPT)
#define AUTHENTICATES (ENCRYPTS | CKF_MESSAGE_ENCRYPT | CKF_MESSAGE_DECRYPT | CKF_MULTI_MESSAGE)
#define AES(type, flags) {type, {16, 32, flags}, CKK_AES, CIPHER, NO_DIGEST}
#define CHACHA(type, flags) {type, {CHACHA_KEY, CHACHA_KEY, flags}, CKK_CHACHA20, CIPHER, NO_DIGEST}
#define MAC(type, digest) \
    {type, {1, MAX_MAC_KEY, SIGNS_ALONE}, CKK_GENERIC_SECRET, HMAC, digest}
#define MAC_KEY(type, key) {type, {1, MAX_MAC_KEY, CKF_GENERATE}, key, NO_SCHEME, NO_DIGEST}
#define BLOCK_MAC(type) {type, {16, 32, SIGNS_ALONE}, CKK_AES, CMAC, NO_DIGEST}
#define DERIVES(type, scheme) \
    {type, {1, MAX_MAC_KEY, CKF_DERIVE}, CKK_GENERIC_SECRET, scheme, NO_DIGEST}
#define HASH(type) {type, {0, 0, CKF_DIGEST}, NO_KEY, NO_SCHEME, type}

static const struct mechanism mechanisms[] = {
    RSA(CKM_RSA_PKCS_KEY_PAIR_GEN, CKF_HW | CKF_GENERATE_KEY_PAIR, NO_SCHEME, NO_DIGEST),
    RSA(CKM_RSA_X_509, SIGNS | DECRYPTS, RAW, NO_DIGEST),
    RSA(CKM_RSA_PKCS, SIGNS | DECRYPTS | WRAPS, PKCS1, NO_DIGEST),
    RSA(CKM_RSA_PKCS_OAEP, DECRYPTS | WRAPS, OAEP, NO_DIGEST),
    RSA(CKM_RSA_PKCS_PSS, SIGNS, PSS, NO_DIGEST),
    RSA(CKM_SHA1_RSA_PKCS, SIGNS, PKCS1, CKM_SHA_1),
    RSA(CKM_SHA224_RSA_PKCS, SIGNS, PKCS1, CKM_SHA224),
    RSA(CKM_SHA256_RSA_PKCS, SIGNS, PKCS1, CKM_SHA256),
    RSA(CKM_SHA384_RSA_PKCS, SIGNS, PKCS1, CKM_SHA384),
    RSA(CKM_SHA512_RSA_PKCS, SIGNS, PKCS1, CKM_SHA512),
    RSA(CKM_SHA3_224_RSA_PKCS, SIGNS, PKCS1, CKM_SHA3_224),
    RSA(CKM_SHA3_256_RSA_PKCS, SIGNS, PKCS1, CKM_SHA3_256),
    RSA(CKM_SHA3_384_RSA_PKCS, SIGNS, PKCS1, CKM_SHA3_384),
    RSA(CKM_SHA3_512_RSA_PKCS, SIGNS, PKCS1, CKM_SHA3_512),
    RSA(CKM_SHA1_RSA_PKCS_PSS, SIGNS, PSS, CKM_SHA_1),
    RSA(CKM_SHA224_RSA_PKCS_PSS, SIGNS, PSS, CKM_SHA224),
    RSA(CKM_SHA256_RSA_PKCS_PSS, SIGNS, PSS, CKM_SHA256),
    RSA(CKM_SHA384_RSA_PKCS_PSS, SIGNS, PSS, CKM_SHA384),
    RSA(CKM_SHA512_RSA_PKCS_PSS, SIGNS, PSS, CKM_SHA512),
    RSA(CKM_SHA3_224_RSA_PKCS_PSS, SIGNS, PSS, CKM_SHA3_224),
    RSA(CKM_SHA3_256_RSA_PKCS_PSS, SIGNS, PSS, CKM_SHA3_256),
    RSA(CKM_SHA3_384_RSA_PKCS_PSS, SIGNS, PSS, CKM_SHA3_384),
    RSA(CKM_SHA3_512_RSA_PKCS_PSS, SIGNS, PSS, CKM_SHA3_512),
    RSA(CKM_RSA_AES_KEY_WRAP, CKF_HW | WRAPS, RSA_AES, NO_DIGEST),
    CURVE(CKM_EC_KEY_PAIR_GEN, CKF_GENERATE_KEY_PAIR, NO_SCHEME, NO_DIGEST),
    CURVE(CKM_ECDSA, SIGNS, ECDSA, NO_DIGEST),
    CURVE(CKM_ECDSA_SHA1, SIGNS, ECDSA, CKM_SHA_1),
    CURVE(CKM_ECDSA_SHA224, SIGNS, ECDSA, CKM_SHA224),
    CURVE(CKM_ECDSA_SHA256, SIGNS, ECDSA, CKM_SHA256),
    CURVE(CKM_ECDSA_SHA384, SIGNS, ECDSA, CKM_SHA384),
    CURVE(CKM_ECDSA_SHA512, SIGNS, ECDSA, CKM_SHA512),
    CURVE(CKM_ECDSA_SHA3_224, SIGNS, ECDSA, CKM_SHA3_224),
    CURVE(CKM_ECDSA_SHA3_256, SIGNS, ECDSA, CKM_SHA3_256),
    CURVE(CKM_ECDSA_SHA3_384, SIGNS, ECDSA, CKM_SHA3_384),
    CURVE(CKM_ECDSA_SHA3_512, SIGNS, ECDSA, CKM_SHA3_512),
    CURVE(CKM_ECDH1_DERIVE, CKF_DERIVE, ECDH, NO_DIGEST),
    CURVE(CKM_ECDH1_COFACTOR_DERIVE, CKF_DERIVE, ECDH, NO_DIGEST),
    CURVE(CKM_ECDH_AES_KEY_WRAP, WRAPS, ECDH_AES, NO_DIGEST),
    OTHER_CURVE(CKM_EC_EDWARDS_KEY_PAIR_GEN, CKF_GENERATE_KEY_PAIR, CKK_EC_EDWARDS, NO_SCHEME),
    OTHER_CURVE(CKM_EDDSA, SIGNS, CKK_EC_EDWARDS, EDDSA),
    OTHER_CURVE(CKM_EC_MONTGOMERY_KEY_PAIR_GEN, CKF_GENERATE_KEY_PAIR, CKK_EC_MONTGOMERY,
                NO_SCHEME),
    ML_KEM(CKM_ML_KEM_KEY_PAIR_GEN, CKF_GENERATE_KEY_PAIR, NO_SCHEME),
    ML_KEM(CKM_ML_KEM, CKF_ENCAPSULATE | CKF_DECAPSULATE, KEM),
    DSA(CKM_ML_DSA_KEY_PAIR_GEN, CKF_GENERATE_KEY_PAIR, NO_SCHEME, NO_DIGEST),
    DSA(CKM_ML_DSA, SIGNS_ALONE, ML_DSA, CKM_HASH_ML_DSA_SHAKE256), /* mu is such a hash */
    DSA(CKM_HASH_ML_DSA, SIGNS_ALONE, HASH_ML_DSA, NO_DIGEST),
    HASHED_DSA(SHA224),
    HASHED_DSA(SHA256),
    HASHED_DSA(SHA384),
    HASHED_DSA(SHA512),
    HASHED_DSA(SHA3_224),
    HASHED_DSA(SHA3_256),
    HASHED_DSA(SHA3_384),
    HASHED_DSA(SHA3_512),
    SHAKED_DSA(SHAKE128),
    SHAKED_DSA(SHAKE256),
    AES(CKM_AES_KEY_GEN, CKF_GENERATE),
    AES(CKM_AES_ECB, ENCRYPTS),
    AES(CKM_AES_CBC, ENCRYPTS),
    AES(CKM_AES_CTR, ENCRYPTS),
    AES(CKM_AES_GCM, AUTHENTICATES),
    AES(CKM_AES_CCM, AUTHENTICATES),
    AES(CKM_AES_CBC_PAD, ENCRYPTS | WRAPS),
    AES(CKM_AES_KEY_WRAP, WRAPS),
    AES(CKM_AES_KEY_WRAP_PAD, WRAPS),
    AES(CKM_AES_KEY_WRAP_KWP, WRAPS),
    CHACHA(CKM_CHACHA20_KEY_GEN, CKF_GENERATE),
    CHACHA(CKM_CHACHA20_POLY1305, AUTHENTICATES),
    BLOCK_MAC(CKM_AES_CMAC),
    BLOCK_MAC(CKM_AES_CMAC_GENERAL),
    MAC_KEY(CKM_GENERIC_SECRET_KEY_GEN, CKK_GENERIC_SECRET),
    MAC_KEY(CKM_SHA_1_KEY_GEN, CKK_SHA_1_HMAC),
    MAC_KEY(CKM_SHA224_KEY_GEN, CKK_SHA224_HMAC),
    MAC_KEY(CKM_SHA256_KEY_GEN, CKK_SHA256_HMAC),
    MAC_KEY(CKM_SHA384_KEY_GEN, CKK_SHA384_HMAC),
    MAC_KEY(CKM_SHA512_KEY_GEN, CKK_SHA512_HMAC),
    MAC_KEY(CKM_SHA3_224_KEY_GEN, CKK_SHA3_224_HMAC),
    MAC_KEY(CKM_SHA3_256_KEY_GEN, CKK_SHA3_256_HMAC),
    MAC_KEY(CKM_SHA3_384_KEY_GEN, CKK_SHA3_384_HMAC),
    MAC_KEY(CKM_SHA3_512_KEY_GEN, CKK_SHA3_512_HMAC),
    DERIVES(CKM_HKDF_DERIVE, HKDF),
    DERIVES(CKM_HKDF_DATA, HKDF),
    DERIVES(CKM_SP800_108_COUNTER_KDF, KBKDF),
    DERIVES(CKM_SP800_108_FEEDBACK_KDF, KBKDF),
    DERIVES(CKM_SP800_108_DOUBLE_PIPELINE_KDF, KBKDF),
    {CKM_AES_ECB_ENCRYPT_DATA, {16, 32, CKF_DERIVE}, CKK_AES, ENCRYPTION, NO_DIGEST},
    {CKM_AES_CBC_ENCRYPT_DATA, {16, 32, CKF_DERIVE}, CKK_AES, ENCRYPTION, NO_DIGEST},
    MAC(CKM_SHA_1_HMAC, CKM_SHA_1),
    MAC(CKM_SHA224_HMAC, CKM_SHA224),
    MAC(CKM_SHA256_HMAC, CKM_SHA256),
    MAC(CKM_SHA384_HMAC, CKM_SHA384),
    MAC(CKM_SHA512_HMAC, CKM_SHA512),
    MAC(CKM_SHA3_224_HMAC, CKM_SHA3_224),
    MAC(CKM_SHA3_256_HMAC, CKM_SHA3_256),
    MAC(CKM_SHA3_384_HMAC, CKM_SHA3_384),
    MAC(CKM_SHA3_512_HMAC, CKM_SHA3_512),
    MAC(CKM_SHA_1_HMAC_GENERAL, CKM_SHA_1),
    MAC(CKM_SHA224_HMAC_GENERAL, CKM_SHA224),
    MAC(CKM_SHA256_HMAC_GENERAL, CKM_SHA256),
    MAC(CKM_SHA384_HMAC_GENERAL, CKM_SHA384),
    MAC(CKM_SHA512_HMAC_GENERAL, CKM_SHA512),
    HASH(CKM_SHA_1),
    HASH(CKM_SHA224),
    HASH(CKM_SHA256),
    HASH(CKM_SHA384),
    HASH(CKM_SHA512),
    HASH(CKM_SHA3_224),
    HASH(CKM_SHA3_256),
    HASH(CKM_SHA3_384),
    HASH(CKM_SHA3_512),
};

enum { MECHANISMS = sizeof mechanisms / sizeof *mechanisms };

const struct mechanism *mechanism_at(CK_ULONG place)
{
    return place < MECHANISMS ? &mechanisms[place] : NULL;
}

const struct mechanism *mechanism_find(CK_MECHANISM_TYPE type)
{
    for (size_t i = 0; i < MECHANISMS; ++i) {
        if (mechanisms[i].type == type) {
            return &mechanisms[i];
        }
    }
    return NULL;
}

/* Whether a type of secret keys is for an HMAC with the mechanism's hash function. */
static bool is_hmac_key(const struct mechanism *mechanism, CK_KEY_TYPE type)
{
    switch (type) {
    case CKK_SHA_1_HMAC:
        return mechanism->digest == CKM_SHA_1;
    case CKK_SHA224_HMAC:
        return mechanism->digest == CKM_SHA224;
    case CKK_SHA256_HMAC:
        return mechanism->digest == CKM_SHA256;
    case CKK_SHA384_HMAC:
        return mechanism->digest == CKM_SHA384;
    case CKK_SHA512_HMAC:
        return mechanism->digest == CKM_SHA512;
    case CKK_SHA3_224_HMAC:
        return mechanism->digest == CKM_SHA3_224;
    case CKK_SHA3_256_HMAC:
        return mechanism->digest == CKM_SHA3_256;
    case CKK_SHA3_384_HMAC:
        return mechanism->digest == CKM_SHA3_384;
    case CKK_SHA3_512_HMAC:
        return mechanism->digest == CKM_SHA3_512;
    default:
        return false;
    }
}

bool mechanism_takes(const struct mechanism *mechanism, CK_KEY_TYPE type)
{
    return type == mechanism->key ||
           ((mechanism->type == CKM_ECDH1_DERIVE || mechanism->scheme == ECDH_AES) &&
            type == CKK_EC_MONTGOMERY) ||
           (mechanism->scheme == HKDF && type == CKK_HKDF) ||
           mechanism->scheme == KBKDF || /* as its pseudorandom function does */
           (mechanism->scheme == HMAC && is_hmac_key(mechanism, type));
}

bool mechanism_is_secret(const struct mechanism *mechanism)
{
    return mechanism->scheme == CIPHER || mechanism->scheme == HMAC || mechanism->scheme == CMAC;
}

bool mechanism_derives_from_secret(const struct mechanism *mechanism)
{
    return mechanism->scheme == HKDF || mechanism->scheme == KBKDF ||
           mechanism->scheme == ENCRYPTION;
}

static CK_RV read_pss(const struct mechanism *mechanism, const CK_MECHANISM *given,
                      struct padding *padding)
{
    CK_RSA_PKCS_PSS_PARAMS found;

    if (given->pParameter == NULL || given->ulParameterLen != sizeof found) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    memcpy(&found, given->pParameter, sizeof found);
    padding->digest = digest_of(found.hashAlg);
    padding->mgf = digest_of_mgf(found.mgf);
    padding->salt = found.sLen;
    if (padding->digest == NULL || padding->mgf == NULL || found.sLen > MAX_RSA_BYTES ||
        (mechanism->digest != NO_DIGEST && mechanism->digest != found.hashAlg)) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    return CKR_OK;
}

static CK_RV read_oaep(const void *given, CK_ULONG size, struct parameters *parameters)
{
    struct padding *const padding = &parameters->padding;
    CK_RSA_PKCS_OAEP_PARAMS found;

    if (given == NULL || size != sizeof found) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    memcpy(&found, given, sizeof found);
    /* What OpenSSL's provider is not told it leaves 0: then as OpenSSL itself has it. */
    padding->digest = digest_of(found.hashAlg ? found.hashAlg : CKM_SHA_1);
    padding->mgf = found.mgf ? digest_of_mgf(found.mgf) : padding->digest;
    /* Without a label some callers leave the source 0. */
    if (padding->digest == NULL || padding->mgf == NULL ||
        (found.source != CKZ_DATA_SPECIFIED && (found.source || found.ulSourceDataLen)) ||
        found.ulSourceDataLen > MAX_LABEL || (found.ulSourceDataLen && !found.pSourceData)) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    if (found.ulSourceDataLen) {
        memcpy(parameters->label, found.pSourceData, found.ulSourceDataLen);
    }
    padding->label = parameters->label;
    padding->label_size = found.ulSourceDataLen;
    return CKR_OK;
}

/* The parameters of CKM_RSA_AES_KEY_WRAP: the temporary key's length, and OAEP's. */
static CK_RV read_rsa_aes(const CK_MECHANISM *given, struct parameters *parameters)
{
    CK_RSA_AES_KEY_WRAP_PARAMS found;

    if (given->pParameter == NULL || given->ulParameterLen != sizeof found) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    memcpy(&found, given->pParameter, sizeof found);
    parameters->aes_size = found.ulAESKeyBits / 8;
    if (found.ulAESKeyBits % 8 || !aes_has_size(parameters->aes_size)) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    return read_oaep(found.pOAEPParams, sizeof *found.pOAEPParams, parameters);
}

bool mechanism_kdf(CK_EC_KDF_TYPE type, struct ecdh_kdf *kdf)
{
    static const struct {
        CK_EC_KDF_TYPE x963, one_step;
        CK_MECHANISM_TYPE digest;
    } functions[] = {
        {CKD_SHA1_KDF, CKD_SHA1_KDF_SP800, CKM_SHA_1},
        {CKD_SHA224_KDF, CKD_SHA224_KDF_SP800, CKM_SHA224},
        {CKD_SHA256_KDF, CKD_SHA256_KDF_SP800, CKM_SHA256},
        {CKD_SHA384_KDF, CKD_SHA384_KDF_SP800, CKM_SHA384},
        {CKD_SHA512_KDF, CKD_SHA512_KDF_SP800, CKM_SHA512},
        {CKD_SHA3_224_KDF, CKD_SHA3_224_KDF_SP800, CKM_SHA3_224},
        {CKD_SHA3_256_KDF, CKD_SHA3_256_KDF_SP800, CKM_SHA3_256},
        {CKD_SHA3_384_KDF, CKD_SHA3_384_KDF_SP800, CKM_SHA3_384},
        {CKD_SHA3_512_KDF, CKD_SHA3_512_KDF_SP800, CKM_SHA3_512},
    };

    *kdf = (struct ecdh_kdf){.digest = NULL};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
        if (functions[i].x963 == type || functions[i].one_step == type) {
            kdf->digest = digest_of(functions[i].digest);
            kdf->one_step = functions[i].one_step == type;
        }
    }
    return kdf->digest || type == CKD_NULL;
}

/* The parameters of CKM_ECDH_AES_KEY_WRAP: the temporary key's length, and how it is derived. */
static CK_RV read_ecdh_aes(const CK_MECHANISM *given, struct parameters *parameters)
{
    CK_ECDH_AES_KEY_WRAP_PARAMS found;

    if (given->pParameter == NULL || given->ulParameterLen != sizeof found) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    memcpy(&found, given->pParameter, sizeof found);
    parameters->aes_size = found.ulAESKeyBits / 8;
    parameters->shared = (struct value){found.pSharedData, found.ulSharedDataLen};
    return found.ulAESKeyBits % 8 == 0 && aes_has_size(parameters->aes_size) &&
                   mechanism_kdf(found.kdf, &parameters->kdf) && found.ulSharedDataLen <= MAX_SHARED &&
                   (found.ulSharedDataLen == 0 || (found.pSharedData && parameters->kdf.digest)) ?
               CKR_OK :
               CKR_MECHANISM_PARAM_INVALID;
}

/* The parameters of EdDSA; without any it is Ed25519, or Ed448 with an empty context. */
static CK_RV read_eddsa(const CK_MECHANISM *given, struct eddsa_variant *variant)
{
    CK_EDDSA_PARAMS found;

    if (given->ulParameterLen == 0) {
        return CKR_OK;
    }
    if (given->pParameter == NULL || given->ulParameterLen != sizeof found) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    memcpy(&found, given->pParameter, sizeof found);
    if (found.phFlag > CK_TRUE || found.ulContextDataLen > MAX_CONTEXT ||
        (found.ulContextDataLen && found.pContextData == NULL)) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    variant->prehashed = found.phFlag == CK_TRUE;
    variant->context_size = found.ulContextDataLen;
    if (found.ulContextDataLen) {
        memcpy(variant->context, found.pContextData, found.ulContextDataLen);
    }
    return CKR_OK;
}

/* The parameters of ML-DSA: of CKM_HASH_ML_DSA also the hash function, which it must have. */
static CK_RV read_ml_dsa(const struct mechanism *mechanism, const CK_MECHANISM *given,
                         struct ml_dsa_variant *variant)
{
    const bool names_hash = mechanism->type == CKM_HASH_ML_DSA;
    struct hash_sign_context found = {.hash = mechanism->digest};

    if (given->ulParameterLen == 0 && !names_hash) {
        return CKR_OK;
    }
    if (given->pParameter == NULL ||
        given->ulParameterLen != (names_hash ? sizeof found : sizeof found.sign)) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    memcpy(&found, given->pParameter, given->ulParameterLen);
    if (found.sign.hedge > CKH_DETERMINISTIC_REQUIRED || found.sign.context_size > MAX_CONTEXT ||
        (found.sign.context_size && found.sign.context == NULL) ||
        (names_hash && (digest_of(found.hash) == NULL ||
                        digest_identifier(digest_of(found.hash)) == NULL))) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    variant->hedge = found.sign.hedge;
    variant->hash = found.hash;
    variant->context_size = found.sign.context_size;
    if (found.sign.context_size) {
        memcpy(variant->context, found.sign.context, found.sign.context_size);
    }
    return CKR_OK;
}

/* Whether the result of a MAC is as long as its parameter says. */
static bool is_general(CK_MECHANISM_TYPE type)
{
    switch (type) {
    case CKM_SHA_1_HMAC_GENERAL:
    case CKM_SHA224_HMAC_GENERAL:
    case CKM_SHA256_HMAC_GENERAL:
    case CKM_SHA384_HMAC_GENERAL:
    case CKM_SHA512_HMAC_GENERAL:
    case CKM_AES_CMAC_GENERAL:
        return true;
    default:
        return false;
    }
}

bool mechanism_is_prf(const struct mechanism *mechanism)
{
    return (mechanism->scheme == HMAC || mechanism->scheme == CMAC) &&
           !is_general(mechanism->type);
}

bool mechanism_is_single_part(const struct mechanism *mechanism)
{
    return mechanism->type == CKM_HASH_ML_DSA;
}

static CK_RV read_mac(const struct mechanism *mechanism, const CK_MECHANISM *given, size_t *size)
{
    CK_MAC_GENERAL_PARAMS found;

    *size = mechanism->scheme == CMAC ? AES_BLOCK : digest_of(mechanism->digest)->size;
    if (!is_general(mechanism->type)) {
        return given->ulParameterLen ? CKR_MECHANISM_PARAM_INVALID : CKR_OK;
    }
    if (given->pParameter == NULL || given->ulParameterLen != sizeof found) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    memcpy(&found, given->pParameter, sizeof found);
    if (found == 0 || found > *size) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    *size = found;
    return CKR_OK;
}

CK_RV mechanism_parameters(const struct mechanism *mechanism, const CK_MECHANISM *given,
                           struct parameters *parameters)
{
    memset(parameters, 0, sizeof *parameters);
    switch (mechanism->scheme) {
    case PSS:
        return read_pss(mechanism, given, &parameters->padding);
    case OAEP:
        return read_oaep(given->pParameter, given->ulParameterLen, parameters);
    case RSA_AES:
        return read_rsa_aes(given, parameters);
    case ECDH_AES:
        return read_ecdh_aes(given, parameters);
    case EDDSA:
        return read_eddsa(given, &parameters->variant);
    case ML_DSA:
    case HASH_ML_DSA:
        return read_ml_dsa(mechanism, given, &parameters->ml_dsa);
    case CIPHER:
        return cipher_parameters_read(given, &parameters->cipher);
    case HMAC:
    case CMAC:
        return read_mac(mechanism, given, &parameters->mac_size);
    default: /* some callers give an empty string */
        return given->ulParameterLen ? CKR_MECHANISM_PARAM_INVALID : CKR_OK;
    }
}
