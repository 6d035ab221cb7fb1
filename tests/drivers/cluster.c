/* Many threads on a simulated cluster: `cluster CORES THREADS JOBS SEED [WRONG_CORE]`.

   Standard input has the number of keys, and each key's bits and numbers in hexadecimal: n, d, p, q,
   dp, dq, qinv; e is 65537. Each thread takes a job, signs a random number with a random key, and
   checks the result with the public key on the cluster. With WRONG_CORE, what is read of this core's
   results has a wrong bit. At the end: jobs done, results that are wrong, jobs that failed, cores in
   service, and jobs of the core that did least. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coprime_cluster.h"
#include "coprime_cluster_registers.h"
#include "coprime_pool.h"

struct Simulation;
struct Simulation *coprime_create(uint64_t access_limit, uint64_t length);
void coprime_destroy(struct Simulation *simulation);
int coprime_read32(struct Simulation *simulation, uint32_t address, uint32_t *value);
int coprime_write32(struct Simulation *simulation, uint32_t address, uint32_t value);
int coprime_wait_interrupt(struct Simulation *simulation, uint64_t limit);

enum { MAX_CORES = 16, MAX_KEYS = 32, MAX_WORDS = 16, NUMBERS = 7 };

struct key {
    struct coprime_private_key key;
    uint32_t numbers[NUMBERS][MAX_WORDS];
    uint32_t constants[8 * MAX_WORDS];
};

static struct coprime_core cores[MAX_CORES];
static struct coprime_worker workers[MAX_CORES];
static struct coprime_pool pool;
static struct key keys[MAX_KEYS];
static uint32_t exponent = 65537;
static unsigned key_count, job_count, seed;
static int wrong_core = -1;
static atomic_uint next_job, wrong, failed;
static struct Simulation *simulation;
static pthread_mutex_t in_simulation = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t in_cluster = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t completed = PTHREAD_COND_INITIALIZER;

static void fail(const char *why)
{
    fprintf(stderr, "cluster: %s\n", why);
    exit(1);
}

static uint32_t simulated_read(void *context, uint32_t address)
{
    static int of_core = -1;
    uint32_t value = 0;

    (void)context;
    (void)pthread_mutex_lock(&in_simulation);
    if (coprime_read32(simulation, address, &value)) {
        fail("a read was refused");
    }
    if (address == COPRIME_CLUSTER_COMPLETION) {
        of_core = (int)(value & COPRIME_CLUSTER_COMPLETION_CORE_MASK);
    }
    if (address == COPRIME_CLUSTER_RESULT && of_core == wrong_core) {
        value ^= 4;
        of_core = -1; /* one bit of each result */
    }
    (void)pthread_mutex_unlock(&in_simulation);
    return value;
}

static void simulated_write(void *context, uint32_t address, uint32_t value)
{
    (void)context;
    (void)pthread_mutex_lock(&in_simulation);
    if (coprime_write32(simulation, address, value)) {
        fail("a write was refused");
    }
    (void)pthread_mutex_unlock(&in_simulation);
}

static int simulated_wait(void *context)
{
    (void)context;
    for (int i = 0; i < 100000; ++i) {
        int comes;

        (void)pthread_mutex_lock(&in_simulation);
        comes = coprime_wait_interrupt(simulation, 2000);
        (void)pthread_mutex_unlock(&in_simulation);
        if (comes) {
            return 0;
        }
        (void)sched_yield(); /* others have accesses, too */
    }
    return 1;
}

static void lock(void *context)
{
    (void)context;
    (void)pthread_mutex_lock(&in_cluster);
}

static void unlock(void *context)
{
    (void)context;
    (void)pthread_mutex_unlock(&in_cluster);
}

static void wait_for_others(void *context)
{
    (void)context;
    (void)pthread_cond_wait(&completed, &in_cluster);
}

static void wake_all(void *context)
{
    (void)context;
    (void)pthread_cond_broadcast(&completed);
}

static void read_number(uint32_t *words)
{
    char text[8 * MAX_WORDS + 1];
    uint8_t bytes[4 * MAX_WORDS];
    size_t digits;

    if (scanf("%128s", text) != 1) {
        fail("a number is missing");
    }
    digits = strlen(text);
    for (size_t i = 0; i < digits / 2; ++i) {
        unsigned byte;

        (void)sscanf(text + 2 * i, "%2x", &byte);
        bytes[i] = (uint8_t)byte;
    }
    if (coprime_from_bytes(words, MAX_WORDS, bytes, digits / 2)) {
        fail("a number is too long");
    }
}

