/* Fuzzing of what the module reads from a caller, with libFuzzer: templates, mechanisms and their
   parameters, data, and lists of attributes as the store has them.

   The input is a program: each byte at its place chooses a function, an object, a type, a length.
   Memory is as long as the call says, so that the address sanitizer finds each access beyond it.
   COPRIME_TOKEN_DIR must have a token with the PIN 123456; no engine is needed. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "cryptoki.h"
#include "calls.h"
#include "key_kinds.h"
#include "module.h"
#include "rules.h"

enum { MAX_STEPS = 24, MAX_TEMPLATE = 12, MAX_HANDLES = 64, MAX_OUTPUT = 2500, MEMORIES = 1024,
       MAX_ITEMS = 5 };

/* What is left of the input. */
static const uint8_t *input;
static size_t input_size;

/* Memory that this input has got. */
static void *memories[MEMORIES];
static size_t memory_count;

static CK_SESSION_HANDLE keeper, session;
static CK_OBJECT_HANDLE handles[MAX_HANDLES];
static size_t handle_count, kept_count;

/* How often calls have succeeded that take more than a template: printed at the end. */
enum call { ENCRYPTIONS, DECRYPTIONS, WRAPS, UNWRAPS, DERIVATIONS, ENCAPSULATIONS, CALLS };

static unsigned long succeeded[CALLS];

static CK_RV note(enum call call, CK_RV rv)
{
    succeeded[call] += rv == CKR_OK;
    return rv;
}

static void print_counts(void)
{
    fprintf(stderr, "succeeded: encrypt %lu decrypt %lu wrap %lu unwrap %lu derive %lu encapsulate %lu\n",
            succeeded[ENCRYPTIONS], succeeded[DECRYPTIONS], succeeded[WRAPS], succeeded[UNWRAPS],
            succeeded[DERIVATIONS], succeeded[ENCAPSULATIONS]);
}

static void must(CK_RV rv)
{
    if (rv != CKR_OK) {
        abort();
    }
}

static uint8_t take(void)
{
    if (input_size == 0) {
        return 0;
    }
    --input_size;
    return *input++;
}

static CK_ULONG take_number(void)
{
    CK_ULONG number = 0;

    for (int i = 0; i < 8; ++i) {
        number = number << 8 | take();
    }
    return number;
}

/* Memory until the end of this input. */
static void *allocate(size_t size)
{
    void *const made = calloc(1, size ? size : 1);

    if (made == NULL || memory_count == MEMORIES) {
        abort();
    }
    memories[memory_count++] = made;
    return made;
}

static uint8_t *take_bytes(size_t size)
{
    uint8_t *const bytes = allocate(size);

    for (size_t i = 0; i < size; ++i) {
        bytes[i] = take();
    }
    return bytes;
}

static CK_ULONG take_of(const CK_ULONG *numbers, size_t count)
{
    const uint8_t which = take();

    return which < 224 ? numbers[which % count] : take_number();
}

#define TAKE_OF(numbers) take_of(numbers, sizeof(numbers) / sizeof *(numbers))

static CK_OBJECT_HANDLE take_handle(void)
{
    const uint8_t which = take();

    return which < 240 ? handles[which % handle_count] : take_number();
}

/* What the module makes it must take for an object when it reads it. */
static void check_object(CK_RV rv, CK_OBJECT_HANDLE handle)
{
    const struct object *const object = token_find_object(&module.tokens[0], handle);

    if (rv == CKR_OK && (object == NULL || !rules_accept(&object->attributes))) {
        abort();
    }
}

static void keep_handle(CK_RV rv, CK_OBJECT_HANDLE handle)
{
    check_object(rv, handle);
    if (rv == CKR_OK && handle_count < MAX_HANDLES) {
        handles[handle_count++] = handle;
    }
}

static const CK_ULONG types[] = {
    CKA_CLASS, CKA_PRIVATE, CKA_LABEL, CKA_VALUE, CKA_CERTIFICATE_TYPE, CKA_ISSUER,
    CKA_SERIAL_NUMBER, CKA_TRUSTED, CKA_KEY_TYPE, CKA_SUBJECT, CKA_ID, CKA_SENSITIVE, CKA_ENCRYPT,
    CKA_DECRYPT, CKA_WRAP, CKA_UNWRAP, CKA_SIGN, CKA_VERIFY, CKA_DERIVE, CKA_START_DATE,
    CKA_MODULUS, CKA_MODULUS_BITS, CKA_PUBLIC_EXPONENT, CKA_PRIVATE_EXPONENT, CKA_PRIME_1,
    CKA_PRIME_2, CKA_EXPONENT_1, CKA_EXPONENT_2, CKA_COEFFICIENT, CKA_VALUE_LEN, CKA_EXTRACTABLE,
    CKA_LOCAL, CKA_NEVER_EXTRACTABLE, CKA_ALWAYS_SENSITIVE, CKA_MODIFIABLE, CKA_COPYABLE,
    CKA_DESTROYABLE, CKA_ALWAYS_AUTHENTICATE, CKA_WRAP_WITH_TRUSTED, CKA_ALLOWED_MECHANISMS,
    CKA_KEY_GEN_MECHANISM, CKA_WRAP_TEMPLATE, CKA_UNWRAP_TEMPLATE, CKA_EC_PARAMS, CKA_EC_POINT,
    CKA_PUBLIC_KEY_INFO, CKA_UNIQUE_ID, CKA_PROFILE_ID, CKA_PARAMETER_SET, CKA_SEED, CKA_ENCAPSULATE,
    CKA_DECAPSULATE, CKA_ENCAPSULATE_TEMPLATE, CKA_DECAPSULATE_TEMPLATE,
};

/* Numbers that mean something in a template, or nearly. */
static const CK_ULONG values[] = {
    0, 1, 2, 3, 4, 16, 24, 32, 511, 512, 4097, CKK_AES, CKK_RSA, CKK_EC, CKK_EC_EDWARDS,
    CKK_EC_MONTGOMERY, CKK_ML_KEM, CKK_ML_DSA, CKK_GENERIC_SECRET, CKK_CHACHA20, CKO_PROFILE, CKM_RSA_PKCS, CKM_ECDSA, ~0UL,
};

/* Curves, as CKA_EC_PARAMS names them. */
static const uint8_t p256[] = {0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07};
static const uint8_t p521[] = {0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23};
static const uint8_t ed25519[] = {0x06, 0x03, 0x2b, 0x65, 0x70};
static const uint8_t x25519[] = {0x06, 0x03, 0x2b, 0x65, 0x6e};
static const struct {
    const uint8_t *bytes;
    size_t size;
} curves[] = {{p256, sizeof p256}, {p521, sizeof p521}, {ed25519, sizeof ed25519},
              {x25519, sizeof x25519}};

enum { NAMED = sizeof curves / sizeof *curves };

/* Long keys would only take time. */
static CK_ULONG shortened(CK_ATTRIBUTE_TYPE type, CK_ULONG value)
{
    return type == CKA_MODULUS_BITS && value > 512 && value <= 4096 ? 512 : value;
}

/* A value of any bytes. */
static void take_value(CK_ATTRIBUTE *attribute)
{
    const uint8_t form = take();

    if (attribute->type == CKA_EC_PARAMS && form < 200) {
        const unsigned which = form % NAMED;

        attribute->ulValueLen = curves[which].size;
        attribute->pValue = allocate(curves[which].size);
        memcpy(attribute->pValue, curves[which].bytes, curves[which].size);
    } else if (form < 64) {
        attribute->ulValueLen = 1;
        attribute->pValue = take_bytes(1);
        *(uint8_t *)attribute->pValue &= attribute->type == CKA_TOKEN ? 0 : 3;
    } else if (form < 144) {
        attribute->ulValueLen = sizeof(CK_ULONG);
        attribute->pValue = allocate(sizeof(CK_ULONG));
        *(CK_ULONG *)attribute->pValue = shortened(attribute->type, TAKE_OF(values));
    } else if (form < 240) {
        attribute->ulValueLen = take();
        if (attribute->type == CKA_MODULUS_BITS && attribute->ulValueLen == sizeof(CK_ULONG)) {
            --attribute->ulValueLen;
        }
        attribute->pValue = take_bytes(attribute->ulValueLen);
    } else {
        attribute->ulValueLen = take() < 128 ? 0 : take_number();
    }
}

