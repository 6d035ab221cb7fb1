/* Making keys, and random numbers. */
#include <openssl/crypto.h>

#include "aes.h"
#include "module.h"
#include "objects.h"
#include "rules.h"

/* The attributes of one half of a pair, before its numbers are there. */
static CK_RV begin_half(struct attributes *half, CK_OBJECT_CLASS class, const CK_ATTRIBUTE *template,
                        CK_ULONG count)
{
    CK_RV rv = rules_apply(half, class, GENERATED, template, count);

    if (rv != CKR_OK) {
        return rv;
    }
    if (attributes_ulong(half, CKA_CLASS, class) != class ||
        attributes_ulong(half, CKA_KEY_TYPE, CKK_RSA) != CKK_RSA) {
        return CKR_TEMPLATE_INCONSISTENT;
    }
    return attributes_set_ulong(half, CKA_CLASS, class) &&
                   attributes_set_ulong(half, CKA_KEY_TYPE, CKK_RSA) ?
               CKR_OK :
               CKR_HOST_MEMORY;
}

/* Give a half its numbers: all, or those that are public. */
static CK_RV set_numbers(struct attributes *half, const struct attributes *numbers, int count)
{
    for (int i = 0; i < count; ++i) {
        const struct value value = attributes_get(numbers, rsa_attributes[i]);

        if (!attributes_set(half, rsa_attributes[i], value.bytes, value.size)) {
            return CKR_HOST_MEMORY;
        }
    }
    return objects_finish(half, true, CKM_RSA_PKCS_KEY_PAIR_GEN);
}

/* The number that these bytes are, the highest first; 0 if they are more than four. */
static uint32_t number_of(struct value value)
{
    uint32_t number = 0;

    for (size_t i = 0; value.size <= 4 && i < value.size; ++i) {
        number = number << 8 | value.bytes[i];
    }
    return number;
}

/* A key pair from the device. It is checked in software, as a disturbed engine may take any number
   for a prime. */
static CK_RV generate_on_device(const struct token *token, uint32_t bits, uint32_t exponent,
                                struct attributes *numbers)
{
    CK_RV rv = device_generate(token->device, bits, exponent, numbers);

    if (rv == CKR_OK) {
        rv = rsa_complete_private(token->crypto, numbers);
        rv = rv == CKR_OK || rv == CKR_HOST_MEMORY ? rv : CKR_DEVICE_ERROR;
    }
    return rv;
}

/* The numbers of a key as the public template asks for: 65537 if it names no exponent. */
static CK_RV generate(const struct token *token, const struct attributes *public,
                      struct attributes *numbers)
{
    static const uint8_t fermat_4[] = {1, 0, 1};
    const struct value given = attributes_get(public, CKA_PUBLIC_EXPONENT);
    const struct value e = given.bytes ? given : (struct value){fermat_4, sizeof fermat_4};
    const CK_ULONG bits = attributes_ulong(public, CKA_MODULUS_BITS, 0);

    if (bits == 0) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) {
        return CKR_KEY_SIZE_RANGE;
    }
    if (e.size == 0 || e.size > 8 || e.bytes[e.size - 1] % 2 == 0 ||
        (e.size == 1 && e.bytes[0] < 3)) {
        return CKR_ATTRIBUTE_VALUE_INVALID;
    }
    if (token->device_generates && device_can_generate((uint32_t)bits, number_of(e))) {
        return generate_on_device(token, (uint32_t)bits, number_of(e), numbers);
    }
    return rsa_generate(token->crypto, (uint32_t)bits, e.bytes, e.size, numbers);
}

