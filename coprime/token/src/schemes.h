/* The table of schemes. */
#ifndef COPRIME_TOKEN_SCHEMES_H
#define COPRIME_TOKEN_SCHEMES_H

#include "work.h"

/* Null for a scheme without keys of two halves. */
const struct scheme_functions *scheme_of(const struct mechanism *mechanism);

#endif
