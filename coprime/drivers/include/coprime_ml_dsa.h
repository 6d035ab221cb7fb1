/* ML-DSA (FIPS 204) on an accelerator of the family `lattice` with schemes=ml-dsa: names for its
   calls, and what is put before a message.

   The parameter set is that of coprime_parameter_set: coprime_lattice.h, which `coprime build` writes,
   has its number, and the lengths of keys and signatures. A key whose pointer is NULL stays in the
   accelerator as an output, and is the one in there as an input. These functions have the rules of
   coprime_calls.h. */
#ifndef COPRIME_ML_DSA_H
#define COPRIME_ML_DSA_H

#include "coprime_calls.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of seeds, of what a signature is hedged with, and of mu. */
#define COPRIME_ML_DSA_SEED_BYTES 32u
#define COPRIME_ML_DSA_RND_BYTES 32u
#define COPRIME_ML_DSA_MU_BYTES 64u
/* Of a context, and of what is put before a message, at most. */
#define COPRIME_ML_DSA_CONTEXT_BYTES 255u
#define COPRIME_ML_DSA_PREFIX_BYTES (2u + COPRIME_ML_DSA_CONTEXT_BYTES + 11u)

/* The number of the call that signs, for who asks a driver's `commands_high` whether there is one. */
#define COPRIME_ML_DSA_CALL_SIGN 45u

/* ML-DSA, or HashML-DSA with a hash: the last byte of its object identifier. */
enum coprime_ml_dsa_hash {
    COPRIME_ML_DSA_PURE,
    COPRIME_ML_DSA_SHA2_256,
    COPRIME_ML_DSA_SHA2_384,
    COPRIME_ML_DSA_SHA2_512,
    COPRIME_ML_DSA_SHA2_224,
    COPRIME_ML_DSA_SHA2_512_224,
    COPRIME_ML_DSA_SHA2_512_256,
    COPRIME_ML_DSA_SHA3_224,
    COPRIME_ML_DSA_SHA3_256,
    COPRIME_ML_DSA_SHA3_384,
    COPRIME_ML_DSA_SHA3_512,
    COPRIME_ML_DSA_SHAKE_128,
    COPRIME_ML_DSA_SHAKE_256
};

/* What is signed: mu, of COPRIME_ML_DSA_MU_BYTES, which was computed outside; or if that is NULL
   `size` bytes, which the accelerator hashes, after a context of 0 to 255 bytes. With a hash these
   bytes are the message's digest, 256 and 512 bits of SHAKE. */
struct coprime_ml_dsa_message {
    const uint8_t *mu;
    const uint8_t *context;
    uint32_t context_size;
    enum coprime_ml_dsa_hash hash;
    const uint8_t *bytes;
    uint32_t size;
};

/* Select the parameter set in which public keys have pk_size bytes, and load one: an engine that is not
   built for all sets numbers those that it has. Errors: as coprime_load_slot; COPRIME_ERROR_UNSUPPORTED
   if there is no such set. */
int coprime_ml_dsa_select(struct coprime *driver, const uint8_t *pk, uint32_t pk_size);

/* Make a key pair (algorithm 1, with a seed 6): pk of pk_size bytes for others, sk of sk_size bytes.
   With seed NULL the accelerator draws it, if it has a source of random bytes.

   Errors of all functions: as coprime_call. COPRIME_ERROR_OPERAND_MISSING also if there is no source
   of random bytes, COPRIME_ERROR_SIZE if the room of an output is too small, a context too long or
   a digest not of the hash's length, COPRIME_ERROR_UNREADABLE if secrets stay in this accelerator. */
int coprime_ml_dsa_key_pair(struct coprime *driver, const uint8_t *seed, uint8_t *pk,
                            uint32_t pk_size, uint8_t *sk, uint32_t sk_size);

/* Sign (algorithms 2, 4 and 7). rnd, of COPRIME_ML_DSA_RND_BYTES, hedges the signature: NULL draws
   it, zeros make the signature deterministic. The accelerator verifies it before it can be read, in
   less time if it holds the public key, too: COPRIME_ERROR_FAULT is a wrong one. */
int coprime_ml_dsa_sign(struct coprime *driver, const uint8_t *sk, uint32_t sk_size,
                        const struct coprime_ml_dsa_message *message, const uint8_t *rnd,
                        uint8_t *signature, uint32_t signature_size);

/* Verify (algorithms 3, 5 and 8): COPRIME_ERROR_SIGNATURE if the signature is not valid, and
   COPRIME_ERROR_SLOT_LENGTH if it has another length. */
int coprime_ml_dsa_verify(struct coprime *driver, const uint8_t *pk, uint32_t pk_size,
                          const struct coprime_ml_dsa_message *message, const uint8_t *signature,
                          uint32_t signature_size);

/* Check that the parts of sk belong together, and that pk, which may be NULL, is its public key:
   COPRIME_ERROR_INVALID_KEY refuses them. Afterwards the accelerator holds the public key. */
int coprime_ml_dsa_check_key(struct coprime *driver, const uint8_t *sk, uint32_t sk_size,
                             const uint8_t *pk, uint32_t pk_size);

/* What is put before the bytes of a message, for those that go to the accelerator in parts with
   coprime_call_update: at most COPRIME_ML_DSA_PREFIX_BYTES; *size is how many. */
int coprime_ml_dsa_prefix(const struct coprime_ml_dsa_message *message, uint8_t *prefix,
                          uint32_t *size);

#ifdef __cplusplus
}
#endif

#endif
