#define _GNU_SOURCE

#include "device.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "debug.h"
#include "place.h"

/* The most engines of each sort that are simulated by default. */
enum { MAX_SIMULATED = 8 };

/* The name of no engine: libcrypto and this module compute. */
static const char *const in_software = "software";

/* Somebody who waits for an engine; in his own memory. */
struct waiter {
    struct waiter *next;
};

struct device {
    pthread_mutex_t lock; /* held for short times; no other lock is taken with it */
    pthread_cond_t changed;
    struct waiter *first; /* who came first has the first engine that is free */
    unsigned forgetting; /* threads that wait until nobody has an engine: nobody takes one */
    bool stopped;
    bool software; /* does what no engine does */
    bool draws; /* random bytes of ML-KEM and ML-DSA */
    struct curve_constants curves;
    unsigned count;
    struct place places[];
};

/* Length of the first name: up to a comma that a number does not follow. */
static size_t name_length(const char *names)
{
    const size_t length = strcspn(names, ",");
    const char *const rest = names + length;
    const size_t number = *rest ? strspn(rest + 1, "0123456789") : 0;

    return number && (rest[1 + number] == ',' || rest[1 + number] == '\0') ? length + 1 + number :
                                                                            length;
}

/* How many engines of each sort `sim` alone stands for: one for each processor that this process may
   use. */
static unsigned simulated_engines(void)
{
    cpu_set_t processors;
    unsigned count = 1;

    if (sched_getaffinity(0, sizeof processors, &processors) == 0) {
        count = (unsigned)CPU_COUNT(&processors);
    }
    return count < MAX_SIMULATED ? count : MAX_SIMULATED;
}

static unsigned count_of(const char *names)
{
    unsigned count = 1;

    for (const char *rest = names + name_length(names); *rest; rest += 1 + name_length(rest + 1)) {
        ++count;
    }
    return count;
}

/* Add an engine, or software; false if this names neither, or without memory. */
static bool add(struct device *device, const char *name, size_t length)
{
    if (length == strlen(in_software) && strncmp(name, in_software, length) == 0) {
        device->software = true;
        return true;
    }
    if (!place_set(&device->places[device->count++], name, length)) {
        debug_say("`%.*s` is no device: those of docs/token.md begin with sim, serial: or uio:",
                  (int)length, name);
        return false;
    }
    return true;
}

static bool add_names(struct device *device, const char *names)
{
    for (;;) {
        const size_t length = name_length(names);

        if (!add(device, names, length)) {
            return false;
        }
        if (names[length] == '\0') {
            return true;
        }
        names += length + 1;
    }
}

struct device *device_new(const char *names)
{
    const struct engine_kind *const simulated[] = {&simulated_engine, &simulated_lattice_engine};
    const bool only_sim = strcmp(names, simulated_engine.name) == 0;
    const unsigned count = only_sim ? 2 * simulated_engines() : count_of(names);
    struct device *const device = calloc(1, sizeof *device + count * sizeof *device->places);
    bool right = true;

    if (device == NULL) {
        return NULL;
    }
    (void)pthread_mutex_init(&device->lock, NULL);
    (void)pthread_cond_init(&device->changed, NULL);
    curve_constants_begin(&device->curves);
    for (unsigned i = 0; only_sim && right && i < count; ++i) {
        right = add(device, simulated[i % 2]->name, strlen(simulated[i % 2]->name));
    }
    if (!(only_sim ? right : add_names(device, names))) {
        device_free(device);
        return NULL;
    }
    return device;
}

void device_free(struct device *device)
{
    if (device == NULL) {
        return;
    }
    for (unsigned i = 0; i < device->count; ++i) {
        place_free(&device->places[i]);
    }
    curve_constants_end(&device->curves);
    (void)pthread_cond_destroy(&device->changed);
    (void)pthread_mutex_destroy(&device->lock);
    free(device);
}

void device_abandon(struct device *device)
{
    for (unsigned i = 0; i < device->count; ++i) {
        struct place *const place = &device->places[i];

        if (place->handle && !place->changing) {
            place->kind->abandon(place->handle);
        }
    }
}

void device_let_draw(struct device *device)
{
    device->draws = true;
}

bool device_draws(const struct device *device)
{
    return device->draws;
}

bool device_is_simulated(const struct device *device)
{
    bool simulated = true;

    for (unsigned i = 0; i < device->count; ++i) {
        simulated = simulated && device->places[i].kind->is_simulated;
    }
    return simulated;
}

bool device_is_software(const struct device *device)
{
    return device->count == 0;
}

struct curve_constants *device_curves(struct device *device)
{
    return &device->curves;
}

/* Sharing the engines. */

static bool is_available(const struct place *place)
{
    return !place->changing && !place->failed;
}

