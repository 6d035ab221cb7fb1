#include "check_value.h"

#include <string.h>

#include <openssl/crypto.h>

#include "aes.h"

enum { CHECK_VALUE = 3 };

/* An encrypted block of zeros. */
static bool encrypt_zeros(const struct crypto *crypto, struct value key, uint8_t block[AES_BLOCK])
{
    static const uint8_t zeros[AES_BLOCK];
    EVP_CIPHER_CTX *const context =
        aes_begin(crypto, CKM_AES_ECB, key.bytes, key.size, NULL, 0, 0, true);
    int written = 0;
    const bool done =
        context && EVP_CipherUpdate(context, block, &written, zeros, AES_BLOCK) == 1;

    EVP_CIPHER_CTX_free(context);
    return done;
}

CK_RV check_value_test(const struct crypto *crypto, const struct attributes *attributes)
{
    const struct value given = attributes_get(attributes, CKA_CHECK_VALUE);
    const struct value value = attributes_get(attributes, CKA_VALUE);
    uint8_t made[MAX_DIGEST];
    CK_RV rv = CKR_ATTRIBUTE_VALUE_INVALID;
    bool done;

    if (given.size == 0) {
        return CKR_OK;
    }
    done = attributes_ulong(attributes, CKA_KEY_TYPE, UNAVAILABLE) == CKK_AES ?
               encrypt_zeros(crypto, value, made) :
               crypto_digest(crypto, digest_of(CKM_SHA_1), value.bytes, value.size, made);
    if (!done) {
        rv = CKR_HOST_MEMORY;
    } else if (given.size == CHECK_VALUE && CRYPTO_memcmp(given.bytes, made, CHECK_VALUE) == 0) {
        rv = CKR_OK;
    }
    OPENSSL_cleanse(made, sizeof made);
    return rv;
}
