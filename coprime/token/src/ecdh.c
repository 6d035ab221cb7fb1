#include "ecdh.h"

#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "curve_engine.h"
#include "secret.h"

/* A product, and what it is made of, in secret memory. */
struct multiplication {
    const struct curve_key *key;
    struct curve_key *other; /* somebody's public key */
    uint8_t secret[MAX_CURVE_BYTES], expected[MAX_CURVE_BYTES];
};

/* What libcrypto finds the secret to be: an engine's result is never trusted. */
static bool expect_coordinate(const struct crypto *crypto, struct multiplication *wanted)
{
    const struct curve_key *const key = wanted->key;
    EVP_PKEY *const own = EVP_PKEY_new_raw_private_key_ex(crypto->context, key->curve->name, NULL,
                                                          key->secret->bytes, key->curve->bytes);
    EVP_PKEY_CTX *const context =
        own ? EVP_PKEY_CTX_new_from_pkey(crypto->context, own, NULL) : NULL;
    size_t size = sizeof wanted->expected;
    const bool done = context && EVP_PKEY_derive_init(context) == 1 &&
                      EVP_PKEY_derive_set_peer(context, wanted->other->public) == 1 &&
                      EVP_PKEY_derive(context, wanted->expected, &size) == 1;

    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(own);
    return done;
}

/* The same on a Weierstrass curve: libcrypto's ladder takes the same time for every scalar. */
static bool expect_x(const struct crypto *crypto, struct multiplication *wanted)
{
    const struct curve_key *const key = wanted->key;
    const struct curve_key *const other = wanted->other;
    BN_CTX *const context = BN_CTX_secure_new_ex(crypto->context);
    BIGNUM *const d = BN_secure_new(), *const x = BN_secure_new();
    EC_POINT *const product = EC_POINT_new(other->group);
    bool done = context && d && x && product &&
                BN_bin2bn(key->secret->bytes, (int)key->curve->bytes, d);

    if (done) {
        BN_set_flags(d, BN_FLG_CONSTTIME);
        done = EC_POINT_mul(other->group, product, NULL, other->public_point, d, context) == 1 &&
               EC_POINT_get_affine_coordinates(other->group, product, x, NULL, context) == 1 &&
               BN_bn2binpad(x, wanted->expected, (int)key->curve->bytes) >= 0;
    }
    EC_POINT_clear_free(product);
    BN_clear_free(d);
    BN_clear_free(x);
    BN_CTX_free(context);
    return done;
}

static int compare(const struct multiplication *wanted)
{
    return CRYPTO_memcmp(wanted->secret, wanted->expected, wanted->key->curve->bytes) ?
               COPRIME_ERROR_FAULT :
               COPRIME_ERROR_NONE;
}

/* x of the product. */
static int multiply_point(struct coprime *driver, const struct coprime_curve_constants *curve,
                          void *context)
{
    struct multiplication *const wanted = context;
    const struct curve *const own = wanted->key->curve;
    const size_t count = COPRIME_WORDS(own->bits);
    const uint8_t *const point = wanted->other->point + 1;
    uint32_t x[MAX_CURVE_WORDS], y[MAX_CURVE_WORDS];
    int error = COPRIME_ERROR_SIZE;

    if (coprime_from_bytes(x, count, point, own->bytes) == 0 &&
        coprime_from_bytes(y, count, point + own->bytes, own->bytes) == 0) {
        error = coprime_ec_multiply(driver, curve, wanted->key->secret->scalar, x, y, x, y);
    }
    if (!error) {
        error = coprime_to_bytes(wanted->secret, own->bytes, x, count);
    }
    coprime_clear(x, MAX_CURVE_WORDS);
    coprime_clear(y, MAX_CURVE_WORDS);
    return error ? error : compare(wanted);
}

static int multiply_coordinate(struct coprime *driver, const struct coprime_curve_constants *curve,
                               void *context)
{
    struct multiplication *const wanted = context;
    const int error = coprime_x_multiply(driver, curve, wanted->key->secret->bytes,
                                         wanted->other->point, wanted->secret);

    return error ? error : compare(wanted);
}

static int multiply(struct coprime *driver, const struct coprime_curve_constants *curve,
                    void *context)
{
    struct multiplication *const wanted = context;

    if (driver == NULL) {
        memcpy(wanted->secret, wanted->expected, sizeof wanted->secret);
        return COPRIME_ERROR_NONE;
    }
    return (wanted->key->curve->type == CKK_EC ? multiply_point : multiply_coordinate)(
        driver, curve, context);
}

/* Begin, with what libcrypto finds, which refuses points of low order. */
static CK_RV begin(const struct crypto *crypto, const struct curve_key *key, struct value point,
                   struct multiplication **wanted)
{
    struct curve_key *const other = curve_key_public(crypto, key->curve, point);

    *wanted = secret_allocate(sizeof **wanted);
    if (*wanted == NULL || other == NULL) {
        key_release(other ? &other->base : NULL);
        return *wanted ? CKR_MECHANISM_PARAM_INVALID : CKR_HOST_MEMORY;
    }
    (*wanted)->key = key;
    (*wanted)->other = other;
    return (key->curve->type == CKK_EC ? expect_x : expect_coordinate)(crypto, *wanted) ?
               CKR_OK :
               CKR_MECHANISM_PARAM_INVALID;
}

static void end(struct multiplication *wanted)
{
    if (wanted) {
        key_release(wanted->other ? &wanted->other->base : NULL);
    }
    secret_free(wanted);
}

CK_RV ecdh(const struct crypto *crypto, struct device *device, struct curve_key *key,
           struct value point, uint8_t *secret)
{
    struct multiplication *wanted;
    CK_RV rv = begin(crypto, key, point, &wanted);

    if (rv == CKR_OK) {
        rv = curve_engine_run(device, crypto, key, multiply, wanted);
    }
    if (rv == CKR_OK) {
        memcpy(secret, wanted->secret, key->curve->bytes);
    }
    end(wanted);
    return rv;
}

CK_RV ecdh_in_software(const struct crypto *crypto, struct curve_key *key, struct value point,
                       uint8_t *secret)
{
    struct multiplication *wanted;
    const CK_RV rv = begin(crypto, key, point, &wanted);

    if (rv == CKR_OK) {
        memcpy(secret, wanted->expected, key->curve->bytes);
    }
    end(wanted);
    return rv;
}

bool ecdh_expand(const struct crypto *crypto, const struct ecdh_kdf *function, struct value secret,
                 struct value shared, uint8_t *result, size_t size)
{
    const char *const name = function->one_step ? OSSL_KDF_NAME_SSKDF : OSSL_KDF_NAME_X963KDF;
    EVP_KDF *const kdf = EVP_KDF_fetch(crypto->context, name, NULL);
    EVP_KDF_CTX *const context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)function->digest->name,
                                         0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, (void *)secret.bytes, secret.size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)shared.bytes, shared.size),
        OSSL_PARAM_construct_end(),
    };
    const bool done = context && EVP_KDF_derive(context, result, size, parameters) == 1;

    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return done;
}
