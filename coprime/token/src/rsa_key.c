#include "rsa_key.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "policy.h"
#include "secret.h"

const CK_ATTRIBUTE_TYPE rsa_attributes[RSA_NUMBERS] = {
    CKA_MODULUS, CKA_PUBLIC_EXPONENT, CKA_PRIVATE_EXPONENT, CKA_PRIME_1,
    CKA_PRIME_2, CKA_EXPONENT_1,      CKA_EXPONENT_2,       CKA_COEFFICIENT,
};

const char *const rsa_parameters[RSA_NUMBERS] = {
    OSSL_PKEY_PARAM_RSA_N,         OSSL_PKEY_PARAM_RSA_E,
    OSSL_PKEY_PARAM_RSA_D,         OSSL_PKEY_PARAM_RSA_FACTOR1,
    OSSL_PKEY_PARAM_RSA_FACTOR2,   OSSL_PKEY_PARAM_RSA_EXPONENT1,
    OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
};

/* Times that a number is drawn to find the primes of n, e and d: each fails with 1/2 at most. */
enum { DRAWS = 128 };

/* The numbers of a key while it is checked or made; null for one that is not there. */
struct numbers {
    BIGNUM *of[RSA_NUMBERS];
};

static void numbers_free(struct numbers *numbers)
{
    for (int i = 0; i < RSA_NUMBERS; ++i) {
        BN_clear_free(numbers->of[i]);
    }
}

static bool numbers_read(struct numbers *numbers, const struct attributes *attributes)
{
    bool read = true;

    for (int i = 0; i < RSA_NUMBERS; ++i) {
        const struct value value = attributes_get(attributes, rsa_attributes[i]);

        numbers->of[i] = NULL;
        if (value.bytes && value.size && value.size <= 2 * MAX_RSA_BYTES) {
            numbers->of[i] = BN_bin2bn(value.bytes, (int)value.size, NULL);
            read = read && numbers->of[i];
        }
        if (numbers->of[i]) {
            BN_set_flags(numbers->of[i], BN_FLG_CONSTTIME);
        }
    }
    return read;
}

/* Set a number as an attribute, without zeros in front. */
static bool set_number(struct attributes *attributes, CK_ATTRIBUTE_TYPE type, const BIGNUM *number)
{
    uint8_t *const bytes = secret_allocate(2 * MAX_RSA_BYTES);
    const int size = BN_num_bytes(number);
    const bool set = bytes && size <= 2 * MAX_RSA_BYTES && BN_bn2bin(number, bytes) == size &&
                     attributes_set(attributes, type, bytes, (size_t)size);

    secret_free(bytes);
    return set;
}

static bool numbers_write(const struct numbers *numbers, struct attributes *attributes)
{
    for (int i = 0; i < RSA_NUMBERS; ++i) {
        if (!set_number(attributes, rsa_attributes[i], numbers->of[i])) {
            return false;
        }
    }
    return true;
}

/* A number as the driver has it. */
static bool to_words(uint32_t *words, uint32_t count, const BIGNUM *number)
{
    uint8_t *const bytes = secret_allocate(4 * (size_t)count);
    const bool fits = bytes && BN_bn2binpad(number, bytes, (int)(4 * count)) >= 0 &&
                      coprime_from_bytes(words, count, bytes, 4 * (size_t)count) == 0;

    secret_free(bytes);
    return fits;
}

static uint32_t bits_of(const BIGNUM *number)
{
    return (uint32_t)BN_num_bits(number);
}

/* Whether a modulus and an exponent are such that everything that is computed with them has room:
   arrays are as long as the longest modulus. */
static bool has_bounds(const BIGNUM *n, const BIGNUM *e)
{
    return bits_of(n) >= MIN_RSA_BITS && bits_of(n) <= MAX_RSA_BITS && BN_is_odd(n) &&
           BN_is_odd(e) && !BN_is_one(e) && BN_cmp(e, n) < 0;
}

