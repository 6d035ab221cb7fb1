/* A simulated engine: a shared library with the interface of coprime/flow/simulation.cpp. */
#define _GNU_SOURCE

#include "engine.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct simulation;

/* A simulation, and the functions of its library. */
struct simulated {
    void *library;
    struct simulation *simulation;
    struct simulation *(*create)(uint64_t access_limit, uint64_t length);
    void (*destroy)(struct simulation *simulation);
    int (*read32)(struct simulation *simulation, uint32_t address, uint32_t *value);
    int (*write32)(struct simulation *simulation, uint32_t address, uint32_t value);
    int (*wait_interrupt)(struct simulation *simulation, uint64_t limit);
};

/* Clock cycles after which an access, and a command, is given up. */
enum { ACCESS_LIMIT = 1000000, COMMAND_LIMIT = 2000000000 };

static const char *const library_name = "libcoprime-simulated.so";

/* The library beside this module. */
static bool own_library(char path[PATH_MAX])
{
    Dl_info here;
    const char *slash;
    int length;

    if (!dladdr((const void *)&library_name, &here) || here.dli_fname == NULL) {
        return false;
    }
    slash = strrchr(here.dli_fname, '/');
    length = snprintf(path, PATH_MAX, "%.*s%s", slash ? (int)(slash - here.dli_fname + 1) : 0,
                      here.dli_fname, library_name);
    return length > 0 && length < PATH_MAX;
}

static uint32_t simulated_read(void *context, uint32_t address)
{
    const struct simulated *const simulated = context;
    uint32_t value = 0;

    /* Whatever an access that is refused gives, the result is checked. */
    (void)simulated->read32(simulated->simulation, address, &value);
    return value;
}

static void simulated_write(void *context, uint32_t address, uint32_t value)
{
    const struct simulated *const simulated = context;

    (void)simulated->write32(simulated->simulation, address, value);
}

static int simulated_wait(void *context)
{
    const struct simulated *const simulated = context;

    return !simulated->wait_interrupt(simulated->simulation, COMMAND_LIMIT);
}

/* Find a function; dlsym gives a pointer to an object. */
static bool find(const struct simulated *simulated, const char *name, void *function)
{
    void *const found = dlsym(simulated->library, name);

    memcpy(function, &found, sizeof found);
    return found != NULL;
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
    free(simulated);
}

static void *simulated_open(const char *place, struct coprime *driver)
{
    struct simulated *const simulated = calloc(1, sizeof *simulated);
    char path[PATH_MAX];

    if (simulated == NULL) {
        return NULL;
    }
    if (place == NULL && own_library(path)) {
        place = path;
    }
    simulated->library = place ? dlopen(place, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (simulated->library && find(simulated, "coprime_create", &simulated->create) &&
        find(simulated, "coprime_destroy", &simulated->destroy) &&
        find(simulated, "coprime_read32", &simulated->read32) &&
        find(simulated, "coprime_write32", &simulated->write32) &&
        find(simulated, "coprime_wait_interrupt", &simulated->wait_interrupt)) {
        simulated->simulation = simulated->create(ACCESS_LIMIT, 0);
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

const struct engine_kind simulated_engine = {"sim", simulated_open, simulated_close, NULL, NULL};
