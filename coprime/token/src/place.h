/* A place where engines are: an accelerator with one or more cores, of any kinds, or a cluster. */
#ifndef COPRIME_TOKEN_PLACE_H
#define COPRIME_TOKEN_PLACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coprime.h"
#include "coprime_call_cores.h"
#include "coprime_cluster.h"
#include "engine.h"

/* The most cores of an accelerator, or a cluster, that are used. */
enum { MAX_CORES = 16 };

/* What one of a device's names stands for. It is opened by the first user of one of its engines,
   and brought back to order by the last one; both are alone with it while it is `changing`. All its
   engines are on one bus, whose lock the drivers hold for each access, but not while an engine works. */
struct place {
    const struct engine_kind *kind;
    char *name; /* what follows the colon; null if there is none */
    bool changing;
    bool failed; /* nobody else may use it, and the last user closes it */
    unsigned users;
    void *handle; /* null while it is closed */
    struct coprime bus; /* only the accesses */
    unsigned count; /* of its engines, as it was opened last; 1 before that */
    bool known; /* it has been open: the drivers of its engines say what they can do. Not beside
                   `changing`: compilers read both at once, which a sanitizer takes for a race */
    struct engine engines[MAX_CORES];
    struct coprime_call_cores accelerator; /* what there is, if it is not a cluster: else without cores */
    struct coprime_call_core cores[MAX_CORES];
    struct coprime drivers[MAX_CORES];
    struct coprime_cluster cluster;
    struct coprime_core cluster_cores[MAX_CORES];
    uint32_t *results; /* of the cluster's cores, in secret memory */
    pthread_mutex_t lock; /* of the bus */
    pthread_cond_t interrupted; /* an interrupt has come, for one engine or another */
    pthread_mutex_t seeding; /* whoever has it looks whether the random source wants a seed */
};

/* Set up a place whose memory is 0, by its name of `length` characters: false if it is none, or
   without memory. It is to be freed in either case. */
bool place_set(struct place *place, const char *name, size_t length);
void place_free(struct place *place);

/* Close it, if it is open: its engines forget their keys. */
void place_close(struct place *place);

/* Make it ready for its first user: an error of the driver, or 0. A shared place is opened anew each
   time, as another process may have used it meanwhile. */
int place_begin_use(struct place *place);
/* What every user does then: seed the random source from the operating system, if it wants to be. */
int place_seed(struct place *place);
/* What the last user does: nothing, if it has the place alone and nothing has failed. */
void place_end_use(struct place *place);

#endif
