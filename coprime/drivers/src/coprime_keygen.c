#include "coprime_keygen.h"

#include "coprime_arithmetic.h"

/* Source: FIPS 186-5, A.1.3 (random primes that are probably prime), with B.3.1 (Miller and Rabin's
   test). What differs: both primes are 3 modulo 4. The standard's optional inputs a and b fix a
   prime modulo 8; here its two lowest bits are fixed, and the third is random. So (p - 1) / 2 is
   odd, and a round is one exponentiation, without squarings.

   The comments give the words of each number; H is half of the modulus's. */

/* Less only in tests. */
#ifndef COPRIME_KEYGEN_MIN_BITS
#define COPRIME_KEYGEN_MIN_BITS 1024u
#endif
enum { MAX_BITS = 4096 };

/* Draws until one fits. Each does with a probability of about 1/2, so that a working source never
   needs as many. */
enum { MAX_DRAWS = 200 };

/* The highest word of sqrt(2) 2^(bits - 1), rounded up. */
static const uint32_t SQRT_2 = 0xB504F334u;

/* The odd primes below 256. */
static const uint8_t small_primes[] = {
    3,   5,   7,   11,  13,  17,  19,  23,  29,  31,  37,  41,  43,  47,  53,  59,  61,  67,
    71,  73,  79,  83,  89,  97,  101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157,
    163, 167, 173, 179, 181, 191, 193, 197, 199, 211, 223, 227, 229, 233, 239, 241, 251,
};

/* The products of so many of them, one after the other: each below 2^31. */
static const struct {
    uint32_t product, primes;
} groups[] = {
    {111546435, 8}, {58642669, 5}, {600662303, 5}, {33984931, 4}, {89809099, 4}, {167375713, 4},
    {371700317, 4}, {645328247, 4}, {1070560157, 4}, {1596463769, 4}, {11592209, 3}, {13420567, 3},
    {251, 1},
};
enum { GROUPS = sizeof groups / sizeof *groups };

/* A key that is being made. `*driver` may change where the caller is asked to yield; it becomes null
   when he stops the generation. */
struct maker {
    struct coprime **driver;
    const struct coprime_generation *generation;
    uint32_t count;    /* H */
    uint32_t *last;    /* H: what was drawn last */
    uint32_t *scratch; /* 7 H */
};

/* Let others use the accelerator: what it holds is not needed any more. */
static int yield(const struct maker *maker)
{
    const struct coprime_generation *const generation = maker->generation;
    int error = COPRIME_ERROR_NONE;

    if (generation->yield) {
        error = generation->yield(generation->context, maker->driver);
        if (error) {
            *maker->driver = NULL;
        }
    }
    return error;
}

/* Arithmetic, in the time that the lengths give. */

/* number mod divisor. Range of the divisor: 1 to 2^31. */
static uint32_t remainder_of(const uint32_t *number, uint32_t count, uint32_t divisor)
{
    uint32_t rest = 0;

    for (uint32_t i = 32 * count; i-- > 0;) {
        rest = (rest << 1 | (number[i / 32] >> i % 32 & 1)) - divisor;
        rest += divisor & mask_of(rest >> 31);
    }
    return rest;
}

/* number /= divisor, rounded down. The divisor's highest bit is 0; `rest` has as many words. */
static void divide(uint32_t *number, uint32_t count, const uint32_t *divisor, uint32_t *rest,
                   uint32_t divisor_count)
{
    set(rest, 0, divisor_count);
    for (uint32_t i = 0; i < 32 * count; ++i) {
        uint32_t borrow;

        (void)add(rest, rest, ~(uint32_t)0, number[count - 1] >> 31, divisor_count);
        (void)add(number, number, ~(uint32_t)0, 0, count);
        borrow = subtract(rest, divisor, divisor_count);
        (void)add(rest, divisor, mask_of(borrow), 0, divisor_count);
        number[0] |= borrow ^ 1;
    }
}

