#include "ml_dsa.h"

#include <string.h>

#include <openssl/crypto.h>

#include "keccak.h"
#include "secret.h"

enum { Q = 8380417, N = 256, D = 13, MAX_K = 8, MAX_L = 7, SEED = 32, MAX_CHALLENGE = 64 };
enum { T1_BITS = 10, T1_BYTES = N * T1_BITS / 8, T0_BYTES = N * D / 8 };

const struct ml_dsa_set ml_dsa_sets[ML_DSA_SETS] = {
    {4, 4, 2, 39, 17, 80, (Q - 1) / 88, 32, 1312, 2560, 2420},
    {6, 5, 4, 49, 19, 55, (Q - 1) / 32, 48, 1952, 4032, 3309},
    {8, 7, 2, 60, 19, 75, (Q - 1) / 32, 64, 2592, 4896, 4627},
};

/* 1753 to the power of i with its 8 bits in reverse order (FIPS 204, appendix B). */
static const uint32_t zetas[N] = {
    1, 4808194, 3765607, 3761513, 5178923, 5496691, 5234739, 5178987, 7778734, 3542485,
    2682288, 2129892, 3764867, 7375178, 557458, 7159240, 5010068, 4317364, 2663378, 6705802,
    4855975, 7946292, 676590, 7044481, 5152541, 1714295, 2453983, 1460718, 7737789, 4795319,
    2815639, 2283733, 3602218, 3182878, 2740543, 4793971, 5269599, 2101410, 3704823, 1159875,
    394148, 928749, 1095468, 4874037, 2071829, 4361428, 3241972, 2156050, 3415069, 1759347,
    7562881, 4805951, 3756790, 6444618, 6663429, 4430364, 5483103, 3192354, 556856, 3870317,
    2917338, 1853806, 3345963, 1858416, 3073009, 1277625, 5744944, 3852015, 4183372, 5157610,
    5258977, 8106357, 2508980, 2028118, 1937570, 4564692, 2811291, 5396636, 7270901, 4158088,
    1528066, 482649, 1148858, 5418153, 7814814, 169688, 2462444, 5046034, 4213992, 4892034,
    1987814, 5183169, 1736313, 235407, 5130263, 3258457, 5801164, 1787943, 5989328, 6125690,
    3482206, 4197502, 7080401, 6018354, 7062739, 2461387, 3035980, 621164, 3901472, 7153756,
    2925816, 3374250, 1356448, 5604662, 2683270, 5601629, 4912752, 2312838, 7727142, 7921254,
    348812, 8052569, 1011223, 6026202, 4561790, 6458164, 6143691, 1744507, 1753, 6444997,
    5720892, 6924527, 2660408, 6600190, 8321269, 2772600, 1182243, 87208, 636927, 4415111,
    4423672, 6084020, 5095502, 4663471, 8352605, 822541, 1009365, 5926272, 6400920, 1596822,
    4423473, 4620952, 6695264, 4969849, 2678278, 4611469, 4829411, 635956, 8129971, 5925040,
    4234153, 6607829, 2192938, 6653329, 2387513, 4768667, 8111961, 5199961, 3747250, 2296099,
    1239911, 4541938, 3195676, 2642980, 1254190, 8368000, 2998219, 141835, 8291116, 2513018,
    7025525, 613238, 7070156, 6161950, 7921677, 6458423, 4040196, 4908348, 2039144, 6500539,
    7561656, 6201452, 6757063, 2105286, 6006015, 6346610, 586241, 7200804, 527981, 5637006,
    6903432, 1994046, 2491325, 6987258, 507927, 7192532, 7655613, 6545891, 5346675, 8041997,
    2647994, 3009748, 5767564, 4148469, 749577, 4357667, 3980599, 2569011, 6764887, 1723229,
    1665318, 2028038, 1163598, 5011144, 3994671, 8368538, 7009900, 3020393, 3363542, 214880,
    545376, 7609976, 3105558, 7277073, 508145, 7826699, 860144, 3430436, 140244, 6866265,
    6195333, 3123762, 2358373, 6187330, 5365997, 6663603, 2926054, 7987710, 8077412, 3531229,
    4405932, 4606686, 1900052, 7598542, 1054478, 7648983,
};

typedef uint32_t polynomial[N]; /* coefficients from 0 to Q - 1 */

