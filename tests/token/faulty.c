/* A simulated engine that errs: it stands between the module and the engine that FAULTY_ENGINE
   names. Once in about FAULTY_RATE accesses it does one of these: change a bit of what is read, or
   written; leave a write out; say too early that no interrupt will come. Its random numbers start with
   FAULTY_SEED, and go on when the engine is opened again: it is never unloaded. Without FAULTY_RATE
   it does none of these.

   With FAULTY_CORE, the number of a cluster's core, one bit of each of its results is wrong.

   With FAULTY_TRACE, the name of a file, it adds a line at each private operation: a hash of what was
   written to the engine since the one before, which is the operand once the key is loaded.

   With FAULTY_STALE, a number, it runs so many private operations, and no more: it says of each further
   one that it is done, and shows the result of the last that it ran.

   In a child after fork it ends the process if the parent's simulation is destroyed, or another one is
   created before the parent's was forgotten. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coprime_cluster_registers.h"
#include "coprime_registers.h"

struct simulation;

/* Clock cycles after which a wait that errs is given up, and every other one. */
enum { EARLY = 2000, LATE = 20000000 };

static struct simulation *(*create)(uint64_t access_limit, uint64_t length);
static void (*destroy)(struct simulation *simulation);
static void (*forget)(struct simulation *simulation);
static int (*read32)(struct simulation *simulation, uint32_t address, uint32_t *value);
static int (*write32)(struct simulation *simulation, uint32_t address, uint32_t value);
static int (*wait_interrupt)(struct simulation *simulation, uint64_t limit);
static uint64_t state, rate, stale_after, started;
static uint64_t waited; /* clock cycles since the last access */
static pid_t owner; /* the process whose simulation there is */
static int stale, wrong_core = -1, core_of_result = -1;

static void find(void *library, const char *name, void *function)
{
    void *const found = dlsym(library, name);

    if (found == NULL) {
        abort();
    }
    memcpy(function, &found, sizeof found);
}

static uint32_t draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static int errs(void)
{
    return rate && draw() % rate == 0;
}

static uint64_t setting(const char *name)
{
    const char *const text = getenv(name);

    return text ? strtoull(text, NULL, 10) : 0;
}

struct simulation *coprime_create(uint64_t access_limit, uint64_t length)
{
    void *const library = dlopen(getenv("FAULTY_ENGINE"), RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        return NULL;
    }
    if (owner && owner != getpid()) {
        abort();
    }
    owner = getpid();
    find(library, "coprime_create", &create);
    find(library, "coprime_destroy", &destroy);
    find(library, "coprime_forget", &forget);
    find(library, "coprime_read32", &read32);
    find(library, "coprime_write32", &write32);
    find(library, "coprime_wait_interrupt", &wait_interrupt);
    if (rate == 0 && stale_after == 0) {
        state = setting("FAULTY_SEED");
        rate = setting("FAULTY_RATE");
        stale_after = setting("FAULTY_STALE");
    }
    if (getenv("FAULTY_CORE")) {
        wrong_core = (int)setting("FAULTY_CORE");
    }
    return create(access_limit, length);
}

void coprime_destroy(struct simulation *simulation)
{
    if (owner != getpid()) {
        abort();
    }
    destroy(simulation);
}

void coprime_forget(struct simulation *simulation)
{
    owner = 0;
    forget(simulation);
}

int coprime_read32(struct simulation *simulation, uint32_t address, uint32_t *value)
{
    const int response = read32(simulation, address, value);

    waited = 0;
    if (errs()) {
        *value ^= (uint32_t)1 << draw() % 32;
    }
    if (address == COPRIME_CLUSTER_COMPLETION) {
        core_of_result = (int)(*value & COPRIME_CLUSTER_COMPLETION_CORE_MASK);
    }
    if (wrong_core >= 0 && address == COPRIME_CLUSTER_RESULT && core_of_result == wrong_core) {
        *value ^= 4;
        core_of_result = -1;
    }
    if (stale && address == COPRIME_INTERRUPT_STATUS) {
        *value |= COPRIME_INTERRUPT_STATUS_DONE_MASK;
    }
    return response;
}

/* Fowler, Noll and Vo's hash of the accesses. */
static void trace(uint32_t address, uint32_t value)
{
    static uint64_t hash = 14695981039346656037u;
    const char *const name = getenv("FAULTY_TRACE");
    FILE *file;

    if (address != COPRIME_COMMAND || value != COPRIME_COMMAND_RSA_PRIVATE) {
        hash = ((hash ^ address) * 1099511628211u ^ value) * 1099511628211u;
        return;
    }
    file = name ? fopen(name, "a") : NULL;
    if (file) {
        (void)fprintf(file, "%016llx\n", (unsigned long long)hash);
        (void)fclose(file);
    }
    hash = 14695981039346656037u;
}

int coprime_write32(struct simulation *simulation, uint32_t address, uint32_t value)
{
    trace(address, value);
    waited = 0;
    if (errs()) {
        if (draw() % 2) {
            return 0;
        }
        value ^= (uint32_t)1 << draw() % 32;
    }
    if (stale_after && address == COPRIME_COMMAND && value == COPRIME_COMMAND_RSA_PRIVATE) {
        stale = ++started > stale_after;
        if (stale) {
            return 0;
        }
    }
    return write32(simulation, address, value);
}

/* A wait of many turns is one event: it errs, or does not, in its first turn. One that lasts for as long
   as no command does is given up. */
int coprime_wait_interrupt(struct simulation *simulation, uint64_t limit)
{
    static int ends_early;

    if (stale) {
        return 1;
    }
    if (waited == 0) {
        ends_early = errs();
    }
    waited += limit;
    if (wait_interrupt(simulation, limit)) {
        return 1;
    }
    return rate && waited >= (ends_early ? EARLY : LATE) ? -1 : 0;
}
