#include "public_info.h"

#include <string.h>

#include <openssl/asn1.h>
#include <openssl/objects.h>
#include <openssl/x509.h>

#include "curve_key.h"
#include "key.h"
#include "rsa_key.h"

/* RSAPublicKey of RFC 8017, A.1.1, in memory of libcrypto. */
static unsigned char *rsa_bytes(const struct rsa_key *key, int *size)
{
    ASN1_INTEGER *const n = BN_to_ASN1_INTEGER(key->n, NULL);
    ASN1_INTEGER *const e = BN_to_ASN1_INTEGER(key->e, NULL);
    const int content = n && e ? i2d_ASN1_INTEGER(n, NULL) + i2d_ASN1_INTEGER(e, NULL) : 0;
    unsigned char *bytes = NULL, *place;

    if (content) {
        *size = ASN1_object_size(1, content, V_ASN1_SEQUENCE);
        bytes = OPENSSL_malloc((size_t)*size);
    }
    if (bytes) {
        place = bytes;
        ASN1_put_object(&place, 1, content, V_ASN1_SEQUENCE, V_ASN1_UNIVERSAL);
        (void)i2d_ASN1_INTEGER(n, &place);
        (void)i2d_ASN1_INTEGER(e, &place);
    }
    ASN1_INTEGER_free(n);
    ASN1_INTEGER_free(e);
    return bytes;
}

/* Set what kind of key it is, with its bytes. */
static bool fill(X509_PUBKEY *info, struct key *key)
{
    const struct curve_key *const on_curve = key->type == CKK_RSA ? NULL : curve_key_of(key);
    const int curve = on_curve ? OBJ_sn2nid(on_curve->curve->name) : NID_undef;
    int size = on_curve ? (int)on_curve->point_size : 0;
    unsigned char *const bytes = on_curve ? OPENSSL_memdup(on_curve->point, (size_t)size) :
                                            rsa_bytes(rsa_key_of(key), &size);
    int set = 0;

    if (bytes == NULL) {
        return false;
    }
    switch (key->type) {
    case CKK_RSA:
        set = X509_PUBKEY_set0_param(info, OBJ_nid2obj(NID_rsaEncryption), V_ASN1_NULL, NULL, bytes,
                                     size);
        break;
    case CKK_EC:
        set = X509_PUBKEY_set0_param(info, OBJ_nid2obj(NID_X9_62_id_ecPublicKey), V_ASN1_OBJECT,
                                     OBJ_nid2obj(curve), bytes, size);
        break;
    default:
        set = X509_PUBKEY_set0_param(info, OBJ_nid2obj(curve), V_ASN1_UNDEF, NULL, bytes, size);
    }
    if (set != 1) {
        OPENSSL_free(bytes);
    }
    return set == 1;
}

CK_RV public_info_set(const struct crypto *crypto, struct attributes *attributes)
{
    const struct value given = attributes_get(attributes, CKA_PUBLIC_KEY_INFO);
    struct key *const key = key_new(crypto, attributes);
    X509_PUBKEY *const info = X509_PUBKEY_new();
    unsigned char *encoded = NULL;
    const int size = key && info && fill(info, key) ? i2d_X509_PUBKEY(info, &encoded) : 0;
    CK_RV rv = CKR_HOST_MEMORY;

    if (size > 0 && given.size &&
        (given.size != (size_t)size || memcmp(given.bytes, encoded, given.size) != 0)) {
        rv = CKR_ATTRIBUTE_VALUE_INVALID;
    } else if (size > 0 &&
               attributes_set(attributes, CKA_PUBLIC_KEY_INFO, encoded, (size_t)size)) {
        rv = CKR_OK;
    }
    OPENSSL_free(encoded);
    X509_PUBKEY_free(info);
    key_release(key);
    return rv;
}

CK_RV public_info_check_certificate(const struct attributes *attributes)
{
    const struct value given = attributes_get(attributes, CKA_PUBLIC_KEY_INFO);
    const struct value value = attributes_get(attributes, CKA_VALUE);
    const unsigned char *place = value.bytes;
    unsigned char *encoded = NULL;
    X509 *certificate;
    int size;
    CK_RV rv = CKR_ATTRIBUTE_VALUE_INVALID;

    if (given.size == 0) {
        return CKR_OK;
    }
    certificate = d2i_X509(NULL, &place, (long)value.size);
    size = certificate ? i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded) : 0;
    if (size > 0 && given.size == (size_t)size && memcmp(given.bytes, encoded, given.size) == 0) {
        rv = CKR_OK;
    }
    OPENSSL_free(encoded);
    X509_free(certificate);
    return rv;
}
