#include "lattice_key.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/asn1.h>
#include <openssl/crypto.h>
#include <openssl/objects.h>

#include "secret.h"

const CK_ATTRIBUTE_TYPE lattice_attributes[3] = {CKA_PARAMETER_SET, CKA_VALUE, CKA_SEED};

const struct lattice_set *lattice_set_of(const struct lattice_scheme *scheme,
                                         const struct attributes *attributes)
{
    const CK_ULONG number = attributes_ulong(attributes, CKA_PARAMETER_SET, 0);

    for (int i = 0; i < LATTICE_SETS; ++i) {
        if (scheme->sets[i].number == number) {
            return &scheme->sets[i];
        }
    }
    return NULL;
}

static void destroy(struct key *base)
{
    struct lattice_key *const key = lattice_key_of(base);

    secret_free(key->private);
    free(key);
}

static struct lattice_key *key_new(const struct lattice_scheme *scheme,
                                   const struct lattice_set *set)
{
    struct lattice_key *const key = calloc(1, sizeof *key);

    if (key) {
        key_begin(&key->base, scheme->type, destroy);
        key->set = set;
    }
    return key;
}

/* What was wrong with the numbers of a list. */
static CK_RV read_public(const struct lattice_scheme *scheme, const struct attributes *attributes,
                         struct lattice_key *key)
{
    const struct value value = attributes_get(attributes, CKA_VALUE);

    if (value.bytes == NULL) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if (value.size != key->set->public_size || !scheme->check(key->set->algorithm, value.bytes)) {
        return CKR_ATTRIBUTE_VALUE_INVALID;
    }
    memcpy(key->public, value.bytes, value.size);
    return CKR_OK;
}

/* With a seed the key is what follows from it, and a value must be the same. */
static CK_RV read_private(const struct lattice_scheme *scheme, const struct attributes *attributes,
                          struct lattice_key *key)
{
    const struct value value = attributes_get(attributes, CKA_VALUE);
    const struct value seed = attributes_get(attributes, CKA_SEED);
    const struct lattice_set *const set = key->set;

    if (value.bytes == NULL && seed.bytes == NULL) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if ((value.bytes && value.size != set->private_size) ||
        (seed.bytes && seed.size != scheme->seed_size)) {
        return CKR_ATTRIBUTE_VALUE_INVALID;
    }
    key->private = secret_allocate(set->private_size);
    if (key->private == NULL) {
        return CKR_HOST_MEMORY;
    }
    if (seed.bytes == NULL) {
        memcpy(key->private, value.bytes, value.size);
        return scheme->public_of(set->algorithm, key->private, key->public) ?
                   CKR_OK :
                   CKR_ATTRIBUTE_VALUE_INVALID;
    }
    if (!scheme->expand(set->algorithm, seed.bytes, key->public, key->private)) {
        return CKR_HOST_MEMORY;
    }
    return value.bytes == NULL || CRYPTO_memcmp(value.bytes, key->private, value.size) == 0 ?
               CKR_OK :
               CKR_ATTRIBUTE_VALUE_INVALID;
}

static CK_RV read_key(const struct lattice_scheme *scheme, const struct attributes *attributes,
                      bool is_private, struct lattice_key **key)
{
    const struct lattice_set *const set = lattice_set_of(scheme, attributes);
    CK_RV rv = CKR_HOST_MEMORY;

    *key = NULL;
    if (set == NULL) {
        return attributes_get(attributes, CKA_PARAMETER_SET).bytes ?
                   CKR_PARAMETER_SET_NOT_SUPPORTED :
                   CKR_TEMPLATE_INCOMPLETE;
    }
    *key = key_new(scheme, set);
    if (*key) {
        rv = (is_private ? read_private : read_public)(scheme, attributes, *key);
    }
    if (rv != CKR_OK && *key) {
        key_release(&(*key)->base);
        *key = NULL;
    }
    return rv;
}

