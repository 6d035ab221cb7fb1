/* The engines of a slot: they do the private operations of its keys. */
#ifndef COPRIME_TOKEN_DEVICE_H
#define COPRIME_TOKEN_DEVICE_H

#include <stdint.h>

#include "cancel.h"
#include "coprime_curves.h"
#include "cryptoki.h"
#include "curve_key.h"
#include "rsa_key.h"

struct device;

/* A device of the engines that `names` lists, with commas between them:

     sim                  the simulation that was built with the module; alone it stands for as many
                          engines as the process has processors, at most 8
     sim:LIBRARY          another one
     sim:LIBRARY@CORES    a cluster that is simulated as a chain of so many cores
     serial:PATH[,BAUD]   a board at a serial port, for this process only
     uio:PATH             hardware under Linux, which other processes may use, too

   or, alone, `software`: no engine at all. libcrypto computes everything, for tests of clients.

   Behind a path there may be a cluster: each of its cores is an engine then.

   Nothing is opened before it is used. Null without memory, or if this names no device. */
struct device *device_new(const char *names);
void device_free(struct device *device); /* null is allowed */

/* Abandon the engines of a parent, in a child after fork: no lock is touched, as threads that are not
   there may hold it, and the device's memory is not returned. */
void device_abandon(struct device *device);

/* Whether all its engines are simulated; and whether it has none. */
bool device_is_simulated(const struct device *device);
bool device_is_software(const struct device *device);

/* result = input^d mod n, both as long as the modulus; the input is below the modulus. Waits until
   an engine is free: who came first has it first. The result was checked with the public exponent,
   in software.

   CKR_USER_NOT_LOGGED_IN if the key was revoked before an engine was free. CKR_DEVICE_ERROR if no
   engine can be opened, an engine ends with an error, or its result is wrong: the result is then
   cleared, and the engine is opened anew when it is used next. CKR_KEY_SIZE_RANGE for a key that the
   engine does not take. */
CK_RV device_private(struct device *device, struct rsa_key *key, const uint8_t *input,
                     uint8_t *result);

/* What an engine does with a key on a curve: an error of the driver. On the device `software`, driver
   and constants are null, and it is done here. */
typedef int curve_work(struct coprime *driver, const struct coprime_curve_constants *curve,
                       void *context);

/* The error with which work ends whose result was checked in software: none after CKR_OK,
   COPRIME_ERROR_MEMORY after CKR_HOST_MEMORY, else COPRIME_ERROR_FAULT. */
int device_error_of(CK_RV checked);

/* Have an engine do work with a key. The work checks its result in software, and ends with
   COPRIME_ERROR_FAULT if it is wrong. Waiting for an engine, and errors, are as above. */
CK_RV device_curve(struct device *device, const struct crypto *crypto, struct curve_key *key,
                   curve_work *work, void *context);

/* Whether an engine can generate such keys. */
bool device_can_generate(uint32_t bits, uint32_t exponent);

/* Generate a key pair: its primes are random numbers of the operating system, which an engine tests.
   All numbers of RFC 8017 are set in `numbers`, in secret memory; the caller checks them.

   Before each exponentiation, which takes as long as half of a private operation with such a key, the
   engine is given to those who wait, and the generation queues anew. An engine keeps no part of the
   key. Ends with the reason why it is cancelled; other errors as above. */
CK_RV device_generate(struct device *device, uint32_t bits, uint32_t exponent,
                      const struct cancel *cancel, struct attributes *numbers);

/* Who waits for an engine looks whether he is still to have it: call this after a key was revoked, or
   the reason of a cancellation has changed. Locks may be held. */
void device_wake(struct device *device);

/* Nobody gets an engine any more: all who wait, or ask for one, get CKR_CRYPTOKI_NOT_INITIALIZED. */
void device_stop(struct device *device);

/* Make the engines forget all keys. Waits until none works; until then nobody gets an engine. */
void device_forget(struct device *device);

#endif
