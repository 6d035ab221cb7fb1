/* Secret keys that two sides agree on by a ciphertext: C_EncapsulateKey, C_DecapsulateKey (version 3.2). */
#include "calls.h"
#include "derived.h"
#include "key_kinds.h"
#include "mechanism.h"
#include "ml_kem_kind.h"
#include "objects.h"
#include "secret.h"
#include "secret_kind.h"

/* What is asked for: a key, and the template that it has for new ones. */
struct encapsulation {
    struct key *key;
    struct nested template;
};

static void end(struct encapsulation *wanted)
{
    attributes_free(&wanted->template.list);
    key_release(wanted->key);
}

static CK_RV check_mechanism(const CK_MECHANISM *given, CK_FLAGS flag)
{
    const struct mechanism *const mechanism = mechanism_find(given->mechanism);

    if (mechanism == NULL || !(mechanism->info.flags & flag)) {
        return CKR_MECHANISM_INVALID;
    }
    return given->ulParameterLen ? CKR_MECHANISM_PARAM_INVALID : CKR_OK;
}

/* Find the key. With the module's lock. */
static CK_RV find(struct session *session, CK_MECHANISM_TYPE mechanism, CK_OBJECT_HANDLE handle,
                  bool encapsulates, struct encapsulation *wanted)
{
    struct object *object;
    CK_RV rv = objects_find_key(session, handle, encapsulates ? CKO_PUBLIC_KEY : CKO_PRIVATE_KEY,
                                encapsulates ? CKA_ENCAPSULATE : CKA_DECAPSULATE, mechanism,
                                &object);

    if (rv != CKR_OK) {
        return rv;
    }
    if (attributes_bool(&object->attributes, CKA_ALWAYS_AUTHENTICATE, false)) {
        return CKR_USER_NOT_LOGGED_IN; /* there is no call in which the PIN could be given */
    }
    wanted->key = object_key(session->token->crypto, object);
    if (wanted->key == NULL) {
        return CKR_KEY_TYPE_INCONSISTENT;
    }
    return nested_read(&wanted->template, &object->attributes,
                       encapsulates ? CKA_ENCAPSULATE_TEMPLATE : CKA_DECAPSULATE_TEMPLATE) ?
               CKR_OK :
               CKR_HOST_MEMORY;
}

/* The new key's attributes: it has the length of the secret, whole. */
static CK_RV begin(const struct session *session, const struct encapsulation *wanted,
                   bool encapsulates, const CK_ATTRIBUTE *template, CK_ULONG count,
                   struct attributes *made)
{
    const struct derived_template added = {
        &wanted->template, encapsulates ? CKR_KEY_HANDLE_INVALID : CKR_TEMPLATE_INCONSISTENT};
    CK_RV rv = derived_begin(session, CKO_SECRET_KEY, &added, template, count, made);

    if (rv == CKR_OK && attributes_ulong(made, CKA_VALUE_LEN, ML_KEM_SECRET) != ML_KEM_SECRET) {
        rv = CKR_TEMPLATE_INCONSISTENT;
    }
    return rv == CKR_OK ? objects_check_new(session, template, count, made, 1) : rv;
}

/* The ciphertext and the new key. */
static CK_RV encapsulate(struct session *session, struct encapsulation *wanted,
                         const CK_ATTRIBUTE *template, CK_ULONG count, CK_BYTE *c, CK_OBJECT_HANDLE *handle)
{
    struct attributes made = {.secret = true};
    uint8_t *const secret = secret_allocate(ML_KEM_SECRET);
    CK_RV rv = secret ? begin(session, wanted, true, template, count, &made) : CKR_HOST_MEMORY;

    if (rv == CKR_OK) {
        rv = ml_kem_key_encapsulate(session->token->crypto, wanted->key, c, secret);
    }
    if (rv == CKR_OK) {
        rv = secret_set(&made, secret, ML_KEM_SECRET);
    }
    secret_free(secret);
    return objects_add(session, rv, template, count, &made, 1, handle);
}

