/* Making keys, and random numbers. */
#include "aes.h"
#include "curve_key.h"
#include "mechanism.h"
#include "module.h"
#include "objects.h"
#include "public_info.h"
#include "rsa_key.h"
#include "rsa_pair.h"
#include "rules.h"
#include "secret.h"

/* The attributes of one half of a pair, before its numbers are there. */
static CK_RV begin_half(const struct session *session, struct attributes *half,
                        const struct mechanism *mechanism, CK_OBJECT_CLASS class, const CK_ATTRIBUTE *template, CK_ULONG count)
{
    CK_RV rv = rules_apply(half, class, GENERATED, template, count);

    if (rv != CKR_OK) {
        return rv;
    }
    if (attributes_ulong(half, CKA_CLASS, class) != class ||
        attributes_ulong(half, CKA_KEY_TYPE, mechanism->key) != mechanism->key) {
        return CKR_TEMPLATE_INCONSISTENT;
    }
    if (!attributes_set_ulong(half, CKA_CLASS, class) ||
        !attributes_set_ulong(half, CKA_KEY_TYPE, mechanism->key)) {
        return CKR_HOST_MEMORY;
    }
    return objects_finish(session, half, true, mechanism->type);
}

/* Give a half the numbers that it has of these. */
static CK_RV set_numbers(struct attributes *half, const struct attributes *numbers,
                         const CK_ATTRIBUTE_TYPE *types, int count)
{
    for (int i = 0; i < count; ++i) {
        const struct value value = attributes_get(numbers, types[i]);

        if (!attributes_set(half, types[i], value.bytes, value.size)) {
            return CKR_HOST_MEMORY;
        }
    }
    return CKR_OK;
}

/* Both halves, and what follows from them: of a private key on a curve the first numbers are the public one's, too. */
static CK_RV set_both(const struct crypto *crypto, struct attributes halves[2],
                      const struct attributes *numbers, CK_KEY_TYPE type)
{
    static const CK_ATTRIBUTE_TYPE of_curve[] = {CKA_EC_PARAMS, CKA_EC_POINT, CKA_VALUE};
    const bool is_rsa = type == CKK_RSA;
    const CK_ATTRIBUTE_TYPE *const types = is_rsa ? rsa_attributes : of_curve;
    CK_RV rv = set_numbers(&halves[0], numbers, types, 2);

    if (rv == CKR_OK) {
        rv = set_numbers(&halves[1], numbers, types, is_rsa ? RSA_NUMBERS : 3);
    }
    for (int i = 0; i < 2 && rv == CKR_OK; ++i) {
        rv = public_info_set(crypto, &halves[i]);
    }
    return rv;
}

/* The curve of a public template. */
static const struct curve *curve_of(const struct attributes *public)
{
    return curve_named(attributes_ulong(public, CKA_KEY_TYPE, UNAVAILABLE),
                       attributes_get(public, CKA_EC_PARAMS));
}

