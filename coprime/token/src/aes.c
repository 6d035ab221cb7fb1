#include "aes.h"

#include <limits.h>
#include <stdio.h>

bool aes_has_size(size_t size)
{
    return size == 16 || size == 24 || size == 32;
}

static const char *mode_of(CK_MECHANISM_TYPE type)
{
    switch (type) {
    case CKM_AES_ECB:
    case CKM_AES_ECB_ENCRYPT_DATA:
        return "ECB";
    case CKM_AES_CBC:
    case CKM_AES_CBC_PAD:
    case CKM_AES_CBC_ENCRYPT_DATA:
        return "CBC";
    case CKM_AES_CTR:
        return "CTR";
    case CKM_AES_GCM:
        return "GCM";
    case CKM_AES_CCM:
        return "CCM";
    case CKM_AES_KEY_WRAP:
        return "WRAP";
    default:
        return "WRAP-PAD";
    }
}

/* Set the lengths that a mode with an authentication tag has to know before its key: all of the initial
   value's, and CCM the tag's. */
static bool set_sizes(EVP_CIPHER_CTX *context, CK_MECHANISM_TYPE type, size_t iv_size,
                      size_t tag_size)
{
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, (int)iv_size, NULL) == 1 &&
           (type != CKM_AES_CCM ||
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, (int)tag_size, NULL) == 1);
}

EVP_CIPHER_CTX *aes_begin(const struct crypto *crypto, CK_MECHANISM_TYPE type, const uint8_t *key,
                          size_t key_size, const uint8_t *iv, size_t iv_size, size_t tag_size,
                          bool encrypts)
{
    const bool is_chacha = type == CKM_CHACHA20_POLY1305;
    EVP_CIPHER_CTX *context = NULL;
    EVP_CIPHER *cipher;
    char name[32] = "ChaCha20-Poly1305";

    if (is_chacha ? key_size != CHACHA_KEY : !aes_has_size(key_size)) {
        return NULL;
    }
    if (!is_chacha) {
        (void)snprintf(name, sizeof name, "AES-%zu-%s", 8 * key_size, mode_of(type));
    }
    cipher = EVP_CIPHER_fetch(crypto->context, name, NULL);
    context = cipher ? EVP_CIPHER_CTX_new() : NULL;
    if (context) {
        EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
        if (EVP_CipherInit_ex2(context, cipher, NULL, NULL, encrypts, NULL) != 1 ||
            (tag_size && !set_sizes(context, type, iv_size, tag_size)) ||
            EVP_CipherInit_ex2(context, NULL, key, iv, encrypts, NULL) != 1) {
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
        aes_begin(crypto, type, key, key_size, used, used ? AES_BLOCK : 0, 0, wraps);
    int first = 0, last = 0;
    const bool done = context && size > 0 && size < INT_MAX - 2 * AES_BLOCK &&
                      EVP_CipherUpdate(context, output, &first, input, (int)size) == 1 &&
                      EVP_CipherFinal_ex(context, output + first, &last) == 1;

    EVP_CIPHER_CTX_free(context);
    *output_size = (size_t)first + (size_t)last;
    return done;
}
