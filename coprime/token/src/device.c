#define _DEFAULT_SOURCE

#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/crypto.h>

#include "coprime_cluster.h"
#include "coprime_keygen.h"
#include "engine.h"
#include "secret.h"

/* The most cores of a cluster that are used, and the longest modulus that they may have room for. */
enum { MAX_CORES = 16, MAX_CORE_BITS = 16384 };

/* An engine: an accelerator, or a core of a cluster. While it is `taken`, it is the taker's. */
struct engine {
    struct place *place;
    struct coprime *driver;
    bool taken;
    unsigned failures; /* since it last worked */
    uint64_t loaded; /* number of the key that it holds; 0: none */
};

/* What one of the device's names stands for. It is opened by the first user of one of its engines,
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
    struct engine engines[MAX_CORES];
    struct coprime_cluster cluster;
    struct coprime_core cores[MAX_CORES];
    uint32_t *results; /* of the cores, in secret memory */
    pthread_mutex_t lock; /* the cluster's */
    pthread_cond_t completed;
};

struct device {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    unsigned count;
    struct place places[];
};

static const struct engine_kind *const kinds[] = {&simulated_engine, &serial_engine, &uio_engine};

/* Read one name, of `length` characters. */
static bool parse_place(struct place *place, const char *name, size_t length)
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

/* Length of the first name: up to a comma that a number does not follow. */
static size_t name_length(const char *names)
{
    const size_t length = strcspn(names, ",");
    const char *const rest = names + length;
    const size_t number = *rest ? strspn(rest + 1, "0123456789") : 0;

    return number && (rest[1 + number] == ',' || rest[1 + number] == '\0') ? length + 1 + number :
                                                                            length;
}

struct device *device_new(const char *names)
{
    struct device *device;
    unsigned count = 1;
    bool parsed = true;

    for (const char *rest = names + name_length(names); *rest; rest += 1 + name_length(rest + 1)) {
        ++count;
    }
    device = calloc(1, sizeof *device + count * sizeof *device->places);
    if (device == NULL) {
        return NULL;
    }
    (void)pthread_mutex_init(&device->lock, NULL);
    (void)pthread_cond_init(&device->freed, NULL);
    for (; device->count < count && parsed; ++device->count) {
        const size_t length = name_length(names);

        parsed = parse_place(&device->places[device->count], names, length);
        names += length + 1;
    }
    if (!parsed) {
        device_free(device);
        return NULL;
    }
    return device;
}

/* Closing makes the engines forget their keys. */
static void close_place(struct place *place)
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

void device_free(struct device *device)
{
    if (device == NULL) {
        return;
    }
    for (unsigned i = 0; i < device->count; ++i) {
        struct place *const place = &device->places[i];

        close_place(place);
        free(place->name);
        (void)pthread_cond_destroy(&place->completed);
        (void)pthread_mutex_destroy(&place->lock);
    }
    (void)pthread_cond_destroy(&device->freed);
    (void)pthread_mutex_destroy(&device->lock);
    free(device);
}