/* A template as a value: it holds pointers, which must be ours. Those within it are empty, or of a
   length without a value. */
static void take_items(CK_ATTRIBUTE *attribute)
{
    const CK_ULONG count = take() % MAX_ITEMS, less = take() < 240 ? 0 : take() % 24;
    CK_ATTRIBUTE *const items = allocate(count * sizeof *items);

    for (CK_ULONG i = 0; i < count; ++i) {
        items[i].type = TAKE_OF(types);
        if (rules_is_nested(items[i].type)) {
            items[i].ulValueLen = take() < 128 ? 0 : take_number();
        } else {
            take_value(&items[i]);
        }
    }
    attribute->pValue = items;
    attribute->ulValueLen = count * sizeof *items;
    attribute->ulValueLen -= attribute->ulValueLen ? less : 0;
}

static CK_ATTRIBUTE *take_template(CK_ULONG *count)
{
    CK_ATTRIBUTE *template;

    *count = take() % MAX_TEMPLATE;
    template = allocate(*count * sizeof *template);
    for (CK_ULONG i = 0; i < *count; ++i) {
        template[i].type = TAKE_OF(types);
        if (rules_is_nested(template[i].type)) {
            take_items(&template[i]);
        } else {
            take_value(&template[i]);
        }
    }
    return template;
}

static const CK_ULONG mechanisms[] = {
    CKM_RSA_X_509, CKM_RSA_PKCS, CKM_RSA_PKCS_OAEP, CKM_RSA_PKCS_PSS, CKM_SHA1_RSA_PKCS,
    CKM_SHA256_RSA_PKCS, CKM_SHA3_256_RSA_PKCS, CKM_SHA256_RSA_PKCS_PSS, CKM_SHA512_RSA_PKCS_PSS,
    CKM_RSA_AES_KEY_WRAP, CKM_AES_ECB, CKM_AES_CBC, CKM_AES_CBC_PAD, CKM_AES_CTR, CKM_AES_GCM,
    CKM_AES_CCM, CKM_CHACHA20_POLY1305, CKM_AES_KEY_WRAP, CKM_AES_KEY_WRAP_KWP, CKM_AES_KEY_WRAP_PAD,
    CKM_ECDSA, CKM_ECDSA_SHA256, CKM_ECDSA_SHA3_512, CKM_EDDSA, CKM_ECDH1_DERIVE,
    CKM_ECDH1_COFACTOR_DERIVE, CKM_ECDH_AES_KEY_WRAP, CKM_HKDF_DERIVE, CKM_HKDF_DATA,
    CKM_SP800_108_COUNTER_KDF, CKM_SP800_108_FEEDBACK_KDF, CKM_SP800_108_DOUBLE_PIPELINE_KDF,
    CKM_AES_ECB_ENCRYPT_DATA, CKM_AES_CBC_ENCRYPT_DATA, CKM_SHA_1_HMAC, CKM_SHA256_HMAC,
    CKM_SHA512_HMAC_GENERAL, CKM_SHA3_256_HMAC, CKM_AES_CMAC, CKM_AES_CMAC_GENERAL, CKM_SHA_1, CKM_SHA256, CKM_SHA512, CKM_SHA3_384,
    CKM_ML_KEM, CKM_ML_DSA, CKM_HASH_ML_DSA, CKM_HASH_ML_DSA_SHA256, CKM_HASH_ML_DSA_SHAKE256,
};
static const CK_ULONG generations[] = {
    CKM_AES_KEY_GEN, CKM_GENERIC_SECRET_KEY_GEN, CKM_CHACHA20_KEY_GEN, CKM_SHA256_KEY_GEN,
    CKM_RSA_PKCS_KEY_PAIR_GEN, CKM_EC_KEY_PAIR_GEN,
    CKM_EC_EDWARDS_KEY_PAIR_GEN, CKM_EC_MONTGOMERY_KEY_PAIR_GEN, CKM_ML_KEM_KEY_PAIR_GEN,
    CKM_ML_DSA_KEY_PAIR_GEN,
};
static const CK_ULONG digests[] = {CKM_SHA_1, CKM_SHA224, CKM_SHA256, CKM_SHA384, CKM_SHA512};
static const CK_ULONG masks[] = {CKG_MGF1_SHA1, CKG_MGF1_SHA224, CKG_MGF1_SHA256, CKG_MGF1_SHA384,
                                 CKG_MGF1_SHA512};

/* Bytes that a parameter points to, or none. */
static uint8_t *take_pointer(CK_ULONG *size)
{
    *size = take();
    return take() < 240 ? take_bytes(*size) : NULL;
}

static CK_RSA_PKCS_OAEP_PARAMS *take_oaep(void)
{
    CK_RSA_PKCS_OAEP_PARAMS *const made = allocate(sizeof *made);

    made->hashAlg = TAKE_OF(digests);
    made->mgf = TAKE_OF(masks);
    made->source = take() % 3;
    made->pSourceData = take_pointer(&made->ulSourceDataLen);
    return made;
}

static CK_RSA_AES_KEY_WRAP_PARAMS *take_rsa_aes(void)
{
    CK_RSA_AES_KEY_WRAP_PARAMS *const made = allocate(sizeof *made);

    made->ulAESKeyBits = TAKE_OF(values) * 8;
    made->pOAEPParams = take() < 240 ? take_oaep() : NULL;
    return made;
}

static CK_RSA_PKCS_PSS_PARAMS *take_pss(void)
{
    CK_RSA_PKCS_PSS_PARAMS *const made = allocate(sizeof *made);

    made->hashAlg = TAKE_OF(digests);
    made->mgf = TAKE_OF(masks);
    made->sLen = TAKE_OF(values);
    return made;
}

static CK_GCM_PARAMS *take_gcm(void)
{
    CK_GCM_PARAMS *const made = allocate(sizeof *made);

    made->pIv = take_pointer(&made->ulIvLen);
    made->ulIvBits = 8 * made->ulIvLen;
    made->pAAD = take_pointer(&made->ulAADLen);
    made->ulTagBits = TAKE_OF(values) * 4;
    return made;
}

static CK_CCM_PARAMS *take_ccm(void)
{
    CK_CCM_PARAMS *const made = allocate(sizeof *made);

    made->ulDataLen = take() < 240 ? take() : take_number();
    made->pNonce = take_pointer(&made->ulNonceLen);
    made->pAAD = take_pointer(&made->ulAADLen);
    made->ulMACLen = TAKE_OF(values);
    return made;
}

static CK_SALSA20_CHACHA20_POLY1305_PARAMS *take_chacha(void)
{
    CK_SALSA20_CHACHA20_POLY1305_PARAMS *const made = allocate(sizeof *made);

    made->pNonce = take_pointer(&made->ulNonceLen);
    made->pAAD = take_pointer(&made->ulAADLen);
    return made;
}

static CK_AES_CTR_PARAMS *take_counter(void)
{
    CK_AES_CTR_PARAMS *const made = allocate(sizeof *made);

    made->ulCounterBits = take();
    memcpy(made->cb, take_bytes(sizeof made->cb), sizeof made->cb);
    return made;
}

static CK_EDDSA_PARAMS *take_eddsa(void)
{
    CK_EDDSA_PARAMS *const made = allocate(sizeof *made);

    made->phFlag = take() % 2;
    made->pContextData = take_pointer(&made->ulContextDataLen);
    return made;
}