/* product = a * b + plus, with as many words as both together. */
static void multiply(uint32_t *product, const uint32_t *a, uint32_t a_count, const uint32_t *b,
                     uint32_t b_count, uint32_t plus)
{
    set(product, 0, a_count + b_count);
    for (uint32_t i = 32 * b_count; i-- > 0;) {
        const uint32_t bit = mask_of(b[i / 32] >> i % 32 & 1);
        uint32_t carry;

        (void)add(product, product, ~(uint32_t)0, 0, a_count + b_count);
        carry = add(product, a, bit, 0, a_count);
        (void)add(product + a_count, product, 0, carry, b_count);
    }
    (void)add(product, product, 0, plus, a_count + b_count);
}

/* Exchange two numbers where the mask is set. */
static void exchange_if(uint32_t mask, uint32_t *a, uint32_t *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t difference = (a[i] ^ b[i]) & mask;

        a[i] ^= difference;
        b[i] ^= difference;
    }
}

/* gcd = that of number and modulus; inverse = number^-1 modulo the modulus, where gcd is 1.

   The modulus is odd, and the number below it. Stein's algorithm, in as many steps as both have
   bits: u * number = a and inverse * number = gcd modulo the modulus, a becomes 0, and gcd stays
   odd. `scratch` has 3 * count words. */
static void invert(uint32_t *inverse, uint32_t *gcd, const uint32_t *number,
                   const uint32_t *modulus, uint32_t count, uint32_t *scratch)
{
    uint32_t *const a = scratch, *const u = a + count, *const difference = u + count;

    copy(a, number, count);
    copy(gcd, modulus, count);
    set(u, 1, count);
    set(inverse, 0, count);
    for (uint32_t i = 0; i < 64 * count; ++i) {
        const uint32_t odd = mask_of(a[0] & 1);
        uint32_t swap, borrow, carry;

        copy(difference, a, count);
        swap = odd & mask_of(subtract(difference, gcd, count));
        exchange_if(swap, a, gcd, count);
        exchange_if(swap, u, inverse, count);
        (void)subtract_if(odd, a, gcd, count);
        borrow = subtract_if(odd, u, inverse, count);
        (void)add(u, modulus, mask_of(borrow), 0, count);
        /* Half of both: a is even, and so is u, or u + modulus. */
        shift_right(a, 0, count);
        carry = add(u, modulus, mask_of(u[0] & 1), 0, count);
        shift_right(u, carry, count);
    }
}

/* The inverse of `number` modulo e, for e over 1; 0 if there is none. */
static uint32_t invert_word(uint32_t number, uint32_t e)
{
    uint32_t scratch[3], inverse, gcd;

    invert(&inverse, &gcd, &number, &e, 1, scratch);
    coprime_clear(scratch, 3);
    return inverse & ~mask_of((gcd >> 1 | (0u - (gcd >> 1))) >> 31);
}

/* inverse = e^-1 modulo `modulus`, which has no factor of e: (modulus * k + 1) / e, where k makes
   the division exact. `product` has count + 1 words. */
static void invert_exponent(uint32_t *inverse, uint32_t e, const uint32_t *modulus,
                            uint32_t count, uint32_t *product)
{
    uint32_t k = e - invert_word(remainder_of(modulus, count, e), e), rest;

    multiply(product, modulus, count, &k, 1, 1);
    divide(product, count + 1, &e, &rest, 1);
    copy(inverse, product, count);
    coprime_clear(&k, 1);
    coprime_clear(&rest, 1);
}

/* Primes. */

/* Draw a random number: H. A source whose numbers are the same is broken. */
static int draw(const struct maker *maker, uint32_t *number)
{
    const struct coprime_generation *const from = maker->generation;
    uint32_t same = 0;

    if (from->random(from->context, (uint8_t *)number, 4 * (size_t)maker->count)) {
        return COPRIME_ERROR_RANDOM;
    }
    for (uint32_t i = 0; i < maker->count; ++i) {
        same |= number[i] ^ maker->last[i];
    }
    copy(maker->last, number, maker->count);
    return same ? COPRIME_ERROR_NONE : COPRIME_ERROR_RANDOM;
}

