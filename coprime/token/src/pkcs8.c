#include "pkcs8.h"

#include <string.h>

#include <openssl/x509.h>

#include "key_kinds.h"
#include "secret.h"

uint8_t *pkcs8_encode(const struct crypto *crypto, const struct attributes *attributes,
                      size_t *size)
{
    const struct key_kind *const kind = key_kind_of_object(attributes);
    PKCS8_PRIV_KEY_INFO *const info = kind ? kind->encode(crypto, attributes) : NULL;
    unsigned char *encoded = NULL;
    const int length = info ? i2d_PKCS8_PRIV_KEY_INFO(info, &encoded) : 0;
    uint8_t *result = NULL;

    if (length > 0) {
        result = secret_allocate((size_t)length);
        if (result) {
            memcpy(result, encoded, (size_t)length);
            *size = (size_t)length;
        }
        OPENSSL_clear_free(encoded, (size_t)length);
    }
    PKCS8_PRIV_KEY_INFO_free(info);
    return result;
}

CK_RV pkcs8_decode(const struct crypto *crypto, const uint8_t *bytes, size_t size,
                   struct attributes *attributes)
{
    const struct key_kind *const kind = key_kind_of_object(attributes);
    const unsigned char *place = bytes;
    PKCS8_PRIV_KEY_INFO *const info = d2i_PKCS8_PRIV_KEY_INFO(NULL, &place, (long)size);
    const CK_RV rv = kind && info ? kind->decode(crypto, info, attributes) : CKR_WRAPPED_KEY_INVALID;

    PKCS8_PRIV_KEY_INFO_free(info);
    return rv;
}