static const CK_ULONG kdfs[] = {CKD_NULL, CKD_SHA1_KDF, CKD_SHA256_KDF, CKD_SHA256_KDF_SP800};

static CK_ECDH_AES_KEY_WRAP_PARAMS *take_ecdh_aes(void)
{
    CK_ECDH_AES_KEY_WRAP_PARAMS *const made = allocate(sizeof *made);

    made->ulAESKeyBits = TAKE_OF(values) * 8;
    made->kdf = TAKE_OF(kdfs);
    made->pSharedData = take_pointer(&made->ulSharedDataLen);
    return made;
}

/* A public key is that of an object, or any bytes. */
static CK_ECDH1_DERIVE_PARAMS *take_ecdh(void)
{
    CK_ECDH1_DERIVE_PARAMS *const made = allocate(sizeof *made);
    CK_ATTRIBUTE point = {CKA_EC_POINT, allocate(160), 160};

    made->kdf = TAKE_OF(kdfs);
    made->pSharedData = take_pointer(&made->ulSharedDataLen);
    if (take() < 160 && C_GetAttributeValue(session, take_handle(), &point, 1) == CKR_OK) {
        made->pPublicData = point.pValue;
        made->ulPublicDataLen = point.ulValueLen;
    } else {
        made->pPublicData = take_pointer(&made->ulPublicDataLen);
    }
    return made;
}

static CK_HKDF_PARAMS *take_hkdf(void)
{
    CK_HKDF_PARAMS *const made = allocate(sizeof *made);

    made->bExtract = take() % 2;
    made->bExpand = take() % 2;
    made->prfHashMechanism = TAKE_OF(digests);
    made->ulSaltType = take() % 6;
    made->pSalt = take_pointer(&made->ulSaltLen);
    made->hSaltKey = take_handle();
    made->pInfo = take_pointer(&made->ulInfoLen);
    return made;
}

/* A field of SP 800-108: often one with a format. */
static void take_field(CK_PRF_DATA_PARAM *field)
{
    static const CK_ULONG kinds[] = {CK_SP800_108_ITERATION_VARIABLE, CK_SP800_108_COUNTER,
                                     CK_SP800_108_DKM_LENGTH, CK_SP800_108_BYTE_ARRAY};

    field->type = TAKE_OF(kinds);
    if (take() < 64) {
        field->pValue = take_pointer(&field->ulValueLen);
    } else if (field->type == CK_SP800_108_DKM_LENGTH) {
        CK_SP800_108_DKM_LENGTH_FORMAT *const made = allocate(sizeof *made);

        *made = (CK_SP800_108_DKM_LENGTH_FORMAT){take() % 4, take() % 2, 8 * (take() % 10)};
        field->pValue = made;
        field->ulValueLen = sizeof *made;
    } else if (field->type != CK_SP800_108_BYTE_ARRAY && take() < 192) {
        CK_SP800_108_COUNTER_FORMAT *const made = allocate(sizeof *made);

        *made = (CK_SP800_108_COUNTER_FORMAT){take() % 2, 8 * (take() % 6)};
        field->pValue = made;
        field->ulValueLen = sizeof *made;
    }
}

/* Those of all its modes: the feedback has two members more. */
static void take_kbkdf(CK_SP800_108_FEEDBACK_KDF_PARAMS *made)
{
    static const CK_ULONG functions[] = {CKM_SHA_1_HMAC, CKM_SHA256_HMAC, CKM_SHA3_512_HMAC,
                                         CKM_AES_CMAC};

    made->prfType = TAKE_OF(functions);
    made->ulNumberOfDataParams = take() % 20;
    made->pDataParams = allocate(made->ulNumberOfDataParams * sizeof *made->pDataParams);
    for (CK_ULONG i = 0; i < made->ulNumberOfDataParams; ++i) {
        take_field(&made->pDataParams[i]);
    }
    made->pIV = take_pointer(&made->ulIVLen);
    made->ulAdditionalDerivedKeys = take() < 240 ? 0 : take();
}

static void set_parameter(CK_MECHANISM *mechanism, void *parameter, CK_ULONG size)
{
    mechanism->pParameter = parameter;
    mechanism->ulParameterLen = size;
}

/* Data that is encrypted for a key: whole blocks, or nearly. */
static void set_encrypted(CK_MECHANISM *mechanism)
{
    CK_AES_CBC_ENCRYPT_DATA_PARAMS *const chained = allocate(sizeof *chained);
    CK_KEY_DERIVATION_STRING_DATA *const plain = allocate(sizeof *plain);
    CK_ULONG size = take() % 5 * 16 + (take() < 240 ? 0 : take() % 16);

    plain->ulLen = chained->length = size;
    plain->pData = chained->pData = take() < 240 ? take_bytes(size) : NULL;
    memcpy(chained->iv, take_bytes(sizeof chained->iv), sizeof chained->iv);
    if (mechanism->mechanism == CKM_AES_CBC_ENCRYPT_DATA) {
        set_parameter(mechanism, chained, sizeof *chained);
    } else {
        set_parameter(mechanism, plain, sizeof *plain);
    }
}

static void set_kbkdf(CK_MECHANISM *mechanism)
{
    CK_SP800_108_FEEDBACK_KDF_PARAMS *const made = allocate(sizeof *made);
    CK_SP800_108_KDF_PARAMS *const plain = allocate(sizeof *plain);

    take_kbkdf(made);
    *plain = (CK_SP800_108_KDF_PARAMS){made->prfType, made->ulNumberOfDataParams, made->pDataParams,
                                       made->ulAdditionalDerivedKeys, NULL};
    if (mechanism->mechanism == CKM_SP800_108_FEEDBACK_KDF) {
        set_parameter(mechanism, made, sizeof *made);
    } else {
        set_parameter(mechanism, plain, sizeof *plain);
    }
}

static struct hash_sign_context *take_sign_context(void)
{
    struct hash_sign_context *const made = allocate(sizeof *made);

    made->sign.hedge = take() % 4;
    made->sign.context = take_pointer(&made->sign.context_size);
    made->hash = take_of(digests, sizeof digests / sizeof *digests);
    return made;
}

