#include "public_info.h"

#include <string.h>

#include <openssl/x509.h>

CK_RV public_info_set(const struct crypto *crypto, const struct key_kind *kind,
                      struct attributes *attributes)
{
    const bool is_private = attributes_ulong(attributes, CKA_CLASS, CKO_DATA) == CKO_PRIVATE_KEY;
    const struct value given = attributes_get(attributes, CKA_PUBLIC_KEY_INFO);
    struct key *const key = kind->make(crypto, attributes, is_private);
    X509_PUBKEY *const info = X509_PUBKEY_new();
    unsigned char *encoded = NULL;
    const int size = key && info && kind->identify(info, key) ? i2d_X509_PUBKEY(info, &encoded) : 0;
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