static void destroy(struct key *base)
{
    struct rsa_key *const key = rsa_key_of(base);

    BN_free(key->n);
    BN_free(key->e);
    secret_free(key->secret);
    (void)pthread_mutex_destroy(&key->lock);
    free(key);
}

static struct rsa_key *public_new(const BIGNUM *n, const BIGNUM *e)
{
    struct rsa_key *const key = calloc(1, sizeof *key);

    if (key == NULL) {
        return NULL;
    }
    if (pthread_mutex_init(&key->lock, NULL)) {
        free(key);
        return NULL;
    }
    key_begin(&key->base, CKK_RSA, destroy);
    key->bits = bits_of(n);
    key->bytes = (key->bits + 7) / 8;
    key->n = BN_dup(n);
    key->e = BN_dup(e);
    if (key->n == NULL || key->e == NULL) {
        key_release(&key->base);
        return NULL;
    }
    return key;
}

/* Put a number behind the others; `next` moves to its end. */
static const uint32_t *put(uint32_t **next, const BIGNUM *number, uint32_t bits, bool *done)
{
    const uint32_t count = COPRIME_WORDS(bits);
    uint32_t *const words = *next;

    *done = *done && to_words(words, count, number);
    *next += count;
    return words;
}

static struct rsa_private *private_new(const struct crypto *crypto, const struct numbers *numbers)
{
    BIGNUM *const *const of = numbers->of;
    const uint32_t n_bits = bits_of(of[RSA_N]), e_bits = bits_of(of[RSA_E]);
    const uint32_t p_bits = bits_of(of[RSA_P]), q_bits = bits_of(of[RSA_Q]);
    const uint32_t longer = p_bits > q_bits ? p_bits : q_bits;
    const size_t constants = COPRIME_PRIVATE_MEMORY(n_bits, longer);
    const size_t count = 2 * COPRIME_WORDS(n_bits) + COPRIME_WORDS(e_bits) +
                         3 * COPRIME_WORDS(p_bits) + 2 * COPRIME_WORDS(q_bits) + constants;
    const size_t d_size = ((size_t)n_bits + 7) / 8;
    struct rsa_private *const made = secret_allocate(sizeof *made + 4 * count);
    uint8_t *const d = secret_allocate(d_size);
    struct coprime_private_key *key;
    uint32_t *next;
    bool done = made && d;

    if (done) {
        key = &made->key;
        next = made->words;
        key->public_key.modulus.bits = n_bits;
        key->public_key.modulus.value = put(&next, of[RSA_N], n_bits, &done);
        key->public_key.exponent_bits = e_bits;
        key->public_key.exponent = put(&next, of[RSA_E], e_bits, &done);
        key->d = put(&next, of[RSA_D], n_bits, &done);
        key->p.bits = p_bits;
        key->p.value = put(&next, of[RSA_P], p_bits, &done);
        key->dp = put(&next, of[RSA_DP], p_bits, &done);
        key->qinv = put(&next, of[RSA_QINV], p_bits, &done);
        key->q.bits = q_bits;
        key->q.value = put(&next, of[RSA_Q], q_bits, &done);
        key->dq = put(&next, of[RSA_DQ], q_bits, &done);
        made->memory = (struct coprime_memory){next, constants};
        done = done && BN_bn2binpad(of[RSA_D], d, (int)d_size) >= 0 &&
               crypto_digest(crypto, digest_of(CKM_SHA256), d, d_size, made->digest_of_d);
    }
    secret_free(d);
    if (!done) {
        secret_free(made);
        return NULL;
    }
    return made;
}

/* Whether the modulus is the product of the primes, and no other number is longer than what it is
   taken modulo. The driver's arrays follow from the lengths of the modulus and the primes. */