/* The parameters that a mechanism has: those with pointers are of no other one. */
static void take_own_parameter(CK_MECHANISM *mechanism)
{
    CK_ULONG number;

    switch (mechanism->mechanism) {
    case CKM_RSA_PKCS_OAEP:
        set_parameter(mechanism, take_oaep(), sizeof(CK_RSA_PKCS_OAEP_PARAMS));
        break;
    case CKM_RSA_AES_KEY_WRAP:
        set_parameter(mechanism, take_rsa_aes(), sizeof(CK_RSA_AES_KEY_WRAP_PARAMS));
        break;
    case CKM_AES_GCM:
        set_parameter(mechanism, take_gcm(), sizeof(CK_GCM_PARAMS));
        break;
    case CKM_AES_CCM:
        set_parameter(mechanism, take_ccm(), sizeof(CK_CCM_PARAMS));
        break;
    case CKM_CHACHA20_POLY1305:
        set_parameter(mechanism, take_chacha(), sizeof(CK_SALSA20_CHACHA20_POLY1305_PARAMS));
        break;
    case CKM_ECDH_AES_KEY_WRAP:
        set_parameter(mechanism, take_ecdh_aes(), sizeof(CK_ECDH_AES_KEY_WRAP_PARAMS));
        break;
    case CKM_SP800_108_COUNTER_KDF:
    case CKM_SP800_108_FEEDBACK_KDF:
    case CKM_SP800_108_DOUBLE_PIPELINE_KDF:
        set_kbkdf(mechanism);
        break;
    case CKM_AES_ECB_ENCRYPT_DATA:
    case CKM_AES_CBC_ENCRYPT_DATA:
        set_encrypted(mechanism);
        break;
    case CKM_AES_CTR:
        set_parameter(mechanism, take_counter(), sizeof(CK_AES_CTR_PARAMS));
        break;
    case CKM_AES_CBC:
    case CKM_AES_CBC_PAD:
        set_parameter(mechanism, take_bytes(16), 16);
        break;
    case CKM_ML_DSA:
    case CKM_HASH_ML_DSA_SHA256:
    case CKM_HASH_ML_DSA_SHAKE256:
        set_parameter(mechanism, take_sign_context(), sizeof(struct sign_context));
        break;
    case CKM_HASH_ML_DSA:
        set_parameter(mechanism, take_sign_context(), sizeof(struct hash_sign_context));
        break;
    case CKM_EDDSA:
        set_parameter(mechanism, take_eddsa(), sizeof(CK_EDDSA_PARAMS));
        break;
    case CKM_ECDH1_DERIVE:
    case CKM_ECDH1_COFACTOR_DERIVE:
        set_parameter(mechanism, take_ecdh(), sizeof(CK_ECDH1_DERIVE_PARAMS));
        break;
    case CKM_HKDF_DERIVE:
    case CKM_HKDF_DATA:
        set_parameter(mechanism, take_hkdf(), sizeof(CK_HKDF_PARAMS));
        break;
    case CKM_SHA512_HMAC_GENERAL:
    case CKM_AES_CMAC_GENERAL:
        number = TAKE_OF(values);
        set_parameter(mechanism, memcpy(allocate(sizeof number), &number, sizeof number),
                      sizeof number);
        break;
    case CKM_RSA_PKCS_PSS:
    case CKM_SHA256_RSA_PKCS_PSS:
    case CKM_SHA512_RSA_PKCS_PSS:
        set_parameter(mechanism, take_pss(), sizeof(CK_RSA_PKCS_PSS_PARAMS));
        break;
    default:
        break; /* it has none */
    }
}

/* With parameters that the mechanism has, or with any bytes but pointers, or none. */
static CK_MECHANISM *take_mechanism(void)
{
    CK_MECHANISM *const mechanism = allocate(sizeof *mechanism);
    const uint8_t form = take();

    mechanism->mechanism = TAKE_OF(mechanisms);
    if (form < 170) {
        take_own_parameter(mechanism);
    } else if (form < 210) {
        CK_ULONG size = take() % 24; /* a structure with pointers has 16 bytes, or 24 and more */

        size -= size == sizeof(CK_RSA_AES_KEY_WRAP_PARAMS);
        set_parameter(mechanism, take_bytes(size), size);
    }
    return mechanism;
}

/* The parameter of a message, whose nonce and tag are as long as it says; null if the mechanism has
   none. */
static void *take_message(CK_MECHANISM_TYPE type, CK_ULONG text_size, CK_ULONG *size)
{
    const CK_ULONG nonce_size = take() < 192 ? 12 : take() % 64, tag_size = take() % 20;
    uint8_t *const nonce = take_bytes(nonce_size), *const tag = take_bytes(16 > tag_size ? 16 : tag_size);
    CK_GCM_MESSAGE_PARAMS *const gcm = allocate(sizeof *gcm);
    CK_CCM_MESSAGE_PARAMS *const ccm = allocate(sizeof *ccm);
    CK_SALSA20_CHACHA20_POLY1305_MSG_PARAMS *const chacha = allocate(sizeof *chacha);

    switch (type) {
    case CKM_AES_GCM:
        *gcm = (CK_GCM_MESSAGE_PARAMS){nonce, nonce_size, take(), take() % 6, tag, 8 * tag_size};
        *size = sizeof *gcm;
        return gcm;
    case CKM_AES_CCM:
        *ccm = (CK_CCM_MESSAGE_PARAMS){text_size, nonce, nonce_size, take(), take() % 6, tag, tag_size};
        *size = sizeof *ccm;
        return ccm;
    default:
        *chacha = (CK_SALSA20_CHACHA20_POLY1305_MSG_PARAMS){nonce, nonce_size, tag};
        *size = sizeof *chacha;
        return chacha;
    }
}

static const CK_ULONG authenticated[] = {CKM_AES_GCM, CKM_AES_CCM, CKM_CHACHA20_POLY1305};

/* A call with messages that are enciphered, in any order. */
static void encipher_messages(void)
{
    CK_MECHANISM mechanism = {TAKE_OF(authenticated), NULL, 0};
    CK_ULONG size = take(), data_size = take() % 32, parameter_size = 0, output_size = take();
    uint8_t *const text = take_bytes(size), *const data = take_bytes(data_size);
    uint8_t *const output = take() < 240 ? allocate(output_size) : NULL;
    void *const given = take_message(mechanism.mechanism, take() < 128 ? size : take(), &parameter_size);
    const bool encrypts = take() % 2;

    switch (take() % 6) {
    case 0:
        (void)(encrypts ? C_MessageEncryptInit : C_MessageDecryptInit)(session, &mechanism,
                                                                       take_handle());
        break;
    case 1:
        (void)(encrypts ? C_EncryptMessage : C_DecryptMessage)(
            session, given, parameter_size, data, data_size, text, size, output, &output_size);
        break;
    case 2:
        (void)(encrypts ? C_EncryptMessageBegin : C_DecryptMessageBegin)(
            session, given, parameter_size, data, data_size);
        break;
    case 3:
    case 4:
        (void)(encrypts ? C_EncryptMessageNext : C_DecryptMessageNext)(
            session, given, parameter_size, text, size, output, &output_size, take() % 4);
        break;
    default:
        (void)(encrypts ? C_MessageEncryptFinal : C_MessageDecryptFinal)(session);
    }
}

static void begin(void)
{
    CK_MECHANISM *const mechanism = take() < 250 ? take_mechanism() : NULL;

    switch (take() % 8) {
    case 7:
        (void)C_VerifySignatureInit(session, mechanism, take_handle(), take_bytes(2420),
                                    take() < 192 ? 2420 : take());
        break;
    case 0:
        (void)C_SignInit(session, mechanism, take_handle());
        break;
    case 1:
        (void)C_VerifyInit(session, mechanism, take_handle());
        break;
    case 2:
        (void)C_EncryptInit(session, mechanism, take_handle());
        break;
    case 3:
        (void)C_DecryptInit(session, mechanism, take_handle());
        break;
    case 4:
        (void)C_MessageSignInit(session, mechanism, take_handle());
        break;
    case 5:
        (void)C_MessageVerifyInit(session, mechanism, take_handle());
        break;
    default:
        (void)C_DigestInit(session, mechanism);
    }
}

static void finish(void)
{
    static CK_RV (*const whole[])(CK_SESSION_HANDLE, CK_BYTE_PTR, CK_ULONG, CK_BYTE_PTR,
                                  CK_ULONG_PTR) = {
        C_Sign, C_Encrypt, C_Decrypt, C_Digest, C_EncryptUpdate, C_DecryptUpdate,
    };
    static CK_RV (*const update[])(CK_SESSION_HANDLE, CK_BYTE_PTR, CK_ULONG) = {
        C_SignUpdate, C_VerifyUpdate, C_DigestUpdate, C_VerifyFinal, C_VerifySignature,
        C_VerifySignatureUpdate,
    };
    static CK_RV (*const final[])(CK_SESSION_HANDLE, CK_BYTE_PTR, CK_ULONG_PTR) = {
        C_SignFinal, C_EncryptFinal, C_DecryptFinal, C_DigestFinal,
    };
    const uint8_t which = take();
    CK_ULONG size = take(), output_size = take() < 128 ? MAX_OUTPUT : take();
    uint8_t *const data = take_bytes(size);
    uint8_t *const output = take() < 240 ? allocate(output_size) : NULL;

    if (which < 96) {
        (void)whole[which % 6](session, data, size, output, &output_size);
    } else if (which < 160) {
        (void)update[which % 6](session, data, size);
    } else if (which < 224) {
        (void)final[which % 4](session, output, &output_size);
        (void)(which % 8 == 7 ? C_VerifySignatureFinal(session) : CKR_OK);
    } else if (which < 240) {
        (void)C_Verify(session, data, size, output, output_size);
    } else if (which < 246) {
        (void)C_SignMessage(session, NULL, 0, data, size, output, &output_size);
    } else if (which < 252) {
        (void)C_VerifyMessage(session, NULL, 0, data, size, output, output_size);
    } else {
        (void)(which % 2 ? C_MessageSignFinal : C_MessageVerifyFinal)(session);
    }
}

