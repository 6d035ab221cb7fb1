/* Engines, and the kinds of access to them. */
#ifndef COPRIME_TOKEN_ENGINE_H
#define COPRIME_TOKEN_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "coprime.h"

/* What an engine computes with. */
enum engine_sort { ANY_ENGINE, NUMBER_ENGINE, STRING_ENGINE };

/* How an engine is reached. */
struct engine_kind {
    const char *name;
    bool is_simulated;
    bool waits_by_accesses; /* its `wait` is not for threads that access it meanwhile */
    enum engine_sort sort; /* of the engine without a place; ANY_ENGINE: it is known once it is open */
    /* Set the caller's members of `driver`, and give what the other functions take; null if that
       fails. `place` is what follows the colon of the engine's name, or null. */
    void *(*open)(const char *place, struct coprime *driver);
    void (*close)(void *handle);
    /* The same in a child after fork, without waiting for locks that threads of the parent hold: the
       engine is the parent's, and what there is of its keys here is overwritten. */
    void (*abandon)(void *handle);
    /* Keep other processes from the engine, and let them at it again; null where there are none. */
    bool (*lock)(void *handle);
    void (*unlock)(void *handle);
};

extern const struct engine_kind simulated_engine, simulated_lattice_engine, serial_engine, uio_engine;

/* An engine: an accelerator, or a core of one, or of a cluster. While it is `taken`, it is the taker's. */
struct engine {
    struct place *place;
    struct coprime *driver;
    bool taken;
    unsigned failures; /* since it last worked */
    uint64_t loaded; /* number of the key that it holds; 0: none */
};

#endif
