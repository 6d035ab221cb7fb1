/* Keys that leave the token under another key, or come to it. */
#include <string.h>

#include <openssl/crypto.h>

#include "aes.h"
#include "calls.h"
#include "ecdh.h"
#include "key_kinds.h"
#include "objects.h"
#include "operation.h"
#include "pkcs8.h"
#include "policy.h"
#include "rules.h"
#include "secret.h"
#include "secret_kind.h"

/* The key that wraps or unwraps, and how: what of the object is needed, so that no lock is. */
struct wrapper {
    const struct mechanism *mechanism;
    struct parameters parameters;
    CK_MECHANISM rsa_mechanism; /* that of the RSA operation, if there is one */
    struct key *pair; /* a half of one; or null */
    uint8_t key[32];
    size_t key_size;
    bool trusted; /* it wraps what only such keys may, or unwraps it */
    bool decrypts; /* who may use it can read what it wraps */
    struct nested template; /* CKA_WRAP_TEMPLATE or CKA_UNWRAP_TEMPLATE */
};

static void wrapper_end(struct wrapper *wrapper)
{
    attributes_free(&wrapper->template.list);
    key_release(wrapper->pair);
    secret_free(wrapper);
}

/* Whether an attribute of two objects has the same value. */
static bool has_same(const struct attributes *a, const struct attributes *b,
                     CK_ATTRIBUTE_TYPE type)
{
    const struct value of_a = attributes_get(a, type), of_b = attributes_get(b, type);

    return of_a.bytes && of_b.bytes && of_a.size == of_b.size &&
           CRYPTO_memcmp(of_a.bytes, of_b.bytes, of_a.size) == 0;
}

/* Whether a key decrypts for its user, or is shown to its user, who then decrypts elsewhere. A private
   key of RSA can also sign, which is the same operation, unless it is one that unwraps: those do not sign
   without padding. */
static bool decrypts(const struct attributes *key, bool is_private)
{
    const struct key_kind *const kind = is_private ? key_kind_of_object(key) : NULL;

    return rules_reads(key, true) || !rules_hides(key, kind ? kind->secret : CKA_VALUE) ||
           (kind && kind->signing_decrypts && !attributes_bool(key, CKA_UNWRAP, false));
}

/* Whether these are halves of one pair. */
static bool is_pair(const struct attributes *a, const struct attributes *b)
{
    const struct key_kind *const kind = key_kind_of_object(a);

    return kind && kind->common != UNAVAILABLE && has_same(a, b, kind->common);
}

/* Whether what a key wraps can be decrypted by means of the token: with the key itself or a copy of it,
   or with the private key of a public one. With the module's lock. */
static bool is_read_here(const struct token *token, const struct attributes *wrapping)
{
    const bool is_public = attributes_ulong(wrapping, CKA_CLASS, CKO_DATA) == CKO_PUBLIC_KEY;
    const CK_OBJECT_CLASS class = is_public ? CKO_PRIVATE_KEY : CKO_SECRET_KEY;

    for (const struct object *object = token->objects; object; object = object->next) {
        const struct attributes *const other = &object->attributes;

        if (attributes_ulong(other, CKA_CLASS, CKO_DATA) == class &&
            (is_public ? is_pair(wrapping, other) : has_same(wrapping, other, CKA_VALUE)) &&
            decrypts(other, is_public)) {
            return true;
        }
    }
    return false;
}

/* Whether the officer trusts a key that unwraps: the key itself, an equal one, or the public key that
   belongs to it, which is the one that wraps. With the module's lock. */
static bool is_trusted(const struct token *token, const struct attributes *unwrapping)
{
    const bool is_private = attributes_ulong(unwrapping, CKA_CLASS, CKO_DATA) == CKO_PRIVATE_KEY;
    const CK_OBJECT_CLASS class = is_private ? CKO_PUBLIC_KEY : CKO_SECRET_KEY;

    for (const struct object *object = token->objects; object; object = object->next) {
        const struct attributes *const other = &object->attributes;

        if (attributes_ulong(other, CKA_CLASS, CKO_DATA) == class &&
            (is_private ? is_pair(unwrapping, other) : has_same(unwrapping, other, CKA_VALUE)) &&
            attributes_bool(other, CKA_TRUSTED, false)) {
            return true;
        }
    }
    return false;
}