static int32_t beta_of(const struct ml_dsa_set *set)
{
    return (int32_t)(set->tau * set->eta);
}

static int32_t gamma1_of(const struct ml_dsa_set *set)
{
    return (int32_t)1 << set->gamma1_bits;
}

/* Bits of a coefficient of s1 and s2, of z, and of w1. */
static unsigned eta_bits(const struct ml_dsa_set *set)
{
    return set->eta == 2 ? 3 : 4;
}

static unsigned w1_bits(const struct ml_dsa_set *set)
{
    return set->k == 4 ? 6 : 4;
}

/* Arithmetic modulo Q. */

/* All ones for a negative number, else 0, in a way that no compiler makes a branch of. */
static uint32_t mask_of(int32_t number)
{
    uint32_t mask = 0 - ((uint32_t)number >> 31);

    __asm__("" : "+r"(mask));
    return mask;
}

/* Of a number below 2 Q. */
static uint32_t subtract_once(uint32_t number)
{
    const uint32_t less = number - Q;

    return less + (Q & mask_of((int32_t)less));
}

/* 2^23 is 2^13 - 1 modulo Q. */
static uint64_t fold(uint64_t number)
{
    return (number & 0x7FFFFF) + (number >> 23) * 8191;
}

/* Products are below 2^46: one fold gives less than 2^36, two less than 2^27, three less than 2 Q. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
    return subtract_once((uint32_t)fold(fold(fold((uint64_t)a * b))));
}

static uint32_t add(uint32_t a, uint32_t b)
{
    return subtract_once(a + b);
}

static uint32_t subtract(uint32_t a, uint32_t b)
{
    return subtract_once(a + Q - b);
}

/* A number from -Q to Q - 1 as one from 0 on, and back as the one nearest to 0. */
static uint32_t from_signed(int32_t number)
{
    return (uint32_t)number + (Q & mask_of(number));
}

static int32_t to_signed(uint32_t number)
{
    return (int32_t)(number - (Q & mask_of((int32_t)(Q / 2 - number))));
}

/* All ones if the number is not below the bound in absolute value. */
static uint32_t exceeds(int32_t number, int32_t bound)
{
    const int32_t sign = (int32_t)mask_of(number);

    return mask_of(bound - 1 - ((number ^ sign) - sign));
}

/* Rounding. */

/* Algorithm 36: r1, and r0 if that is wanted. Both quotients are exact for all numbers below Q. */
static uint32_t decompose(const struct ml_dsa_set *set, uint32_t number, int32_t *low)
{
    uint32_t high = (number + 127) >> 7;
    int32_t rest;

    if (set->gamma2 == (Q - 1) / 32) {
        high = ((high * 1025 + (1u << 21)) >> 22) & 15;
    } else {
        high = (high * 11275 + (1u << 23)) >> 24;
        high &= ~mask_of((int32_t)(43 - high));
    }
    rest = (int32_t)number - (int32_t)high * 2 * set->gamma2;
    *low = rest - (int32_t)(Q & mask_of((Q - 1) / 2 - rest));
    return high;
}

static uint32_t high_bits(const struct ml_dsa_set *set, uint32_t number)
{
    int32_t low;

    return decompose(set, number, &low);
}

/* Algorithm 40, of a public number. */
static uint32_t use_hint(const struct ml_dsa_set *set, uint32_t number, bool hint)
{
    const uint32_t m = (uint32_t)((Q - 1) / (2 * set->gamma2));
    int32_t low;
    const uint32_t high = decompose(set, number, &low);

    if (!hint) {
        return high;
    }
    return low > 0 ? (high + 1) % m : (high + m - 1) % m;
}

/* Polynomials. */

/* Algorithm 41. */
static void transform(polynomial f)
{
    int i = 0;

    for (int length = N / 2; length >= 1; length /= 2) {
        for (int start = 0; start < N; start += 2 * length) {
            const uint32_t zeta = zetas[++i];

            for (int j = start; j < start + length; ++j) {
                const uint32_t t = multiply(zeta, f[j + length]);

                f[j + length] = subtract(f[j], t);
                f[j] = add(f[j], t);
            }
        }
    }
}

