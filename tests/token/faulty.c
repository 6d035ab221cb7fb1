/* A simulated engine that errs: it stands between the module and the engine that FAULTY_ENGINE
   names. Once in about FAULTY_RATE accesses it does one of these: change a bit of what is read, or
   written; leave a write out; say too early that a command has ended. Its random numbers start with
   FAULTY_SEED, and go on when the engine is opened again: it is never unloaded. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct simulation;

static struct simulation *(*create)(uint64_t access_limit, uint64_t length);
static void (*destroy)(struct simulation *simulation);
static int (*read32)(struct simulation *simulation, uint32_t address, uint32_t *value);
static int (*write32)(struct simulation *simulation, uint32_t address, uint32_t value);
static int (*wait_interrupt)(struct simulation *simulation, uint64_t limit);
static uint64_t state, rate;

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
    return draw() % rate == 0;
}

struct simulation *coprime_create(uint64_t access_limit, uint64_t length)
{
    void *const library = dlopen(getenv("FAULTY_ENGINE"), RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        return NULL;
    }
    find(library, "coprime_create", &create);
    find(library, "coprime_destroy", &destroy);
    find(library, "coprime_read32", &read32);
    find(library, "coprime_write32", &write32);
    find(library, "coprime_wait_interrupt", &wait_interrupt);
    if (rate == 0) {
        state = strtoull(getenv("FAULTY_SEED"), NULL, 10);
        rate = strtoull(getenv("FAULTY_RATE"), NULL, 10);
    }
    return create(access_limit, length);
}

void coprime_destroy(struct simulation *simulation)
{
    destroy(simulation);
}

int coprime_read32(struct simulation *simulation, uint32_t address, uint32_t *value)
{
    const int response = read32(simulation, address, value);

    if (errs()) {
        *value ^= (uint32_t)1 << draw() % 32;
    }
    return response;
}

int coprime_write32(struct simulation *simulation, uint32_t address, uint32_t value)
{
    if (errs()) {
        if (draw() % 2) {
            return 0;
        }
        value ^= (uint32_t)1 << draw() % 32;
    }
    return write32(simulation, address, value);
}

int coprime_wait_interrupt(struct simulation *simulation, uint64_t limit)
{
    return wait_interrupt(simulation, errs() ? limit / 1000000 : limit > 20000000 ? 20000000 : limit);
}
