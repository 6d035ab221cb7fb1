/* What coprime_keygen.c has for itself, for tests/drivers/test_keygen.py. */
#include "coprime_keygen.c"

uint32_t part_remainder(const uint32_t *number, uint32_t count, uint32_t divisor)
{
    return remainder_of(number, count, divisor);
}

void part_divide(uint32_t *number, uint32_t count, const uint32_t *divisor, uint32_t *rest,
                 uint32_t divisor_count)
{
    divide(number, count, divisor, rest, divisor_count);
}

void part_multiply(uint32_t *product, const uint32_t *a, uint32_t a_count, const uint32_t *b,
                   uint32_t b_count, uint32_t plus)
{
    multiply(product, a, a_count, b, b_count, plus);
}

void part_invert(uint32_t *inverse, uint32_t *gcd, const uint32_t *number,
                 const uint32_t *modulus, uint32_t count, uint32_t *scratch)
{
    invert(inverse, gcd, number, modulus, count, scratch);
}

uint32_t part_invert_word(uint32_t number, uint32_t e)
{
    return invert_word(number, e);
}

bool part_far(const uint32_t *a, const uint32_t *b, uint32_t *difference, uint32_t count)
{
    return far(a, b, difference, count);
}

bool part_sieve(const uint32_t *candidate, uint32_t count, uint32_t e)
{
    return sieve(candidate, count, e);
}

uint32_t part_rounds(uint32_t bits)
{
    return rounds_for(bits);
}

#ifdef TRACE
/* Called by the compiler's instrumentation at the start of each basic block. */
static uint64_t blocks, path;

__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void)
{
    ++blocks;
    path = (path ^ (uint64_t)(uintptr_t)__builtin_return_address(0)) * 0x100000001B3u;
}

/* What is done with primes that were found: a digest of the path, and the number of its blocks. */
uint64_t part_path(uint32_t *words, uint32_t count, uint32_t e, uint64_t *passed)
{
    const struct maker maker = {NULL, NULL, count, NULL, words + 9 * count + 1};
    const struct numbers own = {
        .p = words,
        .q = words + count,
        .dp = words + 2 * count,
        .dq = words + 3 * count,
        .qinv = words + 4 * count,
        .n = words + 5 * count,
        .d = words + 7 * count,
        .e = words + 9 * count,
    };
    bool fine;

    *own.e = e;
    blocks = path = 0;
    fine = sieve(own.p, count, e);
    compute_numbers(&maker, &own);
    *passed = fine ? blocks : 0;
    return path;
}
#endif

/* `memory` has 8 * count words. */
int part_test_prime(struct coprime *driver, const struct coprime_generation *generation,
                    const uint32_t *w, uint32_t count, uint32_t *memory, bool *prime)
{
    const struct maker maker = {&driver, generation, count, memory, memory + count};

    return test_prime(&maker, w, prime);
}
