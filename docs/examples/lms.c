/* Verification of HSS and LMS signatures (RFC 8554; SP 800-208 and RFC 9858 for SHAKE256 and for hashes
   of 24 bytes), by any function that hashes: here SHAKE256 of an accelerator `shake`.

   A signature with w = 8, the usual one for firmware, takes some 4,400 hashes of 55 bytes. w = 4 and
   w = 8 are supported; 1 and 2 need a longer LMS_CHAINS. */
#include "coprime_calls.h"
#include "coprime_shake.h"

enum {
    LMS_INVALID = -1, /* not a signature of this message with this key */
    LMS_DIGEST = 32,
    LMS_CHAINS = 67, /* of hashes of 32 bytes with w = 4 */
    LMS_NAME = 16,   /* I, the name of a tree */
    LMS_HEAD = LMS_NAME + 4 + 2
};

/* How to hash. */
struct lms_hash {
    void *context;
    /* The first 32 bytes of the digest of two parts, one after the other. 0, or an error over 0. */
    int (*digest)(void *context, const uint8_t *first, uint32_t first_size, const uint8_t *second,
                  uint32_t second_size, uint8_t output[LMS_DIGEST]);
    bool is_shake; /* SHAKE256, or else SHA-256 */
};

/* What the numbers of a key's types say. */
struct lms_parameters {
    uint32_t size;                      /* bytes of a hash: 32 or 24 */
    uint32_t height;                    /* of the tree */
    uint32_t width, chains, shift;      /* of the one-time signature: w, p, ls */
    uint32_t one_time_bytes, all_bytes; /* of signatures */
    uint32_t key_bytes;
};

