#include "ecdh.h"

#include <string.h>

#include <openssl/crypto.h>

/* A product, and what it is made of. */
struct multiplication {
    const struct curve_key *key;
    const struct curve_key *other; /* somebody's public key */
    uint8_t *secret;
};

/* x of the product. */
static int multiply_point(struct coprime *driver, const struct coprime_curve_constants *curve,
                          void *context)
{
    const struct multiplication *const wanted = context;
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
    return error;
}

static int multiply_coordinate(struct coprime *driver, const struct coprime_curve_constants *curve,
                               void *context)
{
    const struct multiplication *const wanted = context;

    return coprime_x_multiply(driver, curve, wanted->key->secret->bytes, wanted->other->point,
                              wanted->secret);
}

CK_RV ecdh(const struct crypto *crypto, struct device *device, struct curve_key *key,
           struct value point, uint8_t *secret)
{
    struct curve_key *const other = curve_key_public(crypto, key->curve, point);
    struct multiplication wanted = {key, other, secret};
    CK_RV rv = CKR_MECHANISM_PARAM_INVALID;

    if (other) {
        rv = device_curve(device, crypto, key,
                          key->curve->type == CKK_EC ? multiply_point : multiply_coordinate,
                          &wanted);
        key_release(&other->base);
    }
    if (rv != CKR_OK) {
        OPENSSL_cleanse(secret, key->curve->bytes);
    }
    return rv;
}
