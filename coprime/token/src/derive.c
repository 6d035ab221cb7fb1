/* Shared secret keys: C_DeriveKey. */
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "aes.h"
#include "calls.h"
#include "derived.h"
#include "ecdh.h"
#include "kbkdf.h"
#include "mechanism.h"
#include "objects.h"
#include "secret.h"
#include "secret_kind.h"

/* The longest derived key, in bytes. */
enum { MAX_DERIVED = 1024 };

/* A derivation that was asked for: from a private key on a curve and a point, or from a secret key. */
struct derivation_wanted {
    const struct mechanism *mechanism;
    CK_ECDH1_DERIVE_PARAMS given;
    struct ecdh_kdf kdf;
    CK_HKDF_PARAMS hkdf;
    const struct digest *digest; /* of HKDF */
    struct kbkdf kbkdf;
    CK_AES_CBC_ENCRYPT_DATA_PARAMS encrypted; /* data whose ciphertext is the key; of ECB without `iv` */
    struct curve_key *key;
    /* The secret key's value, and that of HKDF's salt if it is a key; in secret memory. */
    uint8_t *secret, *salt;
    size_t secret_size, salt_size;
    bool always_sensitive, never_extractable; /* of the key from which another is derived */
};

/* The parameters of HKDF (RFC 5869). */
static CK_RV read_hkdf(const CK_MECHANISM *given, struct derivation_wanted *wanted)
{
    CK_HKDF_PARAMS *const found = &wanted->hkdf;

    if (given->pParameter == NULL || given->ulParameterLen != sizeof *found) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    memcpy(found, given->pParameter, sizeof *found);
    wanted->digest = digest_of(found->prfHashMechanism);
    if (wanted->digest == NULL || found->bExtract > CK_TRUE || found->bExpand > CK_TRUE ||
        !(found->bExtract || found->bExpand) || found->ulInfoLen > MAX_SHARED ||
        (found->ulInfoLen && found->pInfo == NULL)) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    if (!found->bExtract) { /* no salt is looked at */
        found->ulSaltType = CKF_HKDF_SALT_NULL;
    }
    switch (found->ulSaltType) {
    case CKF_HKDF_SALT_NULL:
        found->ulSaltLen = 0;
        return CKR_OK;
    case CKF_HKDF_SALT_DATA:
        return found->ulSaltLen <= MAX_SHARED && (found->pSalt || found->ulSaltLen == 0) ?
                   CKR_OK :
                   CKR_MECHANISM_PARAM_INVALID;
    case CKF_HKDF_SALT_KEY:
        return CKR_OK;
    default:
        return CKR_MECHANISM_PARAM_INVALID;
    }
}

/* The data that is encrypted (PKCS #11 3.0, 2.15): whole blocks. */
static CK_RV read_data(const CK_MECHANISM *given, CK_AES_CBC_ENCRYPT_DATA_PARAMS *found)
{
    const bool chains = given->mechanism == CKM_AES_CBC_ENCRYPT_DATA;
    CK_KEY_DERIVATION_STRING_DATA plain;

    if (given->pParameter == NULL ||
        given->ulParameterLen != (chains ? sizeof *found : sizeof plain)) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    if (chains) {
        memcpy(found, given->pParameter, sizeof *found);
    } else {
        memcpy(&plain, given->pParameter, sizeof plain);
        found->pData = plain.pData;
        found->length = plain.ulLen;
    }
    return found->pData && found->length && found->length % AES_BLOCK == 0 &&
                   found->length <= MAX_SHARED ?
               CKR_OK :
               CKR_MECHANISM_PARAM_INVALID;
}

