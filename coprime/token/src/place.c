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
    (void)pthread_cond_init(&place->completed, NULL);
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
    (void)pthread_cond_destroy(&place->completed);
    (void)pthread_mutex_destroy(&place->lock);
}

/* What a cluster needs of its place. */

static uint32_t read_cluster(void *context, uint32_t address)
{
    const struct place *const place = context;

    return place->driver.read(place->driver.context, address);
}

static void write_cluster(void *context, uint32_t address, uint32_t value)
{
    const struct place *const place = context;

    place->driver.write(place->driver.context, address, value);
}

static int wait_for_cluster(void *context)
{
    const struct place *const place = context;

    return place->driver.wait(place->driver.context);
}

static void lock_cluster(void *context)
{
    struct place *const place = context;

    (void)pthread_mutex_lock(&place->lock);
}

static void unlock_cluster(void *context)
{
    struct place *const place = context;

    (void)pthread_mutex_unlock(&place->lock);
}

static void sleep_in_cluster(void *context)
{
    struct place *const place = context;

    (void)pthread_cond_wait(&place->completed, &place->lock);
}

static void wake_cluster(void *context)
{
    struct place *const place = context;

    (void)pthread_cond_broadcast(&place->completed);
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
        .read = read_cluster,
        .write = write_cluster,
        .wait = place->driver.wait ? wait_for_cluster : NULL,
        .lock = lock_cluster,
        .unlock = unlock_cluster,
        .sleep = sleep_in_cluster,
        .wake_all = wake_cluster,
        .cores = place->cores,
        .count = MAX_CORES,
    };
    error = coprime_cluster_open(&place->cluster, &memory);
    for (unsigned i = 0; i < place->cluster.count && !error; ++i) {
        place->engines[i].driver = &place->cores[i].driver;
    }
    place->count = error ? 1 : place->cluster.count;
    return error;
}

/* Seed the random source of the accelerator from the operating system, if it wants to be. */
static int seed_source(struct coprime *driver)
{
    uint8_t material[COPRIME_SEED_BYTES];
    int error;

    if (!coprime_needs_seed(driver)) {
        return 0;
    }
    if (getentropy(material, sizeof material)) {
        return COPRIME_ERROR_RANDOM;
    }
    error = coprime_seed(driver, material, sizeof material);
    OPENSSL_cleanse(material, sizeof material);
    return error;
}

int place_begin_use(struct place *place)
{
    const bool shared = place->kind->lock != NULL;
    const bool fresh = place->handle == NULL || shared;
    int error;

    if (place->handle == NULL) {
        place->handle = place->kind->open(place->name, &place->driver);
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
        return seed_source(&place->driver);
    }
    debug_say("%s:%s is opened", place->kind->name, place->name ? place->name : "");
    place->count = 1;
    place->engines[0].driver = &place->driver;
    error = coprime_open(&place->driver);
    error = error == COPRIME_ERROR_IDENTIFICATION ? open_cluster(place) : error;
    place->known = error == 0;
    return error ? error : seed_source(&place->driver);
}

void place_end_use(struct place *place)
{
    if (place->handle && place->kind->lock) {
        for (unsigned i = 0; i < place->count; ++i) {
            (void)coprime_wipe(place->engines[i].driver);
            place->engines[i].loaded = 0;
        }
        place->kind->unlock(place->handle);
    }
    if (place->failed) {
        place_close(place);
    }
}
