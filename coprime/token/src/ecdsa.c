#include "ecdsa.h"

#include <string.h>

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>

#include "curve_engine.h"
#include "curve_key.h"
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
    uint8_t signature[MAX_CURVE_SIGNATURE];
    uint32_t z[MAX_CURVE_WORDS], k[MAX_CURVE_WORDS], r[MAX_CURVE_WORDS], s[MAX_CURVE_WORDS];
    uint8_t random[RANDOM_BYTES], hashed[MAX_CURVE_BYTES + EXTRA_BYTES];
};

/* The leftmost bits of a digest, as many as n has. */
static bool read_digest(const BIGNUM *n, const uint8_t *digest, size_t size, BIGNUM *z)
{
    const int bits = BN_num_bits(n);
    const size_t taken = size < (size_t)(bits + 7) / 8 ? size : (size_t)(bits + 7) / 8;
    const int excess = 8 * (int)taken - bits;

    return BN_bin2bn(digest, (int)taken, z) && (excess <= 0 || BN_rshift(z, z, excess));
}

/* Whether a number is from 1 to n - 1. */
static bool is_in_range(const BIGNUM *number, const BIGNUM *n)
{
    return !BN_is_zero(number) && BN_cmp(number, n) < 0;
}

/* FIPS 186-5, 6.4.2: is r the coordinate x of (z / s) G + (r / s) Q, modulo n? Once r and s are in
   their range, libcrypto fails only without memory. */
static CK_RV verify(const struct curve_key *key, const BIGNUM *z, const BIGNUM *r, const BIGNUM *s,
                    BN_CTX *context)
{
    const BIGNUM *const n = EC_GROUP_get0_order(key->group);
    BIGNUM *const u = BN_CTX_get(context), *const v = BN_CTX_get(context);
    BIGNUM *const x = BN_CTX_get(context);
    EC_POINT *sum;
    bool done, valid = false;

    if (!is_in_range(r, n) || !is_in_range(s, n)) {
        return CKR_SIGNATURE_INVALID;
    }
    sum = EC_POINT_new(key->group);
    done = x && sum && BN_mod_inverse(v, s, n, context) && BN_mod_mul(u, z, v, n, context) &&
           BN_mod_mul(v, r, v, n, context) &&
           EC_POINT_mul(key->group, sum, u, key->public_point, v, context) == 1;
    if (done && !EC_POINT_is_at_infinity(key->group, sum)) {
        done = EC_POINT_get_affine_coordinates(key->group, sum, x, NULL, context) == 1 &&
               BN_nnmod(x, x, n, context);
        valid = done && BN_cmp(x, r) == 0;
    }
    EC_POINT_free(sum);
    if (!done) {
        return CKR_HOST_MEMORY;
    }
    return valid ? CKR_OK : CKR_SIGNATURE_INVALID;
}

static CK_RV ecdsa_verify(const struct crypto *crypto, const struct curve_key *key,
                          const uint8_t *digest, size_t size, const uint8_t *signature,
                          size_t signature_size)
{
    const int half = (int)(signature_size / 2);
    BN_CTX *context;
    BIGNUM *r, *s, *z;
    CK_RV rv = CKR_HOST_MEMORY;

    if (signature_size == 0 || signature_size % 2 || signature_size > key->curve->signature) {
        return CKR_SIGNATURE_LEN_RANGE;
    }
    context = BN_CTX_new_ex(crypto->context);
    if (context == NULL) {
        return rv;
    }
    BN_CTX_start(context);
    r = BN_CTX_get(context);
    s = BN_CTX_get(context);
    z = BN_CTX_get(context);
    if (z && BN_bin2bn(signature, half, r) && BN_bin2bn(signature + half, half, s) &&
        read_digest(EC_GROUP_get0_order(key->group), digest, size, z)) {
        rv = verify(key, z, r, s, context);
    }
    BN_CTX_end(context);
    BN_CTX_free(context);
    return rv;
}

/* hashed = SHAKE256 of the random number, d and z: whoever lacks either of the first two cannot
   predict it, and another digest has another nonce even if the random numbers are the same. */
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

