#define _GNU_SOURCE

#include "device.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "constants.h"
#include "coprime_keygen.h"
#include "curve_constants.h"
#include "debug.h"
#include "place.h"
#include "secret.h"

/* The most engines that are simulated by default; and microseconds in which another process that
   waits for a shared engine wakes up and takes it. */
enum { MAX_SIMULATED = 8, PAUSE = 500 };

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
    bool software; /* it has no engine */
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

/* How many engines `sim` alone stands for: one for each processor that this process may use. */
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

struct device *device_new(const char *names)
{
    const bool only_sim = strcmp(names, simulated_engine.name) == 0;
    const bool software = strcmp(names, "software") == 0;
    const unsigned count = software ? 0 : only_sim ? simulated_engines() : count_of(names);
    struct device *const device = calloc(1, sizeof *device + count * sizeof *device->places);
    bool right = true;

    if (device == NULL) {
        return NULL;
    }
    (void)pthread_mutex_init(&device->lock, NULL);
    (void)pthread_cond_init(&device->changed, NULL);
    curve_constants_begin(&device->curves);
    device->software = software;
    for (; device->count < count && right; ++device->count) {
        const size_t length = name_length(names);

        right = place_set(&device->places[device->count], names, length);
        names += only_sim ? 0 : length + 1;
    }
    if (!right) {
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

bool device_is_simulated(const struct device *device)
{
    bool simulated = true;

    for (unsigned i = 0; i < device->count; ++i) {
        simulated = simulated && device->places[i].kind == &simulated_engine;
    }
    return simulated;
}

bool device_is_software(const struct device *device)
{
    return device->software;
}

/* Sharing the engines. */

static bool is_available(const struct place *place)
{
    return !place->changing && !place->failed;
}

/* How often the best engine has failed since it last worked. */
static unsigned least_failures(const struct device *device)
{
    unsigned least = ~0u;

    for (unsigned i = 0; i < device->count; ++i) {
        const struct place *const place = &device->places[i];

        for (unsigned k = 0; is_available(place) && k < place->count; ++k) {
            if (place->engines[k].failures < least) {
                least = place->engines[k].failures;
            }
        }
    }
    return least;
}

/* A free engine, the best one first: one that holds the key, one that holds none, any. One that has
   failed waits until all have. */
static struct engine *choose(struct device *device, uint64_t key)
{
    const unsigned failures = least_failures(device);
    struct engine *found = NULL;

    for (unsigned i = 0; i < device->count; ++i) {
        struct place *const place = &device->places[i];

        for (unsigned k = 0; is_available(place) && k < place->count; ++k) {
            struct engine *const engine = &place->engines[k];

            if (engine->taken || engine->failures != failures) {
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
static CK_RV wait_for_engine(struct device *device, uint64_t key, const struct cancel *cancel,
                             struct engine **found)
{
    struct waiter self;
    CK_RV rv;

    *found = NULL;
    join_queue(device, &self);
    for (;;) {
        rv = device->stopped ? CKR_CRYPTOKI_NOT_INITIALIZED : cancel_reason(cancel);
        if (rv == CKR_OK && device->first == &self && device->forgetting == 0) {
            *found = choose(device, key);
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

/* Take an engine, unless the call is cancelled. It is open unless there is an error, with which it is
   given back. */
static CK_RV take_engine(struct device *device, uint64_t key, const struct cancel *cancel,
                         struct engine **taken, int *error)
{
    struct place *place;
    CK_RV rv;

    *error = 0;
    (void)pthread_mutex_lock(&device->lock);
    rv = wait_for_engine(device, key, cancel, taken);
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
    return CKR_OK;
}

/* After an error the engine is opened anew when it is used next. */
static void give_back(struct device *device, struct engine *engine, int error)
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

/* Whether somebody waits for an engine, or until all are free. */
static bool is_wanted(struct device *device)
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

static CK_RV result_of(int error)
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

/* Private operations. */

/* Load a key, whose constants all engines of a device have in common: computed in software where that
   can be. */
static int load_key(struct engine *engine, struct rsa_key *key)
{
    struct rsa_private *const secret = key->secret;
    struct coprime_memory memory = secret->memory;
    int error = 0;

    if (engine->loaded == key->base.number) {
        return 0;
    }
    engine->loaded = 0;
    (void)pthread_mutex_lock(&key->lock);
    if (!secret->prepared && !constants_compute(engine->driver, &secret->key, &memory)) {
        error = coprime_private_constants(engine->driver, &secret->key, &memory);
    }
    secret->prepared = error == 0;
    if (!error) {
        error = coprime_load_private(engine->driver, &secret->key);
    }
    (void)pthread_mutex_unlock(&key->lock);
    if (!error) {
        engine->loaded = key->base.number;
    }
    return error;
}

/* Whether the result is right: an engine that is disturbed may answer anything. */
static bool is_right(const struct rsa_key *key, const uint8_t *input, const uint8_t *result)
{
    uint8_t back[MAX_RSA_BYTES];
    const bool right = rsa_public(key, result, back) &&
                       CRYPTO_memcmp(back, input, key->bytes) == 0;

    OPENSSL_cleanse(back, sizeof back);
    return right;
}

static int exponentiate(struct engine *engine, struct rsa_key *key, const uint8_t *input,
                        uint8_t *result)
{
    uint32_t x[COPRIME_WORDS(MAX_RSA_BITS)];
    uint8_t made[MAX_RSA_BYTES];
    const uint32_t count = COPRIME_WORDS(key->bits);
    int error = load_key(engine, key);

    if (!error) {
        error = coprime_from_bytes(x, count, input, key->bytes);
    }
    if (!error) {
        error = coprime_private(engine->driver, x, x);
    }
    if (!error) {
        error = coprime_to_bytes(made, key->bytes, x, count);
    }
    coprime_clear(x, COPRIME_WORDS(MAX_RSA_BITS));
    if (!error && !is_right(key, input, made)) {
        error = COPRIME_ERROR_FAULT;
    }
    if (!error) { /* nobody sees what is not right */
        memcpy(result, made, key->bytes);
    }
    OPENSSL_cleanse(made, sizeof made);
    if (error) { /* it may be the constants that are wrong */
        (void)pthread_mutex_lock(&key->lock);
        key->secret->prepared = false;
        (void)pthread_mutex_unlock(&key->lock);
    }
    return error;
}

/* Logging out revokes the key. */
static CK_RV reason_of_key(const void *context)
{
    const struct key *const key = context;

    return atomic_load(&key->revoked) ? CKR_USER_NOT_LOGGED_IN : CKR_OK;
}

/* Work without an engine, unless somebody has logged out. */
static CK_RV work_here(const struct key *key, int (*work)(struct engine *engine, void *context),
                       void *context)
{
    const CK_RV rv = reason_of_key(key);

    return rv == CKR_OK ? result_of(work(NULL, context)) : rv;
}

/* Have an engine do work with a key. One that refuses is asked again after opening it anew: a disturbed
   one may say anything. */
static CK_RV work_with(struct device *device, const struct key *key,
                       int (*work)(struct engine *engine, void *context), void *context)
{
    const struct cancel cancel = {reason_of_key, key};
    CK_RV rv = CKR_DEVICE_ERROR;

    if (device->software) {
        return work_here(key, work, context);
    }
    for (int attempt = 0; attempt < 2; ++attempt) {
        struct engine *engine;
        int error;

        rv = take_engine(device, key->number, &cancel, &engine, &error);
        if (rv != CKR_OK) {
            break;
        }
        if (!error) {
            error = work(engine, context);
        }
        give_back(device, engine, error);
        rv = result_of(error);
        if (!is_refusal(error)) {
            break;
        }
    }
    return rv;
}

/* A private operation of RSA. */
struct exponentiation {
    struct rsa_key *key;
    const uint8_t *input;
    uint8_t *result;
};

static int exponentiate_on(struct engine *engine, void *context)
{
    const struct exponentiation *const wanted = context;

    if (engine == NULL) {
        return rsa_private_in_software(wanted->key, wanted->input, wanted->result) &&
                       is_right(wanted->key, wanted->input, wanted->result) ?
                   COPRIME_ERROR_NONE :
                   COPRIME_ERROR_MEMORY;
    }
    return exponentiate(engine, wanted->key, wanted->input, wanted->result);
}

CK_RV device_private(struct device *device, struct rsa_key *key, const uint8_t *input,
                     uint8_t *result)
{
    struct exponentiation wanted = {key, input, result};
    const CK_RV rv = work_with(device, &key->base, exponentiate_on, &wanted);

    if (rv != CKR_OK) {
        OPENSSL_cleanse(result, key->bytes);
    }
    return rv;
}

/* Work with a key on a curve. */
struct multiplication {
    const struct crypto *crypto;
    struct curve_constants *constants;
    const struct curve *curve;
    curve_work *work;
    void *context;
};

static int multiply_on(struct engine *engine, void *context)
{
    const struct multiplication *const wanted = context;
    const struct coprime_curve_constants *constants;
    int error;

    if (engine == NULL) {
        return wanted->work(NULL, NULL, wanted->context);
    }
    engine->loaded = 0; /* nothing stays loaded that another operation could use */
    error = curve_constants_find(wanted->constants, wanted->crypto, engine->driver, wanted->curve,
                                 &constants);
    return error ? error : wanted->work(engine->driver, constants, wanted->context);
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

CK_RV device_curve(struct device *device, const struct crypto *crypto, struct curve_key *key,
                   curve_work *work, void *context)
{
    struct multiplication wanted = {crypto, &device->curves, key->curve, work, context};

    return work_with(device, &key->base, multiply_on, &wanted);
}

/* Generating keys. */

/* A key pair that is wanted, and memory for it. */
struct wanted {
    struct coprime_generation generation;
    struct device *device;
    const struct cancel *cancel;
    struct engine *engine; /* null after the generation was cancelled */
    CK_RV rv; /* why it was cancelled */
    struct attributes *numbers;
    uint32_t *words; /* COPRIME_KEYGEN_MEMORY */
};

static int random_of_the_system(void *context, uint8_t *bytes, size_t size)
{
    (void)context;
    while (size) {
        const ssize_t got = getrandom(bytes, size, 0);

        if (got < 0 && errno != EINTR) {
            return 1;
        }
        if (got > 0) {
            bytes += got;
            size -= (size_t)got;
        }
    }
    return 0;
}

/* Set the words of a number as an attribute, the highest byte first. */
static bool set_words(struct attributes *numbers, enum rsa_number number, const uint32_t *words,
                      uint32_t bits)
{
    const size_t size = (bits + 7) / 8;
    uint8_t bytes[MAX_RSA_BYTES];
    const bool set = coprime_to_bytes(bytes, size, words, COPRIME_WORDS(bits)) == 0 &&
                     attributes_set(numbers, rsa_attributes[number], bytes, size);

    OPENSSL_cleanse(bytes, sizeof bytes);
    return set;
}

/* Between exponentiations: if anybody waits for an engine, or may wait in another process, or the
   generation is not wanted any more, give the engine back, without a trace of the key, and queue
   anew. */
static int give_way(void *context, struct coprime **driver)
{
    struct wanted *const wanted = context;
    const bool shared = wanted->engine->place->kind->lock != NULL;
    int error;

    if (!shared && cancel_reason(wanted->cancel) == CKR_OK && !is_wanted(wanted->device)) {
        return 0;
    }
    error = coprime_wipe(*driver);
    if (error) {
        return error;
    }
    give_back(wanted->device, wanted->engine, 0);
    if (shared) {
        (void)usleep(PAUSE);
    }
    wanted->rv = take_engine(wanted->device, 0, wanted->cancel, &wanted->engine, &error);
    if (wanted->rv != CKR_OK) {
        return COPRIME_ERROR_STOPPED;
    }
    wanted->engine->loaded = 0;
    *driver = wanted->engine->driver;
    return error;
}

static bool set_numbers(struct attributes *numbers, const struct coprime_private_key *key)
{
    const uint32_t bits = key->public_key.modulus.bits, half = bits / 2;

    return set_words(numbers, RSA_N, key->public_key.modulus.value, bits) &&
           set_words(numbers, RSA_E, key->public_key.exponent, key->public_key.exponent_bits) &&
           set_words(numbers, RSA_D, key->d, bits) &&
           set_words(numbers, RSA_P, key->p.value, half) &&
           set_words(numbers, RSA_Q, key->q.value, half) &&
           set_words(numbers, RSA_DP, key->dp, half) &&
           set_words(numbers, RSA_DQ, key->dq, half) &&
           set_words(numbers, RSA_QINV, key->qinv, half);
}

/* Generate with the engine that was taken, or others after it. */
static int generate(struct wanted *wanted)
{
    struct coprime_memory memory = {wanted->words, COPRIME_KEYGEN_MEMORY(wanted->generation.bits)};
    struct coprime_private_key key;
    bool set;
    int error;

    wanted->engine->loaded = 0;
    error = coprime_generate_key(wanted->engine->driver, &wanted->generation, &key, &memory);
    if (error) {
        return error;
    }
    set = set_numbers(wanted->numbers, &key);
    OPENSSL_cleanse(&key, sizeof key);
    error = coprime_wipe(wanted->engine->driver);
    wanted->rv = set ? CKR_OK : CKR_HOST_MEMORY;
    return error;
}

bool device_can_generate(uint32_t bits, uint32_t exponent)
{
    return bits >= 1024 && bits <= MAX_RSA_BITS && bits % 64 == 0 && exponent % 2 &&
           exponent > 1u << 16 && exponent < 1u << 31;
}

CK_RV device_generate(struct device *device, uint32_t bits, uint32_t exponent,
                      const struct cancel *cancel, struct attributes *numbers)
{
    struct wanted wanted = {
        .generation = {.bits = bits,
                       .exponent = exponent,
                       .context = &wanted,
                       .random = random_of_the_system,
                       .yield = give_way},
        .device = device,
        .cancel = cancel,
        .numbers = numbers,
        .words = secret_allocate(sizeof *wanted.words * COPRIME_KEYGEN_MEMORY(bits)),
    };
    int error = 0;

    wanted.rv = wanted.words ? take_engine(device, 0, cancel, &wanted.engine, &error) :
                               CKR_HOST_MEMORY;
    if (wanted.rv == CKR_OK) {
        if (!error) {
            error = generate(&wanted);
        }
        if (wanted.engine) {
            give_back(device, wanted.engine, error);
        }
    }
    secret_free(wanted.words);
    return wanted.rv == CKR_OK ? result_of(error) : wanted.rv;
}