/* Algorithm 42. 8347681 is 1 / 256. */
static void transform_back(polynomial f)
{
    int i = N;

    for (int length = 1; length < N; length *= 2) {
        for (int start = 0; start < N; start += 2 * length) {
            const uint32_t zeta = Q - zetas[--i];

            for (int j = start; j < start + length; ++j) {
                const uint32_t t = f[j];

                f[j] = add(t, f[j + length]);
                f[j + length] = multiply(zeta, subtract(t, f[j + length]));
            }
        }
    }
    for (int j = 0; j < N; ++j) {
        f[j] = multiply(f[j], 8347681);
    }
}

static void add_product(polynomial sum, const polynomial f, const polynomial g)
{
    for (int i = 0; i < N; ++i) {
        sum[i] = add(sum[i], multiply(f[i], g[i]));
    }
}

/* product = f g, of transforms. */
static void multiply_back(polynomial product, const polynomial f, const polynomial g)
{
    memset(product, 0, sizeof(polynomial));
    add_product(product, f, g);
    transform_back(product);
}

/* Algorithms 16 and 17: coefficients of `bits` bits, each as `top` minus itself, or itself if `top` is
   0. */
static void encode(const polynomial f, unsigned bits, uint32_t top, uint8_t *bytes)
{
    uint64_t kept = 0;
    unsigned count = 0;

    for (int i = 0; i < N; ++i) {
        kept |= (uint64_t)(top ? subtract(top, f[i]) : f[i]) << count;
        for (count += bits; count >= 8; count -= 8) {
            *bytes++ = (uint8_t)kept;
            kept >>= 8;
        }
    }
}

/* Algorithms 18 and 19. */
static void decode(const uint8_t *bytes, unsigned bits, uint32_t top, polynomial f)
{
    uint64_t kept = 0;
    unsigned count = 0;

    for (int i = 0; i < N; ++i) {
        for (; count < bits; count += 8) {
            kept |= (uint64_t)*bytes++ << count;
        }
        f[i] = (uint32_t)kept & ((1u << bits) - 1);
        f[i] = top ? subtract(top, f[i]) : f[i];
        kept >>= bits;
        count -= bits;
    }
}

/* Sampling. */

/* Begin SHAKE with a seed and two more bytes. */
static void begin(struct keccak *hash, unsigned rate, const uint8_t *seed, size_t size,
                  unsigned number)
{
    const uint8_t bytes[2] = {(uint8_t)number, (uint8_t)(number >> 8)};

    keccak_begin(hash, rate);
    keccak_absorb(hash, seed, size);
    keccak_absorb(hash, bytes, sizeof bytes);
    keccak_end(hash, SHAKE_SUFFIX);
}

/* Algorithms 30 and 14: an entry of the matrix, from public bytes. */
static void sample_uniform(const uint8_t rho[SEED], unsigned row, unsigned column, polynomial f)
{
    struct keccak hash;

    begin(&hash, SHAKE128_RATE, rho, SEED, row << 8 | column);
    for (int count = 0; count < N;) {
        uint8_t bytes[3];

        keccak_squeeze(&hash, bytes, sizeof bytes);
        f[count] = bytes[0] | (uint32_t)bytes[1] << 8 | (bytes[2] & 127u) << 16;
        count += f[count] < Q;
    }
}

/* Algorithms 31 and 15: from -eta to eta. */
static void sample_bounded(const struct ml_dsa_set *set, const uint8_t seed[2 * SEED],
                           unsigned number, polynomial f)
{
    struct keccak hash;

    begin(&hash, SHAKE256_RATE, seed, 2 * SEED, number);
    for (int count = 0; count < N;) {
        uint8_t byte;

        keccak_squeeze(&hash, &byte, 1);
        for (unsigned half = 0; half < 2 && count < N; ++half) {
            const uint32_t z = half ? byte >> 4 : byte & 15u;

            if (z < (set->eta == 2 ? 15 : 9)) {
                /* Modulo 5: 205 / 1024 is near enough to 1 / 5. */
                f[count++] = from_signed((int32_t)set->eta -
                                         (int32_t)(set->eta == 2 ? z - (205 * z >> 10) * 5 : z));
            }
        }
    }
    keccak_clear(&hash);
}

/* Algorithm 34: from -gamma1 + 1 to gamma1. */
static void sample_mask(const struct ml_dsa_set *set, const uint8_t seed[2 * SEED], unsigned number,
                        polynomial f)
{
    uint8_t bytes[N * 20 / 8];
    struct keccak hash;

    begin(&hash, SHAKE256_RATE, seed, 2 * SEED, number);
    keccak_squeeze(&hash, bytes, (size_t)N / 8 * (set->gamma1_bits + 1));
    decode(bytes, set->gamma1_bits + 1, (uint32_t)gamma1_of(set), f);
    keccak_clear(&hash);
    OPENSSL_cleanse(bytes, sizeof bytes);
}

