#include "crypto.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

/* RFC 8017, 9.2, note 1, where the identifier of the hash function is in its place also for those that have
   no DigestInfo here; of SHA-3 the identifiers are those of FIPS 202's registration. */
static const struct digest digests[DIGESTS] = {
    {CKM_SHA_1, CKG_MGF1_SHA1, "SHA1", false, 20, 15,
     {0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, 0x14}},
    {CKM_SHA224, CKG_MGF1_SHA224, "SHA224", false, 28, 19,
     {0x30, 0x2d, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x04,
      0x05, 0x00, 0x04, 0x1c}},
    {CKM_SHA256, CKG_MGF1_SHA256, "SHA256", false, 32, 19,
     {0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01,
      0x05, 0x00, 0x04, 0x20}},
    {CKM_SHA384, CKG_MGF1_SHA384, "SHA384", false, 48, 19,
     {0x30, 0x41, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02,
      0x05, 0x00, 0x04, 0x30}},
    {CKM_SHA512, CKG_MGF1_SHA512, "SHA512", false, 64, 19,
     {0x30, 0x51, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03,
      0x05, 0x00, 0x04, 0x40}},
    {CKM_SHA3_224, CKG_MGF1_SHA3_224, "SHA3-224", false, 28, 19,
     {0x30, 0x2d, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x07,
      0x05, 0x00, 0x04, 0x1c}},
    {CKM_SHA3_256, CKG_MGF1_SHA3_256, "SHA3-256", false, 32, 19,
     {0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x08,
      0x05, 0x00, 0x04, 0x20}},
    {CKM_SHA3_384, CKG_MGF1_SHA3_384, "SHA3-384", false, 48, 19,
     {0x30, 0x41, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x09,
      0x05, 0x00, 0x04, 0x30}},
    {CKM_SHA3_512, CKG_MGF1_SHA3_512, "SHA3-512", false, 64, 19,
     {0x30, 0x51, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x0a,
      0x05, 0x00, 0x04, 0x40}},
    {CKM_HASH_ML_DSA_SHAKE128, UNAVAILABLE, "SHAKE128", true, 32, 0,
     {0, 0, 0, 0, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x0b}},
    {CKM_HASH_ML_DSA_SHAKE256, UNAVAILABLE, "SHAKE256", true, 64, 0,
     {0, 0, 0, 0, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x0c}},
};

bool crypto_open(struct crypto *crypto)
{
    bool found = true;

    memset(crypto, 0, sizeof *crypto);
    crypto->context = OSSL_LIB_CTX_new();
    if (crypto->context == NULL) {
        return false;
    }
    for (int i = 0; i < DIGESTS; ++i) {
        crypto->md[i] = EVP_MD_fetch(crypto->context, digests[i].name, NULL);
        found = found && crypto->md[i];
    }
    crypto->gcm = EVP_CIPHER_fetch(crypto->context, "AES-256-GCM", NULL);
    if (!found || crypto->gcm == NULL) {
        crypto_close(crypto);
        return false;
    }
    return true;
}

void crypto_close(struct crypto *crypto)
{
    for (int i = 0; i < DIGESTS; ++i) {
        EVP_MD_free(crypto->md[i]);
    }
    EVP_CIPHER_free(crypto->gcm);
    OSSL_LIB_CTX_free(crypto->context);
    memset(crypto, 0, sizeof *crypto);
}

const struct digest *digest_of_mechanism(CK_MECHANISM_TYPE mechanism)
{
    for (int i = 0; i < DIGESTS; ++i) {
        if (digests[i].mechanism == mechanism) {
            return &digests[i];
        }
    }
    return NULL;
}

const struct digest *digest_of(CK_MECHANISM_TYPE mechanism)
{
    const struct digest *const digest = digest_of_mechanism(mechanism);

    return digest && !digest->extends ? digest : NULL;
}

const uint8_t *digest_identifier(const struct digest *digest)
{
    return digest->mechanism == CKM_SHA_1 ? NULL : digest->info + 4;
}

bool digest_finish(const struct digest *digest, EVP_MD_CTX *context, uint8_t *result)
{
    return (digest->extends ? EVP_DigestFinalXOF(context, result, digest->size) :
                              EVP_DigestFinal_ex(context, result, NULL)) == 1;
}

const struct digest *digest_of_mgf(CK_RSA_PKCS_MGF_TYPE mgf)
{
    for (int i = 0; i < DIGESTS; ++i) {
        if (digests[i].mgf == mgf && !digests[i].extends) {
            return &digests[i];
        }
    }
    return NULL;
}

const EVP_MD *digest_md(const struct crypto *crypto, const struct digest *digest)
{
    return crypto->md[digest - digests];
}

bool crypto_digest(const struct crypto *crypto, const struct digest *digest, const uint8_t *bytes,
                   size_t size, uint8_t *result)
{
    return EVP_Digest(size ? bytes : (const uint8_t *)"", size, result, NULL,
                      digest_md(crypto, digest), NULL) == 1;
}

bool crypto_hmac_sha256(const struct crypto *crypto, const uint8_t *key, size_t key_size,
                        const uint8_t *bytes, size_t size, uint8_t result[32])
{
    size_t written = 0;

    return EVP_Q_mac(crypto->context, "HMAC", NULL, "SHA256", NULL, key, key_size, bytes, size,
                     result, 32, &written) != NULL &&
           written == 32;
}

