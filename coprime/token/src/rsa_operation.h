/* RSA operations on a complete input. */
#ifndef COPRIME_TOKEN_RSA_OPERATION_H
#define COPRIME_TOKEN_RSA_OPERATION_H

#include "work.h"

/* Of RAW, PKCS1, OAEP and PSS. The text is the digest of what was given, after the head of a DigestInfo
   where PKCS #1 wants one; or what was given itself. Results are as long as the modulus.
   CKR_DATA_LEN_RANGE, CKR_DATA_INVALID. */
extern const struct scheme_functions rsa_functions;

#endif