/* Algorithm 29: tau coefficients of 1 or -1. */
static void sample_challenge(const struct ml_dsa_set *set, const uint8_t *challenge, polynomial f)
{
    struct keccak hash;
    uint8_t signs[8];

    keccak_begin(&hash, SHAKE256_RATE);
    keccak_absorb(&hash, challenge, set->challenge);
    keccak_end(&hash, SHAKE_SUFFIX);
    keccak_squeeze(&hash, signs, sizeof signs);
    memset(f, 0, sizeof(polynomial));
    for (unsigned i = N - set->tau; i < N; ++i) {
        const unsigned sign = i + set->tau - N;
        uint8_t place;

        do {
            keccak_squeeze(&hash, &place, 1);
        } while (place > i);
        f[i] = f[place];
        f[place] = signs[sign / 8] >> sign % 8 & 1 ? Q - 1 : 1;
    }
}

/* H of several strings. */
static void hash_all(const struct keccak_part *parts, unsigned count, uint8_t *result, size_t size)
{
    struct keccak hash;

    keccak_begin(&hash, SHAKE256_RATE);
    for (unsigned i = 0; i < count; ++i) {
        keccak_absorb(&hash, parts[i].bytes, parts[i].size);
    }
    keccak_end(&hash, SHAKE_SUFFIX);
    keccak_squeeze(&hash, result, size);
    keccak_clear(&hash);
}

void ml_dsa_hash_key(const struct ml_dsa_set *set, const uint8_t *pk, uint8_t tr[ML_DSA_TR])
{
    hash_all(&(struct keccak_part){pk, set->pk}, 1, tr, ML_DSA_TR);
}

/* Keys. */

/* The parts of a private key (algorithm 24), whose polynomials follow. */
struct private_key {
    const uint8_t *rho, *key, *tr, *s1, *s2, *t0;
    size_t small; /* bytes of a polynomial of s1 and s2 */
};

static struct private_key parts_of(const struct ml_dsa_set *set, const uint8_t *sk)
{
    const size_t small = (size_t)N / 8 * eta_bits(set);
    const uint8_t *const s1 = sk + 2 * SEED + ML_DSA_TR, *const s2 = s1 + small * set->l;

    return (struct private_key){sk, sk + SEED, sk + 2 * SEED, s1, s2, s2 + small * set->k, small};
}

static void decode_small(const struct ml_dsa_set *set, const uint8_t *bytes, polynomial f)
{
    decode(bytes, eta_bits(set), set->eta, f);
}

/* sum = the product of a row of the matrix and a vector, both transforms, transformed back. */
static void multiply_row(const struct ml_dsa_set *set, const uint8_t *rho, unsigned row,
                         polynomial *vector, polynomial other, polynomial sum)
{
    memset(sum, 0, sizeof(polynomial));
    for (unsigned j = 0; j < set->l; ++j) {
        sample_uniform(rho, row, j, other);
        add_product(sum, other, vector[j]);
    }
    transform_back(sum);
}

/* The numbers of a key that is made or checked. */
struct key_work {
    polynomial s1[MAX_L], t, other;
    uint8_t made[T0_BYTES];
};

/* Row i of t = A s1 + s2 in two halves (algorithms 6 and 35): t1 as bytes, t0 as bytes. */
static void make_row(const struct ml_dsa_set *set, const struct private_key *sk, unsigned i,
                     struct key_work *work, uint8_t *t1, uint8_t *t0)
{
    polynomial high;

    multiply_row(set, sk->rho, i, work->s1, work->other, work->t);
    decode_small(set, sk->s2 + sk->small * i, work->other);
    for (int k = 0; k < N; ++k) {
        const uint32_t t = add(work->t[k], work->other[k]);

        high[k] = (t + (1u << (D - 1)) - 1) >> D;
        work->t[k] = subtract(t, high[k] << D);
    }
    encode(high, T1_BITS, 0, t1);
    encode(work->t, D, 1u << (D - 1), t0);
}

