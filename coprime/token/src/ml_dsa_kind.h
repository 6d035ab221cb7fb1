/* Keys of ML-DSA (FIPS 204) as objects of a token, and their signatures. */
#ifndef COPRIME_TOKEN_ML_DSA_KIND_H
#define COPRIME_TOKEN_ML_DSA_KIND_H

#include "key_kind.h"
#include "work.h"

extern const struct key_kind ml_dsa_kind;

/* Of ML_DSA, whose text is the representative mu of the message, and of HASH_ML_DSA, whose text is the
   message's hash. A signature is verified before it is given. Errors as device_run; CKR_DATA_LEN_RANGE,
   CKR_SIGNATURE_INVALID, CKR_SIGNATURE_LEN_RANGE, CKR_FUNCTION_FAILED without random numbers. */
extern const struct scheme_functions ml_dsa_functions;

#endif
