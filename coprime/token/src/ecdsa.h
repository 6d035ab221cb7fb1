/* ECDSA (FIPS 186-5): an engine signs, libcrypto verifies. */
#ifndef COPRIME_TOKEN_ECDSA_H
#define COPRIME_TOKEN_ECDSA_H

#include "work.h"

/* The text is a digest, of which the leftmost bits count. The signature, r and s of curve->signature
   bytes, is verified before it is given. The nonce is the engine's, if it draws any; else it is a hash of
   a random number, the private key and the digest. Errors as device_run.

   A signature to verify is r and s, each in half of at most curve->signature bytes; who does not know n
   leaves out the zeros in front of both. CKR_SIGNATURE_INVALID, CKR_SIGNATURE_LEN_RANGE;
   CKR_HOST_MEMORY. */
extern const struct scheme_functions ecdsa_functions;

#endif
