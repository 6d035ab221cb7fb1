#include "eddsa.h"

#include <string.h>

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "curve_engine.h"
#include "curve_key.h"
#include "eddsa_hash.h"
#include "edwards.h"
#include "secret.h"

/* What a hash of a variant begins with: dom2 and dom4 of the RFC; nothing of plain Ed25519. */
static struct value domain(const struct curve *curve, const struct eddsa_variant *variant,
                          uint8_t room[32 + 2 + MAX_CONTEXT])
{
    const char *const name = eddsa_is_448(curve) ? "SigEd448" : "SigEd25519 no Ed25519 collisions";
    const size_t size = strlen(name);

    if (!eddsa_is_448(curve) && !variant->prehashed && variant->context_size == 0) {
        return (struct value){room, 0};
    }
    memcpy(room, name, size);
    room[size] = variant->prehashed;
    room[size + 1] = (uint8_t)variant->context_size;
    memcpy(room + size + 2, variant->context, variant->context_size);
    return (struct value){room, size + 2 + variant->context_size};
}

/* The hash of a variant's parts, up to three of them, as a number modulo n. */
static bool hash_number(const struct crypto *crypto, const struct curve *curve,
                        const struct eddsa_variant *variant, const struct value *parts,
                        unsigned count, uint32_t *words)
{
    uint8_t room[32 + 2 + MAX_CONTEXT], hashed[EDDSA_MAX_HASH];
    struct value all[4] = {domain(curve, variant, room)};
    bool done;

    memcpy(all + 1, parts, count * sizeof *parts);
    done = eddsa_hash(crypto, curve, all, count + 1, hashed, curve->signature) &&
           eddsa_reduce(crypto, curve, hashed, curve->signature, words);
    OPENSSL_cleanse(hashed, sizeof hashed);
    return done;
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
    struct value message;
    uint8_t *copied; /* a message that a caller has; or null */
    uint8_t signature[MAX_CURVE_SIGNATURE];
    uint32_t r[MAX_CURVE_WORDS], h[MAX_CURVE_WORDS], s[MAX_CURVE_WORDS];
    uint32_t x[MAX_CURVE_WORDS], y[MAX_CURVE_WORDS]; /* of R */
    uint8_t prehash[EDDSA_PREHASH];
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
    const struct value parts[] = {
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

static struct signing *begin(const struct work *work, struct value message)
{
    struct signing *const signing = secret_allocate(sizeof *signing);
    bool done = signing != NULL;

    if (!done) {
        return NULL;
    }
    signing->crypto = work->context.crypto;
    signing->key = curve_key_of(work->key);
    signing->variant = &work->parameters->variant;
    if (signing->variant->prehashed) {
        signing->message = (struct value){signing->prehash, EDDSA_PREHASH};
        done = eddsa_hash(signing->crypto, signing->key->curve, &message, 1, signing->prehash,
                          EDDSA_PREHASH);
    } else {
        signing->copied = secret_allocate(message.size ? message.size : 1);
        signing->message = (struct value){signing->copied, message.size};
        done = signing->copied != NULL;
        if (done && message.size) {
            memcpy(signing->copied, message.bytes, message.size);
        }
    }
    if (!done) {
        end(signing);
        return NULL;
    }
    return signing;
}

static CK_RV sign(const struct work *work, struct value message, uint8_t *signature)
{
    struct signing *const signing = begin(work, message);
    struct curve_key *const key = curve_key_of(work->key);
    CK_RV rv = CKR_HOST_MEMORY;

    if (signing) {
        const struct value parts[] = {{key->secret->prefix, key->curve->bytes}, signing->message};

        if (hash_number(signing->crypto, key->curve, signing->variant, parts, 2, signing->r)) {
            rv = curve_engine_run(work->context.device, signing->crypto, key, sign_on_engine, signing);
        }
    }
    if (rv == CKR_OK) {
        memcpy(signature, signing->signature, key->curve->signature);
    }
    end(signing);
    return rv;
}

static size_t size_of(const struct work *work)
{
    return curve_key_of(work->key)->curve->signature;
}

static CK_RV verify(const struct work *work, struct value message, struct value signature)
{
    struct signing *signing;
    CK_RV rv = CKR_HOST_MEMORY;

    if (signature.size != size_of(work)) {
        return CKR_SIGNATURE_LEN_RANGE;
    }
    signing = begin(work, message);
    if (signing) {
        memcpy(signing->signature, signature.bytes, signature.size);
        if (hash_all(signing, signing->signature)) {
            rv = check(signing);
        }
    }
    end(signing);
    return rv;
}

/* The longest message that may come in parts: it is hashed twice. */
enum { MAX_MESSAGE = 1 << 20 };

const struct scheme_functions eddsa_functions = {
    .size = size_of,
    .most = MAX_MESSAGE,
    .sign = sign,
    .verify = verify,
};
