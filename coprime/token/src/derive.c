/* Shared secret keys: C_DeriveKey. */
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "aes.h"
#include "ecdh.h"
#include "mechanism.h"
#include "module.h"
#include "objects.h"
#include "rules.h"
#include "secret.h"

/* The longest derived key, and what may be shared beside the key, in bytes. */
enum { MAX_DERIVED = 1024, MAX_SHARED = 4096 };

/* A derivation that was asked for. */
struct derivation_wanted {
    const struct mechanism *mechanism;
    CK_ECDH1_DERIVE_PARAMS given;
    const struct digest *digest; /* of the key derivation function; null: there is none */
    struct curve_key *key;
    bool always_sensitive, never_extractable; /* of the private key */
};

/* The hash function of a key derivation function; false if it is none that is known. */
static bool read_function(CK_EC_KDF_TYPE kdf, const struct digest **digest)
{
    static const struct {
        CK_EC_KDF_TYPE kdf;
        CK_MECHANISM_TYPE digest;
    } functions[] = {
        {CKD_SHA1_KDF, CKM_SHA_1},     {CKD_SHA224_KDF, CKM_SHA224}, {CKD_SHA256_KDF, CKM_SHA256},
        {CKD_SHA384_KDF, CKM_SHA384}, {CKD_SHA512_KDF, CKM_SHA512},
    };

    *digest = NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
        if (functions[i].kdf == kdf) {
            *digest = digest_of(functions[i].digest);
        }
    }
    return *digest || kdf == CKD_NULL;
}

static CK_RV read_mechanism(const CK_MECHANISM *given, struct derivation_wanted *wanted)
{
    CK_ECDH1_DERIVE_PARAMS *const found = &wanted->given;

    wanted->mechanism = mechanism_find(given->mechanism);
    if (wanted->mechanism == NULL || wanted->mechanism->scheme != ECDH) {
        return CKR_MECHANISM_INVALID;
    }
    if (given->pParameter == NULL || given->ulParameterLen != sizeof *found) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    memcpy(found, given->pParameter, sizeof *found);
    if (!read_function(found->kdf, &wanted->digest) || found->pPublicData == NULL ||
        found->ulPublicDataLen == 0 || found->ulPublicDataLen > MAX_ENCODED_POINT ||
        found->ulSharedDataLen > MAX_SHARED ||
        (found->ulSharedDataLen && (found->pSharedData == NULL || wanted->digest == NULL))) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    return CKR_OK;
}

/* The attributes of the new key, all but its value and its length. */
static CK_RV begin_derived(const struct session *session, struct attributes *made,
                           const CK_ATTRIBUTE *template, CK_ULONG count)
{
    CK_RV rv = rules_apply(made, CKO_SECRET_KEY, DERIVED, template, count);

    if (rv == CKR_OK && attributes_ulong(made, CKA_CLASS, CKO_SECRET_KEY) != CKO_SECRET_KEY) {
        rv = CKR_TEMPLATE_INCONSISTENT;
    }
    if (rv == CKR_OK && attributes_bool(made, CKA_WRAP, false) &&
        !module_allows(ALLOW_REVEAL_WRAPPED)) {
        rv = CKR_TEMPLATE_INCONSISTENT; /* whoever derives it again can have it shown */
    }
    if (rv != CKR_OK) {
        return rv;
    }
    if (!attributes_set_ulong(made, CKA_CLASS, CKO_SECRET_KEY) ||
        !attributes_set_ulong(made, CKA_KEY_TYPE,
                              attributes_ulong(made, CKA_KEY_TYPE, CKK_GENERIC_SECRET))) {
        return CKR_HOST_MEMORY;
    }
    return objects_finish(session, made, false, CK_UNAVAILABLE_INFORMATION);
}

/* Find the private key. With the module's lock. */
static CK_RV find_key(struct session *session, CK_OBJECT_HANDLE handle,
                      struct derivation_wanted *wanted)
{
    struct object *object;
    CK_RV rv = objects_find_key(session, handle, CKO_PRIVATE_KEY, CKA_DERIVE,
                                wanted->mechanism->type, &object);

    if (rv != CKR_OK) {
        return rv;
    }
    if (attributes_bool(&object->attributes, CKA_ALWAYS_AUTHENTICATE, false)) {
        return CKR_USER_NOT_LOGGED_IN; /* there is no call in which the PIN could be given */
    }
    wanted->always_sensitive = attributes_bool(&object->attributes, CKA_ALWAYS_SENSITIVE, false);
    wanted->never_extractable = attributes_bool(&object->attributes, CKA_NEVER_EXTRACTABLE, false);
    wanted->key = curve_key_of(object_key(session->token->crypto, object));
    return wanted->key ? CKR_OK : CKR_KEY_TYPE_INCONSISTENT;
}

