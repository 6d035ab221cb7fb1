/* Accelerators, or the cores of a cluster, shared by many threads of POSIX: each operation goes to one
   that is idle, and that has its key already where there is such a one. */
#ifndef COPRIME_POOL_H
#define COPRIME_POOL_H

#include <pthread.h>

#include "coprime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One of them. The caller sets `driver`, which is open; coprime_pool_open the others. */
struct coprime_worker {
    struct coprime *driver;

    /* Private to the pool. */
    const void *key;    /* Of the last operation; null: none is loaded. Its thread's while it works. */
    const void *wanted; /* Of the operation that it works on. */
    uint32_t *scratch;  /* A result that is being checked. */
    uint64_t last_use;
    int failure; /* Why it is out of service; 0: it is not. */
    bool works;
};

struct coprime_pool {
    struct coprime_worker *workers;
    uint32_t count;

    /* Private to the pool. */
    pthread_mutex_t lock;
    pthread_cond_t idle;
    uint64_t uses;
    uint64_t tickets, served; /* Who waits longest is served first. */
};

/* Share out `count` workers. Of `memory`, as many words as the longest modulus are taken for each,
   and left again by nobody: it must stay. Errors: COPRIME_ERROR_MEMORY; COPRIME_ERROR_SIZE if there is
   no worker. */
int coprime_pool_open(struct coprime_pool *pool, struct coprime_worker *workers, uint32_t count,
                      struct coprime_memory *memory);

/* As coprime_private and coprime_public of a worker that has the key, or is given it. A key is known
   by its address: it must not change, nor move, until coprime_pool_forget. Constants are the same for
   all workers, which therefore have the same engine.

   The call waits until a worker is idle. A private result is checked: by the hardware, or else with
   the public exponent if the key has one. Workers with neither a check nor the public operation
   (cores of lean nodes) return COPRIME_ERROR_UNSUPPORTED for such a key, and no result: leave out its
   exponent, and check the result elsewhere. A worker whose result is wrong, or which ends with another
   error than one of the numbers, is out of service, and its operation is repeated by another one. A
   worker that was reset is loaded again. Errors: as coprime_load_private and coprime_private, of the
   numbers; the failure of the last worker, if all are out of service. */
int coprime_pool_private(struct coprime_pool *pool, const struct coprime_private_key *key,
                         const uint32_t *x, uint32_t *result);
int coprime_pool_public(struct coprime_pool *pool, const struct coprime_public_key *key,
                        const uint32_t *x, uint32_t *result);

/* Wipe the workers that have this key, which may then change; those that work on it, afterwards. */
void coprime_pool_forget(struct coprime_pool *pool, const void *key);

/* Number of workers in service. */
uint32_t coprime_pool_in_service(struct coprime_pool *pool);

/* Wipe all workers in service. No thread uses the pool any more. */
void coprime_pool_close(struct coprime_pool *pool);

#ifdef __cplusplus
}
#endif

#endif
