/* RSA decryption in software alone: what an accelerator is compared with.

   Plain C with words of 32 bits: Montgomery multiplication, a window of 4 bits, the Chinese
   Remainder Theorem. Time and accesses are the same for every key and ciphertext of a length, where
   the processor multiplies in constant time. */
#ifndef SOFTWARE_RSA_H
#define SOFTWARE_RSA_H

#include <stdint.h>

/* Words of the longest prime. */
#define SOFTWARE_WORDS 64

/* An odd modulus m of `words` words, whose highest ones may be 0; R is 2^(32 * words). */
struct software_modulus {
    uint32_t words;
    uint32_t inverse; /* -m^-1 mod 2^32 */
    uint32_t value[SOFTWARE_WORDS];
    uint32_t power[SOFTWARE_WORDS]; /* R^2 mod m */
};

struct software_key {
    struct software_modulus p, q; /* Both with the words of the longer one. */
    uint32_t dp[SOFTWARE_WORDS], dq[SOFTWARE_WORDS];
    uint32_t coefficient[SOFTWARE_WORDS]; /* q^-1 mod p */
};

/* Compute a modulus's constants; `value` and `words`, 1 to SOFTWARE_WORDS, must be set. */
void software_prepare(struct software_modulus *modulus);

/* result = x^exponent mod the prepared modulus, all of its words; x < modulus. */
void software_modexp(const struct software_modulus *modulus, const uint32_t *x,
                     const uint32_t *exponent, uint32_t *result);

/* result = x^d mod p*q, both of 2 * words words; x < p*q. */
void software_private(const struct software_key *key, const uint32_t *x, uint32_t *result);

#endif
