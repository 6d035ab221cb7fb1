#include "padding.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

/* Masks: all ones or zero, computed without a branch. */

static uint32_t mask_of(uint32_t bit)
{
    volatile uint32_t hidden = bit;

    return 0u - hidden;
}

/* Numbers below 2^31. */
static uint32_t is_less(uint32_t a, uint32_t b)
{
    return mask_of((a - b) >> 31);
}

static uint32_t is_zero(uint32_t a)
{
    return is_less(a, 1);
}

static uint32_t select(uint32_t mask, uint32_t a, uint32_t b)
{
    return (a & mask) | (b & ~mask);
}

/* text ^= MGF1(seed). */
static bool add_mask(const struct crypto *crypto, const struct digest *mgf, const uint8_t *seed,
                     size_t seed_size, uint8_t *text, size_t size)
{
    uint8_t block[MAX_DIGEST], input[MAX_RSA_BYTES + 4];
    bool done = seed_size <= MAX_RSA_BYTES;

    if (done) {
        memcpy(input, seed, seed_size);
    }
    for (size_t at = 0, k = 0; done && at < size; at += mgf->size, ++k) {
        for (int i = 0; i < 4; ++i) {
            input[seed_size + (size_t)i] = (uint8_t)(k >> (24 - 8 * i));
        }
        done = crypto_digest(crypto, mgf, input, seed_size + 4, block);
        for (size_t i = 0; i < mgf->size && at + i < size; ++i) {
            text[at + i] ^= block[i];
        }
    }
    OPENSSL_cleanse(block, sizeof block);
    OPENSSL_cleanse(input, sizeof input);
    return done;
}

bool pad_pkcs1_signature(size_t bytes, const uint8_t *text, size_t size, uint8_t *padded)
{
    if (size + 11 > bytes) {
        return false;
    }
    memset(padded, 0xFF, bytes);
    padded[0] = 0;
    padded[1] = 1;
    padded[bytes - size - 1] = 0;
    if (size) {
        memcpy(padded + bytes - size, text, size);
    }
    return true;
}

bool pad_pkcs1(const struct crypto *crypto, size_t bytes, const uint8_t *text, size_t size,
               uint8_t *padded)
{
    if (size + 11 > bytes || !crypto_random(crypto, padded, bytes)) {
        return false;
    }
    padded[0] = 0;
    padded[1] = 2;
    for (size_t i = 2; i < bytes - size - 1; ++i) {
        while (padded[i] == 0) {
            if (!crypto_random(crypto, padded + i, 1)) {
                return false;
            }
        }
    }
    padded[bytes - size - 1] = 0;
    if (size) {
        memcpy(padded + bytes - size, text, size);
    }
    return true;
}

bool pad_oaep(const struct crypto *crypto, const struct padding *padding, size_t bytes,
              const uint8_t *text, size_t size, uint8_t *padded)
{
    const size_t length = padding->digest->size;
    uint8_t *const seed = padded + 1, *const block = padded + 1 + length;
    const size_t block_size = bytes - 1 - length;

    if (bytes < 2 * length + 2 || size > bytes - 2 * length - 2) {
        return false;
    }
    memset(padded, 0, bytes);
    if (!crypto_digest(crypto, padding->digest, padding->label, padding->label_size, block) ||
        !crypto_random(crypto, seed, length)) {
        return false;
    }
    padded[bytes - size - 1] = 1;
    if (size) {
        memcpy(padded + bytes - size, text, size);
    }
    return add_mask(crypto, padding->mgf, seed, length, block, block_size) &&
           add_mask(crypto, padding->mgf, block, block_size, seed, length);
}

