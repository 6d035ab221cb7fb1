#include "eddsa.h"

#include <string.h>

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "secret.h"

/* Bytes of the hash: of SHA-512, and of Ed448's SHAKE256; and of a message that is hashed before. */
enum { MAX_HASH = 2 * 57, PREHASH = 64 };

/* A part of what is hashed. */
struct part {
    const uint8_t *bytes;
    size_t size;
};

static bool is_448(const struct curve *curve)
{
    return curve->bits == 448;
}

/* H of the RFC, or of another size, which Ed448 has. */
static bool hash(const struct crypto *crypto, const struct curve *curve, const struct part *parts,
                 unsigned count, uint8_t *result, size_t size)
{
    EVP_MD *const md = EVP_MD_fetch(crypto->context, is_448(curve) ? "SHAKE256" : "SHA512", NULL);
    EVP_MD_CTX *const context = EVP_MD_CTX_new();
    bool done = md && context && EVP_DigestInit_ex2(context, md, NULL) == 1;

    for (unsigned i = 0; i < count; ++i) {
        done = done && (parts[i].size == 0 ||
                        EVP_DigestUpdate(context, parts[i].bytes, parts[i].size) == 1);
    }
    done = done && (is_448(curve) ? EVP_DigestFinalXOF(context, result, size) == 1 :
                                    EVP_DigestFinal_ex(context, result, NULL) == 1);
    EVP_MD_CTX_free(context);
    EVP_MD_free(md);
    return done;
}

/* What a hash of a variant begins with: dom2 and dom4 of the RFC; nothing of plain Ed25519. */
static struct part domain(const struct curve *curve, const struct eddsa_variant *variant,
                          uint8_t room[32 + 2 + MAX_CONTEXT])
{
    const char *const name = is_448(curve) ? "SigEd448" : "SigEd25519 no Ed25519 collisions";
    const size_t size = strlen(name);

    if (!is_448(curve) && !variant->prehashed && variant->context_size == 0) {
        return (struct part){room, 0};
    }
    memcpy(room, name, size);
    room[size] = variant->prehashed;
    room[size + 1] = (uint8_t)variant->context_size;
    memcpy(room + size + 2, variant->context, variant->context_size);
    return (struct part){room, size + 2 + variant->context_size};
}

/* A number of bytes, the lowest first, modulo n. */
static bool reduce(const struct crypto *crypto, const struct curve *curve, const uint8_t *bytes,
                   size_t size, uint32_t *words)
{
    BN_CTX *const context = BN_CTX_secure_new_ex(crypto->context);
    BIGNUM *const n = curve_number(curve, curve->engine->n), *const number = BN_secure_new();
    bool done = context && n && number && BN_lebin2bn(bytes, (int)size, number);

    if (done) {
        BN_set_flags(number, BN_FLG_CONSTTIME);
        done = BN_mod(number, number, n, context) && curve_words(curve, number, words);
    }
    BN_free(n);
    BN_clear_free(number);
    BN_CTX_free(context);
    return done;
}

/* The hash of a variant's parts, up to three of them, as a number modulo n. */
static bool hash_number(const struct crypto *crypto, const struct curve *curve,
                        const struct eddsa_variant *variant, const struct part *parts,
                        unsigned count, uint32_t *words)
{
    uint8_t room[32 + 2 + MAX_CONTEXT], hashed[MAX_HASH];
    struct part all[4] = {domain(curve, variant, room)};
    bool done;

    memcpy(all + 1, parts, count * sizeof *parts);
    done = hash(crypto, curve, all, count + 1, hashed, curve->signature) &&
           reduce(crypto, curve, hashed, curve->signature, words);
    OPENSSL_cleanse(hashed, sizeof hashed);
    return done;
}

bool eddsa_expand(const struct crypto *crypto, const struct curve *curve, const uint8_t *bytes,
                  uint32_t *scalar, uint8_t *prefix)
{
    const struct part private = {bytes, curve->bytes};
    const size_t top = (curve->bits - 1) / 8; /* the byte of the highest bit, 254 or 447 */
    uint8_t hashed[MAX_HASH];
    bool done = hash(crypto, curve, &private, 1, hashed, curve->signature);

    if (done) {
        memcpy(prefix, hashed + curve->bytes, curve->bytes);
        hashed[0] &= is_448(curve) ? 0xfc : 0xf8; /* a multiple of the cofactor */
        hashed[top] = (uint8_t)((hashed[top] & ((1u << (curve->bits - 1) % 8) - 1)) |
                                1u << (curve->bits - 1) % 8);
        done = reduce(crypto, curve, hashed, top + 1, scalar);
    }
    OPENSSL_cleanse(hashed, sizeof hashed);
    return done;
}

/* Points. */

