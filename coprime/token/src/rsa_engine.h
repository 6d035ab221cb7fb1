/* Private operations of RSA, on an engine. */
#ifndef COPRIME_TOKEN_RSA_ENGINE_H
#define COPRIME_TOKEN_RSA_ENGINE_H

#include <stdint.h>

#include "cryptoki.h"
#include "device.h"
#include "rsa_key.h"

/* result = input^d mod n, both as long as the modulus; the input is below the modulus. The result was
   checked with the public exponent, in software, and is cleared after an error. Errors as
   device_run. */
CK_RV rsa_engine_private(struct device *device, struct rsa_key *key, const uint8_t *input,
                         uint8_t *result);

#endif
