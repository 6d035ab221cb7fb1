/* Keys on curves as objects of a token. */
#ifndef COPRIME_TOKEN_CURVE_KIND_H
#define COPRIME_TOKEN_CURVE_KIND_H

#include "key_kind.h"

extern const struct key_kind weierstrass_kind, edwards_kind, montgomery_kind;

#endif
