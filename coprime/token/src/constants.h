/* The constants of a private key, made in software. */
#ifndef COPRIME_TOKEN_CONSTANTS_H
#define COPRIME_TOKEN_CONSTANTS_H

#include <stdbool.h>

#include "coprime.h"

/* As coprime_private_constants, without an access to the engine: a processor needs less than a
   millisecond for what takes a simulated engine a tenth of a second. Only `driver`'s properties are
   used, and the key is not checked. False, with nothing changed but the memory's words, for an engine
   without the Chinese Remainder Theorem, a number of which there is no inverse, or without memory. */
bool constants_compute(const struct coprime *driver, struct coprime_private_key *key,
                       const struct coprime_memory *memory);

#endif