/* Find the key, and read what the object says of it. With the module's lock. */
static CK_RV find_wrapper(struct session *session, CK_OBJECT_HANDLE handle, bool wraps,
                          struct wrapper *wrapper)
{
    const bool is_aes = wrapper->mechanism->scheme == CIPHER;
    const CK_OBJECT_CLASS half = wraps ? CKO_PUBLIC_KEY : CKO_PRIVATE_KEY;
    struct object *object;
    struct value value;
    CK_RV rv = objects_find_key(session, handle, is_aes ? CKO_SECRET_KEY : half,
                                wraps ? CKA_WRAP : CKA_UNWRAP, wrapper->mechanism->type, &object);

    if (rv == CKR_KEY_HANDLE_INVALID) {
        return wraps ? CKR_WRAPPING_KEY_HANDLE_INVALID : CKR_UNWRAPPING_KEY_HANDLE_INVALID;
    }
    if (rv == CKR_KEY_TYPE_INCONSISTENT) {
        return wraps ? CKR_WRAPPING_KEY_TYPE_INCONSISTENT : CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT;
    }
    if (rv != CKR_OK) {
        return rv;
    }
    wrapper->trusted = wraps ? attributes_bool(&object->attributes, CKA_TRUSTED, false) :
                               is_trusted(session->token, &object->attributes);
    wrapper->decrypts = wraps ? is_read_here(session->token, &object->attributes) :
                                rules_reads(&object->attributes, false);
    if (!nested_read(&wrapper->template, &object->attributes,
                     wraps ? CKA_WRAP_TEMPLATE : CKA_UNWRAP_TEMPLATE)) {
        return CKR_HOST_MEMORY;
    }
    if (!is_aes) {
        if (attributes_bool(&object->attributes, CKA_ALWAYS_AUTHENTICATE, false)) {
            return CKR_USER_NOT_LOGGED_IN; /* there is no call in which the PIN could be given */
        }
        wrapper->pair = object_key(session->token->crypto, object);
        if (wrapper->pair == NULL) {
            return wraps ? CKR_WRAPPING_KEY_TYPE_INCONSISTENT : CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT;
        }
        return CKR_OK;
    }
    value = attributes_get(&object->attributes, CKA_VALUE);
    if (!aes_has_size(value.size)) {
        return wraps ? CKR_WRAPPING_KEY_SIZE_RANGE : CKR_UNWRAPPING_KEY_SIZE_RANGE;
    }
    memcpy(wrapper->key, value.bytes, value.size);
    wrapper->key_size = value.size;
    return CKR_OK;
}

/* Begin with what the caller gave. */
static CK_RV wrapper_begin(const CK_MECHANISM *given, CK_FLAGS flag, struct wrapper **wrapper)
{
    const struct mechanism *const mechanism = mechanism_find(given->mechanism);
    CK_RSA_AES_KEY_WRAP_PARAMS outer;
    CK_RV rv;

    if (mechanism == NULL || !(mechanism->info.flags & flag)) {
        return CKR_MECHANISM_INVALID;
    }
    *wrapper = secret_allocate(sizeof **wrapper);
    if (*wrapper == NULL) {
        return CKR_HOST_MEMORY;
    }
    (*wrapper)->mechanism = mechanism;
    (*wrapper)->rsa_mechanism = *given;
    rv = mechanism_parameters(mechanism, given, &(*wrapper)->parameters);
    if (rv == CKR_OK && mechanism->scheme == RSA_AES) {
        memcpy(&outer, given->pParameter, sizeof outer);
        (*wrapper)->rsa_mechanism = (CK_MECHANISM){CKM_RSA_PKCS_OAEP, outer.pOAEPParams,
                                                   sizeof *outer.pOAEPParams};
    }
    return rv;
}

