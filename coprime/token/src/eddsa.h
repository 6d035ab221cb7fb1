/* EdDSA (RFC 8032): an engine multiplies and does what is modulo n; hashes and encodings are here. */
#ifndef COPRIME_TOKEN_EDDSA_H
#define COPRIME_TOKEN_EDDSA_H

#include "work.h"

/* The text is the message. The signature, of curve->signature bytes, is verified before it is given.
   Errors as device_run; CKR_SIGNATURE_INVALID. */
extern const struct scheme_functions eddsa_functions;

#endif
