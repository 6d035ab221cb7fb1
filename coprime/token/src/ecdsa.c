#include "ecdsa.h"

#include <string.h>

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>

#include "secret.h"

/* Bits that a nonce is taken from, beside those of n (FIPS 186-5, A.3.1, has 64 or more); bytes of the
   random number; times that a nonce is drawn if r or s is 0. */
enum { EXTRA_BYTES = 16, RANDOM_BYTES = 64, DRAWS = 4 };

/* A signature that is made, in secret memory. */
struct signing {
    const struct crypto *crypto;
    struct curve_key *key;
    const uint8_t *digest;
    size_t size;
    uint8_t *signature;
    uint32_t z[MAX_CURVE_WORDS], k[MAX_CURVE_WORDS], r[MAX_CURVE_WORDS], s[MAX_CURVE_WORDS];
    uint8_t random[RANDOM_BYTES], hashed[MAX_CURVE_BYTES + EXTRA_BYTES];
};

/* r and s as libcrypto takes them; null without memory. The caller frees it. */
static unsigned char *encode(const struct curve *curve, const uint8_t *signature, int *size)
{
    const int half = (int)(curve->signature / 2);
    BIGNUM *const r = BN_bin2bn(signature, half, NULL), *const s = BN_bin2bn(signature + half, half, NULL);
    ECDSA_SIG *const both = ECDSA_SIG_new();
    unsigned char *encoded = NULL;

    if (both && r && s && ECDSA_SIG_set0(both, r, s) == 1) {
        *size = i2d_ECDSA_SIG(both, &encoded);
    } else {
        BN_free(r);
        BN_free(s);
    }
    ECDSA_SIG_free(both);
    return encoded;
}

bool ecdsa_is_valid(const struct crypto *crypto, const struct curve_key *key, const uint8_t *digest,
                    size_t size, const uint8_t *signature)
{
    EVP_PKEY_CTX *const context = EVP_PKEY_CTX_new_from_pkey(crypto->context, key->public, NULL);
    int encoded_size = 0;
    unsigned char *const encoded = encode(key->curve, signature, &encoded_size);
    const bool valid = context && encoded && encoded_size > 0 &&
                       EVP_PKEY_verify_init(context) == 1 &&
                       EVP_PKEY_verify(context, encoded, (size_t)encoded_size, digest, size) == 1;

    OPENSSL_free(encoded);
    EVP_PKEY_CTX_free(context);
    return valid;
}

/* hashed = SHAKE256 of the random number, d and z: nobody can foresee it who lacks one of the first
   two, and another digest has another nonce even if the random numbers are the same. */
static bool hash(struct signing *signing, size_t size)
{
    const struct curve *const curve = signing->key->curve;
    EVP_MD *const md = EVP_MD_fetch(signing->crypto->context, "SHAKE256", NULL);
    EVP_MD_CTX *const context = EVP_MD_CTX_new();
    const bool done =
        md && context && EVP_DigestInit_ex2(context, md, NULL) == 1 &&
        EVP_DigestUpdate(context, signing->random, RANDOM_BYTES) == 1 &&
        EVP_DigestUpdate(context, signing->key->secret->bytes, curve->bytes) == 1 &&
        EVP_DigestUpdate(context, signing->digest, signing->size) == 1 &&
        EVP_DigestFinalXOF(context, signing->hashed, size) == 1;

    EVP_MD_CTX_free(context);
    EVP_MD_free(md);
    return done;
}

/* k, from 1 to n - 1. */
static bool draw(struct signing *signing)
{
    const struct curve *const curve = signing->key->curve;
    const size_t size = curve->bytes + EXTRA_BYTES;
    BN_CTX *const context = BN_CTX_secure_new_ex(signing->crypto->context);
    BIGNUM *const n = curve_number(curve, curve->engine->n), *const k = BN_secure_new();
    bool done = context && n && k && crypto_random(signing->crypto, signing->random, RANDOM_BYTES) &&
                hash(signing, size) && BN_bin2bn(signing->hashed, (int)size, k) && BN_sub_word(n, 1);

    if (done) {
        BN_set_flags(k, BN_FLG_CONSTTIME);
        done = BN_mod(k, k, n, context) && BN_add_word(k, 1) && curve_words(curve, k, signing->k);
    }
    BN_free(n);
    BN_clear_free(k);
    BN_CTX_free(context);
    return done;
}

/* r and s, with a nonce of the engine's or one of ours. */
static int sign_once(struct coprime *driver, const struct coprime_curve_constants *curve,
                     struct signing *signing)
{
    const uint32_t *const d = signing->key->secret->scalar;

    if (driver->commands >> COPRIME_COMMAND_ECDSA_SIGN & 1) {
        return coprime_ecdsa_sign(driver, curve, d, signing->z, signing->r, signing->s);
    }
    if (!draw(signing)) {
        return COPRIME_ERROR_MEMORY;
    }
    return coprime_ecdsa_sign_with(driver, curve, d, signing->z, signing->k, signing->r,
                                   signing->s);
}

static int sign_on_engine(struct coprime *driver, const struct coprime_curve_constants *curve,
                          void *context)
{
    struct signing *const signing = context;
    const struct curve *const own = signing->key->curve;
    const size_t half = own->signature / 2, count = COPRIME_WORDS(own->bits);
    int error = COPRIME_ERROR_OPERAND_RANGE;

    coprime_ecdsa_hash(curve, signing->digest, signing->size, signing->z);
    for (int i = 0; i < DRAWS && error == COPRIME_ERROR_OPERAND_RANGE; ++i) {
        error = sign_once(driver, curve, signing);
    }
    if (!error && (coprime_to_bytes(signing->signature, half, signing->r, count) ||
                   coprime_to_bytes(signing->signature + half, half, signing->s, count) ||
                   !ecdsa_is_valid(signing->crypto, signing->key, signing->digest, signing->size,
                                   signing->signature))) {
        error = COPRIME_ERROR_FAULT;
    }
    return error;
}

CK_RV ecdsa_sign(const struct crypto *crypto, struct device *device, struct curve_key *key,
                 const uint8_t *digest, size_t size, uint8_t *signature)
{
    struct signing *const signing = secret_allocate(sizeof *signing);
    CK_RV rv = CKR_HOST_MEMORY;

    if (signing) {
        signing->crypto = crypto;
        signing->key = key;
        signing->digest = digest;
        signing->size = size;
        signing->signature = signature;
        rv = device_curve(device, crypto, key, sign_on_engine, signing);
    }
    if (rv != CKR_OK) {
        OPENSSL_cleanse(signature, key->curve->signature);
    }
    secret_free(signing);
    return rv;
}