static void make(void)
{
    CK_MECHANISM generate = {TAKE_OF(generations), NULL, 0};
    CK_ULONG count, private_count;
    CK_ATTRIBUTE *const template = take_template(&count);
    CK_OBJECT_HANDLE made = 0, private = 0;
    CK_MECHANISM *mechanism;
    CK_ATTRIBUTE *second;
    uint8_t *wrapped;
    CK_ULONG size;

    switch (take() % 7) {
    case 5:
        mechanism = take_mechanism();
        size = MAX_OUTPUT;
        keep_handle(C_EncapsulateKey(session, mechanism, take_handle(), template, count,
                                     allocate(size), &size, &made),
                    made);
        break;
    case 6:
        mechanism = take_mechanism();
        size = take() < 192 ? 768 : take();
        wrapped = take_bytes(size);
        keep_handle(C_DecapsulateKey(session, mechanism, take_handle(), template, count, wrapped, size,
                                     &made),
                    made);
        break;
    case 0:
        keep_handle(C_CreateObject(session, template, count, &made), made);
        break;
    case 1:
        keep_handle(C_CopyObject(session, take_handle(), template, count, &made), made);
        break;
    case 2:
        mechanism = take_mechanism();
        size = take();
        wrapped = take_bytes(size);
        keep_handle(C_UnwrapKey(session, mechanism, take_handle(), wrapped, size, template, count,
                                &made),
                    made);
        break;
    case 3:
        mechanism = take_mechanism();
        keep_handle(C_DeriveKey(session, mechanism, take_handle(), template, count, &made), made);
        break;
    default:
        if (generate.mechanism == CKM_AES_KEY_GEN || generate.mechanism == CKM_CHACHA20_KEY_GEN ||
            generate.mechanism == CKM_GENERIC_SECRET_KEY_GEN ||
            generate.mechanism == CKM_SHA256_KEY_GEN) {
            keep_handle(C_GenerateKey(session, &generate, template, count, &made), made);
            break;
        }
        second = take_template(&private_count);
        keep_handle(C_GenerateKeyPair(session, &generate, template, count, second, private_count,
                                      &made, &private),
                    private);
    }
}

/* Places for what a template is asked for: of the items of an array, too. */
static void make_places(CK_ATTRIBUTE *template, CK_ULONG count)
{
    for (CK_ULONG i = 0; i < count; ++i) {
        CK_ATTRIBUTE *const wanted = &template[i];
        CK_ATTRIBUTE *items;

        if (rules_is_nested(wanted->type) && take() < 192) {
            wanted->ulValueLen = take() % (MAX_ITEMS + 1) * sizeof *items;
            items = wanted->pValue = allocate(wanted->ulValueLen);
            for (CK_ULONG k = 0; k < wanted->ulValueLen / sizeof *items; ++k) {
                items[k].ulValueLen = take() % 32;
                items[k].pValue = take() < 64 ? NULL : allocate(items[k].ulValueLen);
            }
        } else {
            wanted->ulValueLen %= MAX_OUTPUT;
            wanted->pValue = take() < 128 ? NULL : allocate(wanted->ulValueLen);
        }
    }
}

static void read_or_change(void)
{
    CK_ULONG count, size = take() < 128 ? MAX_OUTPUT : take();
    CK_ATTRIBUTE *const template = take_template(&count);
    CK_OBJECT_HANDLE found[4], changed;

    switch (take() % 4) {
    case 0:
        changed = take_handle();
        check_object(C_SetAttributeValue(session, changed, template, count), changed);
        break;
    case 1:
        make_places(template, count);
        (void)C_GetAttributeValue(session, take_handle(), template, count);
        break;
    case 2:
        if (C_FindObjectsInit(session, template, count) == CKR_OK) {
            (void)C_FindObjects(session, found, 4, &count);
            (void)C_FindObjectsFinal(session);
        }
        break;
    default:
        (void)C_WrapKey(session, take_mechanism(), take_handle(), take_handle(), allocate(size),
                        &size);
    }
}

/* Use a list as an object's attributes are used. */
static void use(const struct attributes *list)
{
    CK_ATTRIBUTE_TYPE type;
    struct nested nested;
    struct value value;
    size_t place = 0;

    while (attributes_next(list, &place, &type, &value)) {
        (void)attributes_get(list, type);
        (void)attributes_bool(list, type, false);
        (void)attributes_ulong(list, type, 0);
        (void)rules_hides(list, type);
    }
    (void)rules_accept(list);
    if (nested_read(&nested, list, CKA_WRAP_TEMPLATE)) {
        (void)rules_match(list, nested.items, nested.count);
        attributes_free(&nested.list);
    }
    key_release(key_new(&module.crypto, list));
}

/* A list of the store, whatever is in it. */
static void parse(void)
{
    const size_t size = take();
    const uint8_t *const bytes = take_bytes(size);
    struct attributes list;

    if (attributes_parse(&list, bytes, size, take() < 128)) {
        use(&list);
        (void)attributes_set(&list, TAKE_OF(types), bytes, size);
        use(&list);
        attributes_free(&list);
    }
}

/* A copy of an object with a value that no call would give it, as a file may have it. */
static void plant(void)
{
    struct object *const object = token_find_object(&module.tokens[0], take_handle());
    const CK_ATTRIBUTE_TYPE type = TAKE_OF(types);
    const size_t size = take();
    struct attributes copy;

    if (object && attributes_copy(&copy, &object->attributes, take() < 64)) {
        (void)attributes_set(&copy, type, take_bytes(size), size);
        use(&copy);
        attributes_free(&copy);
    }
}

static void open_session(CK_SESSION_HANDLE *opened)
{
    must(C_OpenSession(0, CKF_SERIAL_SESSION | CKF_RW_SESSION, NULL, NULL, opened));
}

/* Pairs on curves, which sign or derive. */
static void make_pairs_on_curves(void)
{
    static const CK_MECHANISM_TYPE kinds[NAMED] = {
        CKM_EC_KEY_PAIR_GEN, CKM_EC_KEY_PAIR_GEN, CKM_EC_EDWARDS_KEY_PAIR_GEN,
        CKM_EC_MONTGOMERY_KEY_PAIR_GEN};
    static CK_BBOOL yes = CK_TRUE, no = CK_FALSE;

    for (int i = 0; i < NAMED; ++i) {
        CK_ATTRIBUTE public[] = {{CKA_EC_PARAMS, (void *)curves[i].bytes, curves[i].size},
                                 {CKA_MODIFIABLE, &no, 1}};
        CK_ATTRIBUTE private[] = {{CKA_DERIVE, &yes, 1}, {CKA_MODIFIABLE, &no, 1}};
        CK_MECHANISM mechanism = {kinds[i], NULL, 0};

        must(C_GenerateKeyPair(keeper, &mechanism, public, 2, private, 2, &handles[kept_count],
                               &handles[kept_count + 1]));
        kept_count += 2;
    }
}

/* Pairs of ML-KEM-512 and ML-DSA-44. */
static void make_pairs_on_lattices(void)
{
    static CK_BBOOL no = CK_FALSE;
    static CK_ULONG set = 1;

    for (int i = 0; i < 2; ++i) {
        CK_ATTRIBUTE template[] = {{CKA_MODIFIABLE, &no, 1}, {CKA_PARAMETER_SET, &set, sizeof set}};
        CK_MECHANISM mechanism = {i ? CKM_ML_DSA_KEY_PAIR_GEN : CKM_ML_KEM_KEY_PAIR_GEN, NULL, 0};

        must(C_GenerateKeyPair(keeper, &mechanism, template, 2, template, 1, &handles[kept_count],
                               &handles[kept_count + 1]));
        kept_count += 2;
    }
}

