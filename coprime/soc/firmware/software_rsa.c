#include "software_rsa.h"

#include <string.h>

#define WINDOW 4
#define ENTRIES (1 << WINDOW)

/* sum += x * factor, all of `words` words; give the carry. */
static uint32_t multiply_add(uint32_t *sum, const uint32_t *x, uint32_t factor, uint32_t words)
{
    uint32_t carry = 0;
    for (uint32_t i = 0; i < words; ++i) {
        const uint64_t term = (uint64_t)x[i] * factor + sum[i] + carry;
        sum[i] = (uint32_t)term;
        carry = (uint32_t)(term >> 32);
    }
    return carry;
}

/* result = x - y; give the borrow, 0 or 1. */
static uint32_t subtract(uint32_t *result, const uint32_t *x, const uint32_t *y, uint32_t words)
{
    uint32_t borrow = 0;
    for (uint32_t i = 0; i < words; ++i) {
        const uint64_t term = (uint64_t)x[i] - y[i] - borrow;
        result[i] = (uint32_t)term;
        borrow = (uint32_t)(term >> 32) & 1;
    }
    return borrow;
}

/* result = choice ? yes : no; choice is 0 or 1. */
static void choose(uint32_t *result, uint32_t choice, const uint32_t *yes, const uint32_t *no,
                   uint32_t words)
{
    const uint32_t mask = 0u - choice;
    for (uint32_t i = 0; i < words; ++i)
        result[i] = (yes[i] & mask) | (no[i] & ~mask);
}

/* result = x + y mod m, of numbers below m. */
static void add(uint32_t *result, const uint32_t *x, const uint32_t *y,
                const struct software_modulus *m)
{
    uint32_t sum[SOFTWARE_WORDS], less[SOFTWARE_WORDS], carry = 0;
    for (uint32_t i = 0; i < m->words; ++i) {
        const uint64_t term = (uint64_t)x[i] + y[i] + carry;
        sum[i] = (uint32_t)term;
        carry = (uint32_t)(term >> 32);
    }
    const uint32_t borrow = subtract(less, sum, m->value, m->words);
    choose(result, carry | (borrow ^ 1), less, sum, m->words);
}

/* Three words that products are added to. */
struct sum {
    uint32_t low, middle, high;
};

/* sum += x[0] * y[0] + x[1] * y[-1] + ..., `count` products. */
static inline struct sum add_products(struct sum sum, const uint32_t *x, const uint32_t *y,
                                      uint32_t count)
{
    for (const uint32_t *const end = x + count; x != end;) {
        const uint64_t product = (uint64_t)*x++ * *y--;
        const uint32_t low = (uint32_t)product;
        sum.low += low;
        const uint32_t high = (uint32_t)(product >> 32) + (sum.low < low);
        sum.middle += high;
        sum.high += sum.middle < high;
    }
    return sum;
}

/* result = x * y / R mod m, below m; x < R and y < m. Column by column, the products of x and y and
   those of the quotient and m together, so that sums stay in registers. */
static void multiply(uint32_t *result, const uint32_t *x, const uint32_t *y,
                     const struct software_modulus *m)
{
    uint32_t quotient[SOFTWARE_WORDS], top[SOFTWARE_WORDS], less[SOFTWARE_WORDS];
    const uint32_t words = m->words;
    struct sum sum = {0, 0, 0};
    for (uint32_t i = 0; i < words; ++i) {
        sum = add_products(sum, x, y + i, i + 1);
        sum = add_products(sum, quotient, m->value + i, i);
        quotient[i] = sum.low * m->inverse;
        sum = add_products(sum, quotient + i, m->value, 1);
        sum = (struct sum){sum.middle, sum.high, 0};
    }
    for (uint32_t i = 0; i < words; ++i) {
        sum = add_products(sum, x + i + 1, y + words - 1, words - 1 - i);
        sum = add_products(sum, quotient + i + 1, m->value + words - 1, words - 1 - i);
        top[i] = sum.low;
        sum = (struct sum){sum.middle, sum.high, 0};
    }
    const uint32_t borrow = subtract(less, top, m->value, words);
    choose(result, sum.low | (borrow ^ 1), less, top, words);
}