/* Whether two numbers differ by 2^(bits - 96) or more, which is over 2^(bits - 100): H. */
static bool far(const uint32_t *a, const uint32_t *b, uint32_t *difference, uint32_t count)
{
    uint32_t borrow, high;

    copy(difference, a, count);
    borrow = subtract(difference, b, count);
    /* Its absolute value but for 1. */
    for (uint32_t i = 0; i < count; ++i) {
        difference[i] ^= mask_of(borrow);
    }
    high = difference[count - 1] | difference[count - 2] | difference[count - 3];
    return high != 0;
}

/* Draw a candidate of the standard's range, 3 modulo 4, and far from another prime, if that is not
   null: H. */
static int draw_candidate(const struct maker *maker, uint32_t *candidate, const uint32_t *other)
{
    const uint32_t count = maker->count;

    for (uint32_t i = 0; i < MAX_DRAWS; ++i) {
        const int error = draw(maker, candidate);

        if (error) {
            return error;
        }
        candidate[count - 1] |= (uint32_t)1 << 31;
        candidate[0] |= 3;
        if (candidate[count - 1] >= SQRT_2 &&
            (other == NULL || far(candidate, other, maker->scratch, count))) {
            return COPRIME_ERROR_NONE;
        }
    }
    return COPRIME_ERROR_RANDOM;
}

/* Whether a candidate has no small factor, and candidate - 1 none of e. */
static bool sieve(const uint32_t *candidate, uint32_t count, uint32_t e)
{
    const uint8_t *prime = small_primes;
    uint32_t rest;

    for (uint32_t i = 0; i < GROUPS; ++i) {
        rest = remainder_of(candidate, count, groups[i].product);
        for (uint32_t j = 0; j < groups[i].primes; ++j) {
            if (remainder_of(&rest, 1, *prime++) == 0) {
                return false;
            }
        }
    }
    rest = remainder_of(candidate, count, e) - 1;
    rest += e & mask_of(rest >> 31);
    return invert_word(rest, e) != 0;
}

/* Rounds of Miller and Rabin's test for primes of a length: not less than Table B.1 has, and than
   its rule (C.1) gives between the lengths there. An error has a probability of at most 2^-112 up to
   1024 bits, 2^-128 up to 1536 bits, and 2^-144 up to 2048 bits. */
static uint32_t rounds_for(uint32_t bits)
{
    if (bits < 1024) {
        return 9;
    }
    return bits < 1536 ? 6 : 5;
}

/* A round: whether base^half is 1 or w - 1, where half is (w - 1) / 2, an odd number. The power takes
   the place of the base. */
static int test_once(const struct maker *maker, const struct coprime_modulus *w, uint32_t *base,
                     const uint32_t *half, bool *passed)
{
    const uint32_t count = maker->count;
    uint32_t minus_one;
    int error = yield(maker);

    if (!error) {
        error = coprime_load_modulus(*maker->driver, w);
    }
    if (!error) {
        error = coprime_modexp(*maker->driver, base, half, 32 * count - 1, base);
    }
    if (error) {
        return error;
    }
    minus_one = base[0] ^ w->value[0] ^ 1;
    for (uint32_t i = 1; i < count; ++i) {
        minus_one |= base[i] ^ w->value[i];
    }
    *passed = (difference_from(base, 1, count) == 0) | (minus_one == 0);
    return COPRIME_ERROR_NONE;
}

/* Draw a base in 2 to w - 2. `scratch` has H words. */
static int draw_base(const struct maker *maker, const uint32_t *w, uint32_t *base,
                     uint32_t *scratch)
{
    const uint32_t count = maker->count;

    for (uint32_t i = 0; i < MAX_DRAWS; ++i) {
        const int error = draw(maker, base);

        if (error) {
            return error;
        }
        /* base + 1 is below w: w is odd, so that w - 1 is not below base + 1 either. */
        copy(scratch, base, count);
        if (add(scratch, scratch, 0, 1, count) == 0 && subtract(scratch, w, count) &&
            difference_from(base, base[0] & 1, count) != 0) {
            return COPRIME_ERROR_NONE;
        }
    }
    return COPRIME_ERROR_RANDOM;
}