static void read_s1(const struct ml_dsa_set *set, const struct private_key *sk,
                    struct key_work *work)
{
    for (unsigned i = 0; i < set->l; ++i) {
        decode_small(set, sk->s1 + sk->small * i, work->s1[i]);
        transform(work->s1[i]);
    }
}

bool ml_dsa_key_pair(const struct ml_dsa_set *set, const uint8_t seed[ML_DSA_SEED], uint8_t *pk,
                     uint8_t *sk)
{
    const uint8_t sizes[2] = {(uint8_t)set->k, (uint8_t)set->l};
    const struct keccak_part parts[] = {{seed, ML_DSA_SEED}, {sizes, sizeof sizes}};
    const struct private_key own = parts_of(set, sk);
    struct key_work *const work = secret_allocate(sizeof *work);
    uint8_t seeds[4 * SEED]; /* rho, rho', K */

    if (work == NULL) {
        return false;
    }
    hash_all(parts, 2, seeds, sizeof seeds);
    memcpy(pk, seeds, SEED);
    memcpy(sk, seeds, SEED);
    memcpy(sk + SEED, seeds + 3 * SEED, SEED);
    for (unsigned i = 0; i < set->l + set->k; ++i) { /* s2 follows s1 */
        sample_bounded(set, seeds + SEED, i, work->other);
        encode(work->other, eta_bits(set), set->eta, sk + (own.s1 - sk) + own.small * i);
    }
    read_s1(set, &own, work);
    for (unsigned i = 0; i < set->k; ++i) {
        make_row(set, &own, i, work, pk + SEED + (size_t)T1_BYTES * i,
                 sk + (own.t0 - sk) + (size_t)T0_BYTES * i);
    }
    ml_dsa_hash_key(set, pk, sk + 2 * SEED);
    OPENSSL_cleanse(seeds, sizeof seeds);
    secret_free(work);
    return true;
}

/* Whether the polynomials of s1 and s2 are from -eta to eta. */
static bool is_bounded(const struct ml_dsa_set *set, const struct private_key *sk,
                       struct key_work *work)
{
    uint32_t wrong = 0;

    for (unsigned i = 0; i < set->l + set->k; ++i) {
        decode_small(set, sk->s1 + sk->small * i, work->other);
        for (int k = 0; k < N; ++k) {
            wrong |= exceeds(to_signed(work->other[k]), (int32_t)set->eta + 1);
        }
    }
    return wrong == 0;
}

bool ml_dsa_public_of(const struct ml_dsa_set *set, const uint8_t *sk, uint8_t *pk)
{
    const struct private_key own = parts_of(set, sk);
    struct key_work *const work = secret_allocate(sizeof *work);
    uint8_t tr[ML_DSA_TR];
    bool good = work && is_bounded(set, &own, work);

    if (good) {
        memcpy(pk, own.rho, SEED);
        read_s1(set, &own, work);
        for (unsigned i = 0; i < set->k; ++i) {
            make_row(set, &own, i, work, pk + SEED + (size_t)T1_BYTES * i, work->made);
            good = CRYPTO_memcmp(work->made, own.t0 + (size_t)T0_BYTES * i, T0_BYTES) == 0 && good;
        }
        ml_dsa_hash_key(set, pk, tr);
        good = CRYPTO_memcmp(tr, own.tr, ML_DSA_TR) == 0 && good;
    }
    secret_free(work);
    return good;
}

/* Signatures. */

/* Bytes of a polynomial of z, and of w1. */
static size_t z_size(const struct ml_dsa_set *set)
{
    return (size_t)N / 8 * (set->gamma1_bits + 1);
}

static size_t w1_size(const struct ml_dsa_set *set)
{
    return (size_t)N / 8 * w1_bits(set);
}

enum { MAX_W1 = MAX_K * N * 6 / 8 };

/* The numbers of a signature that is made. */
struct signing {
    polynomial s1[MAX_L], s2[MAX_K], t0[MAX_K]; /* transforms */
    polynomial y[MAX_L], z[MAX_L], w[MAX_K], c, other, product;
    uint8_t hints[MAX_K][N], w1[MAX_W1], seed[2 * SEED], challenge[MAX_CHALLENGE];
};