bool unpad_oaep(const struct crypto *crypto, const struct padding *padding, size_t bytes,
                uint8_t *padded, uint8_t *text, size_t *size)
{
    const size_t length = padding->digest->size;
    uint8_t *const seed = padded + 1, *const block = padded + 1 + length;
    const size_t block_size = bytes - 1 - length;
    uint8_t label[MAX_DIGEST];
    uint32_t bad, looking = ~0u, start = 0;

    if (bytes < 2 * length + 2 ||
        !add_mask(crypto, padding->mgf, block, block_size, seed, length) ||
        !add_mask(crypto, padding->mgf, seed, length, block, block_size) ||
        !crypto_digest(crypto, padding->digest, padding->label, padding->label_size, label)) {
        return false;
    }
    bad = padded[0];
    for (size_t i = 0; i < length; ++i) {
        bad |= (uint32_t)(block[i] ^ label[i]);
    }
    /* Zeros, a 1, the message: anything else before the 1 is wrong. */
    for (uint32_t i = (uint32_t)length; i < block_size; ++i) {
        const uint32_t one = is_zero(block[i] ^ 1u), zero = is_zero(block[i]);

        start = select(looking & one, i + 1, start);
        bad |= looking & ~one & ~zero & 1u;
        looking &= ~one;
    }
    bad |= looking & 1u;
    if (bad) { /* one reason for all, and one exit */
        return false;
    }
    *size = block_size - start;
    memcpy(text, block + start, *size);
    return true;
}

/* The digest over which PSS is computed: of 8 zeros, the digest and the salt. */
static bool pss_digest(const struct crypto *crypto, const struct padding *padding,
                       const uint8_t *digest, const uint8_t *salt, uint8_t *result)
{
    uint8_t input[8 + MAX_DIGEST + MAX_RSA_BYTES] = {0};
    const size_t length = padding->digest->size;

    memcpy(input + 8, digest, length);
    if (padding->salt) {
        memcpy(input + 8 + length, salt, padding->salt);
    }
    return crypto_digest(crypto, padding->digest, input, 8 + length + padding->salt, result);
}

/* Bytes of the encoded string: one bit less than the modulus. */
static size_t pss_bytes(uint32_t bits)
{
    return ((size_t)bits + 6) / 8;
}

bool pad_pss(const struct crypto *crypto, const struct padding *padding, uint32_t bits,
             const uint8_t *digest, uint8_t *padded)
{
    const size_t bytes = ((size_t)bits + 7) / 8, used = pss_bytes(bits);
    const size_t length = padding->digest->size;
    uint8_t *const block = padded + bytes - used, *hash, *salt;
    size_t block_size;

    if (padding->salt > used || used < length + padding->salt + 2) {
        return false;
    }
    block_size = used - length - 1;
    hash = block + block_size;
    salt = hash - padding->salt;
    memset(padded, 0, bytes);
    if (!crypto_random(crypto, salt, padding->salt) ||
        !pss_digest(crypto, padding, digest, salt, hash)) {
        return false;
    }
    salt[-1] = 1;
    if (!add_mask(crypto, padding->mgf, hash, length, block, block_size)) {
        return false;
    }
    block[0] &= (uint8_t)(0xFF >> (8 * used - (bits - 1)));
    padded[bytes - 1] = 0xBC;
    return true;
}

bool check_pss(const struct crypto *crypto, const struct padding *padding, uint32_t bits,
               const uint8_t *digest, const uint8_t *padded)
{
    const size_t bytes = ((size_t)bits + 7) / 8, used = pss_bytes(bits);
    const size_t length = padding->digest->size;
    const uint8_t *const hash = padded + bytes - 1 - length;
    uint8_t block[MAX_RSA_BYTES], expected[MAX_DIGEST], top;
    size_t block_size, zeros;

    if (padding->salt > used || used < length + padding->salt + 2) {
        return false;
    }
    block_size = used - length - 1;
    zeros = block_size - padding->salt - 1;
    top = (uint8_t)(0xFF >> (8 * used - (bits - 1)));
    memcpy(block, padded + bytes - used, block_size);
    if (padded[bytes - 1] != 0xBC || (used < bytes && padded[0]) || (block[0] & ~top) ||
        !add_mask(crypto, padding->mgf, hash, length, block, block_size)) {
        return false;
    }
    block[0] &= top;
    for (size_t i = 0; i < zeros; ++i) {
        if (block[i]) {
            return false;
        }
    }
    return block[zeros] == 1 &&
           pss_digest(crypto, padding, digest, block + zeros + 1, expected) &&
           memcmp(expected, hash, length) == 0;
}

