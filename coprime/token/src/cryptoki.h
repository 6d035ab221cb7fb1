/* PKCS #11 3.0 as the package libnss3-dev declares it: types, constants, prototypes. */
#ifndef COPRIME_TOKEN_CRYPTOKI_H
#define COPRIME_TOKEN_CRYPTOKI_H

/* All else of the module is hidden. */
#pragma GCC visibility push(default)
#include <pkcs11.h>
#pragma GCC visibility pop

/* Of the standard, and not in the package. */
#ifndef CKA_UNIQUE_ID
#define CKA_UNIQUE_ID 0x4UL
#endif
#ifndef CKA_NAME_HASH_ALGORITHM
#define CKA_NAME_HASH_ALGORITHM 0x8CUL
#endif

/* The length of an attribute that cannot be shown. */
#define UNAVAILABLE CK_UNAVAILABLE_INFORMATION

#endif