static void read_keys(struct coprime *driver)
{
    if (scanf("%u", &key_count) != 1 || key_count > MAX_KEYS) {
        fail("how many keys?");
    }
    for (unsigned i = 0; i < key_count; ++i) {
        struct key *const key = &keys[i];
        struct coprime_private_key *const own = &key->key;
        struct coprime_memory memory = {key->constants, sizeof key->constants / 4};

        for (int k = 0; k < NUMBERS; ++k) {
            read_number(key->numbers[k]);
        }
        own->public_key.modulus.value = key->numbers[0];
        own->public_key.modulus.bits = coprime_bit_length(key->numbers[0], MAX_WORDS);
        own->public_key.exponent = &exponent;
        own->public_key.exponent_bits = 17;
        own->d = key->numbers[1];
        own->p.value = key->numbers[2];
        own->p.bits = coprime_bit_length(key->numbers[2], MAX_WORDS);
        own->q.value = key->numbers[3];
        own->q.bits = coprime_bit_length(key->numbers[3], MAX_WORDS);
        own->dp = key->numbers[4];
        own->dq = key->numbers[5];
        own->qinv = key->numbers[6];
        if (coprime_private_constants(driver, own, &memory)) {
            fail("the constants of a key");
        }
    }
}

static void *work(void *argument)
{
    unsigned state = seed + 1000u * (unsigned)(size_t)argument;

    while (atomic_fetch_add(&next_job, 1) < job_count) {
        struct key *const key = &keys[(unsigned)rand_r(&state) % key_count];
        const uint32_t bits = key->key.public_key.modulus.bits;
        uint32_t x[MAX_WORDS] = {0}, signature[MAX_WORDS] = {0}, again[MAX_WORDS] = {0};

        for (uint32_t i = 0; i < COPRIME_WORDS(bits); ++i) {
            x[i] = (uint32_t)rand_r(&state);
        }
        x[COPRIME_WORDS(bits) - 1] &= ((uint32_t)1 << (bits - 1) % 32) - 1;
        if (coprime_pool_private(&pool, &key->key, x, signature) ||
            coprime_pool_public(&pool, &key->key.public_key, signature, again)) {
            atomic_fetch_add(&failed, 1);
        } else if (memcmp(x, again, sizeof x)) {
            atomic_fetch_add(&wrong, 1);
        }
    }
    return NULL;
}

int main(int count, char **arguments)
{
    struct coprime_cluster cluster = {0};
    static uint32_t words[2 * MAX_CORES * MAX_WORDS];
    struct coprime_memory memory = {words, sizeof words / 4};
    pthread_t threads[64];
    unsigned thread_count;

    if (count < 5) {
        fail("cluster CORES THREADS JOBS SEED [WRONG_CORE]");
    }
    cluster.cores = cores;
    cluster.count = (uint32_t)atoi(arguments[1]);
    thread_count = (unsigned)atoi(arguments[2]);
    job_count = (unsigned)atoi(arguments[3]);
    seed = (unsigned)atoi(arguments[4]);
    cluster.read = simulated_read;
    cluster.write = simulated_write;
    cluster.wait = simulated_wait;
    cluster.lock = lock;
    cluster.unlock = unlock;
    cluster.sleep = wait_for_others;
    cluster.wake_all = wake_all;
    simulation = coprime_create(1000000, cluster.count);
    if (coprime_cluster_open(&cluster, &memory)) {
        fail("the cluster");
    }
    read_keys(&cores[0].driver);
    for (uint32_t i = 0; i < cluster.count; ++i) {
        workers[i].driver = &cores[i].driver;
    }
    if (coprime_pool_open(&pool, workers, cluster.count, &memory)) {
        fail("the pool");
    }
    wrong_core = count > 5 ? atoi(arguments[5]) : -1;
    for (unsigned i = 0; i < thread_count; ++i) {
        (void)pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
    }
    for (unsigned i = 0; i < thread_count; ++i) {
        (void)pthread_join(threads[i], NULL);
    }
    printf("%u %u %u %u\n", job_count, atomic_load(&wrong), atomic_load(&failed),
           coprime_pool_in_service(&pool));
    coprime_pool_close(&pool);
    coprime_destroy(simulation);
    return 0;
}
