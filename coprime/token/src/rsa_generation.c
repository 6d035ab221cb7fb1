#define _GNU_SOURCE

#include "rsa_generation.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "coprime_keygen.h"
#include "place.h"
#include "rsa_key.h"
#include "secret.h"

/* Microseconds in which another process that waits for a shared engine wakes up and takes it. */
enum { PAUSE = 500 };

static const struct device_job numbers_job = {.sort = NUMBER_ENGINE};

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

    if (!shared && cancel_reason(wanted->cancel) == CKR_OK && !device_is_wanted(wanted->device)) {
        return 0;
    }
    error = coprime_wipe(*driver);
    if (error) {
        return error;
    }
    device_give_back(wanted->device, wanted->engine, 0);
    if (shared) {
        (void)usleep(PAUSE);
    }
    wanted->rv = device_take(wanted->device, 0, &numbers_job, wanted->cancel, &wanted->engine, &error);
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

bool rsa_generation_is_possible(uint32_t bits, uint32_t exponent)
{
    return bits >= 1024 && bits <= MAX_RSA_BITS && bits % 64 == 0 && exponent % 2 &&
           exponent > 1u << 16 && exponent < 1u << 31;
}

CK_RV rsa_generation(struct device *device, uint32_t bits, uint32_t exponent,
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

    wanted.rv = wanted.words ? device_take(device, 0, &numbers_job, cancel, &wanted.engine, &error) :
                               CKR_HOST_MEMORY;
    if (wanted.rv == CKR_OK) {
        if (!error) {
            error = generate(&wanted);
        }
        if (wanted.engine) {
            device_give_back(device, wanted.engine, error);
        }
    }
    secret_free(wanted.words);
    return wanted.rv == CKR_OK ? device_result_of(error) : wanted.rv;
}