/* One operation of RSA, without a session's. */
static CK_RV rsa_once(const struct context *context, const struct wrapper *wrapper,
                      enum operation_kind kind, const uint8_t *input, size_t size, uint8_t *output,
                      CK_ULONG *output_size)
{
    const struct operation_key key = {key_share(wrapper->pair), {NULL, 0}};
    struct operation operation = {0};
    CK_RV rv = operation_begin(context, &operation, kind, &wrapper->rsa_mechanism, &key);

    if (rv == CKR_OK) {
        rv = operation_finish(context, &operation, kind, true, input, size, output, output_size);
    }
    operation_end(&operation);
    return rv;
}

/* Bytes in front of the wrapped key: the temporary key, encrypted, or the public key of the pair that it
   was agreed with. 0: there is no temporary key. */
static size_t head_size(const struct wrapper *wrapper)
{
    switch (wrapper->mechanism->scheme) {
    case RSA_AES:
        return rsa_key_of(wrapper->pair)->bytes;
    case ECDH_AES:
        return curve_key_of(wrapper->pair)->point_size;
    default:
        return 0;
    }
}

/* Bytes of a key of `size` bytes when it is wrapped. */
static size_t wrapped_size(const struct wrapper *wrapper, size_t size)
{
    const size_t padded = (size + 7) / 8 * 8 + 8;

    switch (wrapper->mechanism->type) {
    case CKM_AES_CBC_PAD:
        return (size / AES_BLOCK + 1) * AES_BLOCK;
    case CKM_AES_KEY_WRAP:
    case CKM_AES_KEY_WRAP_PAD:
    case CKM_AES_KEY_WRAP_KWP:
        return padded;
    case CKM_RSA_AES_KEY_WRAP:
    case CKM_ECDH_AES_KEY_WRAP:
        return head_size(wrapper) + padded;
    default:
        return rsa_key_of(wrapper->pair)->bytes;
    }
}

/* The temporary key of CKM_ECDH_AES_KEY_WRAP. Without a key derivation function it is the secret, which
   must have its length: the standard and its own derivation of keys take different ends of a longer one. */
static CK_RV agree(const struct context *context, struct wrapper *wrapper, struct value secret)
{
    const struct parameters *const given = &wrapper->parameters;

    wrapper->key_size = given->aes_size;
    if (given->kdf.digest == NULL) {
        if (secret.size != wrapper->key_size) {
            return CKR_MECHANISM_PARAM_INVALID;
        }
        memcpy(wrapper->key, secret.bytes, secret.size);
        return CKR_OK;
    }
    return ecdh_expand(context->crypto, &given->kdf, secret, given->shared, wrapper->key,
                       wrapper->key_size) ?
               CKR_OK :
               CKR_FUNCTION_FAILED;
}

/* Agree on the temporary key with a new pair, whose public key is given. */
static CK_RV send_point(const struct context *context, struct wrapper *wrapper, uint8_t *point)
{
    const struct curve_key *const other = curve_key_of(wrapper->pair);
    struct attributes numbers = {.secret = true};
    struct curve_key *sender = NULL;
    uint8_t *const secret = secret_allocate(MAX_CURVE_BYTES);
    CK_RV rv = secret && curve_set_parameters(other->curve, &numbers) &&
                       attributes_set_ulong(&numbers, CKA_KEY_TYPE, other->curve->type) ?
                   CKR_OK :
                   CKR_HOST_MEMORY;

    if (rv == CKR_OK) {
        rv = curve_generate(context->crypto, other->curve, &numbers);
    }
    if (rv == CKR_OK) {
        sender = curve_key_of(curve_key_new(context->crypto, &numbers, true));
        rv = sender ? ecdh_in_software(context->crypto, sender,
                                       (struct value){other->point, other->point_size}, secret) :
                      CKR_HOST_MEMORY;
    }
    if (rv == CKR_OK) {
        memcpy(point, sender->point, sender->point_size);
        rv = agree(context, wrapper, (struct value){secret, other->curve->bytes});
    }
    key_release(sender ? &sender->base : NULL);
    attributes_free(&numbers);
    secret_free(secret);
    return rv;
}