void software_prepare(struct software_modulus *modulus)
{
    uint32_t inverse = 1; /* modulo 2; each step doubles the bits that are right */
    for (int i = 0; i < 5; ++i)
        inverse *= 2 - modulus->value[0] * inverse;
    modulus->inverse = 0u - inverse;

    /* 1 is below m. Doubled 2 * 32 * words times it is R^2. */
    memset(modulus->power, 0, sizeof modulus->power);
    modulus->power[0] = 1;
    for (uint32_t i = 0; i < 64 * modulus->words; ++i)
        add(modulus->power, modulus->power, modulus->power, modulus);
}

/* result = base^exponent, all but the exponent in Montgomery form. */
static void power(uint32_t *result, const uint32_t *base, const uint32_t *exponent,
                  const struct software_modulus *m)
{
    static uint32_t table[ENTRIES][SOFTWARE_WORDS];
    const uint32_t words = m->words;
    uint32_t factor[SOFTWARE_WORDS], one[SOFTWARE_WORDS] = {1};
    multiply(table[0], one, m->power, m);
    memcpy(table[1], base, words * sizeof *base);
    for (int i = 2; i < ENTRIES; ++i)
        multiply(table[i], table[i - 1], base, m);
    memcpy(result, table[0], words * sizeof *result);
    for (uint32_t bit = 32 * words; bit > 0;) {
        bit -= WINDOW;
        for (int i = 0; i < WINDOW; ++i)
            multiply(result, result, result, m);
        /* Every entry is read, so that the accesses do not tell the exponent. */
        const uint32_t digit = (exponent[bit / 32] >> (bit % 32)) & (ENTRIES - 1);
        memset(factor, 0, words * sizeof *factor);
        for (uint32_t i = 0; i < ENTRIES; ++i) {
            const uint32_t mask = 0u - (((i ^ digit) - 1u) >> 31);
            for (uint32_t k = 0; k < words; ++k)
                factor[k] |= table[i][k] & mask;
        }
        multiply(result, result, factor, m);
    }
}

void software_modexp(const struct software_modulus *modulus, const uint32_t *x,
                     const uint32_t *exponent, uint32_t *result)
{
    const uint32_t one[SOFTWARE_WORDS] = {1};
    uint32_t base[SOFTWARE_WORDS];
    multiply(base, x, modulus->power, modulus);
    power(result, base, exponent, modulus);
    multiply(result, one, result, modulus); /* out of Montgomery form */
}

/* result = x^exponent mod m in Montgomery form; x has twice the words of m. */
static void half(uint32_t *result, const uint32_t *x, const uint32_t *exponent,
                 const struct software_modulus *m)
{
    uint32_t low[SOFTWARE_WORDS], high[SOFTWARE_WORDS];
    multiply(low, x, m->power, m);
    multiply(high, x + m->words, m->power, m);
    multiply(high, high, m->power, m);
    add(low, low, high, m);
    power(result, low, exponent, m);
}

void software_private(const struct software_key *key, const uint32_t *x, uint32_t *result)
{
    const uint32_t words = key->p.words, one[SOFTWARE_WORDS] = {1};
    uint32_t of_p[SOFTWARE_WORDS], of_q[SOFTWARE_WORDS], less[SOFTWARE_WORDS];
    half(of_p, x, key->dp, &key->p);
    half(of_q, x, key->dq, &key->q);
    multiply(of_q, one, of_q, &key->q); /* out of Montgomery form */

    /* (x_p - x_q) / q mod p. The negative of a number in Montgomery form is m less it. */
    multiply(less, of_q, key->p.power, &key->p);
    subtract(less, key->p.value, less, words);
    add(of_p, of_p, less, &key->p);
    multiply(of_p, key->coefficient, of_p, &key->p);

    /* x_q + that * q */
    memcpy(result, of_q, words * sizeof *result);
    memset(result + words, 0, words * sizeof *result);
    for (uint32_t i = 0; i < words; ++i)
        result[i + words] = multiply_add(result + i, key->q.value, of_p[i], words);
}