/* Whether an engine does a job, or may do it, as far as is known before it is open. */
static bool suits(const struct engine *engine, const struct device_job *job)
{
    const struct place *const place = engine->place;
    const struct coprime *const driver = engine->driver;
    const uint32_t call = job->call;

    if (!place->known) {
        return place->name || place->kind->sort == ANY_ENGINE || place->kind->sort == job->sort;
    }
    if ((driver->slots != 0) != (job->sort == STRING_ENGINE)) {
        return false;
    }
    return job->sort == NUMBER_ENGINE ||
           ((call < 32 ? driver->commands : driver->commands_high) >> call % 32 & 1);
}

/* Whether any engine does a job, or may: that of a place which is changing is not known yet. */
static bool is_possible(const struct device *device, const struct device_job *job)
{
    bool possible = false;

    for (unsigned i = 0; i < device->count && !possible; ++i) {
        const struct place *const place = &device->places[i];

        possible = place->changing;
        for (unsigned k = 0; !possible && k < place->count; ++k) {
            possible = suits(&place->engines[k], job);
        }
    }
    return possible;
}

/* How often the best engine for a job has failed since it last worked. */
static unsigned least_failures(const struct device *device, const struct device_job *job)
{
    unsigned least = ~0u;

    for (unsigned i = 0; i < device->count; ++i) {
        const struct place *const place = &device->places[i];

        for (unsigned k = 0; is_available(place) && k < place->count; ++k) {
            const struct engine *const engine = &place->engines[k];

            if (suits(engine, job) && engine->failures < least) {
                least = engine->failures;
            }
        }
    }
    return least;
}

/* A free engine, the best one first: one that holds the key, one that holds none, any. One that has
   failed waits until all have. */
static struct engine *choose(struct device *device, uint64_t key, const struct device_job *job)
{
    const unsigned failures = least_failures(device, job);
    struct engine *found = NULL;

    for (unsigned i = 0; i < device->count; ++i) {
        struct place *const place = &device->places[i];

        for (unsigned k = 0; is_available(place) && k < place->count; ++k) {
            struct engine *const engine = &place->engines[k];

            if (engine->taken || engine->failures != failures || !suits(engine, job)) {
                continue;
            }
            if (engine->loaded == key) {
                return engine;
            }
            if (found == NULL || (engine->loaded == 0 && found->loaded != 0)) {
                found = engine;
            }
        }
    }
    return found;
}

static void join_queue(struct device *device, struct waiter *self)
{
    struct waiter **end = &device->first;

    while (*end) {
        end = &(*end)->next;
    }
    self->next = NULL;
    *end = self;
}

static void leave_queue(struct device *device, const struct waiter *self)
{
    struct waiter **place = &device->first;

    while (*place != self) {
        place = &(*place)->next;
    }
    *place = self->next;
}

/* Wait for a free engine: first come, first served. With the device's lock. */
static CK_RV wait_for_engine(struct device *device, uint64_t key, const struct device_job *job,
                             const struct cancel *cancel, struct engine **found)
{
    struct waiter self;
    CK_RV rv;

    *found = NULL;
    join_queue(device, &self);
    for (;;) {
        rv = device->stopped ? CKR_CRYPTOKI_NOT_INITIALIZED : cancel_reason(cancel);
        if (rv == CKR_OK && !is_possible(device, job)) {
            rv = CKR_MECHANISM_INVALID;
        }
        if (rv == CKR_OK && device->first == &self && device->forgetting == 0) {
            *found = choose(device, key, job);
        }
        if (rv != CKR_OK || *found) {
            break;
        }
        (void)pthread_cond_wait(&device->changed, &device->lock);
    }
    leave_queue(device, &self);
    (void)pthread_cond_broadcast(&device->changed); /* there may be an engine for the next one */
    return rv;
}

/* Take an engine, which is open unless there is an error. */
static CK_RV take_any(struct device *device, uint64_t key, const struct device_job *job,
                      const struct cancel *cancel, struct engine **taken, int *error)
{
    struct place *place;
    CK_RV rv;

    *error = 0;
    (void)pthread_mutex_lock(&device->lock);
    rv = wait_for_engine(device, key, job, cancel, taken);
    if (rv != CKR_OK) {
        (void)pthread_mutex_unlock(&device->lock);
        return rv;
    }
    place = (*taken)->place;
    (*taken)->taken = true;
    if (place->users++ == 0) {
        place->changing = true;
        (void)pthread_mutex_unlock(&device->lock);
        *error = place_begin_use(place);
        if (!*error && *taken >= &place->engines[place->count]) {
            *error = COPRIME_ERROR_IDENTIFICATION; /* it had more engines before */
        }
        (void)pthread_mutex_lock(&device->lock);
        place->changing = false;
        (void)pthread_cond_broadcast(&device->changed); /* it may have more engines than before */
    }
    (void)pthread_mutex_unlock(&device->lock);
    *error = *error ? *error : place_seed(place);
    return CKR_OK;
}

CK_RV device_take(struct device *device, uint64_t key, const struct device_job *job,
                  const struct cancel *cancel, struct engine **taken, int *error)
{
    for (;;) {
        const CK_RV rv = take_any(device, key, job, cancel, taken, error);

        if (rv != CKR_OK || *error || suits(*taken, job)) {
            return rv;
        }
        device_give_back(device, *taken, 0); /* now it is known to be none for this */
    }
}

