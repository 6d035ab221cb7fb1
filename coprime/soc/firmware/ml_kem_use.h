#ifndef ML_KEM_USE_H
#define ML_KEM_USE_H

#include "coprime_ml_kem.h"

/* As coprime/soc/ml_kem.py writes it: the number of the parameter set, bytes of ek and c. The seed is
   the job's, that the host knows what must come of it: it is a TEST KEY. */
struct ml_kem_job {
    uint32_t parameter_set;
    uint32_t ek_bytes, c_bytes;
    uint8_t seed[COPRIME_ML_KEM_SEED_BYTES];
    uint8_t message[COPRIME_ML_KEM_MESSAGE_BYTES];
};

/* Make a key pair, encapsulate for it, decapsulate, and decapsulate an altered ciphertext; print what
   comes out of each, which coprime/soc/ml_kem.py reads, and wipe the engine. */
int use_ml_kem(struct coprime *driver, const struct ml_kem_job *job);

#endif
