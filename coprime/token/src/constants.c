#include "constants.h"

#include <openssl/bn.h>

#include "secret.h"

/* A modulus as it is, and what its engine makes of it. */
struct constant_modulus {
    const struct coprime_modulus *own;
    BIGNUM *value;
    uint32_t radix; /* log2 of R */
};

/* What is computed, and with what. */
struct maker {
    const struct coprime *driver;
    const struct coprime_private_key *key;
    BN_CTX *context;
    uint8_t *bytes; /* of the longest number, in secret memory */
};

static uint32_t longer(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* A number of so many bits; null without memory. */
static BIGNUM *number_of(const struct maker *maker, const uint32_t *words, uint32_t bits)
{
    const uint32_t count = COPRIME_WORDS(bits);
    BIGNUM *const number = BN_CTX_get(maker->context);

    if (number == NULL || coprime_to_bytes(maker->bytes, 4 * count, words, count) ||
        BN_bin2bn(maker->bytes, (int)(4 * count), number) == NULL) {
        return NULL;
    }
    BN_set_flags(number, BN_FLG_CONSTTIME);
    return number;
}

static bool put(const struct maker *maker, const BIGNUM *number, uint32_t *words, uint32_t count)
{
    return BN_bn2binpad(number, maker->bytes, (int)(4 * count)) >= 0 &&
           coprime_from_bytes(words, count, maker->bytes, 4 * count) == 0;
}

/* log2 of R for a modulus of this length: the least multiple of the radix that holds an operand. */
static uint32_t radix_of(const struct coprime *driver, uint32_t bits)
{
    const uint32_t step = driver->radix_bits;

    if (step == 0) {
        return 0;
    }
    return (longer(bits, driver->min_bits) + driver->headroom + step - 1) / step * step;
}

static bool read_modulus(const struct maker *maker, const struct coprime_modulus *own,
                         uint32_t length, struct constant_modulus *modulus)
{
    modulus->own = own;
    modulus->value = number_of(maker, own->value, own->bits);
    modulus->radix = radix_of(maker->driver, length);
    return modulus->value != NULL;
}

/* words = number * 2^exponent modulo the modulus. */
static bool put_shifted(const struct maker *maker, const BIGNUM *number, uint32_t exponent,
                        const struct constant_modulus *modulus, uint32_t *words)
{
    BIGNUM *const shifted = BN_CTX_get(maker->context);

    return shifted && BN_lshift(shifted, number, (int)exponent) &&
           BN_mod(shifted, shifted, modulus->value, maker->context) &&
           put(maker, shifted, words, COPRIME_WORDS(modulus->own->bits));
}

/* -modulus^-1 modulo 2^digit_width. */
static bool put_inverse(const struct maker *maker, const struct constant_modulus *modulus,
                        uint32_t words[COPRIME_DIGIT_WORDS])
{
    BIGNUM *const digit = BN_CTX_get(maker->context), *const inverse = BN_CTX_get(maker->context);

    return inverse && BN_set_bit(digit, (int)maker->driver->digit_width) &&
           BN_mod_inverse(inverse, modulus->value, digit, maker->context) &&
           BN_sub(inverse, digit, inverse) && put(maker, inverse, words, COPRIME_DIGIT_WORDS);
}

/* The factors that combine the halves: z R_p and (1 - z) R_q, where z = qinv q modulo n. */
static bool put_factors(const struct maker *maker, const struct constant_modulus *n,
                        const struct constant_modulus *p, const struct constant_modulus *q,
                        uint32_t *crt_p, uint32_t *crt_q)
{
    BIGNUM *const qinv = number_of(maker, maker->key->qinv, p->own->bits);
    BIGNUM *const z = BN_CTX_get(maker->context);

    return qinv && z && BN_mod_mul(z, qinv, q->value, n->value, maker->context) &&
           put_shifted(maker, z, p->radix, n, crt_p) &&
           BN_mod_sub(z, BN_value_one(), z, n->value, maker->context) &&
           put_shifted(maker, z, q->radix, n, crt_q);
}

static bool compute(const struct maker *maker, struct coprime_private_key *made, uint32_t *words)
{
    const struct coprime_private_key *const key = maker->key;
    const bool equal = maker->driver->equal_primes;
    const uint32_t longest = longer(key->p.bits, key->q.bits);
    const uint32_t n_count = COPRIME_WORDS(key->public_key.modulus.bits);
    uint32_t *const crt_p = words, *const crt_q = crt_p + n_count;
    uint32_t *const n_power = crt_q + n_count, *const p_power = n_power + n_count;
    uint32_t *const q_power = p_power + COPRIME_WORDS(key->p.bits);
    const BIGNUM *const one = BN_value_one();
    struct constant_modulus n, p, q;

    made->public_key.modulus.power = n_power;
    made->p.power = p_power;
    made->q.power = q_power;
    made->crt_p = crt_p;
    made->crt_q = crt_q;
    return read_modulus(maker, &key->public_key.modulus, key->public_key.modulus.bits, &n) &&
           read_modulus(maker, &key->p, equal ? longest : key->p.bits, &p) &&
           read_modulus(maker, &key->q, equal ? longest : key->q.bits, &q) &&
           put_factors(maker, &n, &p, &q, crt_p, crt_q) &&
           put_shifted(maker, one, 2 * n.radix, &n, n_power) &&
           put_shifted(maker, one, n.radix + p.radix, &p, p_power) &&
           put_shifted(maker, one, n.radix + q.radix, &q, q_power) &&
           put_inverse(maker, &n, made->public_key.modulus.inverse) &&
           put_inverse(maker, &p, made->p.inverse) && put_inverse(maker, &q, made->q.inverse);
}

bool constants_compute(const struct coprime *driver, struct coprime_private_key *key,
                       const struct coprime_memory *memory)
{
    const uint32_t bits = key->public_key.modulus.bits, prime_bits = longer(key->p.bits, key->q.bits);
    const uint32_t longest = longer(longer(bits, prime_bits), 32 * COPRIME_DIGIT_WORDS);
    const struct maker maker = {driver, key, BN_CTX_secure_new(),
                                secret_allocate(4 * COPRIME_WORDS(longest))};
    struct coprime_private_key made = *key;
    bool done = false;

    if (driver->commands >> COPRIME_COMMAND_RSA_PRIVATE & 1 &&
        memory->count >= COPRIME_PRIVATE_MEMORY(bits, prime_bits) && maker.context && maker.bytes) {
        BN_CTX_start(maker.context);
        done = compute(&maker, &made, memory->words);
        BN_CTX_end(maker.context);
    }
    if (done) {
        *key = made;
    }
    BN_CTX_free(maker.context);
    secret_free(maker.bytes);
    return done;
}
