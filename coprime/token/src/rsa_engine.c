#include "rsa_engine.h"

#include <string.h>

#include <openssl/crypto.h>

#include "constants.h"

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

/* A private operation of RSA. */
struct exponentiation {
    struct rsa_key *key;
    const uint8_t *input;
    uint8_t *result;
};

static int run(struct engine *engine, void *context)
{
    const struct exponentiation *const wanted = context;

    return exponentiate(engine, wanted->key, wanted->input, wanted->result);
}

static int run_in_software(void *context)
{
    const struct exponentiation *const wanted = context;

    return rsa_private_in_software(wanted->key, wanted->input, wanted->result) &&
                   is_right(wanted->key, wanted->input, wanted->result) ?
               COPRIME_ERROR_NONE :
               COPRIME_ERROR_MEMORY;
}

CK_RV rsa_engine_private(struct device *device, struct rsa_key *key, const uint8_t *input,
                         uint8_t *result)
{
    static const struct device_job job = {
        .sort = NUMBER_ENGINE, .run = run, .in_software = run_in_software};
    struct exponentiation wanted = {key, input, result};
    const CK_RV rv = device_run(device, &key->base, &job, &wanted);

    if (rv != CKR_OK) {
        OPENSSL_cleanse(result, key->bytes);
    }
    return rv;
}
