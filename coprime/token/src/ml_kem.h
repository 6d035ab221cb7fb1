/* ML-KEM (FIPS 203) in software. Times depend on the parameter set, on lengths, and on rho, which is
   public: on no other number. No function allocates memory; what they leave on the stack is overwritten.

   The algorithms are those of the standard, named by its numbers. Numbers modulo q are kept from 0 to
   q - 1 and reduced by Barrett's method; nothing is divided. */
#ifndef COPRIME_TOKEN_ML_KEM_H
#define COPRIME_TOKEN_ML_KEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ML_KEM_SEED = 64, ML_KEM_MESSAGE = 32, ML_KEM_SECRET = 32 };
enum { MAX_ML_KEM_EK = 1568, MAX_ML_KEM_DK = 3168, MAX_ML_KEM_C = 1568 };

/* A parameter set (FIPS 203, tables 2 and 3). */
struct ml_kem_set {
    unsigned k, eta1, du, dv;
    size_t ek, dk, c; /* bytes */
};

/* ML-KEM-512, ML-KEM-768 and ML-KEM-1024. */
enum { ML_KEM_SETS = 3 };
extern const struct ml_kem_set ml_kem_sets[ML_KEM_SETS];

/* Algorithm 16, of seed = d || z. */
void ml_kem_key_pair(const struct ml_kem_set *set, const uint8_t seed[ML_KEM_SEED], uint8_t *ek,
                     uint8_t *dk);

/* Algorithm 17: the ciphertext and the shared secret of a random message. */
void ml_kem_encapsulate(const struct ml_kem_set *set, const uint8_t *ek,
                        const uint8_t m[ML_KEM_MESSAGE], uint8_t *c, uint8_t secret[ML_KEM_SECRET]);

/* Algorithm 18: of a ciphertext that is not genuine, the secret of implicit rejection. */
void ml_kem_decapsulate(const struct ml_kem_set *set, const uint8_t *dk, const uint8_t *c,
                        uint8_t secret[ML_KEM_SECRET]);

/* 7.2: whether the numbers in ek are below q. 7.3: whether dk has such an ek, and its hash. */
bool ml_kem_check_ek(const struct ml_kem_set *set, const uint8_t *ek);
bool ml_kem_check_dk(const struct ml_kem_set *set, const uint8_t *dk);

/* The encapsulation key within a decapsulation key. */
const uint8_t *ml_kem_ek_of(const struct ml_kem_set *set, const uint8_t *dk);

#endif
