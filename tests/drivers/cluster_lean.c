/* A private operation by the last core of a simulated cluster of two lean nodes: `cluster_lean N D P Q DP
   DQ QINV X P_POWER Q_POWER CRT_P CRT_Q M_INVERSE P_INVERSE Q_INVERSE`, hexadecimal numbers of up to 64
   bits. Gives the error of coprime_private_constants; the error and the result of coprime_private; the error
   of coprime_public; errors and results of coprime_pool_private for the key with its public exponent, and
   without; and how many cores are in service. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "coprime_cluster.h"
#include "coprime_pool.h"

struct Simulation;
struct Simulation *coprime_create(uint64_t access_limit, uint64_t length);
void coprime_destroy(struct Simulation *simulation);
int coprime_read32(struct Simulation *simulation, uint32_t address, uint32_t *value);
int coprime_write32(struct Simulation *simulation, uint32_t address, uint32_t value);
int coprime_wait_interrupt(struct Simulation *simulation, uint64_t limit);

enum { CORES = 2, WORDS = 2, NUMBERS = 15 };

static uint32_t simulated_read(void *context, uint32_t address)
{
    uint32_t value = 0;

    if (coprime_read32(context, address, &value)) {
        exit(2);
    }
    return value;
}

static void simulated_write(void *context, uint32_t address, uint32_t value)
{
    if (coprime_write32(context, address, value)) {
        exit(2);
    }
}

static int simulated_wait(void *context)
{
    return !coprime_wait_interrupt(context, 10000000);
}

static void nothing(void *context)
{
    (void)context;
}

static void show(int error, const uint32_t *result)
{
    printf("%d %08" PRIx32 "%08" PRIx32 "\n", error, result[1], result[0]);
}

int main(int count, char **arguments)
{
    static struct coprime_core cores[CORES];
    static struct coprime_worker workers[CORES];
    static struct coprime_pool pool;
    static uint32_t words[64], made[64], numbers[NUMBERS][WORDS], exponent = 65537;
    struct coprime_memory room = {words, sizeof words / 4};
    struct coprime_memory memory = {made, sizeof made / 4};
    struct coprime_cluster cluster = {.context = coprime_create(1000000, CORES),
                                      .read = simulated_read,
                                      .write = simulated_write,
                                      .wait = simulated_wait,
                                      .lock = nothing,
                                      .unlock = nothing,
                                      .sleep = nothing,
                                      .wake_all = nothing,
                                      .cores = cores,
                                      .count = CORES};
    struct coprime_private_key key = {0};
    struct coprime *const driver = &cores[CORES - 1].driver;
    uint32_t result[WORDS] = {0};
    int error;

    if (count != NUMBERS + 1 || coprime_cluster_open(&cluster, &room)) {
        return 1;
    }
    for (int i = 0; i < NUMBERS; ++i) {
        const uint64_t number = strtoull(arguments[i + 1], NULL, 16);

        numbers[i][0] = (uint32_t)number;
        numbers[i][1] = (uint32_t)(number >> 32);
    }
    key.public_key.modulus.value = numbers[0];
    key.public_key.modulus.bits = coprime_bit_length(numbers[0], WORDS);
    key.public_key.exponent = &exponent;
    key.public_key.exponent_bits = 17;
    key.d = numbers[1];
    key.p.value = numbers[2];
    key.p.bits = coprime_bit_length(numbers[2], WORDS);
    key.q.value = numbers[3];
    key.q.bits = coprime_bit_length(numbers[3], WORDS);
    key.dp = numbers[4];
    key.dq = numbers[5];
    key.qinv = numbers[6];
    printf("%d\n", coprime_private_constants(driver, &key, &memory));
    key.p.power = numbers[8];
    key.q.power = numbers[9];
    key.crt_p = numbers[10];
    key.crt_q = numbers[11];
    key.public_key.modulus.inverse[0] = numbers[12][0];
    key.p.inverse[0] = numbers[13][0];
    key.q.inverse[0] = numbers[14][0];
    if (coprime_load_private(driver, &key)) {
        return 1;
    }
    error = coprime_private(driver, numbers[7], result);
    show(error, result);
    printf("%d\n", coprime_public(driver, numbers[7], result));
    for (int i = 0; i < CORES; ++i) {
        workers[i].driver = &cores[i].driver;
    }
    if (coprime_pool_open(&pool, workers, CORES, &room)) {
        return 1;
    }
    for (int i = 0; i < 2; ++i) {
        error = coprime_pool_private(&pool, &key, numbers[7], result);
        show(error, result);
        key.public_key.exponent = NULL;
    }
    printf("%" PRIu32 "\n", coprime_pool_in_service(&pool));
    coprime_pool_close(&pool);
    coprime_destroy(cluster.context);
    return 0;
}
