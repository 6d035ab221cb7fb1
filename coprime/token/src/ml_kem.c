#include "ml_kem.h"

#include <string.h>

#include <openssl/crypto.h>

#include "keccak.h"

enum { Q = 3329, N = 256, MAX_K = 4, HASH = 32, POLYNOMIAL = 384 };

const struct ml_kem_set ml_kem_sets[ML_KEM_SETS] = {
    {2, 3, 10, 4, 800, 1632, 768},
    {3, 2, 10, 4, 1184, 2400, 1088},
    {4, 2, 11, 5, 1568, 3168, 1568},
};

/* 17 to the power of i with its 7 bits in reverse order (FIPS 203, appendix A). */
static const uint16_t zetas[N / 2] = {
    1, 1729, 2580, 3289, 2642, 630, 1897, 848, 1062, 1919, 193, 797, 2786, 3260, 569, 1746,
    296, 2447, 1339, 1476, 3046, 56, 2240, 1333, 1426, 2094, 535, 2882, 2393, 2879, 1974, 821,
    289, 331, 3253, 1756, 1197, 2304, 2277, 2055, 650, 1977, 2513, 632, 2865, 33, 1320, 1915,
    2319, 1435, 807, 452, 1438, 2868, 1534, 2402, 2647, 2617, 1481, 648, 2474, 3110, 1227, 910,
    17, 2761, 583, 2649, 1637, 723, 2288, 1100, 1409, 2662, 3281, 233, 756, 2156, 3015, 3050,
    1703, 1651, 2789, 1789, 1847, 952, 1461, 2687, 939, 2308, 2437, 2388, 733, 2337, 268, 641,
    1584, 2298, 2037, 3220, 375, 2549, 2090, 1645, 1063, 319, 2773, 757, 2099, 561, 2466, 2594,
    2804, 1092, 403, 1026, 1143, 2150, 2775, 886, 1722, 1212, 1874, 1029, 2110, 2935, 885, 2154,
};

typedef uint16_t polynomial[N]; /* coefficients from 0 to Q - 1 */

const uint8_t *ml_kem_ek_of(const struct ml_kem_set *set, const uint8_t *dk)
{
    return dk + (size_t)POLYNOMIAL * set->k;
}

/* Arithmetic modulo Q. */

/* All ones if the top bit is set, else 0, in a way that no compiler makes a branch of. */
static uint32_t mask_of(uint32_t number)
{
    uint32_t mask = 0 - (number >> 31);

    __asm__("" : "+r"(mask));
    return mask;
}

/* Of a number below 2 Q. */
static uint16_t subtract_once(uint32_t number)
{
    const uint32_t less = number - Q;

    return (uint16_t)(less + (Q & mask_of(less)));
}

/* Of a number below 2^24: 5039 is 2^24 / Q, rounded down, and leaves less than 2 Q. */
static uint16_t reduce(uint32_t number)
{
    return subtract_once(number - (uint32_t)((uint64_t)number * 5039 >> 24) * Q);
}

static uint16_t multiply(uint16_t a, uint16_t b)
{
    return reduce((uint32_t)a * b);
}

static uint16_t add(uint16_t a, uint16_t b)
{
    return subtract_once((uint32_t)a + b);
}

static uint16_t subtract(uint16_t a, uint16_t b)
{
    return subtract_once((uint32_t)a + Q - b);
}

/* The nearest integer to number * 2^bits / Q, modulo 2^bits (4.7). 20642679 is 2^36 / Q, rounded up: the
   quotient is exact for numerators below 2^23. */
static uint16_t compress(uint16_t number, unsigned bits)
{
    const uint64_t numerator = ((uint64_t)number << bits) + Q / 2;

    return (uint16_t)((numerator * 20642679 >> 36) & ((1u << bits) - 1));
}

/* The nearest integer to number * Q / 2^bits (4.8). */
static uint16_t decompress(uint16_t number, unsigned bits)
{
    return (uint16_t)(((uint32_t)number * Q + (1u << (bits - 1))) >> bits);
}

/* Polynomials. */

static void add_polynomial(polynomial f, const polynomial g)
{
    for (int i = 0; i < N; ++i) {
        f[i] = add(f[i], g[i]);
    }
}

/* Algorithm 9. */
static void transform(polynomial f)
{
    int i = 1;

    for (int length = N / 2; length >= 2; length /= 2) {
        for (int start = 0; start < N; start += 2 * length) {
            const uint16_t zeta = zetas[i++];

            for (int j = start; j < start + length; ++j) {
                const uint16_t t = multiply(zeta, f[j + length]);

                f[j + length] = subtract(f[j], t);
                f[j] = add(f[j], t);
            }
        }
    }
}