/* Agree on it with a point that came. */
static CK_RV receive_point(const struct context *context, struct wrapper *wrapper,
                           const uint8_t *point)
{
    struct curve_key *const own = curve_key_of(wrapper->pair);
    uint8_t *const secret = secret_allocate(MAX_CURVE_BYTES);
    CK_RV rv = secret ? ecdh(context->crypto, context->device, own,
                             (struct value){point, own->point_size}, secret) :
                        CKR_HOST_MEMORY;

    if (rv == CKR_OK) {
        rv = agree(context, wrapper, (struct value){secret, own->curve->bytes});
    } else if (rv == CKR_MECHANISM_PARAM_INVALID) {
        rv = CKR_WRAPPED_KEY_INVALID;
    }
    secret_free(secret);
    return rv;
}

/* Draw the temporary key of CKM_RSA_AES_KEY_WRAP, and encrypt it. */
static CK_RV send_key(const struct context *context, struct wrapper *wrapper, uint8_t *output)
{
    CK_ULONG size = head_size(wrapper);

    wrapper->key_size = wrapper->parameters.aes_size;
    return crypto_random(context->crypto, wrapper->key, wrapper->key_size) ?
               rsa_once(context, wrapper, ENCRYPT, wrapper->key, wrapper->key_size, output, &size) :
               CKR_FUNCTION_FAILED;
}

/* Wrap: RSA, AES, or with a temporary key of AES. */
static CK_RV wrap(const struct context *context, struct wrapper *wrapper, const uint8_t *plain,
                  size_t size, uint8_t *output, CK_ULONG *output_size)
{
    const CK_MECHANISM_TYPE type = wrapper->mechanism->type;
    const size_t head = head_size(wrapper);
    size_t written = 0;
    CK_RV rv = CKR_OK;

    if (wrapper->mechanism->scheme == PKCS1 || wrapper->mechanism->scheme == OAEP) {
        rv = rsa_once(context, wrapper, ENCRYPT, plain, size, output, output_size);
        return rv == CKR_DATA_LEN_RANGE ? CKR_KEY_SIZE_RANGE : rv;
    }
    if (head) {
        rv = (type == CKM_RSA_AES_KEY_WRAP ? send_key : send_point)(context, wrapper, output);
    }
    if (rv == CKR_OK && !aes_wrap(context->crypto, head ? CKM_AES_KEY_WRAP_KWP : type,
                                  wrapper->key, wrapper->key_size, wrapper->parameters.cipher.iv, true,
                                  plain, size, output + head, &written)) {
        rv = CKR_KEY_SIZE_RANGE;
    }
    *output_size = head + written;
    return rv;
}

/* Whether a key may leave the token under this one. */
static CK_RV check_wrapped(const struct attributes *key, const struct wrapper *wrapper)
{
    const CK_OBJECT_CLASS class = attributes_ulong(key, CKA_CLASS, CKO_DATA);
    const enum scheme scheme = wrapper->mechanism->scheme;

    if (class != CKO_SECRET_KEY && class != CKO_PRIVATE_KEY) {
        return CKR_KEY_NOT_WRAPPABLE;
    }
    if (!attributes_bool(key, CKA_EXTRACTABLE, false)) {
        return CKR_KEY_UNEXTRACTABLE;
    }
    if (!rules_match(key, wrapper->template.items, wrapper->template.count)) {
        return CKR_KEY_HANDLE_INVALID; /* as the standard has it */
    }
    if (attributes_bool(key, CKA_WRAP_WITH_TRUSTED, false) && !wrapper->trusted) {
        return CKR_KEY_NOT_WRAPPABLE;
    }
    if ((wrapper->decrypts || rules_bind(key)) && attributes_bool(key, CKA_SENSITIVE, true) &&
        !policy_allows(ALLOW_REVEAL_WRAPPED)) {
        return CKR_KEY_NOT_WRAPPABLE;
    }
    return class == CKO_PRIVATE_KEY && (scheme == PKCS1 || scheme == OAEP) ?
               CKR_KEY_NOT_WRAPPABLE :
               CKR_OK;
}

