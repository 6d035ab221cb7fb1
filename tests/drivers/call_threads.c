/* Calls on all cores of a simulated accelerator, each by a thread of its own: call_threads CALL KEY SECOND
   COPY BYTES TIMES.

   The call CALL of a core takes the slots KEY, of BYTES, and SECOND, of 4 bytes, and gives COPY, the key
   inverted. Each thread makes it TIMES times, each time with another key. Prints the number of cores, and
   how often the lock was found taken. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "coprime_call_cores.h"
#include "coprime_calls.h"

struct Simulation;
struct Simulation *coprime_create(uint64_t access_limit, uint64_t length);
void coprime_destroy(struct Simulation *simulation);
int coprime_read32(struct Simulation *simulation, uint32_t address, uint32_t *value);
int coprime_write32(struct Simulation *simulation, uint32_t address, uint32_t value);
int coprime_wait_interrupt(struct Simulation *simulation, uint64_t limit);

enum { MAX_CORES = 32, MAX_BYTES = 64 };

static struct Simulation *simulation;
static pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER; /* one thread at a time simulates */
static pthread_mutex_t bus = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t interrupted = PTHREAD_COND_INITIALIZER;
static atomic_uint taken;
static uint32_t number[7];

static void refuse(int response)
{
    if (response) {
        fprintf(stderr, "an access was refused\n");
        exit(1);
    }
}

static uint32_t simulated_read(void *context, uint32_t address)
{
    uint32_t value = 0;

    (void)context;
    (void)pthread_mutex_lock(&clock_lock);
    refuse(coprime_read32(simulation, address, &value));
    (void)pthread_mutex_unlock(&clock_lock);
    return value;
}

static void simulated_write(void *context, uint32_t address, uint32_t value)
{
    (void)context;
    (void)pthread_mutex_lock(&clock_lock);
    refuse(coprime_write32(simulation, address, value));
    (void)pthread_mutex_unlock(&clock_lock);
}

/* A few cycles at a time, so that others have accesses in between. */
static int simulated_wait(void *context)
{
    (void)context;
    for (int i = 0; i < 100000; ++i) {
        int comes;

        (void)pthread_mutex_lock(&clock_lock);
        comes = coprime_wait_interrupt(simulation, 4);
        (void)pthread_mutex_unlock(&clock_lock);
        if (comes) {
            return 0;
        }
    }
    return 1;
}

static void lock(void *context)
{
    (void)context;
    if (pthread_mutex_trylock(&bus)) {
        atomic_fetch_add(&taken, 1);
        (void)pthread_mutex_lock(&bus);
    }
}

static void unlock(void *context)
{
    (void)context;
    (void)pthread_mutex_unlock(&bus);
}

static void sleep_until_woken(void *context)
{
    (void)context;
    (void)pthread_cond_wait(&interrupted, &bus);
}

static void wake_all(void *context)
{
    (void)context;
    (void)pthread_cond_broadcast(&interrupted);
}

static struct coprime drivers[MAX_CORES];

static void *call(void *argument)
{
    struct coprime *const driver = argument;
    const uint32_t core = (uint32_t)(driver - drivers);

    for (uint32_t i = 0; i < number[6]; ++i) {
        uint8_t key[MAX_BYTES], copy[MAX_BYTES], second[4] = {0};
        const struct coprime_slot_input inputs[] = {{number[2], key, number[5]}, {number[3], second, 4}};
        struct coprime_slot_output outputs[] = {{number[4], copy, number[5]}};
        int error;

        for (uint32_t k = 0; k < number[5]; ++k) {
            key[k] = (uint8_t)(core * 64 + i * 5 + k);
        }
        error = coprime_call(driver, number[1], inputs, 2, outputs, 1);
        if (error) {
            fprintf(stderr, "core %u: %s\n", (unsigned)core, coprime_error_text(error));
            exit(1);
        }
        for (uint32_t k = 0; k < number[5]; ++k) {
            if ((copy[k] ^ key[k]) != 0xFF) {
                fprintf(stderr, "core %u: call %u gives something else\n", (unsigned)core, (unsigned)i);
                exit(1);
            }
        }
    }
    return NULL;
}

int main(int count, char **words)
{
    static struct coprime_call_core core[MAX_CORES];
    static struct coprime_call_cores cores = {
        .read = simulated_read,
        .write = simulated_write,
        .wait = simulated_wait,
        .lock = lock,
        .unlock = unlock,
        .sleep = sleep_until_woken,
        .wake_all = wake_all,
    };
    pthread_t threads[MAX_CORES];

    simulation = coprime_create(100000, 0);
    if (count != 7 || simulation == NULL) {
        return 2;
    }
    for (int i = 1; i < 7; ++i) {
        number[i] = (uint32_t)strtoul(words[i], NULL, 10);
    }
    if (coprime_call_cores_open(&cores)) {
        return 3;
    }
    for (uint32_t i = 0; i < cores.count; ++i) {
        if (coprime_call_core_open(&core[i], &cores, i, &drivers[i]) || coprime_open(&drivers[i])) {
            return 4;
        }
    }
    for (uint32_t i = 0; i < cores.count; ++i) {
        if (pthread_create(&threads[i], NULL, call, &drivers[i])) {
            return 5;
        }
    }
    for (uint32_t i = 0; i < cores.count; ++i) {
        (void)pthread_join(threads[i], NULL);
    }
    printf("%u %u\n", (unsigned)cores.count, (unsigned)taken);
    coprime_destroy(simulation);
    return 0;
}