/* Algorithm 10. 3303 is 1 / 128. */
static void transform_back(polynomial f)
{
    int i = N / 2 - 1;

    for (int length = 2; length <= N / 2; length *= 2) {
        for (int start = 0; start < N; start += 2 * length) {
            const uint16_t zeta = zetas[i--];

            for (int j = start; j < start + length; ++j) {
                const uint16_t t = f[j];

                f[j] = add(t, f[j + length]);
                f[j + length] = multiply(zeta, subtract(f[j + length], t));
            }
        }
    }
    for (int j = 0; j < N; ++j) {
        f[j] = multiply(f[j], 3303);
    }
}

/* sum += f g, of transforms: algorithms 11 and 12, modulo x^2 - zeta and x^2 + zeta in turn. */
static void add_product(polynomial sum, const polynomial f, const polynomial g)
{
    for (int i = 0; i < N; i += 2) {
        const uint16_t zeta = zetas[N / 4 + i / 4];
        const uint16_t square = multiply(multiply(f[i + 1], g[i + 1]), zeta);
        const uint16_t constant = multiply(f[i], g[i]);

        sum[i] = add(sum[i], i % 4 ? subtract(constant, square) : add(constant, square));
        sum[i + 1] = add(sum[i + 1], add(multiply(f[i], g[i + 1]), multiply(f[i + 1], g[i])));
    }
}

/* Algorithm 5, of coefficients of `bits` bits. */
static void encode(const polynomial f, unsigned bits, uint8_t *bytes)
{
    uint32_t kept = 0;
    unsigned count = 0;

    for (int i = 0; i < N; ++i) {
        kept |= (uint32_t)f[i] << count;
        for (count += bits; count >= 8; count -= 8) {
            *bytes++ = (uint8_t)kept;
            kept >>= 8;
        }
    }
}

/* Algorithm 6; 12 bits give a number that may not be below Q. */
static void decode(const uint8_t *bytes, unsigned bits, polynomial f)
{
    uint32_t kept = 0;
    unsigned count = 0;

    for (int i = 0; i < N; ++i) {
        for (; count < bits; count += 8) {
            kept |= (uint32_t)*bytes++ << count;
        }
        f[i] = (uint16_t)(kept & ((1u << bits) - 1));
        kept >>= bits;
        count -= bits;
    }
}

static void decode_reduced(const uint8_t *bytes, polynomial f)
{
    decode(bytes, 12, f);
    for (int i = 0; i < N; ++i) {
        f[i] = subtract_once(f[i]);
    }
}

static void encode_compressed(const polynomial f, unsigned bits, uint8_t *bytes)
{
    polynomial compressed;

    for (int i = 0; i < N; ++i) {
        compressed[i] = compress(f[i], bits);
    }
    encode(compressed, bits, bytes);
    OPENSSL_cleanse(compressed, sizeof compressed);
}

static void decode_compressed(const uint8_t *bytes, unsigned bits, polynomial f)
{
    decode(bytes, bits, f);
    for (int i = 0; i < N; ++i) {
        f[i] = decompress(f[i], bits);
    }
}

/* Sampling. */

/* Algorithm 7: an entry of the matrix, from public bytes. */
static void sample_uniform(const uint8_t rho[HASH], unsigned column, unsigned row, polynomial f)
{
    const uint8_t place[2] = {(uint8_t)column, (uint8_t)row};
    struct keccak hash;
    int count = 0;

    keccak_begin(&hash, SHAKE128_RATE);
    keccak_absorb(&hash, rho, HASH);
    keccak_absorb(&hash, place, sizeof place);
    keccak_end(&hash, SHAKE_SUFFIX);
    while (count < N) {
        uint8_t bytes[3];
        uint16_t first, second;

        keccak_squeeze(&hash, bytes, sizeof bytes);
        first = (uint16_t)(bytes[0] | (bytes[1] & 15u) << 8);
        second = (uint16_t)(bytes[1] >> 4 | bytes[2] << 4);
        if (first < Q) {
            f[count++] = first;
        }
        if (second < Q && count < N) {
            f[count++] = second;
        }
    }
}