/* The bytes of a key that may leave, in secret memory. */
static CK_RV encode_key(struct session *session, const struct wrapper *wrapper,
                        CK_OBJECT_HANDLE handle, uint8_t **plain, size_t *size)
{
    const struct object *const object = objects_find(session, handle);
    struct value value;
    CK_RV rv;

    if (object == NULL) {
        return CKR_KEY_HANDLE_INVALID;
    }
    rv = check_wrapped(&object->attributes, wrapper);
    if (rv != CKR_OK) {
        return rv;
    }
    if (attributes_ulong(&object->attributes, CKA_CLASS, CKO_DATA) == CKO_PRIVATE_KEY) {
        *plain = pkcs8_encode(session->token->crypto, &object->attributes, size);
        return *plain ? CKR_OK : CKR_HOST_MEMORY;
    }
    value = attributes_get(&object->attributes, CKA_VALUE);
    *plain = value.bytes ? secret_allocate(value.size) : NULL;
    if (*plain == NULL) {
        return CKR_HOST_MEMORY;
    }
    memcpy(*plain, value.bytes, value.size);
    *size = value.size;
    return CKR_OK;
}

CK_RV C_WrapKey(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                CK_OBJECT_HANDLE hWrappingKey, CK_OBJECT_HANDLE hKey, CK_BYTE_PTR pWrappedKey,
                CK_ULONG_PTR pulWrappedKeyLen)
{
    struct wrapper *wrapper = NULL;
    struct context context;
    struct session *session;
    uint8_t *plain = NULL;
    size_t size = 0;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    context = (struct context){session->token->crypto, session->token->device};
    rv = pMechanism && pulWrappedKeyLen ? wrapper_begin(pMechanism, CKF_WRAP, &wrapper) :
                                          CKR_ARGUMENTS_BAD;
    module_lock();
    if (rv == CKR_OK) {
        rv = find_wrapper(session, hWrappingKey, true, wrapper);
    }
    if (rv == CKR_OK) {
        rv = encode_key(session, wrapper, hKey, &plain, &size);
    }
    module_unlock();
    if (rv == CKR_OK) {
        const size_t needed = wrapped_size(wrapper, size);

        if (pWrappedKey && *pulWrappedKeyLen >= needed) {
            uint8_t *const output = secret_allocate(needed + AES_BLOCK);
            CK_ULONG written = needed;

            rv = output ? wrap(&context, wrapper, plain, size, output, &written) : CKR_HOST_MEMORY;
            if (rv == CKR_OK) {
                memcpy(pWrappedKey, output, written);
            }
            secret_free(output);
        } else if (pWrappedKey) {
            rv = CKR_BUFFER_TOO_SMALL;
        }
        *pulWrappedKeyLen = needed;
    }
    secret_free(plain);
    if (wrapper) {
        wrapper_end(wrapper);
    }
    session_end(session);
    return rv;
}

