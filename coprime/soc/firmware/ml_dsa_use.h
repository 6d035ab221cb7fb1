#ifndef ML_DSA_USE_H
#define ML_DSA_USE_H

#include "coprime_ml_dsa.h"

#define ML_DSA_MESSAGE_BYTES 64u

/* As coprime/soc/suite.py writes it: the number of the parameter set, bytes of pk and a signature, the
   engine's numbers of slots. The seed is the job's, that the host knows what must come of it: it is a
   TEST KEY. */
struct ml_dsa_job {
    uint32_t parameter_set;
    uint32_t pk_bytes, signature_bytes;
    uint32_t mu_slot, rnd_slot, signature_slot;
    uint8_t seed[COPRIME_ML_DSA_SEED_BYTES];
    uint8_t rnd[COPRIME_ML_DSA_RND_BYTES];
    uint8_t mu[COPRIME_ML_DSA_MU_BYTES];
    uint8_t message[ML_DSA_MESSAGE_BYTES];
};

/* Make a key pair, sign the message, verify the signature, and an altered one, which is refused; print
   what comes out of each. The key pair stays in the engine. */
int use_ml_dsa(struct coprime *driver, const struct ml_dsa_job *job);

/* The same signature once more, of mu and by the key that is in the engine, in two parts between which
   the engine works. */
int begin_signature(struct coprime *driver, const struct ml_dsa_job *job);
int end_signature(struct coprime *driver, const struct ml_dsa_job *job);

/* Print the last signature. */
void print_signature(const struct ml_dsa_job *job);

#endif