static void read_private(const struct ml_dsa_set *set, const struct private_key *sk,
                         struct signing *work)
{
    for (unsigned i = 0; i < set->l; ++i) {
        decode_small(set, sk->s1 + sk->small * i, work->s1[i]);
        transform(work->s1[i]);
    }
    for (unsigned i = 0; i < set->k; ++i) {
        decode_small(set, sk->s2 + sk->small * i, work->s2[i]);
        transform(work->s2[i]);
        decode(sk->t0 + (size_t)T0_BYTES * i, D, 1u << (D - 1), work->t0[i]);
        transform(work->t0[i]);
    }
}

/* Lines 11 to 16: the commitment and its challenge. */
static void commit(const struct ml_dsa_set *set, const uint8_t *rho, const uint8_t *mu,
                   unsigned counter, struct signing *work)
{
    const struct keccak_part parts[] = {{mu, ML_DSA_MU}, {work->w1, w1_size(set) * set->k}};

    for (unsigned i = 0; i < set->l; ++i) {
        sample_mask(set, work->seed, counter + i, work->y[i]);
        memcpy(work->z[i], work->y[i], sizeof(polynomial));
        transform(work->z[i]);
    }
    for (unsigned i = 0; i < set->k; ++i) {
        multiply_row(set, rho, i, work->z, work->other, work->w[i]);
        for (int k = 0; k < N; ++k) {
            work->other[k] = high_bits(set, work->w[i][k]);
        }
        encode(work->other, w1_bits(set), 0, work->w1 + w1_size(set) * i);
    }
    hash_all(parts, 2, work->challenge, set->challenge);
    sample_challenge(set, work->challenge, work->c);
    transform(work->c);
}

/* z = y + c s1; whether it is small enough. */
static bool respond(const struct ml_dsa_set *set, struct signing *work)
{
    const int32_t bound = gamma1_of(set) - beta_of(set);
    uint32_t wrong = 0;

    for (unsigned i = 0; i < set->l; ++i) {
        multiply_back(work->z[i], work->c, work->s1[i]);
        for (int k = 0; k < N; ++k) {
            work->z[i][k] = add(work->z[i][k], work->y[i][k]);
            wrong |= exceeds(to_signed(work->z[i][k]), bound);
        }
    }
    return wrong == 0;
}

/* w = w - c s2; whether its low bits are small enough. */
static bool check_low(const struct ml_dsa_set *set, struct signing *work)
{
    const int32_t bound = set->gamma2 - beta_of(set);
    uint32_t wrong = 0;

    for (unsigned i = 0; i < set->k; ++i) {
        multiply_back(work->product, work->c, work->s2[i]);
        for (int k = 0; k < N; ++k) {
            int32_t low;

            work->w[i][k] = subtract(work->w[i][k], work->product[k]);
            (void)decompose(set, work->w[i][k], &low);
            wrong |= exceeds(low, bound);
        }
    }
    return wrong == 0;
}

/* The hints (algorithm 39) of w + c t0; whether there are few enough, and c t0 is small enough. */
static bool make_hints(const struct ml_dsa_set *set, struct signing *work)
{
    uint32_t wrong = 0;
    unsigned count = 0;

    for (unsigned i = 0; i < set->k; ++i) {
        multiply_back(work->product, work->c, work->t0[i]);
        for (int k = 0; k < N; ++k) {
            const uint32_t w = work->w[i][k];

            wrong |= exceeds(to_signed(work->product[k]), set->gamma2);
            work->hints[i][k] =
                high_bits(set, w) != high_bits(set, add(w, work->product[k]));
            count += work->hints[i][k];
        }
    }
    return wrong == 0 && count <= set->omega;
}

/* Algorithms 26 and 20. */
static void write_signature(const struct ml_dsa_set *set, const struct signing *work,
                            uint8_t *signature)
{
    uint8_t *const z = signature + set->challenge, *const hints = z + z_size(set) * set->l;
    unsigned count = 0;

    memcpy(signature, work->challenge, set->challenge);
    for (unsigned i = 0; i < set->l; ++i) {
        encode(work->z[i], set->gamma1_bits + 1, (uint32_t)gamma1_of(set), z + z_size(set) * i);
    }
    memset(hints, 0, set->omega + set->k);
    for (unsigned i = 0; i < set->k; ++i) {
        for (unsigned k = 0; k < N; ++k) {
            if (work->hints[i][k]) {
                hints[count++] = (uint8_t)k;
            }
        }
        hints[set->omega + i] = (uint8_t)count;
    }
}