/* The bytes of a wrapped key; `plain` has room for as many as there are, or a modulus has. */
static CK_RV unwrap(const struct context *context, struct wrapper *wrapper, const uint8_t *input,
                    size_t size, uint8_t *plain, size_t *plain_size)
{
    const CK_MECHANISM_TYPE type = wrapper->mechanism->type;
    const size_t head = head_size(wrapper);
    CK_ULONG length = MAX_RSA_BYTES;
    CK_RV rv = CKR_OK;

    if (wrapper->mechanism->scheme == PKCS1 || wrapper->mechanism->scheme == OAEP) {
        rv = rsa_once(context, wrapper, DECRYPT, input, size, plain, &length);
        *plain_size = length;
    } else {
        if (head && size <= head) {
            return CKR_WRAPPED_KEY_LEN_RANGE;
        }
        if (type == CKM_ECDH_AES_KEY_WRAP) {
            rv = receive_point(context, wrapper, input);
        } else if (head) {
            rv = rsa_once(context, wrapper, DECRYPT, input, head, plain, &length);
            if (rv == CKR_OK) {
                wrapper->key_size = length <= sizeof wrapper->key ? length : 0;
                memcpy(wrapper->key, plain, wrapper->key_size);
            }
        }
        if (rv == CKR_OK && !aes_wrap(context->crypto, head ? CKM_AES_KEY_WRAP_KWP : type,
                                      wrapper->key, wrapper->key_size, wrapper->parameters.cipher.iv,
                                      false, input + head, size - head, plain, plain_size)) {
            rv = CKR_WRAPPED_KEY_INVALID;
        }
    }
    if (rv == CKR_ENCRYPTED_DATA_LEN_RANGE) {
        return CKR_WRAPPED_KEY_LEN_RANGE;
    }
    return rv == CKR_ENCRYPTED_DATA_INVALID ? CKR_WRAPPED_KEY_INVALID : rv;
}

/* The class that a template asks for; or else the one of the unwrapping key's template. */
static CK_RV read_class(const CK_ATTRIBUTE *template, CK_ULONG count, const struct nested *nested,
                        CK_OBJECT_CLASS *class)
{
    const CK_ATTRIBUTE *found = template_find(template, count, CKA_CLASS);

    if (found == NULL) {
        found = template_find(nested->items, nested->count, CKA_CLASS);
    }
    if (found == NULL || found->pValue == NULL || found->ulValueLen != sizeof *class) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    memcpy(class, found->pValue, sizeof *class);
    return *class == CKO_SECRET_KEY || *class == CKO_PRIVATE_KEY ? CKR_OK :
                                                                  CKR_TEMPLATE_INCONSISTENT;
}

/* Whether what is unwrapped can have these attributes. */
static CK_RV check_unwrapped(const struct wrapper *wrapper, const struct attributes *made)
{
    const CK_ATTRIBUTE *const decrypts =
        template_find(wrapper->template.items, wrapper->template.count, CKA_DECRYPT);

    if (policy_allows(ALLOW_REVEAL_WRAPPED)) {
        return CKR_OK;
    }
    if (!wrapper->decrypts && !attributes_bool(made, CKA_SENSITIVE, true)) {
        return CKR_TEMPLATE_INCONSISTENT;
    }
    /* A key without CKA_DECRYPT wraps sensitive keys; whoever unwraps it again could have it with that,
       unless the template forbids it. */
    return attributes_bool(made, CKA_WRAP, false) && !attributes_bool(made, CKA_DECRYPT, false) &&
                   decrypts == NULL ?
               CKR_TEMPLATE_INCONSISTENT :
               CKR_OK;
}

/* What only trusted keys wrap stays so when one of them unwraps it. */
static CK_RV keep_trust(const struct wrapper *wrapper, struct attributes *made)
{
    if (!wrapper->trusted || attributes_bool(made, CKA_WRAP_WITH_TRUSTED, false)) {
        return CKR_OK;
    }
    if (attributes_get(made, CKA_WRAP_WITH_TRUSTED).bytes) {
        return CKR_TEMPLATE_INCONSISTENT;
    }
    return attributes_set_bool(made, CKA_WRAP_WITH_TRUSTED, true) ? CKR_OK : CKR_HOST_MEMORY;
}

/* The attributes of an object that will be unwrapped, without its numbers or its value: what the
   unwrapping key's template says, and what the caller's adds to it. */