static bool fit_each_other(const struct numbers *numbers, BN_CTX *context)
{
    BIGNUM *const *const of = numbers->of;
    const uint32_t p_bits = bits_of(of[RSA_P]), q_bits = bits_of(of[RSA_Q]);
    BIGNUM *const product = BN_new();
    const bool fit = product && BN_is_odd(of[RSA_P]) && BN_is_odd(of[RSA_Q]) && p_bits > 1 &&
                     q_bits > 1 && bits_of(of[RSA_D]) <= bits_of(of[RSA_N]) &&
                     bits_of(of[RSA_DP]) <= p_bits && bits_of(of[RSA_QINV]) <= p_bits &&
                     bits_of(of[RSA_DQ]) <= q_bits &&
                     BN_mul(product, of[RSA_P], of[RSA_Q], context) &&
                     BN_cmp(product, of[RSA_N]) == 0;

    BN_clear_free(product);
    return fit;
}

/* Whether a private key's numbers are all there, and may be computed with. */
static bool is_usable(const struct crypto *crypto, const struct numbers *numbers)
{
    BN_CTX *context;
    bool usable;

    for (int i = 0; i < RSA_NUMBERS; ++i) {
        if (numbers->of[i] == NULL) {
            return false;
        }
    }
    context = BN_CTX_secure_new_ex(crypto->context);
    usable = context && has_bounds(numbers->of[RSA_N], numbers->of[RSA_E]) &&
             fit_each_other(numbers, context);
    BN_CTX_free(context);
    return usable;
}

/* Whether a public key's numbers are there, and may be computed with. */
static bool is_usable_public(const struct numbers *numbers)
{
    return numbers->of[RSA_N] && numbers->of[RSA_E] &&
           has_bounds(numbers->of[RSA_N], numbers->of[RSA_E]);
}

struct key *rsa_key_new(const struct crypto *crypto, const struct attributes *attributes,
                        bool is_private)
{
    struct numbers numbers;
    struct rsa_key *key = NULL;

    if (numbers_read(&numbers, attributes) &&
        (is_private ? is_usable(crypto, &numbers) : is_usable_public(&numbers))) {
        key = public_new(numbers.of[RSA_N], numbers.of[RSA_E]);
    }
    if (key && is_private) {
        key->secret = private_new(crypto, &numbers);
        if (key->secret == NULL) {
            key_release(&key->base);
            key = NULL;
        }
    }
    numbers_free(&numbers);
    return key ? &key->base : NULL;
}

bool rsa_is_below_modulus(const struct rsa_key *key, const uint8_t *input)
{
    uint8_t n[MAX_RSA_BYTES];
    int borrow = 0;

    if (BN_bn2binpad(key->n, n, (int)key->bytes) < 0) {
        return false;
    }
    for (size_t i = key->bytes; i-- > 0;) {
        borrow = (input[i] - n[i] - borrow) >> 8 & 1;
    }
    return borrow != 0;
}

bool rsa_public(const struct rsa_key *key, const uint8_t *input, uint8_t *result)
{
    BN_CTX *const context = BN_CTX_secure_new();
    BIGNUM *const x = BN_bin2bn(input, (int)key->bytes, NULL);
    BIGNUM *const y = BN_new();
    const bool done = context && x && y && rsa_is_below_modulus(key, input) &&
                      BN_mod_exp_mont(y, x, key->e, key->n, context, NULL) == 1 &&
                      BN_bn2binpad(y, result, (int)key->bytes) >= 0;

    BN_clear_free(x);
    BN_clear_free(y);
    BN_CTX_free(context);
    return done;
}

bool rsa_private_in_software(const struct rsa_key *key, const uint8_t *input, uint8_t *result)
{
    BN_CTX *const context = BN_CTX_secure_new();
    BIGNUM *const x = BN_bin2bn(input, (int)key->bytes, NULL);
    BIGNUM *const d = BN_secure_new(), *const y = BN_secure_new();
    uint8_t bytes[MAX_RSA_BYTES];
    const bool done =
        context && x && d && y &&
        coprime_to_bytes(bytes, key->bytes, key->secret->key.d, COPRIME_WORDS(key->bits)) == 0 &&
        BN_bin2bn(bytes, (int)key->bytes, d) &&
        BN_mod_exp_mont_consttime(y, x, d, key->n, context, NULL) == 1 &&
        BN_bn2binpad(y, result, (int)key->bytes) >= 0;

    OPENSSL_cleanse(bytes, sizeof bytes);
    BN_clear_free(x);
    BN_clear_free(d);
    BN_clear_free(y);
    BN_CTX_free(context);
    return done;
}