/* Begin a MAC with one parameter. */
static EVP_MAC_CTX *begin_mac(const struct crypto *crypto, const char *name, OSSL_PARAM parameter,
                              const uint8_t *key, size_t key_size)
{
    EVP_MAC *const mac = EVP_MAC_fetch(crypto->context, name, NULL);
    EVP_MAC_CTX *context = mac ? EVP_MAC_CTX_new(mac) : NULL;
    const OSSL_PARAM parameters[] = {parameter, OSSL_PARAM_construct_end()};

    EVP_MAC_free(mac);
    if (context && EVP_MAC_init(context, key, key_size, parameters) != 1) {
        EVP_MAC_CTX_free(context);
        context = NULL;
    }
    return context;
}

EVP_MAC_CTX *crypto_begin_hmac(const struct crypto *crypto, const struct digest *digest,
                               const uint8_t *key, size_t key_size)
{
    return begin_mac(crypto, "HMAC",
                     OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)digest->name, 0),
                     key, key_size);
}

EVP_MAC_CTX *crypto_begin_cmac(const struct crypto *crypto, const uint8_t *key, size_t key_size)
{
    char name[32];

    (void)snprintf(name, sizeof name, "AES-%zu-CBC", 8 * key_size);
    return begin_mac(crypto, "CMAC",
                     OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, name, 0), key, key_size);
}

bool crypto_random(const struct crypto *crypto, uint8_t *bytes, size_t size)
{
    return size == 0 || RAND_bytes_ex(crypto->context, bytes, size, 256) == 1;
}

bool crypto_add_seed(const struct crypto *crypto, const uint8_t *bytes, size_t size)
{
    EVP_RAND_CTX *const primary = RAND_get0_primary(crypto->context);

    return primary && EVP_RAND_reseed(primary, 0, NULL, 0, bytes, size) == 1;
}

bool crypto_can_derive(const struct derivation *derivation)
{
    return derivation->log_n >= 10 && derivation->log_n <= 18 && derivation->r == 8 &&
           derivation->p >= 1 && derivation->p <= 4;
}

bool crypto_derive(const struct crypto *crypto, const struct derivation *derivation,
                   const uint8_t *pin, size_t size, uint8_t key[SEAL_KEY])
{
    uint64_t n, maximum;
    EVP_KDF *kdf;
    EVP_KDF_CTX *context;
    bool done = false;

    if (!crypto_can_derive(derivation)) {
        return false;
    }
    n = (uint64_t)1 << derivation->log_n;
    maximum = 128 * n * derivation->r + (1u << 20);
    kdf = EVP_KDF_fetch(crypto->context, "SCRYPT", NULL);
    context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    if (context) {
        uint32_t r = derivation->r, p = derivation->p;
        const OSSL_PARAM parameters[] = {
            OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PASSWORD, (void *)pin, size),
            OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)derivation->salt, SALT),
            OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_N, &n),
            OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_R, &r),
            OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_P, &p),
            OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_MAXMEM, &maximum),
            OSSL_PARAM_construct_end(),
        };

        done = EVP_KDF_derive(context, key, SEAL_KEY, parameters) == 1;
    }
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return done;
}

bool crypto_seal(const struct crypto *crypto, const uint8_t key[SEAL_KEY], const uint8_t *bound,
                 size_t bound_size, const uint8_t *plain, size_t size, uint8_t *sealed)
{
    uint8_t *const text = sealed + SEAL_NONCE;
    EVP_CIPHER_CTX *context;
    int written = 0;
    bool done;

    if (size > INT_MAX || bound_size > INT_MAX || !crypto_random(crypto, sealed, SEAL_NONCE)) {
        return false;
    }
    context = EVP_CIPHER_CTX_new();
    done = context && EVP_EncryptInit_ex2(context, crypto->gcm, key, sealed, NULL) == 1 &&
           EVP_EncryptUpdate(context, NULL, &written, bound, (int)bound_size) == 1 &&
           EVP_EncryptUpdate(context, text, &written, plain, (int)size) == 1 &&
           written == (int)size && EVP_EncryptFinal_ex(context, text + size, &written) == 1 &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, SEAL_TAG, text + size) == 1;
    EVP_CIPHER_CTX_free(context);
    return done;
}

bool crypto_unseal(const struct crypto *crypto, const uint8_t key[SEAL_KEY], const uint8_t *bound,
                   size_t bound_size, const uint8_t *sealed, size_t sealed_size, uint8_t *plain)
{
    const uint8_t *const text = sealed + SEAL_NONCE;
    EVP_CIPHER_CTX *context;
    uint8_t tag[SEAL_TAG];
    int written = 0;
    size_t size;
    bool done;

    if (sealed_size < SEALED(0) || sealed_size > INT_MAX || bound_size > INT_MAX) {
        return false;
    }
    size = sealed_size - SEALED(0);
    memcpy(tag, text + size, SEAL_TAG);
    context = EVP_CIPHER_CTX_new();
    done = context && EVP_DecryptInit_ex2(context, crypto->gcm, key, sealed, NULL) == 1 &&
           EVP_DecryptUpdate(context, NULL, &written, bound, (int)bound_size) == 1 &&
           EVP_DecryptUpdate(context, plain, &written, text, (int)size) == 1 &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, SEAL_TAG, tag) == 1 &&
           EVP_DecryptFinal_ex(context, plain + size, &written) == 1;
    EVP_CIPHER_CTX_free(context);
    if (!done) {
        OPENSSL_cleanse(plain, size);
    }
    return done;
}
