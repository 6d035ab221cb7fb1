#include "eddsa.h"

#include <string.h>

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "curve_engine.h"
#include "edwards.h"
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

bool eddsa_is_point(const struct crypto *crypto, const struct curve *curve, const uint8_t *bytes,
                    size_t size)
{
    struct edwards edwards;
    bool is = edwards_begin(&edwards, curve, crypto->context);

    if (is) {
        const struct edwards_point point = edwards_new(&edwards);

        is = point.y && edwards_decode(&edwards, bytes, size, &point);
    }
    edwards_end(&edwards);
    return is;
}

/* A number, the lowest byte first, in as many bytes as a point has. */
static void encode(const struct curve *curve, const uint32_t *words, uint8_t *bytes)
{
    for (size_t i = 0; i < curve->bytes; ++i) {
        bytes[i] = i / 4 < COPRIME_WORDS(curve->bits) ? (uint8_t)(words[i / 4] >> 8 * (i % 4)) : 0;
    }
}

/* Signatures. */

/* A signature that is made or verified, in secret memory. What is signed, the message or its hash, is
   ours: it is hashed twice, and two messages with the same r would reveal the private key. */
struct signing {
    const struct crypto *crypto;
    struct curve_key *key;
    const struct eddsa_variant *variant;
    struct part message;
    uint8_t *copied; /* a message that a caller has; or null */
    uint8_t signature[MAX_CURVE_SIGNATURE];
    uint32_t r[MAX_CURVE_WORDS], h[MAX_CURVE_WORDS], s[MAX_CURVE_WORDS];
    uint32_t x[MAX_CURVE_WORDS], y[MAX_CURVE_WORDS]; /* of R */
    uint8_t prehash[PREHASH];
};

static void end(struct signing *signing)
{
    if (signing) {
        secret_free(signing->copied);
    }
    secret_free(signing);
}

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

/* Whether a plain signature is valid, by libcrypto; false also without memory. */
static bool is_valid_plain(const struct signing *signing)
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

/* Whether R is S B - h A (RFC 8032, 5.1.7): h has been made. The key's point is one of the curve, so
   that libcrypto fails only without memory. */
static CK_RV check_sum(const struct edwards *edwards, const struct signing *signing,
                       const BIGNUM *n, const BIGNUM *s, const BIGNUM *h)
{
    const struct edwards_point a = edwards_new(edwards), base = edwards_new(edwards);
    const struct edwards_point product = edwards_new(edwards), sum = edwards_new(edwards);
    uint8_t expected[MAX_CURVE_BYTES];

    if (BN_cmp(s, n) >= 0) {
        return CKR_SIGNATURE_INVALID;
    }
    if (sum.y && edwards_decode(edwards, signing->key->point, signing->key->point_size, &a) &&
        edwards_set_base(edwards, &base) && edwards_multiply(edwards, &sum, s, &base) &&
        edwards_multiply(edwards, &product, h, &a) && edwards_add(edwards, &sum, &product, false) &&
        edwards_encode(edwards, &sum, expected)) {
        return memcmp(signing->signature, expected, edwards->curve->bytes) ? CKR_SIGNATURE_INVALID :
                                                                             CKR_OK;
    }
    return CKR_HOST_MEMORY;
}

/* CKR_OK, CKR_SIGNATURE_INVALID, or CKR_HOST_MEMORY. libcrypto is faster than our numbers, but does
   not tell the last two from each other. */
static CK_RV check(const struct signing *signing)
{
    const struct curve *const curve = signing->key->curve;
    struct edwards edwards;
    BIGNUM *n, *h, *s;
    CK_RV rv = CKR_HOST_MEMORY;

    if (is_plain(signing->variant) && is_valid_plain(signing)) {
        return CKR_OK;
    }
    n = curve_number(curve, curve->engine->n);
    h = curve_number(curve, signing->h);
    s = BN_lebin2bn(signing->signature + curve->bytes, (int)curve->bytes, NULL);
    if (edwards_begin(&edwards, curve, signing->crypto->context) && n && h && s) {
        rv = check_sum(&edwards, signing, n, s, h);
    }
    edwards_end(&edwards);
    BN_free(n);
    BN_free(h);
    BN_free(s);
    return rv;
}