/* Algorithm 8, of the function PRF (4.3): the difference of two sums of eta bits. */
static void sample_binomial(const uint8_t seed[HASH], uint8_t number, unsigned eta, polynomial f)
{
    uint8_t bytes[64 * 3];
    unsigned bit = 0;

    keccak_hash(SHAKE256_RATE, SHAKE_SUFFIX, (struct keccak_part){seed, HASH},
                (struct keccak_part){&number, 1}, bytes, (size_t)64 * eta);
    for (int i = 0; i < N; ++i) {
        uint16_t sums[2] = {0, 0};

        for (unsigned k = 0; k < 2 * eta; ++k, ++bit) {
            sums[k >= eta] = (uint16_t)(sums[k >= eta] + (bytes[bit / 8] >> bit % 8 & 1));
        }
        f[i] = subtract(sums[0], sums[1]);
    }
    OPENSSL_cleanse(bytes, sizeof bytes);
}

/* Hash functions G, H and J (4.4 and 4.5). */

static void hash_g(struct keccak_part first, struct keccak_part second, uint8_t result[2 * HASH])
{
    keccak_hash(SHA3_512_RATE, SHA3_SUFFIX, first, second, result, 2 * HASH);
}

static void hash_h(const uint8_t *bytes, size_t size, uint8_t result[HASH])
{
    keccak_hash(SHA3_256_RATE, SHA3_SUFFIX, (struct keccak_part){bytes, size},
                (struct keccak_part){NULL, 0}, result, HASH);
}

static void hash_j(const uint8_t z[HASH], const uint8_t *c, size_t size, uint8_t result[HASH])
{
    keccak_hash(SHAKE256_RATE, SHAKE_SUFFIX, (struct keccak_part){z, HASH},
                (struct keccak_part){c, size}, result, HASH);
}

/* K-PKE. */

/* The numbers of one computation. */
struct work {
    polynomial vector[MAX_K], sum, other;
};

/* Algorithm 13. */
static void pke_key_pair(const struct ml_kem_set *set, const uint8_t d[HASH], uint8_t *ek,
                         uint8_t *dk)
{
    const uint8_t domain = (uint8_t)set->k;
    uint8_t seeds[2 * HASH];
    struct work work;

    hash_g((struct keccak_part){d, HASH}, (struct keccak_part){&domain, 1}, seeds);
    for (unsigned i = 0; i < set->k; ++i) {
        sample_binomial(seeds + HASH, (uint8_t)i, set->eta1, work.vector[i]);
        transform(work.vector[i]);
        encode(work.vector[i], 12, dk + (size_t)POLYNOMIAL * i);
    }
    for (unsigned i = 0; i < set->k; ++i) {
        sample_binomial(seeds + HASH, (uint8_t)(set->k + i), set->eta1, work.sum);
        transform(work.sum);
        for (unsigned j = 0; j < set->k; ++j) {
            sample_uniform(seeds, j, i, work.other);
            add_product(work.sum, work.other, work.vector[j]);
        }
        encode(work.sum, 12, ek + (size_t)POLYNOMIAL * i);
    }
    memcpy(ek + (size_t)POLYNOMIAL * set->k, seeds, HASH);
    OPENSSL_cleanse(seeds, sizeof seeds);
    OPENSSL_cleanse(&work, sizeof work);
}

/* Algorithm 14. */
static void pke_encrypt(const struct ml_kem_set *set, const uint8_t *ek,
                        const uint8_t m[ML_KEM_MESSAGE], const uint8_t r[HASH], uint8_t *c)
{
    const uint8_t *const rho = ek + (size_t)POLYNOMIAL * set->k;
    const size_t row = (size_t)32 * set->du;
    struct work work;

    for (unsigned i = 0; i < set->k; ++i) {
        sample_binomial(r, (uint8_t)i, set->eta1, work.vector[i]);
        transform(work.vector[i]);
    }
    for (unsigned i = 0; i < set->k; ++i) {
        memset(work.sum, 0, sizeof work.sum);
        for (unsigned j = 0; j < set->k; ++j) {
            sample_uniform(rho, i, j, work.other);
            add_product(work.sum, work.other, work.vector[j]);
        }
        transform_back(work.sum);
        sample_binomial(r, (uint8_t)(set->k + i), 2, work.other);
        add_polynomial(work.sum, work.other);
        encode_compressed(work.sum, set->du, c + row * i);
    }
    memset(work.sum, 0, sizeof work.sum);
    for (unsigned i = 0; i < set->k; ++i) {
        decode_reduced(ek + (size_t)POLYNOMIAL * i, work.other);
        add_product(work.sum, work.other, work.vector[i]);
    }
    transform_back(work.sum);
    sample_binomial(r, (uint8_t)(2 * set->k), 2, work.other);
    add_polynomial(work.sum, work.other);
    decode_compressed(m, 1, work.other);
    add_polynomial(work.sum, work.other);
    encode_compressed(work.sum, set->dv, c + row * set->k);
    OPENSSL_cleanse(&work, sizeof work);
}