static CK_RV begin_unwrapped(const struct session *session, const struct wrapper *wrapper,
                             const CK_ATTRIBUTE *template, CK_ULONG count, struct attributes *made)
{
    const struct nested *const nested = &wrapper->template;
    CK_OBJECT_CLASS class;
    CK_KEY_TYPE type;
    CK_RV rv = read_class(template, count, nested, &class);

    if (rv == CKR_OK) {
        rv = rules_apply(made, class, UNWRAPPED, nested->items, nested->count);
    }
    if (rv == CKR_OK) {
        rv = rules_apply(made, class, UNWRAPPED, template, count);
    }
    if (rv != CKR_OK) {
        return rv;
    }
    type = attributes_ulong(made, CKA_KEY_TYPE, UNAVAILABLE);
    if (type == UNAVAILABLE) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    rv = keep_trust(wrapper, made);
    if (rv == CKR_OK) {
        rv = check_unwrapped(wrapper, made);
    }
    return rv != CKR_OK ? rv : objects_finish(session, made, false, CK_UNAVAILABLE_INFORMATION);
}

/* Add the bytes of the key. */
static CK_RV decode_key(const struct crypto *crypto, const uint8_t *plain, size_t size,
                        struct attributes *made)
{
    if (attributes_ulong(made, CKA_CLASS, CKO_DATA) == CKO_PRIVATE_KEY) {
        const CK_RV rv = pkcs8_decode(crypto, plain, size, made);

        return rv == CKR_OK ? key_complete(crypto, made) : rv;
    }
    if (attributes_ulong(made, CKA_VALUE_LEN, size) != size || !secret_has_size(made, size)) {
        return CKR_WRAPPED_KEY_INVALID;
    }
    return secret_set(made, plain, size);
}

CK_RV C_UnwrapKey(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                  CK_OBJECT_HANDLE hUnwrappingKey, CK_BYTE_PTR pWrappedKey,
                  CK_ULONG ulWrappedKeyLen, CK_ATTRIBUTE_PTR pTemplate, CK_ULONG ulAttributeCount,
                  CK_OBJECT_HANDLE_PTR phKey)
{
    struct attributes made = {.secret = true};
    struct wrapper *wrapper = NULL;
    struct context context;
    struct session *session;
    uint8_t *plain = NULL;
    size_t size = 0;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    context = (struct context){session->token->crypto, session->token->device};
    if (pMechanism == NULL || pWrappedKey == NULL || phKey == NULL ||
        (pTemplate == NULL && ulAttributeCount)) {
        rv = CKR_ARGUMENTS_BAD;
    } else {
        rv = ulWrappedKeyLen <= 1 << 16 ? wrapper_begin(pMechanism, CKF_UNWRAP, &wrapper) :
                                          CKR_WRAPPED_KEY_LEN_RANGE;
    }
    module_lock();
    if (rv == CKR_OK) {
        rv = find_wrapper(session, hUnwrappingKey, false, wrapper);
    }
    module_unlock();
    if (rv == CKR_OK) {
        rv = begin_unwrapped(session, wrapper, pTemplate, ulAttributeCount, &made);
    }
    if (rv == CKR_OK) {
        rv = objects_check_new(session, pTemplate, ulAttributeCount, &made, 1);
    }
    if (rv == CKR_OK) { /* now an engine works, and primes are tested */
        plain = secret_allocate(ulWrappedKeyLen + MAX_RSA_BYTES + 2 * AES_BLOCK);
        rv = plain ? unwrap(&context, wrapper, pWrappedKey, ulWrappedKeyLen, plain, &size) :
                     CKR_HOST_MEMORY;
    }
    if (rv == CKR_OK) {
        rv = decode_key(context.crypto, plain, size, &made);
    }
    secret_free(plain);
    if (rv == CKR_OK) {
        rv = objects_add(session, rv, pTemplate, ulAttributeCount, &made, 1, phKey);
    } else {
        attributes_free(&made);
    }
    if (wrapper) {
        wrapper_end(wrapper);
    }
    session_end(session);
    return rv;
}
