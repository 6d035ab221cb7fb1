#include "pkcs8.h"

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/x509.h>

#include "curve_key.h"
#include "rsa_key.h"
#include "secret.h"

static EVP_PKEY *rsa_to_libcrypto(const struct crypto *crypto, const struct attributes *attributes)
{
    OSSL_PARAM_BLD *const builder = OSSL_PARAM_BLD_new();
    EVP_PKEY_CTX *const context = EVP_PKEY_CTX_new_from_name(crypto->context, "RSA", NULL);
    BIGNUM *numbers[RSA_NUMBERS] = {NULL};
    OSSL_PARAM *parameters = NULL;
    EVP_PKEY *key = NULL;
    bool done = builder && context;

    for (int i = 0; i < RSA_NUMBERS; ++i) {
        const struct value value = attributes_get(attributes, rsa_attributes[i]);

        numbers[i] = BN_secure_new(); /* so that libcrypto keeps its copy apart, too */
        done = done && numbers[i] && value.bytes && value.size <= MAX_RSA_BYTES &&
               BN_bin2bn(value.bytes, (int)value.size, numbers[i]) &&
               OSSL_PARAM_BLD_push_BN(builder, rsa_parameters[i], numbers[i]) == 1;
    }
    if (done) {
        parameters = OSSL_PARAM_BLD_to_param(builder);
    }
    if (parameters && EVP_PKEY_fromdata_init(context) == 1) {
        (void)EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters);
    }
    OSSL_PARAM_free(parameters);
    for (int i = 0; i < RSA_NUMBERS; ++i) {
        BN_clear_free(numbers[i]);
    }
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_BLD_free(builder);
    return key;
}

static EVP_PKEY *key_of(const struct crypto *crypto, const struct attributes *attributes)
{
    return attributes_ulong(attributes, CKA_KEY_TYPE, UNAVAILABLE) == CKK_RSA ?
               rsa_to_libcrypto(crypto, attributes) :
               curve_to_libcrypto(crypto, attributes);
}

uint8_t *pkcs8_encode(const struct crypto *crypto, const struct attributes *attributes,
                      size_t *size)
{
    EVP_PKEY *const key = key_of(crypto, attributes);
    PKCS8_PRIV_KEY_INFO *const info = key ? EVP_PKEY2PKCS8(key) : NULL;
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
    EVP_PKEY_free(key);
    return result;
}

CK_RV pkcs8_decode(const struct crypto *crypto, const uint8_t *bytes, size_t size,
                   struct attributes *attributes)
{
    const unsigned char *place = bytes;
    PKCS8_PRIV_KEY_INFO *const info = d2i_PKCS8_PRIV_KEY_INFO(NULL, &place, (long)size);
    EVP_PKEY *const key = info ? EVP_PKCS82PKEY_ex(info, crypto->context, NULL) : NULL;
    CK_RV rv = CKR_WRAPPED_KEY_INVALID;

    if (key && attributes_ulong(attributes, CKA_KEY_TYPE, UNAVAILABLE) != CKK_RSA) {
        rv = curve_from_libcrypto(key, attributes);
    } else if (key && EVP_PKEY_is_a(key, "RSA")) {
        rv = rsa_set_numbers(key, attributes) ? CKR_OK : CKR_WRAPPED_KEY_INVALID;
    }
    EVP_PKEY_free(key);
    PKCS8_PRIV_KEY_INFO_free(info);
    return rv;
}