/* Whether the keys that the templates ask for are generated. */
static CK_RV check_pair(const struct attributes halves[2], CK_KEY_TYPE type)
{
    const struct value parameters = attributes_get(&halves[0], CKA_EC_PARAMS);
    const struct value other = attributes_get(&halves[1], CKA_EC_PARAMS);

    if (type == CKK_RSA) {
        return rsa_pair_check(&halves[0]);
    }
    if (parameters.bytes == NULL) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if (curve_of(&halves[0]) == NULL) {
        return CKR_CURVE_NOT_SUPPORTED;
    }
    return other.bytes && curve_of(&halves[1]) != curve_of(&halves[0]) ? CKR_TEMPLATE_INCONSISTENT :
                                                                         CKR_OK;
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

static CK_RV generate(const struct session *session, const struct attributes halves[2],
                      CK_KEY_TYPE type, struct attributes *numbers)
{
    const struct token *const token = session->token;
    const struct value parameters = attributes_get(&halves[0], CKA_EC_PARAMS);
    const struct task task = {
        session,
        attributes_bool(&halves[0], CKA_PRIVATE, true) ||
            attributes_bool(&halves[1], CKA_PRIVATE, true),
    };
    const struct cancel cancel = {reason_of_task, &task};

    if (type == CKK_RSA) {
        return rsa_pair_generate(token, &halves[0], &cancel, numbers);
    }
    if (!attributes_set(numbers, CKA_EC_PARAMS, parameters.bytes, parameters.size)) {
        return CKR_HOST_MEMORY;
    }
    return curve_generate(token->crypto, curve_of(&halves[0]), numbers);
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
static CK_RV begin_pair(const struct session *session, const struct mechanism *mechanism,
                        const CK_ATTRIBUTE *public, CK_ULONG public_count,
                        const CK_ATTRIBUTE *private, CK_ULONG private_count,
                        struct attributes halves[2])
{
    CK_RV rv = begin_half(session, &halves[0], mechanism, CKO_PUBLIC_KEY, public, public_count);

    if (rv == CKR_OK) {
        rv = begin_half(session, &halves[1], mechanism, CKO_PRIVATE_KEY, private, private_count);
    }
    if (rv == CKR_OK) {
        rv = check_pair(halves, mechanism->key);
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
    const struct mechanism *mechanism;
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
    mechanism = mechanism_find(pMechanism->mechanism);
    if (mechanism == NULL || !(mechanism->info.flags & CKF_GENERATE_KEY_PAIR)) {
        rv = CKR_MECHANISM_INVALID;
    }
    if (rv == CKR_OK) {
        rv = begin_pair(session, mechanism, pPublicKeyTemplate, ulPublicKeyAttributeCount,
                        pPrivateKeyTemplate, ulPrivateKeyAttributeCount, halves);
    }
    if (rv == CKR_OK) {
        rv = generate(session, halves, mechanism->key, &numbers);
    }
    if (rv == CKR_OK) {
        rv = set_both(session->token->crypto, halves, &numbers, mechanism->key);
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

/* Whether a secret key that the mechanism generates can have so many bytes. */
static bool has_size(const struct mechanism *mechanism, CK_ULONG size)
{
    return mechanism->key == CKK_AES ? aes_has_size(size) :
                                       size >= mechanism->info.ulMinKeySize &&
                                           size <= mechanism->info.ulMaxKeySize;
}

/* The bytes that it has if the template does not say it; 0: the template has to. */
static CK_ULONG only_size(const struct mechanism *mechanism)
{
    const CK_MECHANISM_INFO *const info = &mechanism->info;

    return info->ulMinKeySize == info->ulMaxKeySize ? info->ulMaxKeySize : 0;
}

/* The attributes of a new secret key, all but its value. */
static CK_RV begin_secret(const struct session *session, const struct mechanism *mechanism,
                          const CK_ATTRIBUTE *template, CK_ULONG count, struct attributes *made)
{
    CK_ULONG size;
    CK_RV rv = rules_apply(made, CKO_SECRET_KEY, GENERATED, template, count);

    if (rv != CKR_OK) {
        return rv;
    }
    if (attributes_ulong(made, CKA_CLASS, CKO_SECRET_KEY) != CKO_SECRET_KEY ||
        attributes_ulong(made, CKA_KEY_TYPE, mechanism->key) != mechanism->key) {
        return CKR_TEMPLATE_INCONSISTENT;
    }
    size = attributes_ulong(made, CKA_VALUE_LEN, only_size(mechanism));
    if (size == 0 || !has_size(mechanism, size)) {
        return size ? CKR_KEY_SIZE_RANGE : CKR_TEMPLATE_INCOMPLETE;
    }
    if (!attributes_set_ulong(made, CKA_CLASS, CKO_SECRET_KEY) ||
        !attributes_set_ulong(made, CKA_KEY_TYPE, mechanism->key) ||
        !attributes_set_ulong(made, CKA_VALUE_LEN, size)) {
        return CKR_HOST_MEMORY;
    }
    rv = objects_finish(session, made, true, mechanism->type);
    return rv == CKR_OK ? check_allowed(session, template, count, made, 1) : rv;
}

static CK_RV generate_secret(const struct crypto *crypto, struct attributes *made)
{
    const CK_ULONG size = attributes_ulong(made, CKA_VALUE_LEN, 0);
    uint8_t *const value = secret_allocate(size);
    CK_RV rv = value ? CKR_FUNCTION_FAILED : CKR_HOST_MEMORY;

    if (value && crypto_random(crypto, value, size)) {
        rv = attributes_set(made, CKA_VALUE, value, size) ? CKR_OK : CKR_HOST_MEMORY;
    }
    secret_free(value);
    return rv;
}

CK_RV C_GenerateKey(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                    CK_ATTRIBUTE_PTR pTemplate, CK_ULONG ulCount, CK_OBJECT_HANDLE_PTR phKey)
{
    struct attributes made = {.secret = true};
    const struct mechanism *mechanism;
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    if (pMechanism == NULL || phKey == NULL || (pTemplate == NULL && ulCount)) {
        rv = CKR_ARGUMENTS_BAD;
    } else {
        mechanism = mechanism_find(pMechanism->mechanism);
        rv = mechanism && mechanism->info.flags & CKF_GENERATE ?
                 begin_secret(session, mechanism, pTemplate, ulCount, &made) :
                 CKR_MECHANISM_INVALID;
    }
    if (rv == CKR_OK) {
        rv = generate_secret(session->token->crypto, &made);
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
