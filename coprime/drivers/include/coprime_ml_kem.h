/* ML-KEM (FIPS 203) on an accelerator of the family `lattice`: coprime_call with names for it.

   The parameter set is that of coprime_parameter_set: coprime_lattice.h, which `coprime build` writes,
   has its number, and the lengths of keys and ciphertexts. A key or ciphertext whose pointer is NULL
   stays in the accelerator as an output, and is the one in there as an input. These functions have
   the rules of coprime_calls.h. */
#ifndef COPRIME_ML_KEM_H
#define COPRIME_ML_KEM_H

#include "coprime_calls.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of seeds (d, then z, each of half of it), of messages and of shared secrets. */
#define COPRIME_ML_KEM_SEED_BYTES 64u
#define COPRIME_ML_KEM_MESSAGE_BYTES 32u
#define COPRIME_ML_KEM_SECRET_BYTES 32u

/* Make a key pair (algorithm 16, with a seed 19): ek of ek_size bytes for others, dk of dk_size
   bytes. With seed NULL the accelerator draws it, if it has a source of random bytes.

   Errors of all functions: as coprime_call. COPRIME_ERROR_OPERAND_MISSING also if there is no source
   of random bytes, COPRIME_ERROR_SIZE if the room of an output is too small,
   COPRIME_ERROR_UNREADABLE if secrets stay in this accelerator. */
int coprime_ml_kem_key_pair(struct coprime *driver, const uint8_t *seed, uint8_t *ek,
                            uint32_t ek_size, uint8_t *dk, uint32_t dk_size);

/* Make a shared secret, and the ciphertext c of c_size bytes for the owner of ek (algorithm 20). The
   message m, of COPRIME_ML_KEM_MESSAGE_BYTES, determines both and is for tests: NULL draws it. */
int coprime_ml_kem_encapsulate(struct coprime *driver, const uint8_t *ek, uint32_t ek_size,
                               const uint8_t *m, uint8_t *c, uint32_t c_size, uint8_t *secret);

/* The shared secret of a ciphertext (algorithm 21): of one that was not made for this key, other
   bytes that depend on both, in the same time and without an error. */
int coprime_ml_kem_decapsulate(struct coprime *driver, const uint8_t *dk, uint32_t dk_size,
                               const uint8_t *c, uint32_t c_size, uint8_t *secret);

/* Check ek, dk, or both, of somebody else (7.2, 7.3): COPRIME_ERROR_INVALID_KEY refuses them. With
   both NULL the keys in the accelerator are checked. */
int coprime_ml_kem_check_key(struct coprime *driver, const uint8_t *ek, uint32_t ek_size,
                             const uint8_t *dk, uint32_t dk_size);

#ifdef __cplusplus
}
#endif

#endif
