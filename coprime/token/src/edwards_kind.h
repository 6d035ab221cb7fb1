/* Keys of EdDSA as objects of a token. */
#ifndef COPRIME_TOKEN_EDWARDS_KIND_H
#define COPRIME_TOKEN_EDWARDS_KIND_H

#include "key_kind.h"

extern const struct key_kind edwards_kind;

#endif
