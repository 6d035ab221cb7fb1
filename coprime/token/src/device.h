/* The engines of a slot: they do the private operations of its keys. */
#ifndef COPRIME_TOKEN_DEVICE_H
#define COPRIME_TOKEN_DEVICE_H

#include <stdint.h>

#include "cryptoki.h"
#include "rsa_key.h"

struct device;

/* A device of the engines that `names` lists, with commas between them:

     sim                  the simulation that was built with the module
     sim:LIBRARY          another one
     sim:LIBRARY@CORES    a cluster that is simulated as a chain of so many cores
     serial:PATH[,BAUD]   a board at a serial port, for this process only
     uio:PATH             hardware under Linux, which other processes may use, too

   Behind a path there may be a cluster: each of its cores is an engine then.

   Nothing is opened before it is used. Null without memory, or if this names no device. */
struct device *device_new(const char *names);
void device_free(struct device *device); /* null is allowed */

/* Close the engines of a parent, in a child after fork: no lock is touched, as threads that are not
   there may hold it, and the device's memory is not returned. */
void device_abandon(struct device *device);

/* result = input^d mod n, both as long as the modulus; the input is below the modulus. Waits until
   an engine is free. The result was checked with the public exponent, in software.

   CKR_DEVICE_ERROR if no engine can be opened, an engine ends with an error, or its result is wrong:
   the result is then cleared, and the engine is opened anew when it is used next. CKR_KEY_SIZE_RANGE
   for a key that the engine does not take. */
CK_RV device_private(struct device *device, struct rsa_key *key, const uint8_t *input,
                     uint8_t *result);

/* Whether an engine can generate such keys. */
bool device_can_generate(uint32_t bits, uint32_t exponent);

/* Generate a key pair: its primes are random numbers of the operating system, which an engine tests.
   All numbers of RFC 8017 are set in `numbers`, in secret memory; the caller checks them. Takes one
   engine for as long as it lasts, which keeps no part of the key. Errors as above. */
CK_RV device_generate(struct device *device, uint32_t bits, uint32_t exponent,
                      struct attributes *numbers);

/* Make the engines forget all keys. Waits until none works. */
void device_forget(struct device *device);

#endif