/* On the device `software`, by numbers of libcrypto whose time depends on them: R = r B. */
static int multiply_in_software(struct signing *signing)
{
    const struct curve *const curve = signing->key->curve;
    BIGNUM *const r = curve_number(curve, signing->r);
    struct edwards edwards;
    bool done = edwards_begin(&edwards, curve, signing->crypto->context) && r;

    if (done) {
        const struct edwards_point base = edwards_new(&edwards), product = edwards_new(&edwards);

        done = product.y && edwards_set_base(&edwards, &base) &&
               edwards_multiply(&edwards, &product, r, &base) &&
               curve_words(curve, product.x, signing->x) &&
               curve_words(curve, product.y, signing->y);
    }
    edwards_end(&edwards);
    BN_clear_free(r);
    return done ? COPRIME_ERROR_NONE : COPRIME_ERROR_MEMORY;
}

/* The same: S = r + h a. */
static int finish_in_software(struct signing *signing)
{
    const struct curve *const curve = signing->key->curve;
    BN_CTX *const context = BN_CTX_secure_new_ex(signing->crypto->context);
    BIGNUM *const n = curve_number(curve, curve->engine->n), *const r = curve_number(curve, signing->r);
    BIGNUM *const h = curve_number(curve, signing->h);
    BIGNUM *const a = curve_number(curve, signing->key->secret->scalar);
    const bool done = context && n && r && h && a && BN_mod_mul(a, h, a, n, context) &&
                      BN_mod_add(a, a, r, n, context) && curve_words(curve, a, signing->s);

    BN_free(n);
    BN_clear_free(r);
    BN_free(h);
    BN_clear_free(a);
    BN_CTX_free(context);
    return done ? COPRIME_ERROR_NONE : COPRIME_ERROR_MEMORY;
}

static int sign_on_engine(struct coprime *driver, const struct coprime_curve_constants *curve,
                          void *context)
{
    struct signing *const signing = context;
    const struct curve *const own = signing->key->curve;
    int error = driver ? coprime_ed_base_multiply(driver, curve, signing->r, signing->x, signing->y) :
                         multiply_in_software(signing);

    if (error) {
        return error;
    }
    encode(own, signing->y, signing->signature);
    signing->signature[own->bytes - 1] |= (uint8_t)((signing->x[0] & 1) << 7);
    if (!hash_all(signing, signing->signature)) {
        return COPRIME_ERROR_MEMORY;
    }
    error = driver ? coprime_ed_finish(driver, curve, signing->r, signing->h,
                                       signing->key->secret->scalar, signing->s) :
                     finish_in_software(signing);
    if (!error) {
        encode(own, signing->s, signing->signature + own->bytes);
        error = device_error_of(check(signing));
    }
    return error;
}

static struct signing *begin(const struct crypto *crypto, struct curve_key *key,
                             const struct eddsa_variant *variant, const uint8_t *message,
                             size_t size)
{
    struct signing *const signing = secret_allocate(sizeof *signing);
    const struct part whole = {message, size};
    bool done = signing != NULL;

    if (!done) {
        return NULL;
    }
    signing->crypto = crypto;
    signing->key = key;
    signing->variant = variant;
    if (variant->prehashed) {
        signing->message = (struct part){signing->prehash, PREHASH};
        done = hash(crypto, key->curve, &whole, 1, signing->prehash, PREHASH);
    } else {
        signing->copied = secret_allocate(size ? size : 1);
        signing->message = (struct part){signing->copied, size};
        done = signing->copied != NULL;
        if (done && size) {
            memcpy(signing->copied, message, size);
        }
    }
    if (!done) {
        end(signing);
        return NULL;
    }
    return signing;
}

CK_RV eddsa_sign(const struct crypto *crypto, struct device *device, struct curve_key *key,
                 const struct eddsa_variant *variant, const uint8_t *message, size_t size,
                 uint8_t *signature)
{
    struct signing *const signing = begin(crypto, key, variant, message, size);
    CK_RV rv = CKR_HOST_MEMORY;

    if (signing) {
        const struct part parts[] = {{key->secret->prefix, key->curve->bytes}, signing->message};

        if (hash_number(crypto, key->curve, variant, parts, 2, signing->r)) {
            rv = curve_engine_run(device, crypto, key, sign_on_engine, signing);
        }
    }
    if (rv == CKR_OK) {
        memcpy(signature, signing->signature, key->curve->signature);
    }
    end(signing);
    return rv;
}

CK_RV eddsa_verify(const struct crypto *crypto, struct curve_key *key,
                   const struct eddsa_variant *variant, const uint8_t *message, size_t size,
                   const uint8_t *signature)
{
    struct signing *const signing = begin(crypto, key, variant, message, size);
    CK_RV rv = CKR_HOST_MEMORY;

    if (signing) {
        memcpy(signing->signature, signature, key->curve->signature);
        if (hash_all(signing, signing->signature)) {
            rv = check(signing);
        }
    }
    end(signing);
    return rv;
}
