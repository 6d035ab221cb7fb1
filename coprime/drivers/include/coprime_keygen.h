/* Generation of RSA keys, whose primes the accelerator tests: FIPS 186-5, A.1.3.

   Like the driver it allocates no memory, has no global variables and needs no library. */
#ifndef COPRIME_KEYGEN_H
#define COPRIME_KEYGEN_H

#include "coprime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words of memory for a key of `bits` bits, its constants, and what is needed to make it. */
#define COPRIME_KEYGEN_MEMORY(bits) (25u * COPRIME_WORDS(bits) / 2u + 2u)

/* What is asked for. */
struct coprime_generation {
    /* Length of the modulus: 1024 to 4096, a multiple of 64. */
    uint32_t bits;
    /* Public exponent: odd, over 2^16 and below 2^31, such as 65537. */
    uint32_t exponent;
    /* Passed to the function. */
    void *context;
    /* Write `size` random bytes, of a generator that is approved for keys. Return 0, or another
       value if it has failed. */
    int (*random)(void *context, uint8_t *bytes, size_t size);
    /* Null; or called before each exponentiation, of which a candidate takes one or more, and the
       finished key two. The generation needs nothing of what the accelerator holds then: the function
       may use it, wipe it, give it to somebody else, and wait. `*driver` is used from then on; it may
       become the driver of another accelerator that is built with the same parameters, and open. What
       the accelerator held is of the candidate, and secret.

       Return 0 to go on. Another value ends the generation with that error, such as
       COPRIME_ERROR_STOPPED; the accelerator is then left as it is, without another access. */
    int (*yield)(void *context, struct coprime **driver);
};

/* Generate a key, make its constants, and load it: it may be used at once.

   The key's numbers and constants are at the front of `memory`, which is reduced to the rest; they
   must stay there as long as the key is loaded from them. Of the primes, p is the greater one, and
   both are 3 modulo 4. At the end a random number is encrypted and decrypted by the accelerator.

   A number of random candidates is tested that nobody can foresee. What was dropped is independent
   of the key. With what is taken, time and memory accesses of software are the same for all keys of
   a length, and the processor multiplies and divides nothing that is secret, provided that the
   compiler does not turn masks into branches. The accelerator should be `constant_time`.

   After an error the memory is overwritten with zeros, all of it is left, and the key is not to be used;
   the accelerator is wiped, unless `yield` gave the error.
   Errors: COPRIME_ERROR_SIZE if `bits` or `exponent` is out of range; COPRIME_ERROR_LENGTH_OVER if
   the accelerator does not hold such keys; COPRIME_ERROR_UNSUPPORTED if it lacks MODEXP or MODMUL,
   or has a fixed modulus; COPRIME_ERROR_MEMORY; COPRIME_ERROR_RANDOM; COPRIME_ERROR_PRIME;
   COPRIME_ERROR_FAULT if the key does not work: the accelerator has accepted a number that is no
   prime (then COPRIME_ERROR_KEY may come, too); and COPRIME_ERROR_BUSY, COPRIME_ERROR_TIMEOUT. */
int coprime_generate_key(struct coprime *driver, const struct coprime_generation *generation,
                         struct coprime_private_key *key, struct coprime_memory *memory);

#ifdef __cplusplus
}
#endif

#endif