/* x with this lowest bit, such that a x^2 + y^2 = 1 + d x^2 y^2; false if there is none. */
static bool find_x(const struct curve *curve, const BIGNUM *y, bool is_odd, BIGNUM *x,
                   BN_CTX *context)
{
    BIGNUM *const p = curve_number(curve, curve->engine->p);
    BIGNUM *const a = curve_number(curve, curve->engine->a);
    BIGNUM *const d = curve_number(curve, curve->engine->b);
    BIGNUM *const square = BN_CTX_get(context), *const divisor = BN_CTX_get(context);
    bool found = p && a && d && divisor && BN_cmp(y, p) < 0 &&
                 BN_mod_sqr(square, y, p, context) && BN_mod_mul(divisor, d, square, p, context) &&
                 BN_mod_sub(divisor, a, divisor, p, context) &&
                 BN_mod_sub(square, BN_value_one(), square, p, context) &&
                 BN_mod_inverse(divisor, divisor, p, context) &&
                 BN_mod_mul(square, square, divisor, p, context) &&
                 BN_mod_sqrt(x, square, p, context);

    if (found && (bool)BN_is_odd(x) != is_odd) {
        found = !BN_is_zero(x) && BN_sub(x, p, x);
    }
    BN_free(p);
    BN_free(a);
    BN_free(d);
    return found;
}

/* The coordinates of an encoded point: y, the lowest byte first, and as the highest bit that of x. */
static bool decode_point(const struct curve *curve, const uint8_t *bytes, uint32_t *x_words,
                         uint32_t *y_words)
{
    BN_CTX *const context = BN_CTX_new();
    uint8_t y_bytes[MAX_CURVE_BYTES];
    BIGNUM *x, *y;
    bool done = context != NULL;

    if (!done) {
        return false;
    }
    BN_CTX_start(context);
    x = BN_CTX_get(context);
    y = BN_CTX_get(context);
    memcpy(y_bytes, bytes, curve->bytes);
    y_bytes[curve->bytes - 1] &= 0x7f;
    done = y && BN_lebin2bn(y_bytes, (int)curve->bytes, y) &&
           find_x(curve, y, bytes[curve->bytes - 1] >> 7, x, context) &&
           curve_words(curve, x, x_words) && curve_words(curve, y, y_words);
    BN_CTX_end(context);
    BN_CTX_free(context);
    return done;
}

bool eddsa_is_point(const struct curve *curve, const uint8_t *bytes, size_t size)
{
    uint32_t x[MAX_CURVE_WORDS], y[MAX_CURVE_WORDS];

    return size == curve->bytes && decode_point(curve, bytes, x, y);
}

/* A number, the lowest byte first, in as many bytes as a point has. */
static void encode(const struct curve *curve, const uint32_t *words, uint8_t *bytes)
{
    for (size_t i = 0; i < curve->bytes; ++i) {
        bytes[i] = i / 4 < COPRIME_WORDS(curve->bits) ? (uint8_t)(words[i / 4] >> 8 * (i % 4)) : 0;
    }
}

/* Signatures. */

/* A signature that is made or verified, in secret memory; the message is hashed if the variant says
   so. */
struct signing {
    const struct crypto *crypto;
    struct curve_key *key;
    const struct eddsa_variant *variant;
    struct part message;
    uint8_t *signature;
    uint32_t r[MAX_CURVE_WORDS], h[MAX_CURVE_WORDS], s[MAX_CURVE_WORDS];
    uint32_t x[MAX_CURVE_WORDS], y[MAX_CURVE_WORDS]; /* of R */
    uint32_t key_x[MAX_CURVE_WORDS], key_y[MAX_CURVE_WORDS];
    uint8_t prehash[PREHASH];
};

/* Whether libcrypto has the variant: those with contexts and hashes are new in its version 3.2. */
static bool is_plain(const struct eddsa_variant *variant)
{
    return !variant->prehashed && variant->context_size == 0;
}

/* h, of R and the rest. */
static bool hash_all(struct signing *signing, const uint8_t *encoded)
{
    const struct curve_key *const key = signing->key;
    const struct part parts[] = {
        {encoded, key->curve->bytes}, {key->point, key->point_size}, signing->message};

    return hash_number(signing->crypto, key->curve, signing->variant, parts, 3, signing->h);
}

/* Whether a plain signature is valid, by libcrypto. */
static bool is_valid(const struct signing *signing)
{
    EVP_MD_CTX *const context = EVP_MD_CTX_new();
    const bool valid =
        context &&
        EVP_DigestVerifyInit_ex(context, NULL, NULL, signing->crypto->context, NULL,
                                signing->key->public, NULL) == 1 &&
        EVP_DigestVerify(context, signing->signature, signing->key->curve->signature,
                         signing->message.bytes, signing->message.size) == 1;

    EVP_MD_CTX_free(context);
    return valid;
}

/* An engine verifies R, S and h. */
static int verify_on_engine(struct coprime *driver, const struct coprime_curve_constants *curve,
                            void *context)
{
    struct signing *const signing = context;

    return coprime_ed_verify(driver, curve, signing->key_x, signing->key_y, signing->h, signing->x,
                             signing->y, signing->s);
}

