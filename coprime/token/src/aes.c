#include "aes.h"

#include <limits.h>
#include <stdio.h>

#include <openssl/core_names.h>
#include <openssl/params.h>

bool aes_has_size(size_t size)
{
    return size == 16 || size == 24 || size == 32;
}

static const char *mode_of(CK_MECHANISM_TYPE type)
{
    switch (type) {
    case CKM_AES_ECB:
        return "ECB";
    case CKM_AES_CBC:
    case CKM_AES_CBC_PAD:
        return "CBC";
    case CKM_AES_CTR:
        return "CTR";
    case CKM_AES_GCM:
        return "GCM";
    case CKM_AES_KEY_WRAP:
        return "WRAP";
    default:
        return "WRAP-PAD";
    }
}

EVP_CIPHER_CTX *aes_begin(const struct crypto *crypto, CK_MECHANISM_TYPE type, const uint8_t *key,
                          size_t key_size, const uint8_t *iv, size_t iv_size, bool encrypts)
{
    size_t length = iv_size;
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_size_t(OSSL_CIPHER_PARAM_AEAD_IVLEN, &length),
        OSSL_PARAM_construct_end(),
    };
    EVP_CIPHER_CTX *context = NULL;
    EVP_CIPHER *cipher;
    char name[32];

    if (!aes_has_size(key_size)) {
        return NULL;
    }
    (void)snprintf(name, sizeof name, "AES-%zu-%s", 8 * key_size, mode_of(type));
    cipher = EVP_CIPHER_fetch(crypto->context, name, NULL);
    context = cipher ? EVP_CIPHER_CTX_new() : NULL;
    if (context) {
        EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
        if (EVP_CipherInit_ex2(context, cipher, key, iv, encrypts,
                               type == CKM_AES_GCM ? parameters : NULL) != 1) {
            EVP_CIPHER_CTX_free(context);
            context = NULL;
        }
    }
    EVP_CIPHER_free(cipher);
    return context;
}

bool aes_wrap(const struct crypto *crypto, CK_MECHANISM_TYPE type, const uint8_t *key,
              size_t key_size, const uint8_t *iv, bool wraps, const uint8_t *input, size_t size,
              uint8_t *output, size_t *output_size)
{
    const uint8_t *const used = type == CKM_AES_CBC_PAD ? iv : NULL;
    EVP_CIPHER_CTX *const context =
        aes_begin(crypto, type, key, key_size, used, used ? AES_BLOCK : 0, wraps);
    int first = 0, last = 0;
    const bool done = context && size > 0 && size < INT_MAX - 2 * AES_BLOCK &&
                      EVP_CipherUpdate(context, output, &first, input, (int)size) == 1 &&
                      EVP_CipherFinal_ex(context, output + first, &last) == 1;

    EVP_CIPHER_CTX_free(context);
    *output_size = (size_t)first + (size_t)last;
    return done;
}