CK_RV C_GenerateKeyPair(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                        CK_ATTRIBUTE_PTR pPublicKeyTemplate, CK_ULONG ulPublicKeyAttributeCount,
                        CK_ATTRIBUTE_PTR pPrivateKeyTemplate, CK_ULONG ulPrivateKeyAttributeCount,
                        CK_OBJECT_HANDLE_PTR phPublicKey, CK_OBJECT_HANDLE_PTR phPrivateKey)
{
    struct attributes halves[2] = {{.secret = true}, {.secret = true}};
    struct attributes numbers = {.secret = true};
    CK_OBJECT_HANDLE handles[2];
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    if (pMechanism == NULL || phPublicKey == NULL || phPrivateKey == NULL ||
        (pPublicKeyTemplate == NULL && ulPublicKeyAttributeCount) ||
        (pPrivateKeyTemplate == NULL && ulPrivateKeyAttributeCount)) {
        session_end(session);
        return CKR_ARGUMENTS_BAD;
    }
    if (pMechanism->mechanism != CKM_RSA_PKCS_KEY_PAIR_GEN) {
        rv = CKR_MECHANISM_INVALID;
    }
    if (rv == CKR_OK) {
        rv = begin_half(&halves[0], CKO_PUBLIC_KEY, pPublicKeyTemplate, ulPublicKeyAttributeCount);
    }
    if (rv == CKR_OK) {
        rv = begin_half(&halves[1], CKO_PRIVATE_KEY, pPrivateKeyTemplate,
                        ulPrivateKeyAttributeCount);
    }
    if (rv == CKR_OK) {
        rv = generate(session->token, &halves[0], &numbers);
    }
    if (rv == CKR_OK) {
        rv = set_numbers(&halves[0], &numbers, RSA_E + 1);
    }
    if (rv == CKR_OK) {
        rv = set_numbers(&halves[1], &numbers, RSA_NUMBERS);
    }
    attributes_free(&numbers);
    rv = objects_add(session, rv, pPublicKeyTemplate, ulPublicKeyAttributeCount, halves, 2, handles);
    if (rv == CKR_OK) {
        *phPublicKey = handles[0];
        *phPrivateKey = handles[1];
    }
    session_end(session);
    return rv;
}

/* The attributes of a new key of AES. */
static CK_RV generate_aes(const struct crypto *crypto, const CK_ATTRIBUTE *template, CK_ULONG count,
                          struct attributes *made)
{
    uint8_t value[32];
    CK_ULONG size;
    CK_RV rv = rules_apply(made, CKO_SECRET_KEY, GENERATED, template, count);

    if (rv != CKR_OK) {
        return rv;
    }
    if (attributes_ulong(made, CKA_CLASS, CKO_SECRET_KEY) != CKO_SECRET_KEY ||
        attributes_ulong(made, CKA_KEY_TYPE, CKK_AES) != CKK_AES) {
        return CKR_TEMPLATE_INCONSISTENT;
    }
    size = attributes_ulong(made, CKA_VALUE_LEN, 0);
    if (!aes_has_size(size)) {
        return size ? CKR_KEY_SIZE_RANGE : CKR_TEMPLATE_INCOMPLETE;
    }
    if (!crypto_random(crypto, value, size)) {
        return CKR_FUNCTION_FAILED;
    }
    rv = attributes_set(made, CKA_VALUE, value, size) &&
                 attributes_set_ulong(made, CKA_CLASS, CKO_SECRET_KEY) &&
                 attributes_set_ulong(made, CKA_KEY_TYPE, CKK_AES) ?
             objects_finish(made, true, CKM_AES_KEY_GEN) :
             CKR_HOST_MEMORY;
    OPENSSL_cleanse(value, sizeof value);
    return rv;
}

CK_RV C_GenerateKey(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                    CK_ATTRIBUTE_PTR pTemplate, CK_ULONG ulCount, CK_OBJECT_HANDLE_PTR phKey)
{
    struct attributes made = {.secret = true};
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    if (pMechanism == NULL || phKey == NULL || (pTemplate == NULL && ulCount)) {
        rv = CKR_ARGUMENTS_BAD;
    } else if (pMechanism->mechanism != CKM_AES_KEY_GEN) {
        rv = CKR_MECHANISM_INVALID;
    } else {
        rv = generate_aes(session->token->crypto, pTemplate, ulCount, &made);
    }
    if (rv == CKR_OK) {
        rv = objects_add(session, rv, pTemplate, ulCount, &made, 1, phKey);
    } else {
        attributes_free(&made);
    }
    session_end(session);
    return rv;
}

CK_RV C_SeedRandom(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pSeed, CK_ULONG ulSeedLen)
{
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    if (pSeed == NULL && ulSeedLen) {
        rv = CKR_ARGUMENTS_BAD;
    } else if (!crypto_add_seed(session->token->crypto, pSeed, ulSeedLen)) {
        rv = CKR_FUNCTION_FAILED;
    }
    session_end(session);
    return rv;
}

CK_RV C_GenerateRandom(CK_SESSION_HANDLE hSession, CK_BYTE_PTR RandomData, CK_ULONG ulRandomLen)
{
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    if (RandomData == NULL && ulRandomLen) {
        rv = CKR_ARGUMENTS_BAD;
    } else if (!crypto_random(session->token->crypto, RandomData, ulRandomLen)) {
        rv = CKR_FUNCTION_FAILED;
    }
    session_end(session);
    return rv;
}