/* Implicit rejection: draft-irtf-cfrg-rsa-guidance, section 7, as OpenSSL 3.2 and later do it. */

/* `size` bytes that follow from a key and a label. */
static bool derive(const struct crypto *crypto, const uint8_t key[32], const char *label,
                   uint8_t *result, size_t size)
{
    const size_t label_size = strlen(label);
    uint8_t input[2 + 16 + 2], block[32];
    bool done = label_size <= 16;

    for (size_t at = 0, k = 0; done && at < size; at += sizeof block, ++k) {
        input[0] = (uint8_t)(k >> 8);
        input[1] = (uint8_t)k;
        memcpy(input + 2, label, label_size);
        input[2 + label_size] = (uint8_t)(8 * size >> 8);
        input[3 + label_size] = (uint8_t)(8 * size);
        done = crypto_hmac_sha256(crypto, key, 32, input, 4 + label_size, block);
        memcpy(result + at, block, size - at < sizeof block ? size - at : sizeof block);
    }
    OPENSSL_cleanse(block, sizeof block);
    return done;
}

/* The message for a wrong padding: the last `*size` bytes of `text`. */
static bool alternative(const struct crypto *crypto, const struct rsa_key *key,
                        const uint8_t *ciphertext, uint8_t *text, uint32_t *size)
{
    const uint32_t limit = (uint32_t)key->bytes - 10; /* lengths are below it */
    uint8_t candidates[256], derived[32];
    uint32_t mask = limit;
    bool done;

    for (int i = 1; i < 16; i *= 2) {
        mask |= mask >> i;
    }
    done = crypto_hmac_sha256(crypto, key->secret->digest_of_d, 32, ciphertext, key->bytes,
                              derived) &&
           derive(crypto, derived, "length", candidates, sizeof candidates) &&
           derive(crypto, derived, "message", text, key->bytes);
    *size = 0;
    for (size_t i = 0; done && i < sizeof candidates; i += 2) {
        const uint32_t candidate = ((uint32_t)candidates[i] << 8 | candidates[i + 1]) & mask;

        *size = select(is_less(candidate, limit), candidate, *size);
    }
    OPENSSL_cleanse(candidates, sizeof candidates);
    OPENSSL_cleanse(derived, sizeof derived);
    return done;
}

bool unpad_pkcs1(const struct crypto *crypto, const struct rsa_key *key, const uint8_t *ciphertext,
                 const uint8_t *padded, uint8_t *text, size_t *size)
{
    const uint32_t bytes = (uint32_t)key->bytes;
    uint8_t other[MAX_RSA_BYTES];
    uint32_t good, looking = ~0u, separator = 0, start, other_size;

    if (!alternative(crypto, key, ciphertext, other, &other_size)) {
        return false;
    }
    good = is_zero(padded[0]) & is_zero(padded[1] ^ 2u);
    for (uint32_t i = 2; i < bytes; ++i) {
        const uint32_t zero = is_zero(padded[i]);

        separator = select(looking & zero, i, separator);
        looking &= ~zero;
    }
    good &= ~looking & ~is_less(separator, 10);
    start = select(good, separator + 1, bytes - other_size);
    /* Which of the two the bytes come from is not seen in the addresses. */
    for (uint32_t i = 0; i < bytes; ++i) {
        other[i] = (uint8_t)select(good, padded[i], other[i]);
    }
    *size = bytes - start;
    memcpy(text, other + start, *size);
    OPENSSL_cleanse(other, sizeof other);
    return true;
}