bool lattice_is_complete(const struct attributes *list, bool is_private)
{
    (void)is_private;
    return attributes_get(list, CKA_PARAMETER_SET).bytes && attributes_get(list, CKA_VALUE).bytes;
}

struct key *lattice_make(const struct lattice_scheme *scheme, const struct attributes *attributes,
                         bool is_private)
{
    struct lattice_key *key;

    return read_key(scheme, attributes, is_private, &key) == CKR_OK ? &key->base : NULL;
}

CK_RV lattice_complete(const struct lattice_scheme *scheme, struct attributes *attributes,
                       bool is_private)
{
    struct lattice_key *key;
    CK_RV rv = read_key(scheme, attributes, is_private, &key);

    if (rv == CKR_OK && is_private &&
        !attributes_set(attributes, CKA_VALUE, key->private, key->set->private_size)) {
        rv = CKR_HOST_MEMORY;
    }
    key_release(key ? &key->base : NULL);
    return rv;
}

CK_RV lattice_check_pair(const struct lattice_scheme *scheme, const struct attributes halves[2])
{
    const struct lattice_set *const set = lattice_set_of(scheme, &halves[0]);

    if (attributes_get(&halves[0], CKA_PARAMETER_SET).bytes == NULL) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if (set == NULL) {
        return CKR_PARAMETER_SET_NOT_SUPPORTED;
    }
    return attributes_get(&halves[1], CKA_PARAMETER_SET).bytes &&
                   lattice_set_of(scheme, &halves[1]) != set ?
               CKR_TEMPLATE_INCONSISTENT :
               CKR_OK;
}

CK_RV lattice_set_pair(const struct lattice_scheme *scheme, const struct lattice_set *set,
                       const uint8_t *seed, const uint8_t *public, const uint8_t *private,
                       struct attributes halves[2])
{
    return attributes_set(&halves[0], CKA_VALUE, public, set->public_size) &&
                   attributes_set_ulong(&halves[1], CKA_PARAMETER_SET, set->number) &&
                   (seed == NULL || attributes_set(&halves[1], CKA_SEED, seed, scheme->seed_size)) &&
                   attributes_set(&halves[1], CKA_VALUE, private, set->private_size) ?
               CKR_OK :
               CKR_HOST_MEMORY;
}

/* Encodings. */

bool lattice_identify(X509_PUBKEY *info, struct key *base)
{
    const struct lattice_key *const key = lattice_key_of(base);
    ASN1_OBJECT *const identifier = OBJ_txt2obj(key->set->identifier, 1);
    unsigned char *const bytes = OPENSSL_memdup(key->public, key->set->public_size);

    if (identifier && bytes &&
        X509_PUBKEY_set0_param(info, identifier, V_ASN1_UNDEF, NULL, bytes,
                               (int)key->set->public_size) == 1) {
        return true;
    }
    ASN1_OBJECT_free(identifier);
    OPENSSL_free(bytes);
    return false;
}

/* The tags of the private key: [0] IMPLICIT OCTET STRING for a seed, OCTET STRING for a value. */
enum { SEED_TAG = 0 };

PKCS8_PRIV_KEY_INFO *lattice_encode(const struct lattice_scheme *scheme,
                                    const struct attributes *attributes)
{
    const struct lattice_set *const set = lattice_set_of(scheme, attributes);
    const struct value seed = attributes_get(attributes, CKA_SEED);
    const struct value value = seed.bytes ? seed : attributes_get(attributes, CKA_VALUE);
    const int tag = seed.bytes ? SEED_TAG : V_ASN1_OCTET_STRING;
    const int class = seed.bytes ? V_ASN1_CONTEXT_SPECIFIC : V_ASN1_UNIVERSAL;
    const int size = ASN1_object_size(0, (int)value.size, tag);
    PKCS8_PRIV_KEY_INFO *const info = PKCS8_PRIV_KEY_INFO_new();
    ASN1_OBJECT *const identifier = set ? OBJ_txt2obj(set->identifier, 1) : NULL;
    unsigned char *const bytes = value.bytes && size > 0 ? OPENSSL_malloc((size_t)size) : NULL;
    unsigned char *place = bytes;

    if (info && identifier && bytes) {
        ASN1_put_object(&place, 0, (int)value.size, tag, class);
        memcpy(place, value.bytes, value.size);
        if (PKCS8_pkey_set0(info, identifier, 0, V_ASN1_UNDEF, NULL, bytes, size) == 1) {
            return info;
        }
    }
    OPENSSL_clear_free(bytes, size > 0 ? (size_t)size : 0);
    ASN1_OBJECT_free(identifier);
    PKCS8_PRIV_KEY_INFO_free(info);
    return NULL;
}

