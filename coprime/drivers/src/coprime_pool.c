#include "coprime_pool.h"

#include <string.h>

/* An operation, private or public. */
struct operation {
    const struct coprime_private_key *private_key;
    const struct coprime_public_key *public_key;
    const uint32_t *x;
    uint32_t *result;
};

static const void *key_of(const struct operation *operation)
{
    return operation->private_key ? (const void *)operation->private_key :
                                    (const void *)operation->public_key;
}

int coprime_pool_open(struct coprime_pool *pool, struct coprime_worker *workers, uint32_t count,
                      struct coprime_memory *memory)
{
    pool->workers = workers;
    pool->count = count;
    pool->uses = pool->tickets = pool->served = 0;
    if (count == 0) {
        return COPRIME_ERROR_SIZE;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t words = COPRIME_WORDS(workers[i].driver->max_bits);

        if (memory->count < words) {
            return COPRIME_ERROR_MEMORY;
        }
        workers[i].scratch = memory->words;
        memory->words += words;
        memory->count -= words;
        workers[i].key = NULL;
        workers[i].last_use = 0;
        workers[i].failure = COPRIME_ERROR_NONE;
        workers[i].works = false;
    }
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->idle, NULL);
    return COPRIME_ERROR_NONE;
}

/* An idle worker: one with the key, else the one that has been idle longest. With the lock. */
static struct coprime_worker *find_idle(struct coprime_pool *pool, const void *key)
{
    struct coprime_worker *oldest = NULL;

    for (uint32_t i = 0; i < pool->count; ++i) {
        struct coprime_worker *const worker = &pool->workers[i];

        if (worker->works || worker->failure) {
            continue;
        }
        if (worker->key == key) {
            return worker;
        }
        if (oldest == NULL || worker->last_use < oldest->last_use) {
            oldest = worker;
        }
    }
    return oldest;
}

static uint32_t in_service(const struct coprime_pool *pool)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < pool->count; ++i) {
        count += pool->workers[i].failure == COPRIME_ERROR_NONE;
    }
    return count;
}

/* Wait for a worker; null if all are out of service. */
static struct coprime_worker *take(struct coprime_pool *pool, const void *key)
{
    struct coprime_worker *worker = NULL;
    uint64_t ticket;

    (void)pthread_mutex_lock(&pool->lock);
    ticket = pool->tickets++;
    while (in_service(pool)) {
        worker = ticket == pool->served ? find_idle(pool, key) : NULL;
        if (worker) {
            break;
        }
        (void)pthread_cond_wait(&pool->idle, &pool->lock);
    }
    ++pool->served;
    if (worker) {
        worker->works = true;
        worker->wanted = key;
        worker->last_use = ++pool->uses;
    }
    (void)pthread_cond_broadcast(&pool->idle);
    (void)pthread_mutex_unlock(&pool->lock);
    return worker;
}

static void give_back(struct coprime_pool *pool, struct coprime_worker *worker, int failure)
{
    (void)pthread_mutex_lock(&pool->lock);
    worker->works = false;
    worker->failure = failure;
    (void)pthread_cond_broadcast(&pool->idle);
    (void)pthread_mutex_unlock(&pool->lock);
}

/* Whether an error is one of the numbers: every worker would give it. */
static bool is_of_the_numbers(int error)
{
    switch (error) {
    case COPRIME_ERROR_LENGTH_ZERO:
    case COPRIME_ERROR_LENGTH_OVER:
    case COPRIME_ERROR_EXPONENT_LENGTH:
    case COPRIME_ERROR_MODULUS_ZERO:
    case COPRIME_ERROR_MODULUS_EVEN:
    case COPRIME_ERROR_MODULUS_SHORT:
    case COPRIME_ERROR_MODULUS_FIXED:
    case COPRIME_ERROR_OPERAND_RANGE:
    case COPRIME_ERROR_POINT:
    case COPRIME_ERROR_SIGNATURE:
    case COPRIME_ERROR_KEY_EXCESS:
    case COPRIME_ERROR_OPERAND_MISSING: /* twice: a number of the key is null */
    case COPRIME_ERROR_UNSUPPORTED:
        return true;
    default:
        return false;
    }
}

