#define _DEFAULT_SOURCE

#include "place.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug.h"
#include "secret.h"

/* The longest modulus that the cores of a cluster may have room for. */
enum { MAX_CORE_BITS = 16384 };

static const struct engine_kind *const kinds[] = {&simulated_engine, &simulated_lattice_engine,
                                                  &serial_engine, &uio_engine};

bool place_set(struct place *place, const char *name, size_t length)
{
    place->count = 1;
    (void)pthread_mutex_init(&place->lock, NULL);
    (void)pthread_cond_init(&place->interrupted, NULL);
    (void)pthread_mutex_init(&place->seeding, NULL);
    for (unsigned i = 0; i < MAX_CORES; ++i) {
        place->engines[i].place = place;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        const size_t kind_length = strlen(kinds[i]->name);

        if (length >= kind_length && strncmp(name, kinds[i]->name, kind_length) == 0 &&
            (length == kind_length || name[kind_length] == ':')) {
            place->kind = kinds[i];
            if (length > kind_length) {
                place->name = strndup(name + kind_length + 1, length - kind_length - 1);
                return place->name != NULL;
            }
            return true;
        }
    }
    return false;
}

void place_close(struct place *place)
{
    if (place->handle) {
        place->kind->close(place->handle);
    }
    secret_free(place->results);
    place->handle = NULL;
    place->results = NULL;
    for (unsigned i = 0; i < MAX_CORES; ++i) {
        place->engines[i].loaded = 0;
    }
}

void place_free(struct place *place)
{
    place_close(place);
    free(place->name);
    (void)pthread_mutex_destroy(&place->seeding);
    (void)pthread_cond_destroy(&place->interrupted);
    (void)pthread_mutex_destroy(&place->lock);
}

/* The bus, as the drivers of several cores need it. */

static uint32_t read_bus(void *context, uint32_t address)
{
    const struct place *const place = context;

    return place->bus.read(place->bus.context, address);
}

static void write_bus(void *context, uint32_t address, uint32_t value)
{
    const struct place *const place = context;

    place->bus.write(place->bus.context, address, value);
}

static void write_block_to_bus(void *context, uint32_t address, const uint32_t *words, uint32_t count)
{
    const struct place *const place = context;

    place->bus.write_block(place->bus.context, address, words, count);
}

static void read_block_from_bus(void *context, uint32_t address, uint32_t *words, uint32_t count)
{
    const struct place *const place = context;

    place->bus.read_block(place->bus.context, address, words, count);
}

static int wait_at_bus(void *context)
{
    const struct place *const place = context;

    return place->bus.wait(place->bus.context);
}

static void lock_bus(void *context)
{
    struct place *const place = context;

    (void)pthread_mutex_lock(&place->lock);
}

static void unlock_bus(void *context)
{
    struct place *const place = context;

    (void)pthread_mutex_unlock(&place->lock);
}

static void sleep_at_bus(void *context)
{
    struct place *const place = context;

    (void)pthread_cond_wait(&place->interrupted, &place->lock);
}

static void wake_all_at_bus(void *context)
{
    struct place *const place = context;

    (void)pthread_cond_broadcast(&place->interrupted);
}

/* Open an accelerator, and each of its cores. */
static int open_accelerator(struct place *place)
{
    struct coprime_call_cores *const accelerator = &place->accelerator;
    int error;

    *accelerator = (struct coprime_call_cores){
        .context = place,
        .read = read_bus,
        .write = write_bus,
        .wait = place->bus.wait ? wait_at_bus : NULL,
        .write_block = place->bus.write_block ? write_block_to_bus : NULL,
        .read_block = place->bus.read_block ? read_block_from_bus : NULL,
        .lock = lock_bus,
        .unlock = unlock_bus,
        .sleep = sleep_at_bus,
        .wake_all = wake_all_at_bus,
    };
    error = coprime_call_cores_open(accelerator);
    if (error) {
        return error;
    }
    if (accelerator->count > 1 && place->kind->waits_by_accesses) {
        accelerator->wait = NULL;
    }
    place->count = accelerator->count < MAX_CORES ? accelerator->count : MAX_CORES;
    for (unsigned i = 0; i < place->count && !error; ++i) {
        error = coprime_call_core_open(&place->cores[i], accelerator, i, &place->drivers[i]);
        error = error ? error : coprime_open(&place->drivers[i]);
        place->engines[i].driver = &place->drivers[i];
    }
    return error;
}