/* Where the key of ChaCha20, and the pair of ML-KEM are. */
enum { CHACHA = 4, KEM = 5 + 2 * NAMED };

/* Keys that every input finds: pairs, and secret keys, which may all do everything. No input changes
   them, so that later ones can use them. */
static void make_keys(void)
{
    static CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
    static CK_ULONG bits = 512, length = 16;
    CK_ATTRIBUTE public[] = {{CKA_MODULUS_BITS, &bits, sizeof bits},
                             {CKA_MODIFIABLE, &no, 1},
                             {CKA_WRAP, &yes, 1}};
    CK_ATTRIBUTE private[] = {{CKA_UNWRAP, &yes, 1},
                              {CKA_MODIFIABLE, &no, 1},
                              {CKA_DECRYPT, &yes, 1},
                              {CKA_EXTRACTABLE, &yes, 1},
                              {CKA_SENSITIVE, &no, 1}};
    CK_ATTRIBUTE items[] = {{CKA_EXTRACTABLE, &yes, 1}};
    CK_ATTRIBUTE secret[] = {{CKA_VALUE_LEN, &length, sizeof length},
                             {CKA_MODIFIABLE, &no, 1},
                             {CKA_WRAP, &yes, 1},
                             {CKA_UNWRAP, &yes, 1},
                             {CKA_ENCRYPT, &yes, 1},
                             {CKA_DECRYPT, &yes, 1},
                             {CKA_DERIVE, &yes, 1},
                             {CKA_EXTRACTABLE, &yes, 1},
                             {CKA_WRAP_TEMPLATE, items, sizeof items},
                             {CKA_UNWRAP_TEMPLATE, items, sizeof items}};
    CK_ATTRIBUTE shared[] = {{CKA_VALUE_LEN, &length, sizeof length}, {CKA_MODIFIABLE, &no, 1}};
    CK_MECHANISM pair = {CKM_RSA_PKCS_KEY_PAIR_GEN, NULL, 0}, aes = {CKM_AES_KEY_GEN, NULL, 0};
    CK_MECHANISM generic = {CKM_GENERIC_SECRET_KEY_GEN, NULL, 0};
    CK_MECHANISM chacha = {CKM_CHACHA20_KEY_GEN, NULL, 0};

    must(C_GenerateKeyPair(keeper, &pair, public, 3, private, 5, &handles[0], &handles[1]));
    must(C_GenerateKey(keeper, &aes, secret, sizeof secret / sizeof *secret, &handles[2]));
    must(C_GenerateKey(keeper, &generic, shared, 2, &handles[3]));
    must(C_GenerateKey(keeper, &chacha, &shared[1], 1, &handles[CHACHA]));
    kept_count = 5;
    make_pairs_on_curves();
    make_pairs_on_lattices();
}

/* Texts, keys and secrets that go and come back: each call succeeds, and gives what is right. */

/* The parameter of a mode, as it is allowed for a text of this length. */
static void take_mode(CK_MECHANISM *mode, CK_ULONG size)
{
    static const CK_ULONG modes[] = {CKM_AES_ECB, CKM_AES_CBC, CKM_AES_CBC_PAD, CKM_AES_CTR,
                                     CKM_AES_GCM, CKM_AES_CCM, CKM_CHACHA20_POLY1305};
    CK_SALSA20_CHACHA20_POLY1305_PARAMS *chacha;
    CK_AES_CTR_PARAMS *counter;
    CK_GCM_PARAMS *gcm;
    CK_CCM_PARAMS *ccm;

    *mode = (CK_MECHANISM){modes[take() % (sizeof modes / sizeof *modes)], NULL, 0};
    take_own_parameter(mode);
    counter = mode->pParameter;
    gcm = mode->pParameter;
    if (mode->mechanism == CKM_AES_CTR) {
        counter->ulCounterBits = 32 + counter->ulCounterBits % 97;
        counter->cb[12] = 0; /* it does not overflow */
    } else if (mode->mechanism == CKM_AES_GCM) {
        gcm->ulIvLen = 1 + gcm->ulIvLen % 128;
        gcm->pIv = take_bytes(gcm->ulIvLen);
        gcm->ulAADLen = gcm->pAAD ? gcm->ulAADLen : 0;
        gcm->ulTagBits = 32 + gcm->ulTagBits % 13 * 8;
    } else if (mode->mechanism == CKM_AES_CCM) {
        ccm = mode->pParameter;
        ccm->ulDataLen = size;
        ccm->ulNonceLen = 7 + ccm->ulNonceLen % 7;
        ccm->pNonce = take_bytes(ccm->ulNonceLen);
        ccm->ulAADLen = ccm->pAAD ? ccm->ulAADLen : 0;
        ccm->ulMACLen = 4 + ccm->ulMACLen % 7 * 2;
    } else if (mode->mechanism == CKM_CHACHA20_POLY1305) {
        chacha = mode->pParameter;
        chacha->ulNonceLen = 12;
        chacha->pNonce = take_bytes(12);
        chacha->ulAADLen = chacha->pAAD ? chacha->ulAADLen : 0;
    }
}

typedef CK_RV update_call(CK_SESSION_HANDLE, CK_BYTE *, CK_ULONG, CK_BYTE *, CK_ULONG *);
typedef CK_RV final_call(CK_SESSION_HANDLE, CK_BYTE *, CK_ULONG *);

/* Pass a text through an operation that was begun, in one call, or in parts that may lie over what they
   give. The text's memory has room for the result, which replaces it. */
static CK_ULONG pass(update_call *whole, update_call *update, final_call *final, CK_BYTE *text,
                     CK_ULONG size, CK_ULONG room)
{
    CK_BYTE *const result = allocate(room);
    CK_ULONG made = 0, length = room;

    if (take() < 96) {
        must(whole(session, text, size, text, &length));
        return length;
    }
    for (CK_ULONG at = 0, part; at < size; at += part) {
        CK_BYTE *const place = allocate(size + 32 + 16); /* with the part somewhere in it */
        const CK_ULONG shift = take() % 16;

        part = 1 + take() % 64;
        part = part < size - at ? part : size - at;
        memcpy(place, text + at, part);
        length = size + 32;
        must(update(session, place, part, place + shift, &length));
        memcpy(result + made, place + shift, length);
        made += length;
    }
    length = room - made;
    must(final(session, result + made, &length));
    memcpy(text, result, made + length);
    return made + length;
}

static void encrypt_and_decrypt(void)
{
    CK_MECHANISM mode;
    CK_ULONG size = take(), room = size + 64, made;
    CK_BYTE *const text = allocate(room), *before;
    CK_OBJECT_HANDLE key;

    take_mode(&mode, size);
    key = handles[mode.mechanism == CKM_CHACHA20_POLY1305 ? CHACHA : 2];
    size -= mode.mechanism == CKM_AES_ECB || mode.mechanism == CKM_AES_CBC ? size % 16 : 0;
    before = take_bytes(size);
    memcpy(text, before, size);
    must(C_EncryptInit(session, &mode, key));
    made = pass(C_Encrypt, C_EncryptUpdate, C_EncryptFinal, text, size, room);
    (void)note(ENCRYPTIONS, CKR_OK);
    must(C_DecryptInit(session, &mode, key));
    made = pass(C_Decrypt, C_DecryptUpdate, C_DecryptFinal, text, made, room);
    (void)note(DECRYPTIONS, CKR_OK);
    if (made != size || memcmp(text, before, size) != 0) {
        abort();
    }
}

