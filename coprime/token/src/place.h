/* A place where engines are: an accelerator, or a cluster of them. */
#ifndef COPRIME_TOKEN_PLACE_H
#define COPRIME_TOKEN_PLACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coprime.h"
#include "coprime_cluster.h"
#include "engine.h"

/* The most cores of a cluster that are used. */
enum { MAX_CORES = 16 };

/* What one of a device's names stands for. It is opened by the first user of one of its engines,
   and brought back to order by the last one; both are alone with it while it is `changing`. */
struct place {
    const struct engine_kind *kind;
    char *name; /* what follows the colon; null if there is none */
    bool changing;
    bool failed; /* nobody else may use it, and the last user closes it */
    unsigned users;
    void *handle; /* null while it is closed */
    struct coprime driver; /* the accesses; also that of a single accelerator */
    unsigned count; /* of its engines, as it was opened last; 1 before that */
    bool known; /* it has been open: the drivers of its engines say what they can do. Not beside
                   `changing`: compilers read both at once, which a sanitizer takes for a race */
    struct engine engines[MAX_CORES];
    struct coprime_cluster cluster;
    struct coprime_core cores[MAX_CORES];
    uint32_t *results; /* of the cores, in secret memory */
    pthread_mutex_t lock; /* the cluster's */
    pthread_cond_t completed;
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
/* What the last user does: nothing, if it has the place alone and nothing has failed. */
void place_end_use(struct place *place);

#endif
