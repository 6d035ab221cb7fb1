/* Several cores of one accelerator, for byte strings or, in a suite, for numbers, too: each gets a
   driver of its own, struct coprime, for all functions that its engine has.

   What is done with a core does not affect another one: operands, slots, errors and interrupts are a
   core's own. All share the bus, and the register that selects one of them. Threads may use different
   cores at the same time, with the caller's lock: each access holds it, together with the choice of the
   core. It is not held while an engine works: the registers of other cores answer meanwhile. A call runs
   from coprime_call_start to coprime_call_end.

   The rules of coprime.h: no allocation, no global variable, no library. */
#ifndef COPRIME_CALL_CORES_H
#define COPRIME_CALL_CORES_H

#include "coprime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The accelerator. The caller sets the members up to `wake_all`, of which the first six are those of
   struct coprime. `wait` returns for the interrupt of any core, and is called by one thread at a time,
   while others access the registers. */
struct coprime_call_cores {
    void *context;
    uint32_t (*read)(void *context, uint32_t address);
    void (*write)(void *context, uint32_t address, uint32_t value);
    int (*wait)(void *context);
    void (*write_block)(void *context, uint32_t address, const uint32_t *words, uint32_t count);
    void (*read_block)(void *context, uint32_t address, uint32_t *words, uint32_t count);
    /* A lock of which no thread is the owner twice; and, where there is `wait`, a condition of it:
       `sleep` releases the lock until `wake_all` is called. Null: one thread uses all cores. */
    void (*lock)(void *context);
    void (*unlock)(void *context);
    void (*sleep)(void *context);
    void (*wake_all)(void *context);

    uint32_t count;    /* How many cores there are; 1 of an accelerator without CORE_SELECT. */

    /* Private to the driver. */
    uint32_t selected; /* The core that is selected. */
    bool waits;        /* A thread waits for the interrupt. */
};

/* One of them. It must stay where it is while its driver is used. */
struct coprime_call_core {
    struct coprime_call_cores *cores;
    uint32_t number;
};

/* Find the cores. No thread uses one meanwhile. Errors: COPRIME_ERROR_DEVICE, COPRIME_ERROR_IDENTIFICATION: as coprime_open. */
int coprime_call_cores_open(struct coprime_call_cores *cores);

/* Lead a driver to a core, number 0 to count - 1: set its first six members. coprime_open follows, and
   then everything that accelerators have. Errors: COPRIME_ERROR_SIZE if there is no such core. */
int coprime_call_core_open(struct coprime_call_core *core, struct coprime_call_cores *cores, uint32_t number,
                      struct coprime *driver);

/* Lead a driver to the first core that has a command (enum coprime_command, or a call's code), and do
   what coprime_open does for each core up to it: of several cores with different engines. `slots`:
   whether it is an engine of byte strings, whose codes are calls. Errors: COPRIME_ERROR_UNSUPPORTED if
   no core has it; and as coprime_open. */
int coprime_call_core_find(struct coprime_call_core *core, struct coprime_call_cores *cores, bool slots,
                           uint32_t command, struct coprime *driver);

/* Bit k is 1 if a command of core k has ended, and coprime_call_end, which then does not wait, has not
   been called since. A call that gives a stream ends when that has been read. */
uint32_t coprime_call_cores_pending(const struct coprime_call_cores *cores);

#ifdef __cplusplus
}
#endif

#endif