/* A key that is shown, wrapped and unwrapped. */
static void wrap_and_unwrap(void)
{
    static const CK_ULONG wraps[] = {CKM_AES_KEY_WRAP, CKM_AES_KEY_WRAP_KWP, CKM_AES_KEY_WRAP_PAD,
                                     CKM_AES_CBC_PAD};
    static CK_OBJECT_CLASS class = CKO_SECRET_KEY;
    static CK_KEY_TYPE type = CKK_GENERIC_SECRET;
    static CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
    CK_ULONG size = 16 + take() % 8 * 8, room = 64 + 320, length = 64;
    CK_BYTE *const value = take_bytes(size), *const wrapped = allocate(room);
    CK_BYTE *const found = allocate(length);
    CK_ATTRIBUTE template[] = {{CKA_CLASS, &class, sizeof class}, {CKA_KEY_TYPE, &type, sizeof type},
                               {CKA_SENSITIVE, &no, 1},           {CKA_EXTRACTABLE, &yes, 1},
                               {CKA_VALUE, value, size}};
    CK_ATTRIBUTE wanted = {CKA_VALUE, found, length};
    CK_MECHANISM mechanism = {wraps[take() % 4], NULL, 0};
    CK_OBJECT_HANDLE key, back;

    size = template[4].ulValueLen = size < length ? size : length;
    take_own_parameter(&mechanism);
    must(C_CreateObject(session, template, 5, &key));
    must(note(WRAPS, C_WrapKey(session, &mechanism, handles[2], key, wrapped, &room)));
    must(note(UNWRAPS, C_UnwrapKey(session, &mechanism, handles[2], wrapped, room, template, 4,
                                      &back)));
    must(C_GetAttributeValue(session, back, &wanted, 1));
    if (wanted.ulValueLen != size || memcmp(found, value, size) != 0) {
        abort();
    }
}

/* Both sides have the same key, and a ciphertext with another bit gives another one. */
static void encapsulate_and_decapsulate(void)
{
    static CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
    CK_ATTRIBUTE shown[] = {{CKA_SENSITIVE, &no, 1}, {CKA_EXTRACTABLE, &yes, 1}};
    CK_MECHANISM mechanism = {CKM_ML_KEM, NULL, 0};
    CK_BYTE values[3][32], *const text = allocate(768);
    CK_ULONG size = 768, place = take() * 3u;
    CK_OBJECT_HANDLE keys[3];

    must(note(ENCAPSULATIONS, C_EncapsulateKey(session, &mechanism, handles[KEM], shown, 2, text, &size,
                                               &keys[0])));
    if (getenv("FUZZ_ENGINE") == NULL) {
        return;
    }
    must(C_DecapsulateKey(session, &mechanism, handles[KEM + 1], shown, 2, text, size, &keys[1]));
    text[place] ^= (CK_BYTE)(1u << take() % 8);
    must(C_DecapsulateKey(session, &mechanism, handles[KEM + 1], shown, 2, text, size, &keys[2]));
    for (int i = 0; i < 3; ++i) {
        CK_ATTRIBUTE value = {CKA_VALUE, values[i], sizeof values[i]};

        must(C_GetAttributeValue(session, keys[i], &value, 1));
        if ((memcmp(values[0], values[i], sizeof values[i]) == 0) != (i < 2)) {
            abort();
        }
    }
}

/* A key that is derived twice by HKDF is the same. */
static void derive_twice(void)
{
    static CK_OBJECT_CLASS class = CKO_SECRET_KEY;
    static CK_KEY_TYPE type = CKK_GENERIC_SECRET;
    static CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
    CK_ULONG size = 1 + take(), secret_size = 1 + take() % 64;
    CK_ATTRIBUTE base[] = {{CKA_CLASS, &class, sizeof class},
                           {CKA_KEY_TYPE, &type, sizeof type},
                           {CKA_DERIVE, &yes, 1},
                           {CKA_VALUE, take_bytes(secret_size), secret_size}};
    CK_ATTRIBUTE shown[] = {{CKA_SENSITIVE, &no, 1},
                            {CKA_EXTRACTABLE, &yes, 1},
                            {CKA_VALUE_LEN, &size, sizeof size}};
    CK_HKDF_PARAMS *const given = take_hkdf();
    CK_MECHANISM mechanism = {CKM_HKDF_DERIVE, given, sizeof *given};
    CK_BYTE values[2][256];
    CK_OBJECT_HANDLE key, made;

    given->bExpand = CK_TRUE;
    given->prfHashMechanism = digests[take() % (sizeof digests / sizeof *digests)];
    given->ulSaltType = CKF_HKDF_SALT_DATA;
    given->ulSaltLen = given->pSalt ? given->ulSaltLen : 0;
    given->ulInfoLen = given->pInfo ? given->ulInfoLen : 0;
    must(C_CreateObject(session, base, 4, &key));
    for (int i = 0; i < 2; ++i) {
        CK_ATTRIBUTE value = {CKA_VALUE, values[i], sizeof *values};

        must(note(DERIVATIONS, C_DeriveKey(session, &mechanism, key, shown, 3, &made)));
        must(C_GetAttributeValue(session, made, &value, 1));
        if (value.ulValueLen != size || memcmp(values[0], values[i], size) != 0) {
            abort();
        }
    }
}

/* A key that is derived by encryption is what encryption gives. */
static void derive_by_encryption(void)
{
    static CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
    const bool chains = take() % 2;
    CK_ULONG blocks = 1 + take() % 8, size = 1 + take() % (16 * blocks), length = 16 * blocks;
    CK_AES_CBC_ENCRYPT_DATA_PARAMS chained = {{0}, take_bytes(length), length};
    CK_KEY_DERIVATION_STRING_DATA plain = {chained.pData, length};
    CK_MECHANISM derive = {CKM_AES_ECB_ENCRYPT_DATA, &plain, sizeof plain};
    CK_MECHANISM encrypt = {CKM_AES_ECB, NULL, 0};
    CK_ATTRIBUTE shown[] = {{CKA_SENSITIVE, &no, 1},
                            {CKA_EXTRACTABLE, &yes, 1},
                            {CKA_VALUE_LEN, &size, sizeof size}};
    CK_BYTE *const text = allocate(length), value[128];
    CK_ATTRIBUTE wanted = {CKA_VALUE, value, sizeof value};
    CK_OBJECT_HANDLE made;

    memcpy(chained.iv, take_bytes(16), 16);
    if (chains) {
        derive = (CK_MECHANISM){CKM_AES_CBC_ENCRYPT_DATA, &chained, sizeof chained};
        encrypt = (CK_MECHANISM){CKM_AES_CBC, chained.iv, 16};
    }
    must(C_EncryptInit(session, &encrypt, handles[2]));
    must(note(ENCRYPTIONS, C_Encrypt(session, plain.pData, plain.ulLen, text, &length)));
    must(note(DERIVATIONS, C_DeriveKey(session, &derive, handles[2], shown, 3, &made)));
    must(C_GetAttributeValue(session, made, &wanted, 1));
    if (wanted.ulValueLen != size || memcmp(text, value, size) != 0) {
        abort();
    }
}

