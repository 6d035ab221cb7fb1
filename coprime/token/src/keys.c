/* Making keys, and random numbers. */
#include "aes.h"
#include "calls.h"
#include "key_kinds.h"
#include "mechanism.h"
#include "objects.h"
#include "public_info.h"
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

/* A generation that goes on in a session. */
struct task {
    const struct session *session;
    bool private; /* one of the halves is, and belongs to the user who is logged in */
};

/* Why it is to end early. */
static CK_RV reason_of_task(const void *context)
{
    const struct task *const task = context;

    if (module_is_ending()) {
        return CKR_CRYPTOKI_NOT_INITIALIZED;
    }
    if (task->session->closed) {
        return CKR_SESSION_CLOSED;
    }
    return task->private && task->session->dropped ? CKR_USER_NOT_LOGGED_IN : CKR_OK;
}

/* Set the numbers of both halves, and what follows from them. */
static CK_RV generate(const struct session *session, const struct key_kind *kind,
                      struct attributes halves[2])
{
    const struct token *const token = session->token;
    const struct task task = {
        session,
        attributes_bool(&halves[0], CKA_PRIVATE, true) ||
            attributes_bool(&halves[1], CKA_PRIVATE, true),
    };
    const struct cancel cancel = {reason_of_task, &task};
    const struct maker maker = {token->crypto, token->device, token->device_generates, &cancel};
    CK_RV rv = kind->generate(&maker, halves);

    for (int i = 0; i < 2 && rv == CKR_OK; ++i) {
        rv = public_info_set(token->crypto, kind, &halves[i]);
    }
    return rv;
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
        rv = key_kind_of(mechanism->key)->check_pair(halves);
    }
    return rv == CKR_OK ? check_allowed(session, public, public_count, halves, 2) : rv;
}

CK_RV C_GenerateKeyPair(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                        CK_ATTRIBUTE_PTR pPublicKeyTemplate, CK_ULONG ulPublicKeyAttributeCount,
                        CK_ATTRIBUTE_PTR pPrivateKeyTemplate, CK_ULONG ulPrivateKeyAttributeCount,
                        CK_OBJECT_HANDLE_PTR phPublicKey, CK_OBJECT_HANDLE_PTR phPrivateKey)
{
    struct attributes halves[2] = {{.secret = true}, {.secret = true}};
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
        rv = generate(session, key_kind_of(mechanism->key), halves);
    }
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
