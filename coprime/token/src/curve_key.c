#include "curve_key.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/objects.h>
#include <openssl/param_build.h>

#include "eddsa_hash.h"
#include "edwards.h"
#include "secret.h"

static void destroy(struct key *base)
{
    struct curve_key *const key = curve_key_of(base);

    EVP_PKEY_free(key->public);
    EC_POINT_free(key->public_point);
    EC_GROUP_free(key->group);
    secret_free(key->secret);
    free(key);
}

/* Public keys. */

/* The group of a Weierstrass curve. */
static EC_GROUP *group_of(const struct crypto *crypto, const struct curve *curve)
{
    return EC_GROUP_new_by_curve_name_ex(crypto->context, NULL, OBJ_sn2nid(curve->name));
}

/* A point of a Weierstrass curve, which may be compressed. */
static bool read_weierstrass(const struct crypto *crypto, struct value point,
                             struct curve_key *key)
{
    BN_CTX *const context = BN_CTX_new_ex(crypto->context);

    key->group = group_of(crypto, key->curve);
    key->public_point = key->group ? EC_POINT_new(key->group) : NULL;
    if (context && key->public_point &&
        EC_POINT_oct2point(key->group, key->public_point, point.bytes, point.size, context) == 1) {
        key->point_size = EC_POINT_point2oct(key->group, key->public_point,
                                             POINT_CONVERSION_UNCOMPRESSED, key->point, MAX_POINT,
                                             context);
    }
    BN_CTX_free(context);
    return key->point_size == 1 + 2 * key->curve->bytes; /* not the point at infinity */
}

static bool read_raw(const struct crypto *crypto, struct value point, struct curve_key *key)
{
    const struct curve *const curve = key->curve;

    if (point.size != curve->bytes ||
        (curve->type == CKK_EC_EDWARDS && !edwards_is_point(curve, crypto->context, point.bytes, point.size))) {
        return false;
    }
    key->public = EVP_PKEY_new_raw_public_key_ex(crypto->context, curve->name, NULL, point.bytes,
                                                 point.size);
    key->point_size = point.size;
    memcpy(key->point, point.bytes, point.size);
    return key->public != NULL;
}

struct curve_key *curve_key_public(const struct crypto *crypto, const struct curve *curve,
                                   struct value point)
{
    struct curve_key *const key = calloc(1, sizeof *key);

    if (key == NULL) {
        return NULL;
    }
    key_begin(&key->base, curve->type, destroy);
    key->curve = curve;
    curve_strip_point(curve, &point);
    if (point.size == 0 || point.size > MAX_POINT ||
        !(curve->type == CKK_EC ? read_weierstrass : read_raw)(crypto, point, key)) {
        key_release(&key->base);
        return NULL;
    }
    return key;
}

/* Private keys. */

/* point = d G, by libcrypto. */
static size_t multiply_base(const struct crypto *crypto, const struct curve *curve,
                            const BIGNUM *d, uint8_t point[MAX_POINT])
{
    BN_CTX *const context = BN_CTX_secure_new_ex(crypto->context);
    EC_GROUP *const group = group_of(crypto, curve);
    EC_POINT *const product = group ? EC_POINT_new(group) : NULL;
    size_t size = 0;

    if (context && product && BN_cmp(d, EC_GROUP_get0_order(group)) < 0 && !BN_is_zero(d) &&
        EC_POINT_mul(group, product, d, NULL, NULL, context) == 1) {
        size = EC_POINT_point2oct(group, product, POINT_CONVERSION_UNCOMPRESSED, point, MAX_POINT,
                                  context);
    }
    EC_POINT_clear_free(product);
    EC_GROUP_free(group);
    BN_CTX_free(context);
    return size;
}

/* The public half of a secret on a Weierstrass curve, d, and its words; 0 unless 0 < d < n. */
static size_t weierstrass_point(const struct crypto *crypto, const struct curve *curve,
                                struct curve_secret *secret, uint8_t point[MAX_POINT])
{
    BIGNUM *const d = BN_secure_new();
    size_t size = 0;

    if (d && BN_bin2bn(secret->bytes, (int)curve->bytes, d)) {
        BN_set_flags(d, BN_FLG_CONSTTIME);
        if (curve_words(curve, d, secret->scalar)) {
            size = multiply_base(crypto, curve, d, point);
        }
    }
    BN_clear_free(d);
    return size;
}

/* The same on another curve, where every string is a private key. */
static size_t raw_point(const struct crypto *crypto, const struct curve *curve,
                        struct curve_secret *secret, uint8_t point[MAX_POINT])
{
    EVP_PKEY *const key = EVP_PKEY_new_raw_private_key_ex(crypto->context, curve->name, NULL,
                                                          secret->bytes, curve->bytes);
    size_t size = MAX_POINT;
    const bool done = key && EVP_PKEY_get_raw_public_key(key, point, &size) == 1 &&
                      (curve->type != CKK_EC_EDWARDS ||
                       eddsa_expand(crypto, curve, secret->bytes, secret->scalar, secret->prefix));