/* Open the cores of a cluster. */
static int open_cluster(struct place *place)
{
    const size_t words = COPRIME_CLUSTER_MEMORY(MAX_CORES, MAX_CORE_BITS);
    struct coprime_memory memory;
    int error;

    if (place->results == NULL) {
        place->results = secret_allocate(words * sizeof *place->results);
    }
    if (place->results == NULL) {
        return COPRIME_ERROR_MEMORY;
    }
    memory = (struct coprime_memory){place->results, (uint32_t)words};
    place->cluster = (struct coprime_cluster){
        .context = place,
        .read = read_bus,
        .write = write_bus,
        .wait = place->bus.wait && !place->kind->waits_by_accesses ? wait_at_bus : NULL,
        .lock = lock_bus,
        .unlock = unlock_bus,
        .sleep = sleep_at_bus,
        .wake_all = wake_all_at_bus,
        .cores = place->cluster_cores,
        .count = MAX_CORES,
    };
    error = coprime_cluster_open(&place->cluster, &memory);
    for (unsigned i = 0; i < place->cluster.count && !error; ++i) {
        place->engines[i].driver = &place->cluster_cores[i].driver;
    }
    place->count = place->cluster.count;
    return error;
}

/* Seed a random source from the operating system. */
static int seed_source(struct coprime *driver)
{
    uint8_t material[COPRIME_SEED_BYTES];
    int error;

    if (getentropy(material, sizeof material)) {
        return COPRIME_ERROR_RANDOM;
    }
    error = coprime_seed(driver, material, sizeof material);
    OPENSSL_cleanse(material, sizeof material);
    return error;
}

/* Cores that draw random bytes have one source: after the first of them has seeded it, no other one
   does. */
int place_seed(struct place *place)
{
    int error = 0;

    (void)pthread_mutex_lock(&place->seeding);
    for (unsigned i = 0; i < place->count && i < place->accelerator.count && !error; ++i) {
        if (coprime_needs_seed(&place->drivers[i])) {
            error = seed_source(&place->drivers[i]);
        }
    }
    (void)pthread_mutex_unlock(&place->seeding);
    return error;
}

int place_begin_use(struct place *place)
{
    const bool shared = place->kind->lock != NULL;
    const bool fresh = place->handle == NULL || shared;
    int error;

    if (place->handle == NULL) {
        place->handle = place->kind->open(place->name, &place->bus);
    }
    if (place->handle == NULL) {
        debug_say("%s:%s cannot be opened", place->kind->name, place->name ? place->name : "");
        return COPRIME_ERROR_IDENTIFICATION;
    }
    if (shared && !place->kind->lock(place->handle)) {
        place_close(place); /* it is not ours to wipe */
        return COPRIME_ERROR_BUSY;
    }
    if (!fresh) {
        return 0;
    }
    debug_say("%s:%s is opened", place->kind->name, place->name ? place->name : "");
    place->count = 1;
    place->engines[0].driver = &place->drivers[0];
    error = open_accelerator(place);
    error = error == COPRIME_ERROR_IDENTIFICATION ? open_cluster(place) : error;
    place->known = error == 0;
    place->count = error ? 1 : place->count;
    return error;
}

void place_end_use(struct place *place)
{
    if (place->handle && place->kind->lock) {
        for (unsigned i = 0; place->known && i < place->count; ++i) {
            (void)coprime_wipe(place->engines[i].driver);
            place->engines[i].loaded = 0;
        }
        place->kind->unlock(place->handle);
    }
    if (place->failed) {
        place_close(place);
    }
}