static uint32_t number(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void store(uint8_t *bytes, uint32_t value, uint32_t count)
{
    while (count--) {
        bytes[count] = (uint8_t)(value & 0xFFu);
        value >>= 8;
    }
}

/* Section 4.1 and 5.1. The types come in fours and fives: SHA-256 with 32 and 24 bytes, then SHAKE256. */
static bool find_parameters(const struct lms_hash *hash, uint32_t tree, uint32_t one_time,
                            struct lms_parameters *made)
{
    static const uint8_t chains[2][2] = {{67, 34}, {51, 26}}; /* w = 4, w = 8 */
    const uint32_t kind = (one_time - 1u) / 4u, power = (one_time - 1u) % 4u;

    if (one_time < 1u || one_time > 16u || tree < 5u || tree > 24u || (tree - 5u) / 5u != kind ||
        power < 2u || (kind >= 2u) != hash->is_shake) {
        return false;
    }
    made->size = kind % 2u ? 24u : 32u;
    made->height = 5u * ((tree - 5u) % 5u + 1u);
    made->width = 1u << power;
    made->chains = chains[kind % 2u][power - 2u];
    made->shift = made->width == 4u ? 4u : 0u;
    made->one_time_bytes = 4u + made->size * (1u + made->chains);
    made->all_bytes = 4u + made->one_time_bytes + 4u + made->size * made->height;
    made->key_bytes = 8u + LMS_NAME + made->size;
    return true;
}

/* Digit k of a digest with its checksum: a digit has `width` bits. */
static uint32_t digit(const uint8_t *digits, uint32_t k, uint32_t width)
{
    return width == 8u ? digits[k] : digits[k / 2u] >> (k % 2u ? 0 : 4) & 0xFu;
}

/* Algorithm 4b: Kc, the public key of the one-time signature that would be right. `head` has I and q. */
static int one_time_key(const struct lms_hash *hash, const struct lms_parameters *of, uint8_t *head,
                        const uint8_t *signature, const uint8_t *message, uint32_t size,
                        uint8_t key[LMS_DIGEST])
{
    const uint32_t n = of->size, last = (1u << of->width) - 1u, plain = 8u * n / of->width;
    uint8_t digits[LMS_DIGEST + 2], step[LMS_HEAD + 1 + LMS_DIGEST], ends[LMS_CHAINS * LMS_DIGEST];
    uint8_t begin[LMS_HEAD + LMS_DIGEST], next[LMS_DIGEST];
    uint32_t sum = 0;
    int error;

    store(head + LMS_NAME + 4, 0x8181u, 2); /* D_MESG */
    for (uint32_t i = 0; i < LMS_HEAD + n; ++i) {
        begin[i] = i < LMS_HEAD ? head[i] : signature[4 + i - LMS_HEAD];
    }
    error = hash->digest(hash->context, begin, LMS_HEAD + n, message, size, digits);
    for (uint32_t k = 0; k < plain; ++k) {
        sum += last - digit(digits, k, of->width);
    }
    store(digits + n, sum << of->shift, 2);
    for (uint32_t i = 0; i < LMS_NAME + 4; ++i) {
        step[i] = head[i];
    }
    for (uint32_t k = 0; k < of->chains && !error; ++k) {
        uint8_t *const at = step + LMS_HEAD + 1;

        store(step + LMS_NAME + 4, k, 2);
        for (uint32_t i = 0; i < n; ++i) {
            at[i] = signature[4 + n + k * n + i];
        }
        for (uint32_t j = digit(digits, k, of->width); j < last && !error; ++j) {
            step[LMS_HEAD] = (uint8_t)j;
            error = hash->digest(hash->context, step, LMS_HEAD + 1 + n, NULL, 0, next);
            for (uint32_t i = 0; i < n; ++i) {
                at[i] = next[i];
            }
        }
        for (uint32_t i = 0; i < n; ++i) {
            ends[k * n + i] = at[i];
        }
    }
    store(head + LMS_NAME + 4, 0x8080u, 2); /* D_PBLC */
    return error ? error
                 : hash->digest(hash->context, head, LMS_HEAD, ends, of->chains * n, key);
}

/* Algorithms 6 and 6a: one tree. The lengths have been checked. */
static int verify_tree(const struct lms_hash *hash, const struct lms_parameters *of,
                       const uint8_t *key, const uint8_t *message, uint32_t size,
                       const uint8_t *signature)
{
    const uint32_t n = of->size, q = number(signature);
    const uint8_t *const path = signature + 4 + of->one_time_bytes + 4;
    uint8_t head[LMS_HEAD], node[LMS_DIGEST], pair[2 * LMS_DIGEST], differs = 0;
    uint32_t place = (1u << of->height) + q;
    int error;

    if (q >> of->height || number(signature + 4) != number(key + 4) ||
        number(signature + 4 + of->one_time_bytes) != number(key)) {
        return LMS_INVALID;
    }
    for (uint32_t i = 0; i < LMS_NAME; ++i) {
        head[i] = key[8 + i];
    }
    store(head + LMS_NAME, q, 4);
    error = one_time_key(hash, of, head, signature + 4, message, size, node);
    if (error) {
        return error;
    }
    store(head + LMS_NAME, place, 4);
    store(head + LMS_NAME + 4, 0x8282u, 2); /* D_LEAF */
    for (uint32_t i = 0; i < n; ++i) {
        pair[i] = node[i];
    }
    error = hash->digest(hash->context, head, LMS_HEAD, pair, n, node);
    store(head + LMS_NAME + 4, 0x8383u, 2); /* D_INTR */
    for (uint32_t level = 0; level < of->height && !error; ++level) {
        const uint32_t own = place & 1u ? n : 0, other = n - own;

        for (uint32_t i = 0; i < n; ++i) {
            pair[own + i] = node[i];
            pair[other + i] = path[level * n + i];
        }
        place >>= 1;
        store(head + LMS_NAME, place, 4);
        error = hash->digest(hash->context, head, LMS_HEAD, pair, 2u * n, node);
    }
    for (uint32_t i = 0; i < n; ++i) {
        differs |= node[i] ^ key[8 + LMS_NAME + i];
    }
    return error ? error : differs ? LMS_INVALID : 0;
}

/* Section 6.3: 0 if the signature is one of the message with the key; LMS_INVALID if it is not, or has
   types that are not supported; or the error of the hash. */
int hss_verify(const struct lms_hash *hash, const uint8_t *key, uint32_t key_size,
               const uint8_t *message, uint32_t message_size, const uint8_t *signature,
               uint32_t signature_size)
{
    struct lms_parameters of;
    uint32_t levels;

    if (key_size < 12u || signature_size < 4u) {
        return LMS_INVALID;
    }
    levels = number(key);
    if (levels < 1u || levels > 8u || number(signature) + 1u != levels) {
        return LMS_INVALID;
    }
    key += 4, key_size -= 4u;
    signature += 4, signature_size -= 4u;
    for (; levels > 1u; --levels) { /* a signature of the next tree's key, and that key */
        const uint8_t *next;
        struct lms_parameters then;
        int error;

        if (key_size < 8u || !find_parameters(hash, number(key), number(key + 4), &of) ||
            key_size != of.key_bytes || signature_size < of.all_bytes + 8u) {
            return LMS_INVALID;
        }
        next = signature + of.all_bytes;
        if (!find_parameters(hash, number(next), number(next + 4), &then) ||
            signature_size < of.all_bytes + then.key_bytes) {
            return LMS_INVALID;
        }
        error = verify_tree(hash, &of, key, next, then.key_bytes, signature);
        if (error) {
            return error;
        }
        key = next, key_size = then.key_bytes;
        signature += of.all_bytes + then.key_bytes;
        signature_size -= of.all_bytes + then.key_bytes;
    }
    if (key_size < 8u || !find_parameters(hash, number(key), number(key + 4), &of) ||
        key_size != of.key_bytes || signature_size != of.all_bytes) {
        return LMS_INVALID;
    }
    return verify_tree(hash, &of, key, message, message_size, signature);
}

/* SHAKE256 of an accelerator, for struct lms_hash: the context is its driver. */
int lms_shake256(void *context, const uint8_t *first, uint32_t first_size, const uint8_t *second,
                 uint32_t second_size, uint8_t output[LMS_DIGEST])
{
    static const uint8_t length[COPRIME_SHAKE_BYTES_OUTPUT_BYTES] = {LMS_DIGEST};
    struct coprime *const driver = context;
    const uint32_t message = COPRIME_SHAKE_SLOT_MESSAGE;
    int error = coprime_load_slot(driver, COPRIME_SHAKE_SLOT_OUTPUT_BYTES, length, sizeof length);

    error = error ? error : coprime_call_start(driver, COPRIME_SHAKE_CALL_SHAKE256);
    if (!error && second_size) {
        error = coprime_call_update(driver, message, first, first_size);
        error = error ? error : coprime_call_finish(driver, message, second, second_size);
    } else if (!error) {
        error = coprime_call_finish(driver, message, first, first_size);
    }
    error = error ? error : coprime_call_read(driver, COPRIME_SHAKE_SLOT_OUTPUT, output, LMS_DIGEST);
    return error ? error : coprime_call_end(driver);
}