/* The secret of two pairs, from both sides: with an engine, and then rarely, as it takes a while. */
static void derive_from_both_sides(void)
{
    static CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
    CK_OBJECT_HANDLE pairs[2][2], keys[2];
    CK_ATTRIBUTE public = {CKA_EC_PARAMS, (void *)x25519, sizeof x25519};
    CK_ATTRIBUTE shown[] = {{CKA_SENSITIVE, &no, 1}, {CKA_EXTRACTABLE, &yes, 1}};
    CK_MECHANISM generate = {CKM_EC_MONTGOMERY_KEY_PAIR_GEN, NULL, 0};
    CK_BYTE points[2][64], values[2][32];

    if (getenv("FUZZ_ENGINE") == NULL || take() % 2) {
        return;
    }
    for (int i = 0; i < 2; ++i) {
        CK_ATTRIBUTE point = {CKA_EC_POINT, points[i], sizeof *points};

        must(C_GenerateKeyPair(session, &generate, &public, 1, NULL, 0, &pairs[i][0], &pairs[i][1]));
        must(C_GetAttributeValue(session, pairs[i][0], &point, 1));
    }
    for (int i = 0; i < 2; ++i) {
        CK_ECDH1_DERIVE_PARAMS given = {CKD_NULL, 0, NULL, 34, points[1 - i]};
        CK_MECHANISM mechanism = {CKM_ECDH1_DERIVE, &given, sizeof given};
        CK_ATTRIBUTE value = {CKA_VALUE, values[i], sizeof *values};

        must(note(DERIVATIONS,
                   C_DeriveKey(session, &mechanism, pairs[i][1], shown, 2, &keys[i])));
        must(C_GetAttributeValue(session, keys[i], &value, 1));
    }
    if (memcmp(values[0], values[1], sizeof *values) != 0) {
        abort();
    }
}

/* A message, whole or in parts; a changed one is not decrypted. */
static void seal_and_open(void)
{
    CK_MECHANISM mechanism = {authenticated[take() % 3], NULL, 0};
    const CK_OBJECT_HANDLE key = handles[mechanism.mechanism == CKM_CHACHA20_POLY1305 ? CHACHA : 2];
    const CK_ULONG size = take(), data_size = take() % 32, first = size ? take() % size : 0;
    uint8_t *const text = take_bytes(size), *const data = take_bytes(data_size);
    uint8_t *const sealed = allocate(size), *const back = allocate(size), nonce[12] = {take()}, tag[16];
    CK_GCM_MESSAGE_PARAMS gcm = {nonce, 12, 0, take() % 2, tag, 128};
    CK_CCM_MESSAGE_PARAMS ccm = {size, nonce, 12, 0, take() % 2, tag, 16};
    CK_SALSA20_CHACHA20_POLY1305_MSG_PARAMS chacha = {nonce, 12, tag};
    const bool is_gcm = mechanism.mechanism == CKM_AES_GCM, is_ccm = mechanism.mechanism == CKM_AES_CCM;
    void *const given = is_gcm ? (void *)&gcm : is_ccm ? (void *)&ccm : &chacha;
    const CK_ULONG given_size = is_gcm ? sizeof gcm : is_ccm ? sizeof ccm : sizeof chacha;
    CK_ULONG made = size, length = size;

    must(C_MessageEncryptInit(session, &mechanism, key));
    must(C_MessageDecryptInit(session, &mechanism, key));
    if (take() % 2) {
        must(C_EncryptMessage(session, given, given_size, data, data_size, text, size, sealed, &made));
    } else {
        must(C_EncryptMessageBegin(session, given, given_size, data, data_size));
        must(C_EncryptMessageNext(session, given, given_size, text, first, sealed, &made, 0));
        length = size - made;
        must(C_EncryptMessageNext(session, given, given_size, text + first, size - first, sealed + made,
                                  &length, CKF_END_OF_MESSAGE));
        made += length;
    }
    (void)note(ENCRYPTIONS, made == size ? CKR_OK : CKR_GENERAL_ERROR);
    length = size;
    must(note(DECRYPTIONS, C_DecryptMessage(session, given, given_size, data, data_size, sealed, made,
                                            back, &length)));
    if (made != size || length != size || memcmp(text, back, size) != 0) {
        abort();
    }
    tag[take() % 16] ^= 1;
    if (C_DecryptMessage(session, given, given_size, data, data_size, sealed, made, back, &length) !=
        CKR_ENCRYPTED_DATA_INVALID) {
        abort();
    }
}

/* A key under one that both sides agree on; an engine, or the device `software`, agrees. */
static void wrap_by_agreement(void)
{
    static const CK_MECHANISM_TYPE kinds[] = {CKM_EC_KEY_PAIR_GEN, CKM_EC_MONTGOMERY_KEY_PAIR_GEN};
    static CK_OBJECT_CLASS class = CKO_SECRET_KEY;
    static CK_KEY_TYPE type = CKK_GENERIC_SECRET;
    static CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
    const unsigned which = take() % 2;
    CK_ULONG size = 1 + take() % 64, room = 256;
    CK_BYTE *const value = take_bytes(size), *const wrapped = allocate(room), found[64];
    CK_ATTRIBUTE public[] = {{CKA_EC_PARAMS, (void *)curves[3 * which].bytes, curves[3 * which].size},
                             {CKA_WRAP, &yes, 1}};
    CK_ATTRIBUTE private[] = {{CKA_UNWRAP, &yes, 1}, {CKA_DERIVE, &yes, 1}};
    CK_ATTRIBUTE template[] = {{CKA_CLASS, &class, sizeof class}, {CKA_KEY_TYPE, &type, sizeof type},
                               {CKA_SENSITIVE, &no, 1},           {CKA_EXTRACTABLE, &yes, 1},
                               {CKA_VALUE, value, size}};
    CK_ATTRIBUTE wanted = {CKA_VALUE, found, sizeof found};
    CK_ECDH_AES_KEY_WRAP_PARAMS *const given = take_ecdh_aes();
    CK_MECHANISM generate = {kinds[which], NULL, 0};
    CK_MECHANISM mechanism = {CKM_ECDH_AES_KEY_WRAP, given, sizeof *given};
    CK_OBJECT_HANDLE wraps, unwraps, key, back;

    if (getenv("FUZZ_ENGINE") == NULL) {
        return;
    }
    given->ulAESKeyBits = 128 + take() % 3 * 64;
    given->kdf = take() % 2 ? CKD_SHA256_KDF : CKD_SHA256_KDF_SP800;
    given->ulSharedDataLen = given->pSharedData ? given->ulSharedDataLen : 0;
    must(C_GenerateKeyPair(session, &generate, public, 2, private, 2, &wraps, &unwraps));
    must(C_CreateObject(session, template, 5, &key));
    must(note(WRAPS, C_WrapKey(session, &mechanism, wraps, key, wrapped, &room)));
    must(note(UNWRAPS, C_UnwrapKey(session, &mechanism, unwraps, wrapped, room, template, 4, &back)));
    must(C_GetAttributeValue(session, back, &wanted, 1));
    if (wanted.ulValueLen != size || memcmp(found, value, size) != 0) {
        abort();
    }
}

/* In a session of its own, where no operation is under way. */
static void go_and_come_back(void)
{
    static void (*const ways[])(void) = {encrypt_and_decrypt, wrap_and_unwrap, derive_twice,
                                         derive_from_both_sides, derive_by_encryption,
                                         seal_and_open, wrap_by_agreement,
                                         encapsulate_and_decapsulate};
    const CK_SESSION_HANDLE before = session;

    open_session(&session);
    ways[take() % (sizeof ways / sizeof *ways)]();
    must(C_CloseSession(session));
    session = before;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const steps[])(void) = {begin, finish, make, read_or_change, parse,
                                    plant, go_and_come_back, encipher_messages};

    if (keeper == 0) {
        must(C_Initialize(NULL));
        (void)atexit(print_counts);
        open_session(&keeper);
        must(C_Login(keeper, CKU_USER, (CK_UTF8CHAR *)"123456", 6));
    }
    if (kept_count == 0 || C_GetObjectSize(keeper, handles[1], &(CK_ULONG){0}) != CKR_OK) {
        make_keys();
    }
    open_session(&session);
    input = data;
    input_size = size;
    handle_count = kept_count;
    for (int step = 0; step < MAX_STEPS && input_size && memory_count < MEMORIES / 2; ++step) {
        steps[take() % (sizeof steps / sizeof *steps)]();
    }
    must(C_CloseSession(session));
    while (memory_count) {
        free(memories[--memory_count]);
    }
    return 0;
}
