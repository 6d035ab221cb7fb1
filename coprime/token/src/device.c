#define _DEFAULT_SOURCE

#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/crypto.h>

#include "coprime_keygen.h"
#include "engine.h"
#include "secret.h"

/* An engine of the device. While it is `taken`, its other members are the taker's. */
struct engine {
    const struct engine_kind *kind;
    char *place; /* what follows the colon; null if there is none */
    bool taken;
    void *handle; /* null while it is closed */
    struct coprime driver;
    uint64_t loaded; /* number of the key that it holds; 0: none */
};

struct device {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    unsigned count;
    struct engine engines[];
};

static const struct engine_kind *const kinds[] = {&simulated_engine, &serial_engine, &uio_engine};

/* Read one engine's name, of `length` characters. */
static bool parse_engine(struct engine *engine, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        const size_t kind_length = strlen(kinds[i]->name);

        if (length >= kind_length && strncmp(name, kinds[i]->name, kind_length) == 0 &&
            (length == kind_length || name[kind_length] == ':')) {
            engine->kind = kinds[i];
            if (length > kind_length) {
                engine->place = strndup(name + kind_length + 1, length - kind_length - 1);
                return engine->place != NULL;
            }
            return true;
        }
    }
    return false;
}

/* Length of the first engine's name: up to a comma that a number does not follow. */
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
    device = calloc(1, sizeof *device + count * sizeof *device->engines);
    if (device == NULL) {
        return NULL;
    }
    (void)pthread_mutex_init(&device->lock, NULL);
    (void)pthread_cond_init(&device->freed, NULL);
    for (; device->count < count && parsed; ++device->count) {
        const size_t length = name_length(names);

        parsed = parse_engine(&device->engines[device->count], names, length);
        names += length + 1;
    }
    if (!parsed) {
        device_free(device);
        return NULL;
    }
    return device;
}

static void close_engine(struct engine *engine)
{
    if (engine->handle) {
        engine->kind->close(engine->handle);
    }
    engine->handle = NULL;
    engine->loaded = 0;
}

void device_free(struct device *device)
{
    if (device == NULL) {
        return;
    }
    for (unsigned i = 0; i < device->count; ++i) {
        close_engine(&device->engines[i]);
        free(device->engines[i].place);
    }
    (void)pthread_cond_destroy(&device->freed);
    (void)pthread_mutex_destroy(&device->lock);
    free(device);
}

/* A free engine, the best one first: one that holds the key, one that holds none, any. */
static struct engine *choose(struct device *device, uint64_t key)
{
    struct engine *found = NULL;

    for (unsigned i = 0; i < device->count; ++i) {
        struct engine *const engine = &device->engines[i];

        if (engine->taken) {
            continue;
        }
        if (engine->loaded == key) {
            return engine;
        }
        if (found == NULL || engine->loaded == 0) {
            found = engine;
        }
    }
    return found;
}

static struct engine *take_engine(struct device *device, uint64_t key)
{
    struct engine *engine;

    (void)pthread_mutex_lock(&device->lock);
    while ((engine = choose(device, key)) == NULL) {
        (void)pthread_cond_wait(&device->freed, &device->lock);
    }
    engine->taken = true;
    (void)pthread_mutex_unlock(&device->lock);
    return engine;
}

static void free_engine(struct device *device, struct engine *engine)
{
    (void)pthread_mutex_lock(&device->lock);
    engine->taken = false;
    (void)pthread_cond_broadcast(&device->freed);
    (void)pthread_mutex_unlock(&device->lock);
}

static int open_engine(struct engine *engine)
{
    if (engine->handle == NULL) {
        engine->handle = engine->kind->open(engine->place, &engine->driver);
        engine->loaded = 0;
    }
    return engine->handle ? 0 : COPRIME_ERROR_IDENTIFICATION;
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
        error = coprime_private_constants(&engine->driver, &secret->key, &memory);
        secret->prepared = error == 0;
    }
    if (!error) {
        error = coprime_load_private(&engine->driver, &secret->key);
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
        error = coprime_private(&engine->driver, x, x);
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

/* A shared engine is opened anew each time: another process may have used it meanwhile. */
static int use(struct engine *engine, work *run, void *context)
{
    const bool shared = engine->kind->lock != NULL;
    const bool fresh = engine->handle == NULL || shared;
    int error = open_engine(engine);

    if (error) {
        return error;
    }
    if (shared && !engine->kind->lock(engine->handle)) {
        return COPRIME_ERROR_BUSY;
    }
    if (fresh) {
        engine->loaded = 0;
        error = coprime_open(&engine->driver);
    }
    if (!error) {
        error = run(engine, context);
    }
    if (shared) {
        (void)coprime_wipe(&engine->driver);
        engine->loaded = 0;
        engine->kind->unlock(engine->handle);
    }
    return error;
}

static bool is_of_the_key(int error)
{
    return error == COPRIME_ERROR_LENGTH_OVER || error == COPRIME_ERROR_LENGTH_ZERO ||
           error == COPRIME_ERROR_EXPONENT_LENGTH;
}

/* Have an engine work, best the one that holds the key with this number. */
static CK_RV use_any(struct device *device, uint64_t key, work *run, void *context)
{
    struct engine *const engine = take_engine(device, key);
    int error = use(engine, run, context);

    if (is_of_the_key(error)) { /* unless the engine is disturbed: it says so twice, then */
        close_engine(engine);
        error = use(engine, run, context);
    }
    if (error) {
        close_engine(engine);
    }
    free_engine(device, engine);
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
    error = coprime_generate_key(&engine->driver, &wanted->generation, &key, &memory);
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
    return error ? error : coprime_wipe(&engine->driver);
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
        struct engine *const engine = &device->engines[i];

        while (engine->taken) {
            (void)pthread_cond_wait(&device->freed, &device->lock);
        }
        close_engine(engine);
    }
    (void)pthread_mutex_unlock(&device->lock);
}
