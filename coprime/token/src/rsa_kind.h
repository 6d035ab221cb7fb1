/* Keys of RSA as objects of a token. */
#ifndef COPRIME_TOKEN_RSA_KIND_H
#define COPRIME_TOKEN_RSA_KIND_H

#include "key_kind.h"

/* Also short keys, and small exponents, are generated if the configuration allows it. */
extern const struct key_kind rsa_kind;

#endif
