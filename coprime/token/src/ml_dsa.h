/* ML-DSA (FIPS 204) in software, from the representative mu of a message on. Times depend on the parameter
   set, on public keys and signatures, and on how many attempts a signature takes, which tells nothing of
   the private key; sampling s1 and s2 takes longer where more bytes are rejected, as in the standard. Big
   numbers are in secret memory: functions return false without any.

   The algorithms are those of the standard, named by its numbers. Numbers modulo q are kept from 0 to q - 1;
   as q = 2^23 - 2^13 + 1, they are reduced by shifts; nothing is divided. */
#ifndef COPRIME_TOKEN_ML_DSA_H
#define COPRIME_TOKEN_ML_DSA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ML_DSA_SEED = 32, ML_DSA_RANDOM = 32, ML_DSA_MU = 64, ML_DSA_TR = 64 };
enum { MAX_ML_DSA_PK = 2592, MAX_ML_DSA_SK = 4896, MAX_ML_DSA_SIGNATURE = 4627 };

/* A parameter set (FIPS 204, tables 1 and 2). */
struct ml_dsa_set {
    unsigned k, l, eta, tau, gamma1_bits, omega;
    int32_t gamma2;
    size_t challenge; /* bytes of c~ */
    size_t pk, sk, signature;
};

/* ML-DSA-44, ML-DSA-65 and ML-DSA-87. */
enum { ML_DSA_SETS = 3 };
extern const struct ml_dsa_set ml_dsa_sets[ML_DSA_SETS];

/* Algorithm 6. */
bool ml_dsa_key_pair(const struct ml_dsa_set *set, const uint8_t seed[ML_DSA_SEED], uint8_t *pk,
                     uint8_t *sk);

/* The public key of a private one; false also if the numbers in sk are out of range, or its parts do not
   fit each other. */
bool ml_dsa_public_of(const struct ml_dsa_set *set, const uint8_t *sk, uint8_t *pk);

/* The hash of a public key, which is hashed before a message. */
void ml_dsa_hash_key(const struct ml_dsa_set *set, const uint8_t *pk, uint8_t tr[ML_DSA_TR]);

/* Algorithm 7, from line 7 on: `random` is zeros for a deterministic signature. */
bool ml_dsa_sign(const struct ml_dsa_set *set, const uint8_t *sk, const uint8_t mu[ML_DSA_MU],
                 const uint8_t random[ML_DSA_RANDOM], uint8_t *signature);

/* Algorithm 8, from line 8 on. False for `*valid` also for a signature that is not encoded as it must be. */
bool ml_dsa_verify(const struct ml_dsa_set *set, const uint8_t *pk, const uint8_t mu[ML_DSA_MU],
                   const uint8_t *signature, bool *valid);

#endif