    EVP_PKEY_free(key);
    return done ? size : 0;
}

/* A secret's bytes: on a Weierstrass curve a number, before which there may be zeros. */
static bool read_secret(const struct curve *curve, struct value value, struct curve_secret *secret)
{
    while (curve->type == CKK_EC && value.size > curve->bytes && value.bytes[0] == 0) {
        ++value.bytes;
        --value.size;
    }
    if (value.size == 0 || value.size > curve->bytes ||
        (curve->type != CKK_EC && value.size != curve->bytes)) {
        return false;
    }
    memcpy(secret->bytes + curve->bytes - value.size, value.bytes, value.size);
    return true;
}

static struct curve_key *curve_key_private(const struct crypto *crypto, const struct curve *curve,
                                           struct value value)
{
    struct curve_secret *const secret = secret_allocate(sizeof *secret);
    struct curve_key *key = NULL;
    uint8_t point[MAX_POINT];
    size_t size = 0;

    if (secret && read_secret(curve, value, secret)) {
        size = curve->type == CKK_EC ? weierstrass_point(crypto, curve, secret, point) :
                                       raw_point(crypto, curve, secret, point);
    }
    if (size) {
        key = curve_key_public(crypto, curve, (struct value){point, size});
    }
    if (key) {
        key->secret = secret;
    } else {
        secret_free(secret);
    }
    return key;
}

static const struct curve *curve_of(const struct attributes *attributes)
{
    return curve_named(attributes_ulong(attributes, CKA_KEY_TYPE, UNAVAILABLE),
                       attributes_get(attributes, CKA_EC_PARAMS));
}

/* The key; null as curve_key_new. */
static struct curve_key *read_key(const struct crypto *crypto, const struct attributes *attributes,
                                  bool is_private)
{
    const struct curve *const curve = curve_of(attributes);
    const struct value value =
        attributes_get(attributes, is_private ? CKA_VALUE : CKA_EC_POINT);

    if (curve == NULL || value.bytes == NULL) {
        return NULL;
    }
    return is_private ? curve_key_private(crypto, curve, value) :
                        curve_key_public(crypto, curve, value);
}

struct key *curve_key_new(const struct crypto *crypto, const struct attributes *attributes,
                          bool is_private)
{
    struct curve_key *const key = read_key(crypto, attributes, is_private);

    return key ? &key->base : NULL;
}

/* Set a key's attributes: the point as an OCTET STRING, and the private key. */
static bool set_numbers(const struct curve_key *key, struct attributes *attributes)
{
    uint8_t encoded[MAX_ENCODED_POINT];
    size_t head = 0;

    encoded[head++] = V_ASN1_OCTET_STRING;
    if (key->point_size >= 0x80) {
        encoded[head++] = 0x81;
    }
    encoded[head++] = (uint8_t)key->point_size;
    memcpy(encoded + head, key->point, key->point_size);
    return attributes_set(attributes, CKA_EC_POINT, encoded, head + key->point_size) &&
           (key->secret == NULL || attributes_set(attributes, CKA_VALUE, key->secret->bytes,
                                                  key->curve->bytes));
}

/* Whether the point that a private key came with, if it did, is its own. */
static bool has_point(const struct curve_key *key, struct value given)
{
    if (given.bytes == NULL) {
        return true;
    }
    curve_strip_point(key->curve, &given);
    return given.size == key->point_size && memcmp(given.bytes, key->point, given.size) == 0;
}

CK_RV curve_complete(const struct crypto *crypto, struct attributes *attributes, bool is_private)
{
    struct curve_key *key;
    CK_RV rv;

    if (attributes_get(attributes, CKA_EC_PARAMS).bytes == NULL ||
        attributes_get(attributes, is_private ? CKA_VALUE : CKA_EC_POINT).bytes == NULL) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if (curve_of(attributes) == NULL) {
        return CKR_CURVE_NOT_SUPPORTED;
    }
    key = read_key(crypto, attributes, is_private);
    if (key == NULL ||
        (is_private && !has_point(key, attributes_get(attributes, CKA_EC_POINT)))) {
        rv = CKR_ATTRIBUTE_VALUE_INVALID;
    } else {
        rv = set_numbers(key, attributes) ? CKR_OK : CKR_HOST_MEMORY;
    }
    key_release(key ? &key->base : NULL);
    return rv;
}

/* A private key on a Weierstrass curve. */
static EVP_PKEY *weierstrass_key(const struct crypto *crypto, const struct curve *curve,
                                 struct value point, const BIGNUM *d)
{
    OSSL_PARAM_BLD *const builder = OSSL_PARAM_BLD_new();
    EVP_PKEY_CTX *const context = EVP_PKEY_CTX_new_from_name(crypto->context, "EC", NULL);
    OSSL_PARAM *parameters = NULL;
    EVP_PKEY *key = NULL;