/* Miller and Rabin's test of a number that is 3 modulo 4, with 32 H bits. */
static int test_prime(const struct maker *maker, const uint32_t *w, bool *prime)
{
    const uint32_t count = maker->count;
    uint32_t *const half = maker->scratch, *const base = half + count, *const other = base + count;
    struct coprime_memory memory = {other + count, count};
    struct coprime_modulus modulus;
    int error;

    modulus.bits = 32 * count;
    modulus.value = w;
    error = coprime_modulus_constants(*maker->driver, &modulus, &memory);
    copy(half, w, count);
    shift_right(half, 0, count);
    *prime = true;
    for (uint32_t i = 0; !error && *prime && i < rounds_for(32 * count); ++i) {
        error = draw_base(maker, w, base, other);
        if (!error) {
            error = test_once(maker, &modulus, base, half, prime);
        }
    }
    coprime_clear(modulus.inverse, COPRIME_DIGIT_WORDS);
    return error;
}

/* Find a prime far from another one, if that is not null, in so many candidates. */
static int find_prime(const struct maker *maker, uint32_t *prime, const uint32_t *other,
                      uint32_t candidates)
{
    for (uint32_t i = 0; i < candidates; ++i) {
        bool found = false;
        int error = draw_candidate(maker, prime, other);

        if (!error && sieve(prime, maker->count, maker->generation->exponent)) {
            error = test_prime(maker, prime, &found);
        }
        if (error || found) {
            return error;
        }
    }
    return COPRIME_ERROR_PRIME;
}

/* The key. */

/* Where the numbers of a key are. */
struct numbers {
    uint32_t *n, *d;                  /* 2 H */
    uint32_t *p, *q, *dp, *dq, *qinv; /* H */
    uint32_t *e;                      /* 1 */
};

/* d = e^-1 modulo lcm(p - 1, q - 1) = 2 (p - 1)/2 (q - 1)/2 / gcd((p - 1)/2, (q - 1)/2), where both
   halves are odd. */
static void compute_d(const struct maker *maker, const struct numbers *own)
{
    const uint32_t count = maker->count;
    uint32_t *const p_half = maker->scratch, *const q_half = p_half + count;
    uint32_t *const gcd = q_half + count, *const inverse = gcd + count, *const rest = inverse + count;
    uint32_t *const lcm = rest, *const product = maker->scratch;

    copy(p_half, own->p, count);
    shift_right(p_half, 0, count);
    copy(q_half, own->q, count);
    shift_right(q_half, 0, count);
    invert(inverse, gcd, q_half, p_half, count, rest);
    divide(p_half, count, gcd, rest, count);
    multiply(lcm, p_half, count, q_half, count, 0);
    (void)add(lcm, lcm, ~(uint32_t)0, 0, 2 * count);
    invert_exponent(own->d, *own->e, lcm, 2 * count, product);
}

/* All numbers from the primes; p is the greater one. */
static void compute_numbers(const struct maker *maker, const struct numbers *own)
{
    const uint32_t count = maker->count;
    uint32_t *const minus_one = maker->scratch, *const product = minus_one + count;

    multiply(own->n, own->p, count, own->q, count, 0);
    copy(minus_one, own->p, count);
    minus_one[0] ^= 1;
    invert_exponent(own->dp, *own->e, minus_one, count, product);
    copy(minus_one, own->q, count);
    minus_one[0] ^= 1;
    invert_exponent(own->dq, *own->e, minus_one, count, product);
    invert(own->qinv, minus_one, own->q, own->p, count, product);
    compute_d(maker, own);
}

/* Load the key. A random number must come back when it is encrypted and decrypted. */
static int load_key(const struct maker *maker, const struct coprime_private_key *key)
{
    const uint32_t count = 2 * maker->count;
    uint32_t *const x = maker->scratch, *const y = x + count, *const z = y + count;
    uint32_t difference = 0;
    int error = draw(maker, x);

    set(x + maker->count, 0, maker->count);
    if (!error) {
        error = yield(maker);
    }
    if (!error) {
        error = coprime_load_public(*maker->driver, &key->public_key);
    }
    if (!error) {
        error = coprime_public(*maker->driver, x, y);
    }
    if (!error) {
        error = yield(maker);
    }
    if (!error) {
        error = coprime_load_private(*maker->driver, key);
    }
    if (!error) {
        error = coprime_private(*maker->driver, y, z);
    }
    for (uint32_t i = 0; i < count; ++i) {
        difference |= x[i] ^ z[i];
    }
    return error || !difference ? error : COPRIME_ERROR_FAULT;
}

