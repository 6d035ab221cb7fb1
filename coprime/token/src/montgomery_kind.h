/* Keys of X25519 and X448 as objects of a token. */
#ifndef COPRIME_TOKEN_MONTGOMERY_KIND_H
#define COPRIME_TOKEN_MONTGOMERY_KIND_H

#include "key_kind.h"

extern const struct key_kind montgomery_kind;

#endif