void device_abandon(struct device *device)
{
    for (unsigned i = 0; i < device->count; ++i) {
        struct place *const place = &device->places[i];

        if (place->handle && !place->changing) {
            place->kind->close(place->handle);
        }
    }
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

/* Make a place ready for its first user. A shared one is opened anew each time: another process may
   have used it meanwhile. */
static int begin_use(struct place *place)
{
    const bool shared = place->kind->lock != NULL;
    const bool fresh = place->handle == NULL || shared;
    int error;

    if (place->handle == NULL) {
        place->handle = place->kind->open(place->name, &place->driver);
    }
    if (place->handle == NULL) {
        return COPRIME_ERROR_IDENTIFICATION;
    }
    if (shared && !place->kind->lock(place->handle)) {
        close_place(place); /* it is not ours to wipe */
        return COPRIME_ERROR_BUSY;
    }
    if (!fresh) {
        return 0;
    }
    place->count = 1;
    place->engines[0].driver = &place->driver;
    error = coprime_open(&place->driver);
    return error == COPRIME_ERROR_IDENTIFICATION ? open_cluster(place) : error;
}

/* What the last user does: nothing, if it has the place alone and nothing has failed. */
static void end_use(struct place *place)
{
    if (place->handle && place->kind->lock) {
        for (unsigned i = 0; i < place->count; ++i) {
            (void)coprime_wipe(place->engines[i].driver);
            place->engines[i].loaded = 0;
        }
        place->kind->unlock(place->handle);
    }
    if (place->failed) {
        close_place(place);
    }
}

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

/* Take an engine, which is open unless there is an error; it is given back also then. */
static struct engine *take_engine(struct device *device, uint64_t key, int *error)
{
    struct engine *engine;
    struct place *place;

    *error = 0;
    (void)pthread_mutex_lock(&device->lock);
    while ((engine = choose(device, key)) == NULL) {
        (void)pthread_cond_wait(&device->freed, &device->lock);
    }
    place = engine->place;
    engine->taken = true;
    if (place->users++ == 0) {
        place->changing = true;
        (void)pthread_mutex_unlock(&device->lock);
        *error = begin_use(place);
        if (!*error && engine >= &place->engines[place->count]) {
            *error = COPRIME_ERROR_IDENTIFICATION; /* it had more engines before */
        }
        (void)pthread_mutex_lock(&device->lock);
        place->changing = false;
        (void)pthread_cond_broadcast(&device->freed); /* it may have more engines than before */
    }
    (void)pthread_mutex_unlock(&device->lock);
    return engine;
}

/* After an error the engine is opened anew when it is used next. */
static void give_back(struct device *device, struct engine *engine, int error)
{
    struct place *const place = engine->place;

    (void)pthread_mutex_lock(&device->lock);
    engine->taken = false;
    engine->failures = error ? engine->failures + 1 : 0;
    place->failed = place->failed || error;
    if (--place->users == 0) {
        place->changing = true;
        (void)pthread_mutex_unlock(&device->lock);
        end_use(place);
        (void)pthread_mutex_lock(&device->lock);
        place->changing = place->failed = false;
    }
    (void)pthread_cond_broadcast(&device->freed);
    (void)pthread_mutex_unlock(&device->lock);
}

/* Compute the constants of a key, which all engines of a device have in common, and load it. */
static int load_key(struct engine *engine, struct rsa_key *key)
{
    struct rsa_private *const secret = key->secret;
    struct coprime_memory memory = secret->memory;
    int error = 0;

    if (engine->loaded == key->number) {
        return 0;
    }
    engine->loaded = 0;
    (void)pthread_mutex_lock(&key->lock);
    if (!secret->prepared) {
        error = coprime_private_constants(engine->driver, &secret->key, &memory);
        secret->prepared = error == 0;
    }
    if (!error) {
        error = coprime_load_private(engine->driver, &secret->key);
    }
    (void)pthread_mutex_unlock(&key->lock);
    if (!error) {
        engine->loaded = key->number;
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
    const uint32_t count = COPRIME_WORDS(key->bits);
    int error = load_key(engine, key);

    if (!error) {
        error = coprime_from_bytes(x, count, input, key->bytes);
    }
    if (!error) {
        error = coprime_private(engine->driver, x, x);
    }
    if (!error) {
        error = coprime_to_bytes(result, key->bytes, x, count);
    }
    coprime_clear(x, COPRIME_WORDS(MAX_RSA_BITS));
    if (!error && !is_right(key, input, result)) {
        error = COPRIME_ERROR_FAULT;
    }
    if (error) { /* it may be the constants that are wrong */
        (void)pthread_mutex_lock(&key->lock);
        key->secret->prepared = false;
        (void)pthread_mutex_unlock(&key->lock);
    }
    return error;
}

/* What an engine is taken for; gives the driver's error. */
typedef int work(struct engine *engine, void *context);

static bool is_of_the_key(int error)
{
    return error == COPRIME_ERROR_LENGTH_OVER || error == COPRIME_ERROR_LENGTH_ZERO ||
           error == COPRIME_ERROR_EXPONENT_LENGTH;
}

/* Have an engine work, best the one that holds the key with this number. If it refuses the key, it is
   asked again after opening it anew: a disturbed one may say anything. */
static CK_RV use_any(struct device *device, uint64_t key, work *run, void *context)
{
    int error = 0;

    for (int attempt = 0; attempt < 2; ++attempt) {
        struct engine *const engine = take_engine(device, key, &error);

        if (!error) {
            error = run(engine, context);
        }
        give_back(device, engine, error);
        if (!is_of_the_key(error)) {
            break;
        }
    }
    if (error) {
        return is_of_the_key(error) ? CKR_KEY_SIZE_RANGE : CKR_DEVICE_ERROR;
    }
    return CKR_OK;
}

/* A private operation. */
struct operands {
    struct rsa_key *key;
    const uint8_t *input;
    uint8_t *result;
};

static int compute(struct engine *engine, void *context)
{
    const struct operands *const operands = context;

    return exponentiate(engine, operands->key, operands->input, operands->result);
}

CK_RV device_private(struct device *device, struct rsa_key *key, const uint8_t *input,
                     uint8_t *result)
{
    struct operands operands = {key, input, result};
    const CK_RV rv = use_any(device, key->number, compute, &operands);

    if (rv != CKR_OK) {
        OPENSSL_cleanse(result, key->bytes);
    }
    return rv;
}

/* A key pair that is wanted, and memory for it. */
struct wanted {
    struct coprime_generation generation;
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

static int generate(struct engine *engine, void *context)
{
    const struct wanted *const wanted = context;
    const uint32_t bits = wanted->generation.bits, half = bits / 2;
    struct attributes *const numbers = wanted->numbers;
    struct coprime_memory memory = {wanted->words, COPRIME_KEYGEN_MEMORY(bits)};
    struct coprime_private_key key;
    int error;

    engine->loaded = 0;
    error = coprime_generate_key(engine->driver, &wanted->generation, &key, &memory);
    if (error) {
        return error;
    }
    if (!set_words(numbers, RSA_N, key.public_key.modulus.value, bits) ||
        !set_words(numbers, RSA_E, key.public_key.exponent, key.public_key.exponent_bits) ||
        !set_words(numbers, RSA_D, key.d, bits) || !set_words(numbers, RSA_P, key.p.value, half) ||
        !set_words(numbers, RSA_Q, key.q.value, half) || !set_words(numbers, RSA_DP, key.dp, half) ||
        !set_words(numbers, RSA_DQ, key.dq, half) || !set_words(numbers, RSA_QINV, key.qinv, half)) {
        error = COPRIME_ERROR_MEMORY;
    }
    OPENSSL_cleanse(&key, sizeof key);
    return error ? error : coprime_wipe(engine->driver);
}

bool device_can_generate(uint32_t bits, uint32_t exponent)
{
    return bits >= 1024 && bits <= MAX_RSA_BITS && bits % 64 == 0 && exponent % 2 &&
           exponent > 1u << 16 && exponent < 1u << 31;
}

CK_RV device_generate(struct device *device, uint32_t bits, uint32_t exponent,
                      struct attributes *numbers)
{
    struct wanted wanted = {
        .generation = {.bits = bits, .exponent = exponent, .random = random_of_the_system},
        .numbers = numbers,
        .words = secret_allocate(sizeof *wanted.words * COPRIME_KEYGEN_MEMORY(bits)),
    };
    const CK_RV rv = wanted.words ? use_any(device, 0, generate, &wanted) : CKR_HOST_MEMORY;

    secret_free(wanted.words);
    return rv;
}

void device_forget(struct device *device)
{
    (void)pthread_mutex_lock(&device->lock);
    for (unsigned i = 0; i < device->count; ++i) {
        struct place *const place = &device->places[i];

        while (place->users || place->changing) {
            (void)pthread_cond_wait(&device->freed, &device->lock);
        }
        close_place(place);
    }
    (void)pthread_mutex_unlock(&device->lock);
}