CK_RV device_take_drawing(struct device *device, uint64_t key, const struct device_job *job,
                          const struct cancel *cancel, struct engine **taken, int *error)
{
    const CK_RV rv = device_take(device, key, job, cancel, taken, error);

    if (rv == CKR_OK && *error == 0 && (*taken)->driver->source == 0) {
        debug_say("the engine has no source of random bytes: build it with --random seeded");
        device_give_back(device, *taken, 0);
        return CKR_MECHANISM_INVALID;
    }
    return rv;
}

void device_give_back(struct device *device, struct engine *engine, int error)
{
    struct place *const place = engine->place;

    if (error) {
        debug_say("an engine of %s failed: %s", place->kind->name, coprime_error_text(error));
    }
    (void)pthread_mutex_lock(&device->lock);
    engine->taken = false;
    engine->failures = error ? engine->failures + 1 : 0;
    place->failed = place->failed || error;
    if (--place->users == 0) {
        place->changing = true;
        (void)pthread_mutex_unlock(&device->lock);
        place_end_use(place);
        (void)pthread_mutex_lock(&device->lock);
        place->changing = place->failed = false;
    }
    (void)pthread_cond_broadcast(&device->changed);
    (void)pthread_mutex_unlock(&device->lock);
}

bool device_is_wanted(struct device *device)
{
    bool wanted;

    (void)pthread_mutex_lock(&device->lock);
    wanted = device->first || device->forgetting || device->stopped;
    (void)pthread_mutex_unlock(&device->lock);
    return wanted;
}

void device_wake(struct device *device)
{
    (void)pthread_mutex_lock(&device->lock);
    (void)pthread_cond_broadcast(&device->changed);
    (void)pthread_mutex_unlock(&device->lock);
}

void device_stop(struct device *device)
{
    (void)pthread_mutex_lock(&device->lock);
    device->stopped = true;
    (void)pthread_cond_broadcast(&device->changed);
    (void)pthread_mutex_unlock(&device->lock);
}

void device_forget(struct device *device)
{
    (void)pthread_mutex_lock(&device->lock);
    ++device->forgetting;
    for (unsigned i = 0; i < device->count; ++i) {
        struct place *const place = &device->places[i];

        while (place->users || place->changing) {
            (void)pthread_cond_wait(&device->changed, &device->lock);
        }
        place_close(place);
    }
    --device->forgetting;
    (void)pthread_cond_broadcast(&device->changed);
    (void)pthread_mutex_unlock(&device->lock);
}

/* Whether an engine does not take the key. */
static bool is_refusal(int error)
{
    switch (error) {
    case COPRIME_ERROR_UNSUPPORTED:
    case COPRIME_ERROR_LENGTH_OVER:
    case COPRIME_ERROR_LENGTH_ZERO:
    case COPRIME_ERROR_EXPONENT_LENGTH:
        return true;
    default:
        return false;
    }
}

CK_RV device_result_of(int error)
{
    switch (error) {
    case 0:
        return CKR_OK;
    case COPRIME_ERROR_MEMORY:
        return CKR_HOST_MEMORY;
    default:
        return is_refusal(error) ? CKR_KEY_SIZE_RANGE : CKR_DEVICE_ERROR;
    }
}

int device_error_of(CK_RV checked)
{
    switch (checked) {
    case CKR_OK:
        return COPRIME_ERROR_NONE;
    case CKR_HOST_MEMORY:
        return COPRIME_ERROR_MEMORY;
    default:
        return COPRIME_ERROR_FAULT;
    }
}

/* Logging out revokes the key. */
static CK_RV reason_of_key(const void *context)
{
    const struct key *const key = context;

    return atomic_load(&key->revoked) ? CKR_USER_NOT_LOGGED_IN : CKR_OK;
}

/* Without an engine, unless somebody has logged out. */
static CK_RV run_here(const struct key *key, const struct device_job *job, void *context)
{
    const CK_RV rv = reason_of_key(key);

    return rv == CKR_OK ? device_result_of(job->in_software(context)) : rv;
}

CK_RV device_run(struct device *device, const struct key *key, const struct device_job *job,
                 void *context)
{
    const struct cancel cancel = {reason_of_key, key};
    CK_RV rv = CKR_DEVICE_ERROR;

    for (int attempt = 0; attempt < 2; ++attempt) {
        struct engine *engine;
        int error;

        rv = device_take(device, key->number, job, &cancel, &engine, &error);
        if (rv == CKR_MECHANISM_INVALID && device->software) {
            return run_here(key, job, context);
        }
        if (rv == CKR_MECHANISM_INVALID) {
            debug_say("no engine of the device does this: add one that does, or `software`");
        }
        if (rv != CKR_OK) {
            break;
        }
        if (!error) {
            error = job->run(engine, context);
        }
        device_give_back(device, engine, error);
        rv = device_result_of(error);
        if (!is_refusal(error)) {
            break;
        }
    }
    return rv;
}