/* The new key of a ciphertext. */
static CK_RV decapsulate(struct session *session, struct encapsulation *wanted,
                         const CK_ATTRIBUTE *template, CK_ULONG count, const CK_BYTE *c,
                         CK_OBJECT_HANDLE *handle)
{
    struct attributes made = {.secret = true};
    uint8_t *const secret = secret_allocate(ML_KEM_SECRET);
    CK_RV rv = secret ? begin(session, wanted, false, template, count, &made) : CKR_HOST_MEMORY;

    if (rv == CKR_OK) {
        rv = ml_kem_key_decapsulate(session->token->device, wanted->key, c, secret);
    }
    if (rv == CKR_OK) {
        rv = secret_set(&made, secret, ML_KEM_SECRET);
    }
    secret_free(secret);
    return objects_add(session, rv, template, count, &made, 1, handle);
}

CK_RV C_EncapsulateKey(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                       CK_OBJECT_HANDLE hPublicKey, CK_ATTRIBUTE_PTR pTemplate,
                       CK_ULONG ulAttributeCount, CK_BYTE_PTR pCiphertext,
                       CK_ULONG_PTR pulCiphertextLen, CK_OBJECT_HANDLE_PTR phKey)
{
    struct encapsulation wanted = {.key = NULL};
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    if (pMechanism == NULL || pulCiphertextLen == NULL || (pTemplate == NULL && ulAttributeCount) ||
        (pCiphertext && phKey == NULL)) {
        rv = CKR_ARGUMENTS_BAD;
    } else {
        rv = check_mechanism(pMechanism, CKF_ENCAPSULATE);
    }
    if (rv == CKR_OK) {
        module_lock();
        rv = find(session, pMechanism->mechanism, hPublicKey, true, &wanted);
        module_unlock();
    }
    if (rv == CKR_OK) {
        const CK_ULONG needed = ml_kem_ciphertext_size(wanted.key);

        if (pCiphertext && *pulCiphertextLen < needed) {
            rv = CKR_BUFFER_TOO_SMALL;
        } else if (pCiphertext) {
            rv = encapsulate(session, &wanted, pTemplate, ulAttributeCount, pCiphertext, phKey);
        }
        *pulCiphertextLen = needed;
    }
    end(&wanted);
    session_end(session);
    return rv;
}

/* The standard's errors for a key that decapsulates. */
static CK_RV as_unwrapping(CK_RV rv)
{
    switch (rv) {
    case CKR_KEY_HANDLE_INVALID:
        return CKR_UNWRAPPING_KEY_HANDLE_INVALID;
    case CKR_KEY_TYPE_INCONSISTENT:
        return CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT;
    default:
        return rv;
    }
}

CK_RV C_DecapsulateKey(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                       CK_OBJECT_HANDLE hPrivateKey, CK_ATTRIBUTE_PTR pTemplate,
                       CK_ULONG ulAttributeCount, CK_BYTE_PTR pCiphertext, CK_ULONG ulCiphertextLen,
                       CK_OBJECT_HANDLE_PTR phKey)
{
    struct encapsulation wanted = {.key = NULL};
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    if (pMechanism == NULL || pCiphertext == NULL || phKey == NULL ||
        (pTemplate == NULL && ulAttributeCount)) {
        rv = CKR_ARGUMENTS_BAD;
    } else {
        rv = check_mechanism(pMechanism, CKF_DECAPSULATE);
    }
    if (rv == CKR_OK) {
        module_lock();
        rv = as_unwrapping(find(session, pMechanism->mechanism, hPrivateKey, false, &wanted));
        module_unlock();
    }
    if (rv == CKR_OK && ulCiphertextLen != ml_kem_ciphertext_size(wanted.key)) {
        rv = CKR_WRAPPED_KEY_LEN_RANGE;
    }
    if (rv == CKR_OK) {
        rv = decapsulate(session, &wanted, pTemplate, ulAttributeCount, pCiphertext, phKey);
    }
    end(&wanted);
    session_end(session);
    return rv;
}