/* Whether the public operation gives x again, on an engine that does not look itself. */
static int check(struct coprime_worker *worker, const struct operation *operation)
{
    const struct coprime_public_key *const key = &operation->private_key->public_key;
    const size_t size = COPRIME_WORDS(key->modulus.bits) * sizeof *operation->x;
    struct coprime *const driver = worker->driver;
    int error;

    if (driver->checked || key->exponent == NULL) {
        return COPRIME_ERROR_NONE;
    }
    error = coprime_public(driver, operation->result, worker->scratch);
    if (error == COPRIME_ERROR_OPERAND_MISSING) {
        worker->key = NULL;
        error = coprime_load_public(driver, key);
        if (!error) {
            error = coprime_public(driver, operation->result, worker->scratch);
        }
    }
    if (error == COPRIME_ERROR_UNSUPPORTED) { /* it cannot be checked, and is not given */
        coprime_clear(operation->result, COPRIME_WORDS(key->modulus.bits));
        return error;
    }
    return error || memcmp(worker->scratch, operation->x, size) ? COPRIME_ERROR_FAULT :
                                                                  COPRIME_ERROR_NONE;
}

static int load_and_compute(struct coprime_worker *worker, const struct operation *operation)
{
    struct coprime *const driver = worker->driver;
    const void *const key = key_of(operation);
    int error = COPRIME_ERROR_NONE;

    if (worker->key != key) {
        worker->key = NULL;
        error = operation->private_key ? coprime_load_private(driver, operation->private_key) :
                                         coprime_load_public(driver, operation->public_key);
        worker->key = error ? NULL : key;
    }
    if (error) {
        return error;
    }
    if (operation->private_key == NULL) {
        return coprime_public(driver, operation->x, operation->result);
    }
    error = coprime_private(driver, operation->x, operation->result);
    return error ? error : check(worker, operation);
}

static int run(struct coprime_pool *pool, const struct operation *operation, uint32_t bits)
{
    int error = COPRIME_ERROR_FAULT;

    for (;;) {
        struct coprime_worker *const worker = take(pool, key_of(operation));

        if (worker == NULL) {
            coprime_clear(operation->result, COPRIME_WORDS(bits));
            return error;
        }
        error = load_and_compute(worker, operation);
        if (error == COPRIME_ERROR_OPERAND_MISSING) { /* the hardware was reset */
            worker->key = NULL;
            error = load_and_compute(worker, operation);
        }
        if (error) {
            worker->key = NULL;
        }
        if (!error || is_of_the_numbers(error)) {
            give_back(pool, worker, COPRIME_ERROR_NONE);
            return error;
        }
        give_back(pool, worker, error);
    }
}

int coprime_pool_private(struct coprime_pool *pool, const struct coprime_private_key *key,
                         const uint32_t *x, uint32_t *result)
{
    const struct operation operation = {key, NULL, x, result};

    return run(pool, &operation, key->public_key.modulus.bits);
}

int coprime_pool_public(struct coprime_pool *pool, const struct coprime_public_key *key,
                        const uint32_t *x, uint32_t *result)
{
    const struct operation operation = {NULL, key, x, result};

    return run(pool, &operation, key->modulus.bits);
}

/* Wipe the idle workers that have a key; all keys, if it is null. With the lock. True: one of them
   works. */
static bool wipe(struct coprime_pool *pool, const void *key)
{
    bool works = false;

    for (uint32_t i = 0; i < pool->count; ++i) {
        struct coprime_worker *const worker = &pool->workers[i];

        const void *const has = worker->works ? worker->wanted : worker->key;

        if (worker->failure || has == NULL || (key && has != key)) {
            continue;
        }
        if (worker->works) {
            works = true;
        } else {
            worker->failure = coprime_wipe(worker->driver);
            worker->key = NULL;
        }
    }
    return works;
}

void coprime_pool_forget(struct coprime_pool *pool, const void *key)
{
    (void)pthread_mutex_lock(&pool->lock);
    while (wipe(pool, key)) {
        (void)pthread_cond_wait(&pool->idle, &pool->lock);
    }
    (void)pthread_mutex_unlock(&pool->lock);
}

uint32_t coprime_pool_in_service(struct coprime_pool *pool)
{
    uint32_t count;

    (void)pthread_mutex_lock(&pool->lock);
    count = in_service(pool);
    (void)pthread_mutex_unlock(&pool->lock);
    return count;
}

void coprime_pool_close(struct coprime_pool *pool)
{
    coprime_pool_forget(pool, NULL);
    (void)pthread_cond_destroy(&pool->idle);
    (void)pthread_mutex_destroy(&pool->lock);
}