bool ml_dsa_sign(const struct ml_dsa_set *set, const uint8_t *sk, const uint8_t mu[ML_DSA_MU],
                 const uint8_t random[ML_DSA_RANDOM], uint8_t *signature)
{
    const struct private_key own = parts_of(set, sk);
    const struct keccak_part parts[] = {{own.key, SEED}, {random, ML_DSA_RANDOM}, {mu, ML_DSA_MU}};
    struct signing *const work = secret_allocate(sizeof *work);
    unsigned counter = 0;
    bool done = false;

    if (work == NULL) {
        return false;
    }
    read_private(set, &own, work);
    hash_all(parts, 3, work->seed, sizeof work->seed);
    /* Each attempt fails with a probability of at most 0.82; the counter has 16 bits. */
    for (; !done && counter + set->l <= 1u << 16; counter += set->l) {
        commit(set, own.rho, mu, counter, work);
        done = respond(set, work) && check_low(set, work) && make_hints(set, work);
    }
    if (done) {
        write_signature(set, work, signature);
    }
    secret_free(work);
    return done;
}

/* Algorithm 21; false unless it is the one encoding of its hints. */
static bool read_hints(const struct ml_dsa_set *set, const uint8_t *bytes, uint8_t hints[MAX_K][N])
{
    unsigned place = 0;

    memset(hints, 0, sizeof(uint8_t[MAX_K][N]));
    for (unsigned i = 0; i < set->k; ++i) {
        const unsigned end = bytes[set->omega + i], first = place;

        if (end < place || end > set->omega) {
            return false;
        }
        for (; place < end; ++place) {
            if (place > first && bytes[place - 1] >= bytes[place]) {
                return false;
            }
            hints[i][bytes[place]] = 1;
        }
    }
    for (; place < set->omega; ++place) {
        if (bytes[place]) {
            return false;
        }
    }
    return true;
}

/* The numbers of a signature that is verified. */
struct verifying {
    polynomial z[MAX_L], c, t, sum, other;
    uint8_t hints[MAX_K][N], w1[MAX_W1];
};

static bool read_response(const struct ml_dsa_set *set, const uint8_t *bytes,
                          struct verifying *work)
{
    const int32_t bound = gamma1_of(set) - beta_of(set);
    uint32_t wrong = 0;

    for (unsigned i = 0; i < set->l; ++i) {
        decode(bytes + z_size(set) * i, set->gamma1_bits + 1, (uint32_t)gamma1_of(set), work->z[i]);
        for (int k = 0; k < N; ++k) {
            wrong |= exceeds(to_signed(work->z[i][k]), bound);
        }
        transform(work->z[i]);
    }
    return wrong == 0;
}

/* Row i of w1 (line 9): the high bits of A z - c t1 2^d, as the hints have them. */
static void recover_row(const struct ml_dsa_set *set, const uint8_t *pk, unsigned i,
                        struct verifying *work)
{
    multiply_row(set, pk, i, work->z, work->other, work->sum);
    decode(pk + SEED + (size_t)T1_BYTES * i, T1_BITS, 0, work->t);
    for (int k = 0; k < N; ++k) {
        work->t[k] <<= D;
    }
    transform(work->t);
    multiply_back(work->other, work->c, work->t);
    for (int k = 0; k < N; ++k) {
        work->other[k] =
            use_hint(set, subtract(work->sum[k], work->other[k]), work->hints[i][k]);
    }
    encode(work->other, w1_bits(set), 0, work->w1 + w1_size(set) * i);
}

bool ml_dsa_verify(const struct ml_dsa_set *set, const uint8_t *pk, const uint8_t mu[ML_DSA_MU],
                   const uint8_t *signature, bool *valid)
{
    const uint8_t *const z = signature + set->challenge;
    struct verifying *const work = secret_allocate(sizeof *work);
    uint8_t expected[MAX_CHALLENGE];

    *valid = false;
    if (work == NULL) {
        return false;
    }
    if (read_hints(set, z + z_size(set) * set->l, work->hints) && read_response(set, z, work)) {
        const struct keccak_part parts[] = {{mu, ML_DSA_MU}, {work->w1, w1_size(set) * set->k}};

        sample_challenge(set, signature, work->c);
        transform(work->c);
        for (unsigned i = 0; i < set->k; ++i) {
            recover_row(set, pk, i, work);
        }
        hash_all(parts, 2, expected, set->challenge);
        *valid = memcmp(expected, signature, set->challenge) == 0;
    }
    secret_free(work);
    return true;
}
