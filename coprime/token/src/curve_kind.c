#include "curve_kind.h"

#include <openssl/evp.h>
#include <openssl/objects.h>

#include "curve.h"
#include "curve_key.h"

static const CK_ATTRIBUTE_TYPE numbers_of[] = {CKA_EC_PARAMS, CKA_EC_POINT, CKA_VALUE};

/* How many of them the halves have. */
enum { OF_PUBLIC = 2, OF_PRIVATE = 3 };

static bool is_complete(const struct attributes *list, bool is_private)
{
    return attributes_get(list, CKA_EC_PARAMS).bytes &&
           attributes_get(list, is_private ? CKA_VALUE : CKA_EC_POINT).bytes;
}

static const struct curve *curve_of(const struct attributes *half)
{
    return curve_named(attributes_ulong(half, CKA_KEY_TYPE, UNAVAILABLE),
                       attributes_get(half, CKA_EC_PARAMS));
}

static CK_RV check_pair(const struct attributes halves[2])
{
    const struct curve *const curve = curve_of(&halves[0]);

    if (attributes_get(&halves[0], CKA_EC_PARAMS).bytes == NULL) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if (curve == NULL) {
        return CKR_CURVE_NOT_SUPPORTED;
    }
    return attributes_get(&halves[1], CKA_EC_PARAMS).bytes && curve_of(&halves[1]) != curve ?
               CKR_TEMPLATE_INCONSISTENT :
               CKR_OK;
}

/* In software: a processor is faster. */
static CK_RV generate(const struct maker *maker, struct attributes halves[2])
{
    struct attributes numbers = {.secret = true};
    CK_RV rv = attributes_take(&numbers, &halves[0], numbers_of, 1) ? CKR_OK : CKR_HOST_MEMORY;

    if (rv == CKR_OK) {
        rv = curve_generate(maker->crypto, curve_of(&halves[0]), &numbers);
    }
    if (rv == CKR_OK && (!attributes_take(&halves[0], &numbers, numbers_of, OF_PUBLIC) ||
                         !attributes_take(&halves[1], &numbers, numbers_of, OF_PRIVATE))) {
        rv = CKR_HOST_MEMORY;
    }
    attributes_free(&numbers);
    return rv;
}

static bool identify(X509_PUBKEY *info, struct key *base)
{
    const struct curve_key *const key = curve_key_of(base);
    const bool has_group = base->type == CKK_EC;
    ASN1_OBJECT *const curve = OBJ_nid2obj(OBJ_sn2nid(key->curve->name));
    unsigned char *const bytes = OPENSSL_memdup(key->point, key->point_size);

    if (bytes && X509_PUBKEY_set0_param(
                     info, has_group ? OBJ_nid2obj(NID_X9_62_id_ecPublicKey) : curve,
                     has_group ? V_ASN1_OBJECT : V_ASN1_UNDEF, has_group ? curve : NULL, bytes,
                     (int)key->point_size) == 1) {
        return true;
    }
    OPENSSL_free(bytes);
    return false;
}

static PKCS8_PRIV_KEY_INFO *encode(const struct crypto *crypto, const struct attributes *attributes)
{
    EVP_PKEY *const key = curve_to_libcrypto(crypto, attributes);
    PKCS8_PRIV_KEY_INFO *const info = key ? EVP_PKEY2PKCS8(key) : NULL;

    EVP_PKEY_free(key);
    return info;
}

static CK_RV decode(const struct crypto *crypto, const PKCS8_PRIV_KEY_INFO *info,
                    struct attributes *attributes)
{
    EVP_PKEY *const key = EVP_PKCS82PKEY_ex(info, crypto->context, NULL);
    const CK_RV rv = key ? curve_from_libcrypto(key, attributes) : CKR_WRAPPED_KEY_INVALID;

    EVP_PKEY_free(key);
    return rv;
}

/* All but type and rights. */
#define COMMON \
    .public_half = {numbers_of, OF_PUBLIC}, .private_half = {numbers_of, OF_PRIVATE}, \
    .secret = CKA_VALUE, .common = CKA_EC_POINT, .reads = CKA_DERIVE, \
    .is_complete = is_complete, .make = curve_key_new, .complete = curve_complete, \
    .check_pair = check_pair, .generate = generate, .identify = identify, .encode = encode, \
    .decode = decode

const struct key_kind weierstrass_kind = {
    .type = CKK_EC,
    .rights = RIGHT_SIGN,
    COMMON,
};

const struct key_kind edwards_kind = {
    .type = CKK_EC_EDWARDS,
    .rights = RIGHT_SIGN,
    COMMON,
};

const struct key_kind montgomery_kind = {
    .type = CKK_EC_MONTGOMERY,
    .rights = RIGHT_DERIVE,
    COMMON,
};