static CK_RV read_mechanism(const CK_MECHANISM *given, struct derivation_wanted *wanted)
{
    CK_ECDH1_DERIVE_PARAMS *const found = &wanted->given;

    wanted->mechanism = mechanism_find(given->mechanism);
    if (wanted->mechanism == NULL || !(wanted->mechanism->info.flags & CKF_DERIVE)) {
        return CKR_MECHANISM_INVALID;
    }
    if (wanted->mechanism->scheme == HKDF) {
        return read_hkdf(given, wanted);
    }
    if (wanted->mechanism->scheme == KBKDF) {
        return kbkdf_read(given, &wanted->kbkdf);
    }
    if (wanted->mechanism->scheme == ENCRYPTION) {
        return read_data(given, &wanted->encrypted);
    }
    if (given->pParameter == NULL || given->ulParameterLen != sizeof *found) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    memcpy(found, given->pParameter, sizeof *found);
    if (!mechanism_kdf(found->kdf, &wanted->kdf) || found->pPublicData == NULL ||
        found->ulPublicDataLen == 0 || found->ulPublicDataLen > MAX_ENCODED_POINT ||
        found->ulSharedDataLen > MAX_SHARED ||
        (found->ulSharedDataLen && (found->pSharedData == NULL || wanted->kdf.digest == NULL))) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    return CKR_OK;
}

/* Copy a value; null without memory. */
static uint8_t *copy_value(const struct attributes *attributes, size_t *size)
{
    const struct value value = attributes_get(attributes, CKA_VALUE);
    uint8_t *const copy = secret_allocate(value.size ? value.size : 1);

    *size = value.size;
    if (copy && value.size) {
        memcpy(copy, value.bytes, value.size);
    }
    return copy;
}

/* Whether a key is one of the pseudorandom function's. */
static bool takes(const struct derivation_wanted *wanted, const struct attributes *key)
{
    return wanted->mechanism->scheme != KBKDF ||
           mechanism_takes(wanted->kbkdf.prf, attributes_ulong(key, CKA_KEY_TYPE, NO_KEY));
}

/* Whether the key's other attributes allow it, too: whoever derives by encryption chooses what the key
   encrypts, and can have the result shown. */
static bool allows(const struct derivation_wanted *wanted, const struct attributes *key)
{
    return wanted->mechanism->scheme != ENCRYPTION || attributes_bool(key, CKA_ENCRYPT, false);
}

/* Find the key, and of HKDF also the one that is the salt. With the module's lock. */
static CK_RV find_key(struct session *session, CK_OBJECT_HANDLE handle,
                      struct derivation_wanted *wanted)
{
    const bool is_secret = mechanism_derives_from_secret(wanted->mechanism);
    struct object *object, *salt;
    CK_RV rv = objects_find_key(session, handle, is_secret ? CKO_SECRET_KEY : CKO_PRIVATE_KEY,
                                CKA_DERIVE, wanted->mechanism->type, &object);

    if (rv == CKR_OK && !takes(wanted, &object->attributes)) {
        rv = CKR_KEY_TYPE_INCONSISTENT;
    }
    if (rv == CKR_OK && !allows(wanted, &object->attributes)) {
        rv = CKR_KEY_FUNCTION_NOT_PERMITTED;
    }
    if (rv == CKR_OK && is_secret && wanted->hkdf.ulSaltType == CKF_HKDF_SALT_KEY) {
        rv = objects_find_key(session, wanted->hkdf.hSaltKey, CKO_SECRET_KEY, CKA_DERIVE,
                              wanted->mechanism->type, &salt);
        if (rv == CKR_OK) {
            wanted->salt = copy_value(&salt->attributes, &wanted->salt_size);
            rv = wanted->salt ? CKR_OK : CKR_HOST_MEMORY;
        }
        object = token_find_object(session->token, handle); /* another process may have written */
        rv = rv == CKR_OK && object == NULL ? CKR_KEY_HANDLE_INVALID : rv;
    }
    if (rv != CKR_OK) {
        return rv;
    }
    if (attributes_bool(&object->attributes, CKA_ALWAYS_AUTHENTICATE, false)) {
        return CKR_USER_NOT_LOGGED_IN; /* there is no call in which the PIN could be given */
    }
    wanted->always_sensitive = attributes_bool(&object->attributes, CKA_ALWAYS_SENSITIVE, false);
    wanted->never_extractable = attributes_bool(&object->attributes, CKA_NEVER_EXTRACTABLE, false);
    if (is_secret) {
        wanted->secret = copy_value(&object->attributes, &wanted->secret_size);
        return wanted->secret ? CKR_OK : CKR_HOST_MEMORY;
    }
    wanted->key = curve_key_of(object_key(session->token->crypto, object));
    return wanted->key ? CKR_OK : CKR_KEY_TYPE_INCONSISTENT;
}