static bool allows_bits(uint32_t bits)
{
    return bits >= (uint32_t)(policy_allows(ALLOW_WEAK_RSA) ? MIN_RSA_BITS : STRONG_RSA_BITS) &&
           bits <= MAX_RSA_BITS;
}

static bool allows_exponent(const BIGNUM *e)
{
    return policy_allows(ALLOW_WEAK_RSA) || bits_of(e) > 16;
}

/* A modulus and an exponent that can be, and are allowed. */
static CK_RV check_public(const BIGNUM *n, const BIGNUM *e)
{
    if (n == NULL || e == NULL) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if (!allows_bits(bits_of(n))) {
        return CKR_KEY_SIZE_RANGE;
    }
    if (!has_bounds(n, e) || !allows_exponent(e)) {
        return CKR_ATTRIBUTE_VALUE_INVALID;
    }
    return CKR_OK;
}

CK_RV rsa_complete_public(struct attributes *attributes)
{
    struct numbers numbers;
    CK_RV rv = numbers_read(&numbers, attributes) ?
                   check_public(numbers.of[RSA_N], numbers.of[RSA_E]) :
                   CKR_HOST_MEMORY;

    if (rv == CKR_OK &&
        !attributes_set_ulong(attributes, CKA_MODULUS_BITS, bits_of(numbers.of[RSA_N]))) {
        rv = CKR_HOST_MEMORY;
    }
    numbers_free(&numbers);
    return rv;
}

/* Find the primes from n, e and d (NIST SP 800-56B, appendix C): e * d - 1 is a multiple of the
   order of every number, so halving it finds a square root of 1 that is not 1 or -1. */
static CK_RV find_primes(const struct crypto *crypto, struct numbers *numbers, BN_CTX *context)
{
    BIGNUM **const of = numbers->of;
    BIGNUM *k, *odd, *x, *y, *last, *n_minus_1;
    CK_RV rv = CKR_HOST_MEMORY;
    int twos = 0;

    BN_CTX_start(context);
    k = BN_CTX_get(context);
    odd = BN_CTX_get(context);
    x = BN_CTX_get(context);
    y = BN_CTX_get(context);
    last = BN_CTX_get(context);
    n_minus_1 = BN_CTX_get(context);
    of[RSA_P] = BN_new();
    of[RSA_Q] = BN_new();
    if (n_minus_1 == NULL || of[RSA_P] == NULL || of[RSA_Q] == NULL ||
        !BN_mul(k, of[RSA_E], of[RSA_D], context) || !BN_sub_word(k, 1) ||
        !BN_copy(n_minus_1, of[RSA_N]) || !BN_sub_word(n_minus_1, 1)) {
        goto end;
    }
    rv = CKR_ATTRIBUTE_VALUE_INVALID;
    if (BN_is_zero(k) || BN_is_odd(k)) {
        goto end;
    }
    while (!BN_is_bit_set(k, twos)) {
        ++twos;
    }
    if (!BN_rshift(odd, k, twos)) {
        goto end;
    }
    BN_set_flags(odd, BN_FLG_CONSTTIME);
    for (int draw = 0; draw < DRAWS; ++draw) {
        if (!BN_priv_rand_range_ex(x, n_minus_1, 0, context) || BN_is_zero(x) ||
            !BN_mod_exp_mont_consttime(y, x, odd, of[RSA_N], context, NULL)) {
            continue;
        }
        for (int i = 0; i < twos && !BN_is_one(y) && BN_cmp(y, n_minus_1) != 0; ++i) {
            if (!BN_copy(last, y) || !BN_mod_sqr(y, y, of[RSA_N], context)) {
                goto end;
            }
            if (BN_is_one(y)) {
                if (BN_sub_word(last, 1) && BN_gcd(of[RSA_P], last, of[RSA_N], context) &&
                    BN_div(of[RSA_Q], NULL, of[RSA_N], of[RSA_P], context)) {
                    if (BN_cmp(of[RSA_P], of[RSA_Q]) < 0) {
                        BN_swap(of[RSA_P], of[RSA_Q]);
                    }
                    rv = CKR_OK;
                }
                goto end;
            }
        }
    }
end:
    (void)crypto;
    BN_CTX_end(context);
    return rv;
}

