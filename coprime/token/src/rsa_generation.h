/* Generating keys of RSA on an engine. */
#ifndef COPRIME_TOKEN_RSA_GENERATION_H
#define COPRIME_TOKEN_RSA_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "attributes.h"
#include "cancel.h"
#include "cryptoki.h"
#include "device.h"

/* Whether an engine can generate such keys. */
bool rsa_generation_is_possible(uint32_t bits, uint32_t exponent);

/* Generate a key pair: its primes are random numbers of the operating system, which an engine tests.
   All numbers of RFC 8017 are set in `numbers`, in secret memory; the caller checks them.

   Before each exponentiation, which takes as long as half of a private operation with such a key, the
   engine is given to those who wait, and the generation queues anew. An engine keeps no part of the
   key. Ends with the reason why it is cancelled; other errors as device_run. */
CK_RV rsa_generation(struct device *device, uint32_t bits, uint32_t exponent,
                     const struct cancel *cancel, struct attributes *numbers);

#endif
