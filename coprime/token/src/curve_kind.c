#include "curve_kind.h"

#include <openssl/evp.h>
#include <openssl/objects.h>

#include "curve.h"
#include "curve_key.h"

const CK_ATTRIBUTE_TYPE curve_numbers[CURVE_OF_PRIVATE] = {CKA_EC_PARAMS, CKA_EC_POINT, CKA_VALUE};

bool curve_is_complete(const struct attributes *list, bool is_private)
{
    return attributes_get(list, CKA_EC_PARAMS).bytes &&
           attributes_get(list, is_private ? CKA_VALUE : CKA_EC_POINT).bytes;
}

static const struct curve *curve_of(const struct attributes *half)
{
    return curve_named(attributes_ulong(half, CKA_KEY_TYPE, UNAVAILABLE),
                       attributes_get(half, CKA_EC_PARAMS));
}

CK_RV curve_check_pair(const struct attributes halves[2])
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
CK_RV curve_generate_pair(const struct maker *maker, struct attributes halves[2])
{
    struct attributes numbers = {.secret = true};
    CK_RV rv = attributes_take(&numbers, &halves[0], curve_numbers, 1) ? CKR_OK : CKR_HOST_MEMORY;

    if (rv == CKR_OK) {
        rv = curve_generate(maker->crypto, curve_of(&halves[0]), &numbers);
    }
    if (rv == CKR_OK && (!attributes_take(&halves[0], &numbers, curve_numbers, CURVE_OF_PUBLIC) ||
                         !attributes_take(&halves[1], &numbers, curve_numbers, CURVE_OF_PRIVATE))) {
        rv = CKR_HOST_MEMORY;
    }
    attributes_free(&numbers);
    return rv;
}

bool curve_identify(X509_PUBKEY *info, struct key *key, int algorithm, ASN1_OBJECT *parameters)
{
    const struct curve_key *const own = curve_key_of(key);
    unsigned char *const bytes = OPENSSL_memdup(own->point, own->point_size);
    const int type = parameters ? V_ASN1_OBJECT : V_ASN1_UNDEF;

    if (bytes && X509_PUBKEY_set0_param(info, OBJ_nid2obj(algorithm), type, parameters, bytes,
                                        (int)own->point_size) == 1) {
        return true;
    }
    OPENSSL_free(bytes);
    return false;
}

PKCS8_PRIV_KEY_INFO *curve_encode(const struct crypto *crypto, const struct attributes *attributes)
{
    EVP_PKEY *const key = curve_to_libcrypto(crypto, attributes);
    PKCS8_PRIV_KEY_INFO *const info = key ? EVP_PKEY2PKCS8(key) : NULL;

    EVP_PKEY_free(key);
    return info;
}

CK_RV curve_decode(const struct crypto *crypto, const PKCS8_PRIV_KEY_INFO *info,
                   struct attributes *attributes)
{
    EVP_PKEY *const key = EVP_PKCS82PKEY_ex(info, crypto->context, NULL);
    const CK_RV rv = key ? curve_from_libcrypto(key, attributes) : CKR_WRAPPED_KEY_INVALID;

    EVP_PKEY_free(key);
    return rv;
}