static int make(const struct maker *maker, const struct numbers *own,
                struct coprime_private_key *key, struct coprime_memory *memory)
{
    const uint32_t count = maker->count, bits = 64 * count;
    int error = find_prime(maker, own->p, NULL, 5 * bits);

    if (!error) {
        error = find_prime(maker, own->q, own->p, 10 * bits);
    }
    if (error) {
        return error;
    }
    copy(maker->scratch, own->p, count);
    exchange_if(mask_of(subtract(maker->scratch, own->q, count)), own->p, own->q, count);
    compute_numbers(maker, own);
    /* As good as never; d is odd, and not 2^(bits / 2). */
    if (difference_from(own->d + count, 0, count) == 0) {
        return COPRIME_ERROR_PRIME;
    }
    key->public_key.modulus.bits = bits;
    key->public_key.modulus.value = own->n;
    key->public_key.exponent = own->e;
    key->public_key.exponent_bits = coprime_bit_length(own->e, 1);
    key->p.power = key->q.power = key->crt_p = key->crt_q = NULL;
    key->d = own->d;
    key->p.bits = key->q.bits = 32 * count;
    key->p.value = own->p;
    key->q.value = own->q;
    key->dp = own->dp;
    key->dq = own->dq;
    key->qinv = own->qinv;
    error = coprime_private_constants(*maker->driver, key, memory);
    return error ? error : load_key(maker, key);
}

static int check(const struct coprime *driver, const struct coprime_generation *generation,
                 const struct coprime_memory *memory)
{
    const uint32_t bits = generation->bits, e = generation->exponent;
    const uint32_t needed =
        (uint32_t)1 << COPRIME_COMMAND_MODEXP | (uint32_t)1 << COPRIME_COMMAND_MODMUL;

    if (bits < COPRIME_KEYGEN_MIN_BITS || bits > MAX_BITS || bits % 64 != 0 ||
        e <= (uint32_t)1 << 16 || e >> 31 || e % 2 == 0) {
        return COPRIME_ERROR_SIZE;
    }
    if ((driver->commands & needed) != needed || driver->fixed_modulus) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    if (bits > driver->max_bits || (driver->max_prime_bits && bits / 2 > driver->max_prime_bits)) {
        return COPRIME_ERROR_LENGTH_OVER;
    }
    return memory->count < COPRIME_KEYGEN_MEMORY(bits) ? COPRIME_ERROR_MEMORY : COPRIME_ERROR_NONE;
}

int coprime_generate_key(struct coprime *driver, const struct coprime_generation *generation,
                         struct coprime_private_key *key, struct coprime_memory *memory)
{
    const struct coprime_memory whole = *memory;
    const uint32_t count = generation->bits / 64;
    struct maker maker = {&driver, generation, count, NULL, NULL};
    struct numbers own;
    int error = check(driver, generation, memory);

    if (error) {
        return error;
    }
    own.n = memory->words;
    own.d = own.n + 2 * count;
    own.p = own.d + 2 * count;
    own.q = own.p + count;
    own.dp = own.q + count;
    own.dq = own.dp + count;
    own.qinv = own.dq + count;
    own.e = own.qinv + count;
    memory->words = own.e + 1;
    memory->count -= 9 * count + 1;
    maker.last = memory->words + COPRIME_PRIVATE_MEMORY(generation->bits, generation->bits / 2);
    maker.scratch = maker.last + count;
    *own.e = generation->exponent;
    set(maker.last, 0, count);
    error = make(&maker, &own, key, memory);
    if (error) {
        *memory = whole;
        coprime_clear(whole.words, COPRIME_KEYGEN_MEMORY(generation->bits));
        if (driver) {
            (void)coprime_wipe(driver);
        }
    } else {
        coprime_clear(maker.last, 8 * count);
    }
    return error;
}