/* Bytes of the new key: as many as the template says, or the secret has. */
static CK_RV read_length(const struct attributes *made, const struct derivation_wanted *wanted,
                         size_t *size)
{
    const bool is_aes = attributes_ulong(made, CKA_KEY_TYPE, UNAVAILABLE) == CKK_AES;
    const size_t most = wanted->digest ? MAX_DERIVED : wanted->key->curve->bytes;

    *size = attributes_ulong(made, CKA_VALUE_LEN, 0);
    if (*size == 0 && (is_aes || wanted->digest)) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if (*size == 0) {
        *size = wanted->key->curve->bytes;
    }
    return *size > most || (is_aes && !aes_has_size(*size)) ? CKR_KEY_SIZE_RANGE : CKR_OK;
}

/* The function of ANSI X9.63, of the secret and what is shared beside it. */
static bool apply_function(const struct crypto *crypto, const struct derivation_wanted *wanted,
                           uint8_t *secret, size_t secret_size, uint8_t *value, size_t size)
{
    EVP_KDF *const kdf = EVP_KDF_fetch(crypto->context, OSSL_KDF_NAME_X963KDF, NULL);
    EVP_KDF_CTX *const context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)wanted->digest->name, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, secret, secret_size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, wanted->given.pSharedData,
                                          wanted->given.ulSharedDataLen),
        OSSL_PARAM_construct_end(),
    };
    const bool done = context && EVP_KDF_derive(context, value, size, parameters) == 1;

    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return done;
}

/* Compute the new key's value, and set it. */
static CK_RV derive(const struct token *token, const struct derivation_wanted *wanted,
                    struct attributes *made)
{
    const struct value point = {wanted->given.pPublicData, wanted->given.ulPublicDataLen};
    const size_t secret_size = wanted->key->curve->bytes;
    uint8_t *const secret = secret_allocate(MAX_CURVE_BYTES + MAX_DERIVED);
    const uint8_t *value = NULL;
    size_t size;
    CK_RV rv = read_length(made, wanted, &size);

    if (rv == CKR_OK) {
        rv = secret ? ecdh(token->crypto, token->device, wanted->key, point, secret) :
                      CKR_HOST_MEMORY;
    }
    if (rv == CKR_OK && wanted->digest) {
        value = secret + MAX_CURVE_BYTES;
        rv = apply_function(token->crypto, wanted, secret, secret_size, secret + MAX_CURVE_BYTES,
                            size) ?
                 CKR_OK :
                 CKR_FUNCTION_FAILED;
    } else if (rv == CKR_OK) {
        value = secret + secret_size - size; /* of a shorter key the leading bytes are left out */
    }
    if (rv == CKR_OK && (!attributes_set(made, CKA_VALUE, value, size) ||
                         !attributes_set_ulong(made, CKA_VALUE_LEN, size))) {
        rv = CKR_HOST_MEMORY;
    }
    secret_free(secret);
    return rv;
}

/* What the new key's history is depends on the private key's. */
static bool set_history(const struct derivation_wanted *wanted, struct attributes *made)
{
    return attributes_set_bool(made, CKA_ALWAYS_SENSITIVE,
                               wanted->always_sensitive &&
                                   attributes_bool(made, CKA_SENSITIVE, false)) &&
           attributes_set_bool(made, CKA_NEVER_EXTRACTABLE,
                               wanted->never_extractable &&
                                   !attributes_bool(made, CKA_EXTRACTABLE, true));
}

CK_RV C_DeriveKey(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                  CK_OBJECT_HANDLE hBaseKey, CK_ATTRIBUTE_PTR pTemplate, CK_ULONG ulAttributeCount,
                  CK_OBJECT_HANDLE_PTR phKey)
{
    struct derivation_wanted wanted = {.key = NULL};
    struct attributes made = {.secret = true};
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    if (pMechanism == NULL || phKey == NULL || (pTemplate == NULL && ulAttributeCount)) {
        rv = CKR_ARGUMENTS_BAD;
    } else {
        rv = read_mechanism(pMechanism, &wanted);
    }
    if (rv == CKR_OK) {
        module_lock();
        rv = find_key(session, hBaseKey, &wanted);
        module_unlock();
    }
    if (rv == CKR_OK) {
        rv = begin_derived(session, &made, pTemplate, ulAttributeCount);
    }
    if (rv == CKR_OK && !set_history(&wanted, &made)) {
        rv = CKR_HOST_MEMORY;
    }
    if (rv == CKR_OK) {
        rv = objects_check_new(session, pTemplate, ulAttributeCount, &made, 1);
    }
    if (rv == CKR_OK) { /* now an engine works */
        rv = derive(session->token, &wanted, &made);
    }
    key_release(wanted.key ? &wanted.key->base : NULL);
    if (rv == CKR_OK) {
        rv = objects_add(session, rv, pTemplate, ulAttributeCount, &made, 1, phKey);
    } else {
        attributes_free(&made);
    }
    session_end(session);
    return rv;
}