/* Algorithm 15. */
static void pke_decrypt(const struct ml_kem_set *set, const uint8_t *dk, const uint8_t *c,
                        uint8_t m[ML_KEM_MESSAGE])
{
    const size_t row = (size_t)32 * set->du;
    struct work work;

    memset(work.sum, 0, sizeof work.sum);
    for (unsigned i = 0; i < set->k; ++i) {
        decode_compressed(c + row * i, set->du, work.vector[0]);
        transform(work.vector[0]);
        decode_reduced(dk + (size_t)POLYNOMIAL * i, work.other);
        add_product(work.sum, work.other, work.vector[0]);
    }
    transform_back(work.sum);
    decode_compressed(c + row * set->k, set->dv, work.other);
    for (int i = 0; i < N; ++i) {
        work.other[i] = subtract(work.other[i], work.sum[i]);
    }
    encode_compressed(work.other, 1, m);
    OPENSSL_cleanse(&work, sizeof work);
}

/* ML-KEM. */

void ml_kem_key_pair(const struct ml_kem_set *set, const uint8_t seed[ML_KEM_SEED], uint8_t *ek,
                     uint8_t *dk)
{
    uint8_t *const hash = dk + (size_t)POLYNOMIAL * set->k + set->ek;

    pke_key_pair(set, seed, ek, dk);
    memcpy(dk + (size_t)POLYNOMIAL * set->k, ek, set->ek);
    hash_h(ek, set->ek, hash);
    memcpy(hash + HASH, seed + ML_KEM_SEED / 2, HASH);
}

void ml_kem_encapsulate(const struct ml_kem_set *set, const uint8_t *ek,
                        const uint8_t m[ML_KEM_MESSAGE], uint8_t *c, uint8_t secret[ML_KEM_SECRET])
{
    uint8_t hash[HASH], keys[2 * HASH];

    hash_h(ek, set->ek, hash);
    hash_g((struct keccak_part){m, ML_KEM_MESSAGE}, (struct keccak_part){hash, HASH}, keys);
    pke_encrypt(set, ek, m, keys + HASH, c);
    memcpy(secret, keys, HASH);
    OPENSSL_cleanse(keys, sizeof keys);
}

void ml_kem_decapsulate(const struct ml_kem_set *set, const uint8_t *dk, const uint8_t *c,
                        uint8_t secret[ML_KEM_SECRET])
{
    const uint8_t *const ek = ml_kem_ek_of(set, dk), *const hash = ek + set->ek;
    uint8_t m[ML_KEM_MESSAGE], keys[2 * HASH], refused[HASH], again[MAX_ML_KEM_C];
    uint32_t different;
    uint8_t mask;

    pke_decrypt(set, dk, c, m);
    hash_g((struct keccak_part){m, ML_KEM_MESSAGE}, (struct keccak_part){hash, HASH}, keys);
    hash_j(hash + HASH, c, set->c, refused);
    pke_encrypt(set, ek, m, keys + HASH, again);
    different = (uint32_t)CRYPTO_memcmp(c, again, set->c); /* 0 to 255 */
    mask = (uint8_t)mask_of(0 - different);
    for (int i = 0; i < ML_KEM_SECRET; ++i) {
        secret[i] = (uint8_t)(keys[i] ^ (mask & (keys[i] ^ refused[i])));
    }
    OPENSSL_cleanse(m, sizeof m);
    OPENSSL_cleanse(keys, sizeof keys);
    OPENSSL_cleanse(refused, sizeof refused);
    OPENSSL_cleanse(again, sizeof again);
}

bool ml_kem_check_ek(const struct ml_kem_set *set, const uint8_t *ek)
{
    polynomial f;
    bool good = true;

    for (unsigned i = 0; i < set->k; ++i) {
        decode(ek + (size_t)POLYNOMIAL * i, 12, f);
        for (int k = 0; k < N; ++k) {
            good = good && f[k] < Q;
        }
    }
    return good;
}

bool ml_kem_check_dk(const struct ml_kem_set *set, const uint8_t *dk)
{
    const uint8_t *const ek = ml_kem_ek_of(set, dk);
    uint8_t hash[HASH];

    hash_h(ek, set->ek, hash);
    return ml_kem_check_ek(set, ek) && CRYPTO_memcmp(hash, ek + set->ek, HASH) == 0;
}