/* Set a number, or compare it with the one that is there. */
static bool agree(BIGNUM **number, const BIGNUM *computed)
{
    if (*number == NULL) {
        *number = BN_dup(computed);
        return *number != NULL;
    }
    return BN_cmp(*number, computed) == 0;
}

/* Whether d undoes e modulo prime - 1, and this exponent is d modulo that. */
static bool check_exponent(struct numbers *numbers, enum rsa_number prime, enum rsa_number exponent,
                           BN_CTX *context)
{
    BIGNUM *less, *value;
    bool good = false;

    BN_CTX_start(context);
    less = BN_CTX_get(context);
    value = BN_CTX_get(context);
    if (value) {
        BN_set_flags(less, BN_FLG_CONSTTIME);
        good = BN_copy(less, numbers->of[prime]) && BN_sub_word(less, 1) &&
               BN_mod(value, numbers->of[RSA_D], less, context) &&
               agree(&numbers->of[exponent], value) &&
               BN_mod_mul(value, value, numbers->of[RSA_E], less, context) && BN_is_one(value);
    }
    BN_CTX_end(context);
    return good;
}

/* d = e^-1 mod (p - 1)(q - 1), where only the primes are there. */
static bool find_exponent(struct numbers *numbers, BN_CTX *context)
{
    BIGNUM **const of = numbers->of;
    BIGNUM *p, *q, *order;
    bool found = false;

    BN_CTX_start(context);
    p = BN_CTX_get(context);
    q = BN_CTX_get(context);
    order = BN_CTX_get(context);
    if (order && BN_copy(p, of[RSA_P]) && BN_copy(q, of[RSA_Q]) && BN_sub_word(p, 1) &&
        BN_sub_word(q, 1) && BN_mul(order, p, q, context)) {
        BN_set_flags(order, BN_FLG_CONSTTIME);
        of[RSA_D] = BN_mod_inverse(NULL, of[RSA_E], order, context);
        found = of[RSA_D] != NULL;
    }
    BN_CTX_end(context);
    return found;
}

static bool check_primes(struct numbers *numbers, BN_CTX *context)
{
    BIGNUM **const of = numbers->of;
    BIGNUM *product, *inverse;
    bool good = false;

    BN_CTX_start(context);
    product = BN_CTX_get(context);
    inverse = BN_CTX_get(context);
    if (inverse && bits_of(of[RSA_P]) >= 64 && bits_of(of[RSA_Q]) >= 64 &&
        BN_mul(product, of[RSA_P], of[RSA_Q], context) && BN_cmp(product, of[RSA_N]) == 0 &&
        BN_check_prime(of[RSA_P], context, NULL) == 1 &&
        BN_check_prime(of[RSA_Q], context, NULL) == 1 && BN_cmp(of[RSA_P], of[RSA_Q]) != 0) {
        good = BN_mod_inverse(inverse, of[RSA_Q], of[RSA_P], context) &&
               agree(&of[RSA_QINV], inverse);
    }
    BN_CTX_end(context);
    return good;
}