/* A number of the driver's in secret memory; null without any. */
static BIGNUM *secret_number(const struct curve *curve, const uint32_t *words)
{
    BIGNUM *const number = curve_number(curve, words);

    if (number) {
        BN_set_flags(number, BN_FLG_CONSTTIME);
    }
    return number;
}

/* r and s by libcrypto's numbers (FIPS 186-5, 6.4.1), with a nonce of ours: (r d + z) / k. */
static int sign_in_software(struct signing *signing)
{
    const struct curve_key *const key = signing->key;
    const BIGNUM *const n = EC_GROUP_get0_order(key->group);
    BN_CTX *const context = BN_CTX_secure_new_ex(signing->crypto->context);
    BIGNUM *const d = secret_number(key->curve, key->secret->scalar);
    BIGNUM *const k = draw(signing) ? secret_number(key->curve, signing->k) : NULL;
    BIGNUM *const r = BN_new(), *const s = BN_secure_new(), *const z = BN_new();
    EC_POINT *const point = EC_POINT_new(key->group);
    const bool done =
        context && d && k && r && s && z && point &&
        read_digest(n, signing->digest, signing->size, z) &&
        EC_POINT_mul(key->group, point, k, NULL, NULL, context) == 1 &&
        EC_POINT_get_affine_coordinates(key->group, point, r, NULL, context) == 1 &&
        BN_nnmod(r, r, n, context) && BN_mod_mul(s, r, d, n, context) &&
        BN_mod_add(s, s, z, n, context) && BN_mod_inverse(k, k, n, context) &&
        BN_mod_mul(s, s, k, n, context) && curve_words(key->curve, r, signing->r) &&
        curve_words(key->curve, s, signing->s);

    EC_POINT_clear_free(point);
    BN_clear_free(d);
    BN_clear_free(k);
    BN_free(r);
    BN_clear_free(s);
    BN_free(z);
    BN_CTX_free(context);
    return done ? COPRIME_ERROR_NONE : COPRIME_ERROR_MEMORY;
}

static int sign_on_engine(struct coprime *driver, const struct coprime_curve_constants *curve,
                          void *context)
{
    struct signing *const signing = context;
    const struct curve *const own = signing->key->curve;
    const size_t half = own->signature / 2, count = COPRIME_WORDS(own->bits);
    int error = COPRIME_ERROR_OPERAND_RANGE;

    if (driver) {
        coprime_ecdsa_hash(curve, signing->digest, signing->size, signing->z);
    }
    for (int i = 0; i < DRAWS && error == COPRIME_ERROR_OPERAND_RANGE; ++i) {
        error = driver ? sign_once(driver, curve, signing) : sign_in_software(signing);
    }
    if (error) {
        return error;
    }
    if (coprime_to_bytes(signing->signature, half, signing->r, count) ||
        coprime_to_bytes(signing->signature + half, half, signing->s, count)) {
        return COPRIME_ERROR_FAULT;
    }
    return device_error_of(ecdsa_verify(signing->crypto, signing->key, signing->digest,
                                        signing->size, signing->signature, own->signature));
}

static CK_RV sign(const struct work *work, struct value digest, uint8_t *signature)
{
    struct signing *const signing = secret_allocate(sizeof *signing);
    struct curve_key *const key = curve_key_of(work->key);
    CK_RV rv = CKR_HOST_MEMORY;

    if (signing) {
        signing->crypto = work->context.crypto;
        signing->key = key;
        signing->digest = digest.bytes;
        signing->size = digest.size;
        rv = curve_engine_run(work->context.device, work->context.crypto, key, sign_on_engine, signing);
    }
    if (rv == CKR_OK) {
        memcpy(signature, signing->signature, key->curve->signature);
    }
    secret_free(signing);
    return rv;
}

static CK_RV verify_text(const struct work *work, struct value digest, struct value signature)
{
    return ecdsa_verify(work->context.crypto, curve_key_of(work->key), digest.bytes, digest.size,
                        signature.bytes, signature.size);
}

static size_t size_of(const struct work *work)
{
    return curve_key_of(work->key)->curve->signature;
}

const struct scheme_functions ecdsa_functions = {
    .size = size_of,
    .most = MAX_CURVE_SIGNATURE, /* of a digest the leftmost bits count */
    .sign = sign,
    .verify = verify_text,
};