    if (builder && context &&
        OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, curve->name, 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point.bytes,
                                         point.size) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, d) == 1) {
        parameters = OSSL_PARAM_BLD_to_param(builder);
    }
    if (parameters && EVP_PKEY_fromdata_init(context) == 1) {
        (void)EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters);
    }
    OSSL_PARAM_free(parameters);
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_BLD_free(builder);
    return key;
}

EVP_PKEY *curve_to_libcrypto(const struct crypto *crypto, const struct attributes *attributes)
{
    struct curve_key *const own = read_key(crypto, attributes, true);
    EVP_PKEY *key = NULL;
    BIGNUM *d;

    if (own == NULL) {
        return NULL;
    }
    if (own->curve->type == CKK_EC) {
        d = BN_secure_new();
        if (d && BN_bin2bn(own->secret->bytes, (int)own->curve->bytes, d)) {
            key = weierstrass_key(crypto, own->curve, (struct value){own->point, own->point_size},
                                  d);
        }
        BN_clear_free(d);
    } else {
        key = EVP_PKEY_new_raw_private_key_ex(crypto->context, own->curve->name, NULL,
                                              own->secret->bytes, own->curve->bytes);
    }
    key_release(&own->base);
    return key;
}

/* A private key's bytes. */
static bool get_bytes(const EVP_PKEY *key, const struct curve *curve, uint8_t *bytes)
{
    size_t size = curve->bytes;
    BIGNUM *d = NULL;
    bool done;

    if (curve->type != CKK_EC) {
        return EVP_PKEY_get_raw_private_key(key, bytes, &size) == 1 && size == curve->bytes;
    }
    done = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &d) == 1 &&
           BN_bn2binpad(d, bytes, (int)size) >= 0;
    BN_clear_free(d);
    return done;
}

CK_RV curve_from_libcrypto(const EVP_PKEY *key, struct attributes *attributes)
{
    const bool has_group = EVP_PKEY_is_a(key, "EC");
    char group[64] = "";
    const struct curve *const curve =
        has_group && EVP_PKEY_get_group_name(key, group, sizeof group, NULL) != 1 ?
            NULL :
            curve_of_libcrypto(has_group ? group : EVP_PKEY_get0_type_name(key));
    uint8_t *const bytes = secret_allocate(MAX_CURVE_BYTES);
    CK_RV rv = CKR_WRAPPED_KEY_INVALID;

    if (bytes && curve && curve->type == attributes_ulong(attributes, CKA_KEY_TYPE, UNAVAILABLE) &&
        get_bytes(key, curve, bytes)) {
        rv = curve_set_parameters(curve, attributes) &&
                     attributes_set(attributes, CKA_VALUE, bytes, curve->bytes) ?
                 CKR_OK :
                 CKR_HOST_MEMORY;
    }
    secret_free(bytes);
    return rv;
}

/* A random private key. On a Weierstrass curve it is taken from a number 64 bits longer than n (FIPS
   186-5, A.2.1). */
static bool draw(const struct crypto *crypto, const struct curve *curve, uint8_t *bytes)
{
    uint8_t longer[MAX_CURVE_BYTES + 8];
    BN_CTX *context;
    BIGNUM *n, *d;
    bool done;

    if (curve->type != CKK_EC) {
        return crypto_random(crypto, bytes, curve->bytes);
    }
    context = BN_CTX_secure_new_ex(crypto->context);
    n = curve_number(curve, curve->engine->n);
    d = BN_secure_new();
    done = context && n && d && crypto_random(crypto, longer, curve->bytes + 8) &&
           BN_bin2bn(longer, (int)curve->bytes + 8, d) && BN_sub_word(n, 1);
    if (done) {
        BN_set_flags(d, BN_FLG_CONSTTIME);
        done = BN_mod(d, d, n, context) && BN_add_word(d, 1) &&
               BN_bn2binpad(d, bytes, (int)curve->bytes) >= 0;
    }
    OPENSSL_cleanse(longer, sizeof longer);
    BN_free(n);
    BN_clear_free(d);
    BN_CTX_free(context);
    return done;
}

CK_RV curve_generate(const struct crypto *crypto, const struct curve *curve,
                     struct attributes *numbers)
{
    uint8_t *const bytes = secret_allocate(MAX_CURVE_BYTES);
    struct curve_key *key = NULL;
    CK_RV rv = CKR_FUNCTION_FAILED;

    if (bytes && draw(crypto, curve, bytes)) {
        key = curve_key_private(crypto, curve, (struct value){bytes, curve->bytes});
    }
    if (key) {
        rv = set_numbers(key, numbers) ? CKR_OK : CKR_HOST_MEMORY;
    }
    key_release(key ? &key->base : NULL);
    secret_free(bytes);
    return rv;
}
