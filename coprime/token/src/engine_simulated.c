/* A simulated engine: a shared library with the interface of coprime/flow/simulation.cpp. */
#define _GNU_SOURCE

#include "engine.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug.h"

struct simulation;

/* A simulation, and the functions of its library. */
struct simulated {
    void *library;
    struct simulation *simulation;
    pthread_mutex_t lock; /* one thread at a time calls it */
    atomic_uint accesses; /* of threads that want it */
    struct simulation *(*create)(uint64_t access_limit, uint64_t length);
    void (*destroy)(struct simulation *simulation);
    void (*forget)(struct simulation *simulation); /* null in a library that wipes nothing */
    int (*read32)(struct simulation *simulation, uint32_t address, uint32_t *value);
    int (*write32)(struct simulation *simulation, uint32_t address, uint32_t value);
    int (*wait_interrupt)(struct simulation *simulation, uint64_t limit);
};

/* Clock cycles after which an access, and a command, is given up; and those that pass before another
   thread has its turn while one waits. */
enum { ACCESS_LIMIT = 1000000, COMMAND_LIMIT = 2000000000, TURN = 1000 };

/* The module's own libraries, which a distribution may choose: beside this module, or with a `/` paths. */
#ifndef COPRIME_SIMULATED
#define COPRIME_SIMULATED "libcoprime-simulated.so"
#endif
#ifndef COPRIME_SIMULATED_LATTICE
#define COPRIME_SIMULATED_LATTICE "libcoprime-simulated-lattice.so"
#endif
static const char *const library_name = COPRIME_SIMULATED;
static const char *const lattice_name = COPRIME_SIMULATED_LATTICE;

static bool own_library(const char *name, char path[PATH_MAX])
{
    Dl_info here;
    const char *slash;
    int length;

    if (strchr(name, '/')) {
        length = snprintf(path, PATH_MAX, "%s", name);
        return length > 0 && length < PATH_MAX;
    }
    if (!dladdr((const void *)&library_name, &here) || here.dli_fname == NULL) {
        return false;
    }
    slash = strrchr(here.dli_fname, '/');
    length = snprintf(path, PATH_MAX, "%.*s%s", slash ? (int)(slash - here.dli_fname + 1) : 0,
                      here.dli_fname, name);
    return length > 0 && length < PATH_MAX;
}

static void begin_access(struct simulated *simulated)
{
    (void)atomic_fetch_add(&simulated->accesses, 1);
    (void)pthread_mutex_lock(&simulated->lock);
    (void)atomic_fetch_sub(&simulated->accesses, 1);
}

static void end_access(struct simulated *simulated)
{
    (void)pthread_mutex_unlock(&simulated->lock);
}

static uint32_t simulated_read(void *context, uint32_t address)
{
    struct simulated *const simulated = context;
    uint32_t value = 0;

    begin_access(simulated);
    /* Whatever an access that is refused gives, the result is checked. */
    (void)simulated->read32(simulated->simulation, address, &value);
    end_access(simulated);
    return value;
}

static void simulated_write(void *context, uint32_t address, uint32_t value)
{
    struct simulated *const simulated = context;

    begin_access(simulated);
    (void)simulated->write32(simulated->simulation, address, value);
    end_access(simulated);
}

/* Threads that use other cores have their accesses in between. Below 0 the library has given up. */
static int simulated_wait(void *context)
{
    struct simulated *const simulated = context;

    for (uint32_t cycles = 0; cycles < COMMAND_LIMIT; cycles += TURN) {
        int comes;

        (void)pthread_mutex_lock(&simulated->lock);
        comes = simulated->wait_interrupt(simulated->simulation, TURN);
        (void)pthread_mutex_unlock(&simulated->lock);
        if (comes) {
            return comes < 0;
        }
        while (atomic_load(&simulated->accesses)) {
            (void)sched_yield();
        }
    }
    return 1;
}

