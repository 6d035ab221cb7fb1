/* A cluster: each of its cores as an accelerator of its own, for the functions of coprime.h.

   Threads may use different cores at the same time, with the caller's lock. coprime_pool.h shares
   them out. Like the driver it allocates no memory, has no global variables and needs no library. */
#ifndef COPRIME_CLUSTER_H
#define COPRIME_CLUSTER_H

#include "coprime.h"

#ifdef __cplusplus
extern "C" {
#endif

struct coprime_core;

/* A cluster. The caller sets the members up to `count`, coprime_cluster_open the others. */
struct coprime_cluster {
    /* Passed to the functions. */
    void *context;
    /* As those of struct coprime. Without `wait` every core polls. */
    uint32_t (*read)(void *context, uint32_t address);
    void (*write)(void *context, uint32_t address, uint32_t value);
    int (*wait)(void *context);
    /* A lock of which no thread is the owner twice; and, where there is `wait`, a condition of it:
       `sleep` releases the lock until `wake_all` is called. Null: there is one thread only. */
    void (*lock)(void *context);
    void (*unlock)(void *context);
    void (*sleep)(void *context);
    void (*wake_all)(void *context);
    /* Room for the cores; there may be more than the cluster has. */
    struct coprime_core *cores;
    uint32_t count;

    /* Private to the driver. */
    uint32_t selected; /* The core that the registers belong to, if it is known. */
    bool waits;        /* A thread waits for the interrupt, and takes all completions. */
    bool checked;      /* Completions have a residue. */
};

/* A core. */
struct coprime_core {
    /* What coprime_load_private, coprime_private and so on take. coprime_engine_cycles and
       coprime_engine_products give 0. */
    struct coprime driver;

    /* Private to the driver. */
    struct coprime_cluster *cluster;
    uint32_t number;
    uint32_t *result; /* Words of the result, which are cleared as they are read. */
    uint32_t room, place;
    uint32_t code, refusal, residue;
    bool loads;   /* An operand is being loaded: the core has the lock. */
    bool runs;    /* A command has been started, and its completion not been taken. */
    bool is_done; /* It was taken. */
};

/* Words of memory for the results of cores with moduli of `max_bits` bits. */
#define COPRIME_CLUSTER_MEMORY(count, max_bits) ((count) * COPRIME_WORDS(max_bits))

/* Identify the cluster, and open its cores; `count` becomes how many there are, of those there is
   room for. Results take COPRIME_WORDS(max_bits) words of `memory` for each core, which is reduced
   to the rest. Neither the cluster nor the cores may move. Errors: COPRIME_ERROR_IDENTIFICATION;
   COPRIME_ERROR_SIZE without room for a core; COPRIME_ERROR_MEMORY; COPRIME_ERROR_BUSY if a command
   is running. */
int coprime_cluster_open(struct coprime_cluster *cluster, struct coprime_memory *memory);

/* End the command that runs on a core, of which another thread waits for the end: that gives
   COPRIME_ERROR_CANCELLED, or its result if it has ended. */
void coprime_cluster_cancel(struct coprime_core *core);

#ifdef __cplusplus
}
#endif

#endif
