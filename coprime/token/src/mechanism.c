#include "mechanism.h"

#include <string.h>

#include "rsa_key.h"

#define SIGNS (CKF_HW | CKF_SIGN | CKF_VERIFY)
#define DECRYPTS (CKF_HW | CKF_ENCRYPT | CKF_DECRYPT)
#define RSA(type, flags, scheme, digest) \
    {type, {MIN_RSA_BITS, MAX_RSA_BITS, flags}, scheme, digest}
#define WRAPS (CKF_WRAP | CKF_UNWRAP)
#define CIPHER(type, flags) {type, {16, 32, flags}, AES, NO_DIGEST}
#define HASH(type) {type, {0, 0, CKF_DIGEST}, NO_SCHEME, type}

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
    RSA(CKM_SHA1_RSA_PKCS_PSS, SIGNS, PSS, CKM_SHA_1),
    RSA(CKM_SHA224_RSA_PKCS_PSS, SIGNS, PSS, CKM_SHA224),
    RSA(CKM_SHA256_RSA_PKCS_PSS, SIGNS, PSS, CKM_SHA256),
    RSA(CKM_SHA384_RSA_PKCS_PSS, SIGNS, PSS, CKM_SHA384),
    RSA(CKM_SHA512_RSA_PKCS_PSS, SIGNS, PSS, CKM_SHA512),
    RSA(CKM_RSA_AES_KEY_WRAP, CKF_HW | WRAPS, RSA_AES, NO_DIGEST),
    CIPHER(CKM_AES_KEY_GEN, CKF_GENERATE),
    CIPHER(CKM_AES_CBC_PAD, CKF_ENCRYPT | CKF_DECRYPT | WRAPS),
    CIPHER(CKM_AES_KEY_WRAP, WRAPS),
    CIPHER(CKM_AES_KEY_WRAP_KWP, WRAPS),
    HASH(CKM_SHA_1),
    HASH(CKM_SHA224),
    HASH(CKM_SHA256),
    HASH(CKM_SHA384),
    HASH(CKM_SHA512),
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

static CK_RV read_aes(const CK_MECHANISM *given, struct parameters *parameters)
{
    if (given->mechanism != CKM_AES_CBC_PAD) { /* another initial value is not taken */
        return given->ulParameterLen ? CKR_MECHANISM_PARAM_INVALID : CKR_OK;
    }
    if (given->pParameter == NULL || given->ulParameterLen != AES_BLOCK) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    memcpy(parameters->iv, given->pParameter, AES_BLOCK);
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
    case AES:
        return read_aes(given, parameters);
    default: /* some callers give an empty string */
        return given->ulParameterLen ? CKR_MECHANISM_PARAM_INVALID : CKR_OK;
    }
}