/* Cores of the cluster that follow an @ in the name, which is cut off; 0 without it. */
static uint64_t take_cores(char *path)
{
    char *const at = strrchr(path, '@');
    char *end;
    unsigned long cores;

    if (at == NULL || at[1] < '1' || at[1] > '9') {
        return 0;
    }
    cores = strtoul(at + 1, &end, 10);
    if (*end) {
        return 0;
    }
    *at = '\0';
    return cores;
}

/* Find a function; dlsym gives a pointer to an object. */
static bool find(const struct simulated *simulated, const char *name, void *function)
{
    void *const found = dlsym(simulated->library, name);

    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool find_functions(struct simulated *simulated)
{
    (void)find(simulated, "coprime_forget", &simulated->forget);
    return find(simulated, "coprime_create", &simulated->create) &&
           find(simulated, "coprime_destroy", &simulated->destroy) &&
           find(simulated, "coprime_read32", &simulated->read32) &&
           find(simulated, "coprime_write32", &simulated->write32) &&
           find(simulated, "coprime_wait_interrupt", &simulated->wait_interrupt);
}

static void simulated_close(void *handle)
{
    struct simulated *const simulated = handle;

    if (simulated->simulation) {
        simulated->destroy(simulated->simulation); /* its memory is overwritten */
    }
    if (simulated->library) {
        (void)dlclose(simulated->library);
    }
    (void)pthread_mutex_destroy(&simulated->lock);
    free(simulated);
}

/* A thread of the parent may have been within the library, which is left as it is. */
static void simulated_abandon(void *handle)
{
    const struct simulated *const simulated = handle;

    if (simulated->forget) {
        simulated->forget(simulated->simulation);
    }
}

/* Open a library: the one that is named, or the module's own one. */
static void *open_simulation(const char *place, const char *own, struct coprime *driver)
{
    struct simulated *const simulated = calloc(1, sizeof *simulated);
    char path[PATH_MAX];
    uint64_t cores = 0;
    bool named;

    if (simulated == NULL) {
        return NULL;
    }
    (void)pthread_mutex_init(&simulated->lock, NULL);
    if (place) {
        named = strlen(place) < sizeof path;
        memcpy(path, place, named ? strlen(place) + 1 : 0);
        cores = named ? take_cores(path) : 0;
    } else {
        named = own_library(own, path);
    }
    simulated->library = named ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (simulated->library == NULL) {
        debug_say("no library of a simulated device: %s", named ? dlerror() : "its path is too long");
    } else if (!find_functions(simulated)) {
        debug_say("%s is no simulated device: `coprime token simulation` writes one", path);
    } else {
        simulated->simulation = simulated->create(ACCESS_LIMIT, cores);
        if (simulated->simulation == NULL && cores) {
            debug_say("%s is no cluster that has room for so many cores as follow the @", path);
        } else if (simulated->simulation == NULL) {
            debug_say("%s is a cluster: write @ and the number of its cores after it", path);
        }
    }
    if (simulated->simulation == NULL) {
        simulated_close(simulated);
        return NULL;
    }
    driver->context = simulated;
    driver->read = simulated_read;
    driver->write = simulated_write;
    driver->wait = simulated_wait;
    return simulated;
}

static void *simulated_open(const char *place, struct coprime *driver)
{
    return open_simulation(place, library_name, driver);
}

static void *lattice_open(const char *place, struct coprime *driver)
{
    return open_simulation(place, lattice_name, driver);
}

const struct engine_kind simulated_engine = {
    .name = "sim",
    .is_simulated = true,
    .sort = NUMBER_ENGINE,
    .open = simulated_open,
    .close = simulated_close,
    .abandon = simulated_abandon,
};

const struct engine_kind simulated_lattice_engine = {
    .name = "sim-lattice",
    .is_simulated = true,
    .sort = STRING_ENGINE,
    .open = lattice_open,
    .close = simulated_close,
    .abandon = simulated_abandon,
};
