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
    if (!attributes_set_ulong(half, CKA_CLASS, class) ||
        !attributes_set_ulong(half, CKA_KEY_TYPE, CKK_RSA)) {
        return CKR_HOST_MEMORY;
    }
    return objects_finish(half, true, CKM_RSA_PKCS_KEY_PAIR_GEN);
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
    return CKR_OK;
}

/* The number that these bytes are, the highest first; the greatest one if that is too long. */
static uint64_t number_of(struct value value)
{
    uint64_t number = 0;

    if (value.size > sizeof number) {
        return UINT64_MAX;
    }
    for (size_t i = 0; i < value.size; ++i) {
        number = number << 8 | value.bytes[i];
    }
    return number;
}

/* The key pair that a public template asks for: with 65537 if it names no exponent. */
struct request {
    CK_ULONG bits;
    struct value e;
};

static struct request request_of(const struct attributes *public)
{
    static const uint8_t fermat_4[] = {1, 0, 1};
    const struct value e = attributes_get(public, CKA_PUBLIC_EXPONENT);

    return (struct request){
        attributes_ulong(public, CKA_MODULUS_BITS, 0),
        e.bytes ? e : (struct value){fermat_4, sizeof fermat_4},
    };
}

/* Whether such keys are generated: also short ones, and small exponents, if that is allowed. */
static CK_RV check_request(const struct request *request)
{
    const bool weak = module_allows(ALLOW_WEAK_RSA);
    const uint64_t e = number_of(request->e);

    if (request->bits == 0) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if (request->bits < (weak ? MIN_RSA_BITS : 1024) || request->bits > MAX_RSA_BITS) {
        return CKR_KEY_SIZE_RANGE;
    }
    if (request->e.size > 8 || e % 2 == 0 || e < (weak ? 3 : 65537)) {
        return CKR_ATTRIBUTE_VALUE_INVALID;
    }
    return CKR_OK;
}

/* A generation that goes on in a session. */
struct task {
    const struct session *session;
    bool private; /* one of the halves is, and belongs to the user who is logged in */
};

/* Why it is to end early. */
static CK_RV reason_of_task(const void *context)
{
    const struct task *const task = context;

    if (module.ending) {
        return CKR_CRYPTOKI_NOT_INITIALIZED;
    }
    if (task->session->closed) {
        return CKR_SESSION_CLOSED;
    }
    return task->private && task->session->dropped ? CKR_USER_NOT_LOGGED_IN : CKR_OK;
}

/* A key pair from the device. It is checked in software, as a disturbed engine may take any number
   for a prime. */
static CK_RV generate_on_device(const struct token *token, const struct request *request,
                                const struct cancel *cancel, struct attributes *numbers)
{
    CK_RV rv = device_generate(token->device, (uint32_t)request->bits,
                               (uint32_t)number_of(request->e), cancel, numbers);

    if (rv == CKR_OK) {
        rv = rsa_complete_private(token->crypto, numbers);
        rv = rv == CKR_OK || rv == CKR_HOST_MEMORY ? rv : CKR_DEVICE_ERROR;
    }
    return rv;
}

static CK_RV generate(const struct session *session, const struct attributes halves[2],
                      struct attributes *numbers)
{
    const struct token *const token = session->token;
    const struct request request = request_of(&halves[0]);
    const struct task task = {
        session,
        attributes_bool(&halves[0], CKA_PRIVATE, true) ||
            attributes_bool(&halves[1], CKA_PRIVATE, true),
    };
    const struct cancel cancel = {reason_of_task, &task};
    const uint32_t bits = (uint32_t)request.bits;
    const uint64_t e = number_of(request.e);

    if (token->device_generates && e <= UINT32_MAX && device_can_generate(bits, (uint32_t)e)) {
        return generate_on_device(token, &request, &cancel, numbers);
    }
    return rsa_generate(token->crypto, bits, request.e.bytes, request.e.size, &cancel, numbers);
}

/* Whether the session may make these objects, before there is any work for them. */
static CK_RV check_allowed(const struct session *session, const CK_ATTRIBUTE *template,
                           CK_ULONG count, const struct attributes *lists, unsigned lists_count)
{
    CK_RV rv;

    module_lock();
    rv = objects_check_trusted(session, template, count);
    for (unsigned i = 0; rv == CKR_OK && i < lists_count; ++i) {
        rv = objects_check_access(session, &lists[i]);
    }
    module_unlock();
    return rv;
}

/* Everything of both halves but their numbers, checked. */
static CK_RV begin_pair(const struct session *session, const CK_ATTRIBUTE *public,
                        CK_ULONG public_count, const CK_ATTRIBUTE *private, CK_ULONG private_count,
                        struct attributes halves[2])
{
    struct request request;
    CK_RV rv = begin_half(&halves[0], CKO_PUBLIC_KEY, public, public_count);

    if (rv == CKR_OK) {
        rv = begin_half(&halves[1], CKO_PRIVATE_KEY, private, private_count);
    }
    if (rv == CKR_OK) {
        request = request_of(&halves[0]);
        rv = check_request(&request);
    }
    return rv == CKR_OK ? check_allowed(session, public, public_count, halves, 2) : rv;
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
        rv = begin_pair(session, pPublicKeyTemplate, ulPublicKeyAttributeCount,
                        pPrivateKeyTemplate, ulPrivateKeyAttributeCount, halves);
    }
    if (rv == CKR_OK) {
        rv = generate(session, halves, &numbers);
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

/* The attributes of a new key of AES, all but its value. */
static CK_RV begin_aes(const struct session *session, const CK_ATTRIBUTE *template, CK_ULONG count,
                       struct attributes *made)
{
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
    if (!attributes_set_ulong(made, CKA_CLASS, CKO_SECRET_KEY) ||
        !attributes_set_ulong(made, CKA_KEY_TYPE, CKK_AES)) {
        return CKR_HOST_MEMORY;
    }
    rv = objects_finish(made, true, CKM_AES_KEY_GEN);
    return rv == CKR_OK ? check_allowed(session, template, count, made, 1) : rv;
}

static CK_RV generate_aes(const struct crypto *crypto, struct attributes *made)
{
    const CK_ULONG size = attributes_ulong(made, CKA_VALUE_LEN, 0);
    uint8_t value[32];
    CK_RV rv = CKR_FUNCTION_FAILED;

    if (crypto_random(crypto, value, size)) {
        rv = attributes_set(made, CKA_VALUE, value, size) ? CKR_OK : CKR_HOST_MEMORY;
    }
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
        rv = begin_aes(session, pTemplate, ulCount, &made);
    }
    if (rv == CKR_OK) {
        rv = generate_aes(session->token->crypto, &made);
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