/* The bytes that a function gives, of which a shorter key has a part; 0: it gives any number. */
static size_t given_size(const struct derivation_wanted *wanted)
{
    switch (wanted->mechanism->scheme) {
    case HKDF:
        return wanted->hkdf.bExpand ? 0 : wanted->digest->size;
    case KBKDF:
        return 0;
    case ENCRYPTION:
        return wanted->encrypted.length < MAX_DERIVED ? wanted->encrypted.length : MAX_DERIVED;
    default:
        return wanted->kdf.digest ? 0 : wanted->key->curve->bytes;
    }
}

/* Bytes of the new key: as many as the template says, or the secret has. */
static CK_RV read_length(const struct attributes *made, const struct derivation_wanted *wanted,
                         size_t *size)
{
    const bool is_aes = attributes_ulong(made, CKA_KEY_TYPE, UNAVAILABLE) == CKK_AES;
    const size_t given = given_size(wanted), most = given ? given : MAX_DERIVED;

    *size = attributes_ulong(made, CKA_VALUE_LEN, 0);
    if (*size == 0 && (is_aes || given == 0)) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if (*size == 0) {
        *size = given;
    }
    if (*size > MAX_DERIVED || !secret_has_size(made, *size)) {
        return CKR_KEY_SIZE_RANGE;
    }
    if (*size > most) { /* the code that the standard names for too little data is in no header */
        return wanted->mechanism->scheme == ENCRYPTION ? CKR_MECHANISM_PARAM_INVALID :
                                                         CKR_KEY_SIZE_RANGE;
    }
    return CKR_OK;
}

/* HKDF: to extract, to expand, or both. The value has room for a digest. */
static bool apply_hkdf(const struct crypto *crypto, const struct derivation_wanted *wanted,
                       uint8_t *value, size_t size)
{
    static uint8_t none[1];
    const CK_HKDF_PARAMS *const given = &wanted->hkdf;
    uint8_t *const salt = wanted->salt ? wanted->salt : given->ulSaltLen ? given->pSalt : none;
    const size_t salt_size = wanted->salt ? wanted->salt_size : given->ulSaltLen;
    int mode = !given->bExpand  ? EVP_KDF_HKDF_MODE_EXTRACT_ONLY :
               !given->bExtract ? EVP_KDF_HKDF_MODE_EXPAND_ONLY :
                                  EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND;
    EVP_KDF *const kdf = EVP_KDF_fetch(crypto->context, OSSL_KDF_NAME_HKDF, NULL);
    EVP_KDF_CTX *const context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)wanted->digest->name, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, wanted->secret, wanted->secret_size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt, salt_size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, given->ulInfoLen ? given->pInfo : none,
                                          given->ulInfoLen),
        OSSL_PARAM_construct_end(),
    };
    const bool done =
        context &&
        EVP_KDF_derive(context, value, given->bExpand ? size : wanted->digest->size, parameters) == 1;

    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return done;
}

/* Encrypt as many blocks as the key needs: of more data the end would be left out. The value has room for
   whole blocks. */
static bool encrypt_data(const struct crypto *crypto, const struct derivation_wanted *wanted,
                         uint8_t *value, size_t size)
{
    const CK_AES_CBC_ENCRYPT_DATA_PARAMS *const given = &wanted->encrypted;
    const size_t blocks = (size + AES_BLOCK - 1) / AES_BLOCK;
    const bool chains = wanted->mechanism->type == CKM_AES_CBC_ENCRYPT_DATA;
    EVP_CIPHER_CTX *const context =
        aes_begin(crypto, wanted->mechanism->type, wanted->secret, wanted->secret_size,
                  chains ? given->iv : NULL, chains ? AES_BLOCK : 0, 0, true);
    int written = 0;
    const bool done = context && EVP_CipherUpdate(context, value, &written, given->pData,
                                                  (int)(blocks * AES_BLOCK)) == 1;

    EVP_CIPHER_CTX_free(context);
    return done;
}