static CK_RV complete(const struct crypto *crypto, struct numbers *numbers, BN_CTX *context)
{
    BIGNUM **const of = numbers->of;
    CK_RV rv;

    if (of[RSA_N] == NULL && of[RSA_P] && of[RSA_Q]) {
        of[RSA_N] = BN_new();
        if (of[RSA_N] == NULL || !BN_mul(of[RSA_N], of[RSA_P], of[RSA_Q], context)) {
            return CKR_HOST_MEMORY;
        }
    }
    rv = check_public(of[RSA_N], of[RSA_E]);
    if (rv != CKR_OK) {
        return rv;
    }
    if (of[RSA_D] && (of[RSA_P] == NULL || of[RSA_Q] == NULL)) {
        BN_clear_free(of[RSA_P]);
        BN_clear_free(of[RSA_Q]);
        of[RSA_P] = of[RSA_Q] = NULL;
        rv = find_primes(crypto, numbers, context);
    }
    if (rv != CKR_OK) {
        return rv;
    }
    if (of[RSA_P] == NULL || of[RSA_Q] == NULL) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if (!check_primes(numbers, context) || (of[RSA_D] == NULL && !find_exponent(numbers, context)) ||
        BN_cmp(of[RSA_D], of[RSA_N]) >= 0 || !check_exponent(numbers, RSA_P, RSA_DP, context) ||
        !check_exponent(numbers, RSA_Q, RSA_DQ, context)) {
        return CKR_ATTRIBUTE_VALUE_INVALID;
    }
    return CKR_OK;
}

CK_RV rsa_complete_private(const struct crypto *crypto, struct attributes *attributes)
{
    BN_CTX *const context = BN_CTX_secure_new_ex(crypto->context);
    struct numbers numbers;
    CK_RV rv = CKR_HOST_MEMORY;

    if (numbers_read(&numbers, attributes) && context) {
        rv = complete(crypto, &numbers, context);
        if (rv == CKR_OK && !numbers_write(&numbers, attributes)) {
            rv = CKR_HOST_MEMORY;
        }
    }
    numbers_free(&numbers);
    BN_CTX_free(context);
    return rv;
}

bool rsa_set_numbers(const EVP_PKEY *key, struct attributes *attributes)
{
    struct numbers numbers = {{NULL}};
    bool done = true;

    for (int i = 0; i < RSA_NUMBERS; ++i) {
        done = done && EVP_PKEY_get_bn_param(key, rsa_parameters[i], &numbers.of[i]) == 1;
    }
    done = done && numbers_write(&numbers, attributes);
    numbers_free(&numbers);
    return done;
}

/* libcrypto asks between its tests whether it shall go on. */
static int goes_on(EVP_PKEY_CTX *context)
{
    return cancel_reason(EVP_PKEY_CTX_get_app_data(context)) == CKR_OK;
}

CK_RV rsa_generate(const struct crypto *crypto, uint32_t bits, const uint8_t *e, size_t e_size,
                   const struct cancel *cancel, struct attributes *numbers)
{
    EVP_PKEY_CTX *const context = EVP_PKEY_CTX_new_from_name(crypto->context, "RSA", NULL);
    BIGNUM *const exponent = BN_bin2bn(e, (int)e_size, NULL);
    EVP_PKEY *key = NULL;
    bool done = context && exponent && EVP_PKEY_keygen_init(context) == 1 &&
                EVP_PKEY_CTX_set_rsa_keygen_bits(context, (int)bits) == 1 &&
                EVP_PKEY_CTX_set1_rsa_keygen_pubexp(context, exponent) == 1;
    CK_RV rv;

    if (done) {
        EVP_PKEY_CTX_set_app_data(context, (void *)(uintptr_t)cancel);
        EVP_PKEY_CTX_set_cb(context, goes_on);
        done = EVP_PKEY_generate(context, &key) == 1 && rsa_set_numbers(key, numbers);
    }
    EVP_PKEY_free(key);
    EVP_PKEY_CTX_free(context);
    BN_free(exponent);
    rv = cancel_reason(cancel);
    return rv != CKR_OK || done ? rv : CKR_FUNCTION_FAILED;
}