/* Take a string with a tag from the front of `rest`. */
static bool take(struct value *rest, int tag, int class, struct value *string)
{
    const unsigned char *place = rest->bytes;
    int found_tag, found_class;
    long size;
    const int form = ASN1_get_object(&place, &size, &found_tag, &found_class, (long)rest->size);

    /* No error, a length, and parts only where there are any. */
    if (form != (tag == V_ASN1_SEQUENCE ? V_ASN1_CONSTRUCTED : 0) || found_tag != tag ||
        found_class != class) {
        return false;
    }
    *string = (struct value){place, (size_t)size};
    rest->size -= (size_t)(place - rest->bytes) + (size_t)size;
    rest->bytes = place + size;
    return true;
}

/* The seed, the value, or both, of the content of PKCS #8. */
static bool read_content(struct value content, struct value *seed, struct value *value)
{
    struct value inner;

    if (take(&content, SEED_TAG, V_ASN1_CONTEXT_SPECIFIC, seed) ||
        take(&content, V_ASN1_OCTET_STRING, V_ASN1_UNIVERSAL, value)) {
        return content.size == 0;
    }
    return take(&content, V_ASN1_SEQUENCE, V_ASN1_UNIVERSAL, &inner) && content.size == 0 &&
           take(&inner, V_ASN1_OCTET_STRING, V_ASN1_UNIVERSAL, seed) &&
           take(&inner, V_ASN1_OCTET_STRING, V_ASN1_UNIVERSAL, value) && inner.size == 0;
}

/* The set that an identifier names. */
static const struct lattice_set *identified(const struct lattice_scheme *scheme,
                                            const ASN1_OBJECT *identifier)
{
    char text[64];

    if (OBJ_obj2txt(text, sizeof text, identifier, 1) <= 0) {
        return NULL;
    }
    for (int i = 0; i < LATTICE_SETS; ++i) {
        if (strcmp(text, scheme->sets[i].identifier) == 0) {
            return &scheme->sets[i];
        }
    }
    return NULL;
}

CK_RV lattice_decode(const struct lattice_scheme *scheme, const PKCS8_PRIV_KEY_INFO *info,
                     struct attributes *attributes)
{
    const bool is_named = attributes_get(attributes, CKA_PARAMETER_SET).bytes;
    const struct lattice_set *set;
    struct value seed = {NULL, 0}, value = {NULL, 0};
    const ASN1_OBJECT *identifier;
    const unsigned char *bytes;
    int size;

    if (PKCS8_pkey_get0(&identifier, &bytes, &size, NULL, info) != 1) {
        return CKR_WRAPPED_KEY_INVALID;
    }
    set = identified(scheme, identifier);
    if (set == NULL || (is_named && lattice_set_of(scheme, attributes) != set) ||
        !read_content((struct value){bytes, (size_t)size}, &seed, &value) ||
        (seed.bytes && seed.size != scheme->seed_size) ||
        (value.bytes && value.size != set->private_size)) {
        return CKR_WRAPPED_KEY_INVALID;
    }
    return attributes_set_ulong(attributes, CKA_PARAMETER_SET, set->number) &&
                   (!seed.bytes || attributes_set(attributes, CKA_SEED, seed.bytes, seed.size)) &&
                   (!value.bytes || attributes_set(attributes, CKA_VALUE, value.bytes, value.size)) ?
               CKR_OK :
               CKR_HOST_MEMORY;
}