/* The value that follows from the secret of the private key and a point, in `secret`. */
static CK_RV share_point(const struct token *token, const struct derivation_wanted *wanted,
                         uint8_t *secret, size_t size, const uint8_t **value)
{
    const struct value point = {wanted->given.pPublicData, wanted->given.ulPublicDataLen};
    const size_t secret_size = wanted->key->curve->bytes;
    const CK_RV rv = ecdh(token->crypto, token->device, wanted->key, point, secret);

    if (rv != CKR_OK) {
        return rv;
    }
    if (wanted->kdf.digest == NULL) {
        *value = secret + secret_size - size; /* of a shorter key the leading bytes are left out */
        return CKR_OK;
    }
    *value = secret + MAX_CURVE_BYTES;
    return ecdh_expand(token->crypto, &wanted->kdf, (struct value){secret, secret_size},
                       (struct value){wanted->given.pSharedData, wanted->given.ulSharedDataLen},
                       secret + MAX_CURVE_BYTES, size) ?
               CKR_OK :
               CKR_FUNCTION_FAILED;
}

/* Compute the new key's value, and set it. */
static CK_RV derive(const struct token *token, const struct derivation_wanted *wanted,
                    struct attributes *made)
{
    uint8_t *const secret = secret_allocate(MAX_CURVE_BYTES + MAX_DERIVED);
    const uint8_t *value = secret;
    size_t size;
    CK_RV rv = secret ? read_length(made, wanted, &size) : CKR_HOST_MEMORY;

    if (rv == CKR_OK && wanted->mechanism->scheme == HKDF) {
        rv = apply_hkdf(token->crypto, wanted, secret, size) ? CKR_OK : CKR_FUNCTION_FAILED;
    } else if (rv == CKR_OK && wanted->mechanism->scheme == KBKDF) {
        rv = kbkdf_derive(token->crypto, &wanted->kbkdf,
                          (struct value){wanted->secret, wanted->secret_size}, secret, size);
    } else if (rv == CKR_OK && wanted->mechanism->scheme == ENCRYPTION) {
        rv = encrypt_data(token->crypto, wanted, secret, size) ? CKR_OK : CKR_FUNCTION_FAILED;
    } else if (rv == CKR_OK) {
        rv = share_point(token, wanted, secret, size, &value);
    }
    if (rv == CKR_OK) {
        rv = secret_set(made, value, size);
    }
    secret_free(secret);
    return rv;
}

/* What the new key's history is depends on that of the key it is derived from. */
static bool set_history(const struct derivation_wanted *wanted, struct attributes *made)
{
    return attributes_set_bool(made, CKA_ALWAYS_SENSITIVE,
                               wanted->always_sensitive &&
                                   attributes_bool(made, CKA_SENSITIVE, false)) &&
           attributes_set_bool(made, CKA_NEVER_EXTRACTABLE,
                               wanted->never_extractable &&
                                   !attributes_bool(made, CKA_EXTRACTABLE, true));
}

/* What is made: a key, or data that everybody sees who sees the object. */
static CK_OBJECT_CLASS class_of(const struct mechanism *mechanism)
{
    return mechanism->type == CKM_HKDF_DATA ? CKO_DATA : CKO_SECRET_KEY;
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
        rv = derived_begin(session, class_of(wanted.mechanism), NULL, pTemplate, ulAttributeCount, &made);
    }
    if (rv == CKR_OK && class_of(wanted.mechanism) == CKO_SECRET_KEY && !set_history(&wanted, &made)) {
        rv = CKR_HOST_MEMORY;
    }
    if (rv == CKR_OK) {
        rv = objects_check_new(session, pTemplate, ulAttributeCount, &made, 1);
    }
    if (rv == CKR_OK) { /* now an engine works */
        rv = derive(session->token, &wanted, &made);
    }
    key_release(wanted.key ? &wanted.key->base : NULL);
    secret_free(wanted.secret);
    secret_free(wanted.salt);
    if (rv == CKR_OK) {
        rv = objects_add(session, rv, pTemplate, ulAttributeCount, &made, 1, phKey);
    } else {
        attributes_free(&made);
    }
    session_end(session);
    return rv;
}
