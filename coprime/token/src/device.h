/* The engines of a slot: they do the private operations of its keys. */
#ifndef COPRIME_TOKEN_DEVICE_H
#define COPRIME_TOKEN_DEVICE_H

#include <stdint.h>

#include "cancel.h"
#include "cryptoki.h"
#include "curve_constants.h"
#include "engine.h"
#include "key.h"

struct device;

/* A device of the engines that `names` lists, with commas between them:

     sim                  the simulated engine of numbers that was built with the module
     sim-lattice          the one of byte strings, for ML-KEM
     sim:LIBRARY          another one
     sim:LIBRARY@CORES    a cluster that is simulated as a chain of so many cores
     serial:PATH[,BAUD]   a board at a serial port, for this process only
     uio:PATH             hardware under Linux, which other processes may use, too
     software             no engine: libcrypto and this module compute what no other one does

   `sim` alone stands for as many engines of each of the first two as the process has processors, at
   most 8. Behind a path there may be a cluster: each of its cores is an engine then.

   Nothing is opened before it is used. Null without memory, or if this names no device. */
struct device *device_new(const char *names);
void device_free(struct device *device); /* null is allowed */

/* Abandon the engines of a parent, in a child after fork: no lock is touched, as threads that are not
   there may hold it, and the device's memory is not returned. */
void device_abandon(struct device *device);

/* Whether all its engines are simulated; and whether it has none. */
bool device_is_simulated(const struct device *device);
bool device_is_software(const struct device *device);

/* Let its engines draw the seeds of keys of ML-KEM and ML-DSA, and what hedges signatures, from sources
   in their hardware; and whether they do. */
void device_let_draw(struct device *device);
bool device_draws(const struct device *device);

/* The constants of curves, for its engines. */
struct curve_constants *device_curves(struct device *device);

/* What is to be done with a key. */
struct device_job {
    enum engine_sort sort; /* of the engine: NUMBER_ENGINE or STRING_ENGINE */
    uint32_t call; /* that an engine of byte strings must have */
    /* An error of the driver. The result has been checked in software: COPRIME_ERROR_FAULT if it is
       wrong. */
    int (*run)(struct engine *engine, void *context);
    int (*in_software)(void *context); /* the same without an engine */
};

/* Do a job with a key: waits until an engine is free; who came first has it first. One that refuses is
   asked again after opening it anew: a disturbed one may say anything. Where no engine does such jobs,
   it is done in software, if that is one of the device's names.

   CKR_USER_NOT_LOGGED_IN if the key was revoked before an engine was free. CKR_MECHANISM_INVALID if
   there is no engine for the job. CKR_DEVICE_ERROR if no engine can be opened, an engine ends with an
   error, or its result is wrong: the engine is opened anew when it is used next. CKR_KEY_SIZE_RANGE
   for a key that the engine does not take. CKR_HOST_MEMORY. */
CK_RV device_run(struct device *device, const struct key *key, const struct device_job *job,
                 void *context);

/* The same in steps, for a job with pauses, of which only `sort` and `call` count. Take an engine,
   unless the call is cancelled: it is open unless there is an error, with which it is given back. After
   an error it is opened anew when it is used next. */
CK_RV device_take(struct device *device, uint64_t key, const struct device_job *job,
                  const struct cancel *cancel, struct engine **taken, int *error);

/* The same of an engine with a source of random bytes in its hardware; CKR_MECHANISM_INVALID also if the
   engine that was free has none. */
CK_RV device_take_drawing(struct device *device, uint64_t key, const struct device_job *job,
                          const struct cancel *cancel, struct engine **taken, int *error);

void device_give_back(struct device *device, struct engine *engine, int error);

/* Whether somebody waits for an engine, or until all are free. */
bool device_is_wanted(struct device *device);

/* What an error of the driver is to callers of the module. */
CK_RV device_result_of(int error);

/* The error with which work ends whose result was checked in software: none after CKR_OK,
   COPRIME_ERROR_MEMORY after CKR_HOST_MEMORY, else COPRIME_ERROR_FAULT. */
int device_error_of(CK_RV checked);

/* Who waits for an engine looks whether he is still to have it: call this after a key was revoked, or
   the reason of a cancellation has changed. Locks may be held. */
void device_wake(struct device *device);

/* Nobody gets an engine any more: all who wait, or ask for one, get CKR_CRYPTOKI_NOT_INITIALIZED. */
void device_stop(struct device *device);

/* Make the engines forget all keys. Waits until none works; until then nobody gets an engine. */
void device_forget(struct device *device);

#endif