static int check(struct coprime *driver, const struct coprime_curve_constants *curve,
                 struct signing *signing)
{
    if (is_plain(signing->variant)) {
        return is_valid(signing) ? COPRIME_ERROR_NONE : COPRIME_ERROR_FAULT;
    }
    if (!decode_point(signing->key->curve, signing->key->point, signing->key_x, signing->key_y)) {
        return COPRIME_ERROR_FAULT;
    }
    return verify_on_engine(driver, curve, signing) ? COPRIME_ERROR_FAULT : COPRIME_ERROR_NONE;
}

static int sign_on_engine(struct coprime *driver, const struct coprime_curve_constants *curve,
                          void *context)
{
    struct signing *const signing = context;
    const struct curve *const own = signing->key->curve;
    int error = coprime_ed_base_multiply(driver, curve, signing->r, signing->x, signing->y);

    if (error) {
        return error;
    }
    encode(own, signing->y, signing->signature);
    signing->signature[own->bytes - 1] |= (uint8_t)((signing->x[0] & 1) << 7);
    if (!hash_all(signing, signing->signature)) {
        return COPRIME_ERROR_MEMORY;
    }
    error = coprime_ed_finish(driver, curve, signing->r, signing->h, signing->key->secret->scalar,
                              signing->s);
    if (!error) {
        encode(own, signing->s, signing->signature + own->bytes);
        error = check(driver, curve, signing);
    }
    return error;
}

/* What is signed: the message, or its hash. */
static struct signing *begin(const struct crypto *crypto, struct curve_key *key,
                             const struct eddsa_variant *variant, const uint8_t *message,
                             size_t size, uint8_t *signature)
{
    struct signing *const signing = secret_allocate(sizeof *signing);
    const struct part whole = {message, size};

    if (signing == NULL) {
        return NULL;
    }
    signing->crypto = crypto;
    signing->key = key;
    signing->variant = variant;
    signing->message = whole;
    signing->signature = signature;
    if (variant->prehashed) {
        signing->message = (struct part){signing->prehash, PREHASH};
        if (!hash(crypto, key->curve, &whole, 1, signing->prehash, PREHASH)) {
            secret_free(signing);
            return NULL;
        }
    }
    return signing;
}

CK_RV eddsa_sign(const struct crypto *crypto, struct device *device, struct curve_key *key,
                 const struct eddsa_variant *variant, const uint8_t *message, size_t size,
                 uint8_t *signature)
{
    struct signing *const signing = begin(crypto, key, variant, message, size, signature);
    CK_RV rv = CKR_HOST_MEMORY;

    if (signing) {
        const struct part parts[] = {{key->secret->prefix, key->curve->bytes}, signing->message};

        if (hash_number(crypto, key->curve, variant, parts, 2, signing->r)) {
            rv = device_curve(device, crypto, key, sign_on_engine, signing);
        }
    }
    if (rv != CKR_OK) {
        OPENSSL_cleanse(signature, key->curve->signature);
    }
    secret_free(signing);
    return rv;
}

/* Whether a number is below n. */
static bool is_below_order(const struct curve *curve, const uint32_t *words)
{
    BIGNUM *const n = curve_number(curve, curve->engine->n), *const s = curve_number(curve, words);
    const bool is = n && s && BN_cmp(s, n) < 0;

    BN_free(n);
    BN_free(s);
    return is;
}

/* Read R, S and the public key; false for a signature that cannot be one. */
static bool read_signature(struct signing *signing)
{
    const struct curve *const curve = signing->key->curve;
    BIGNUM *const s = BN_lebin2bn(signing->signature + curve->bytes, (int)curve->bytes, NULL);
    const bool read = s && curve_words(curve, s, signing->s) &&
                      is_below_order(curve, signing->s) &&
                      decode_point(curve, signing->signature, signing->x, signing->y) &&
                      decode_point(curve, signing->key->point, signing->key_x, signing->key_y);

    BN_free(s);
    return read;
}

CK_RV eddsa_verify(const struct crypto *crypto, struct device *device, struct curve_key *key,
                   const struct eddsa_variant *variant, const uint8_t *message, size_t size,
                   const uint8_t *signature)
{
    uint8_t given[MAX_CURVE_SIGNATURE];
    struct signing *const signing = begin(crypto, key, variant, message, size, given);
    CK_RV rv = CKR_SIGNATURE_INVALID;

    if (signing == NULL) {
        return CKR_HOST_MEMORY;
    }
    memcpy(given, signature, key->curve->signature);
    if (is_plain(variant)) {
        rv = is_valid(signing) ? CKR_OK : CKR_SIGNATURE_INVALID;
    } else if (read_signature(signing)) {
        rv = hash_all(signing, given) ? device_curve(device, crypto, key, verify_on_engine, signing) :
                                        CKR_HOST_MEMORY;
    }
    secret_free(signing);
    return rv;
}
