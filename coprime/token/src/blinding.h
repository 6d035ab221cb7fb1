/* Blinding of a private operation, so that nothing but its blinded result is computed with in variable
   time: an engine, and the check of its result with the public exponent.

   Source: P. C. Kocher, "Timing Attacks on Implementations of Diffie-Hellman, RSA, DSS, and Other
   Systems", CRYPTO '96, section 10; libcrypto's BN_BLINDING. What differs: each operation has a random
   number of its own, as an engine takes much longer than making it does. */
#ifndef COPRIME_TOKEN_BLINDING_H
#define COPRIME_TOKEN_BLINDING_H

#include <stdbool.h>
#include <stdint.h>

#include <openssl/bn.h>

#include "crypto.h"
#include "rsa_key.h"

struct blinding {
    BN_CTX *context;
    BN_MONT_CTX *modulus;
    BIGNUM *n, *number;
    BN_BLINDING *factor;
};

/* blinded = ciphertext * r^e mod n, for a random r; both as long as the modulus. False without memory
   or random numbers. The blinding must be ended also then. */
bool blinding_begin(struct blinding *blinding, const struct crypto *crypto,
                    const struct rsa_key *key, const uint8_t *ciphertext, uint8_t *blinded);

/* result = blinded / r mod n, in a time that does not depend on it. */
bool blinding_undo(struct blinding *blinding, const struct rsa_key *key, const uint8_t *blinded,
                   uint8_t *result);

void blinding_end(struct blinding *blinding);

#endif
