/* Keys of ECDSA and ECDH on curves of Weierstrass form as objects of a token. */
#ifndef COPRIME_TOKEN_WEIERSTRASS_KIND_H
#define COPRIME_TOKEN_WEIERSTRASS_KIND_H

#include "key_kind.h"

extern const struct key_kind weierstrass_kind;

#endif
