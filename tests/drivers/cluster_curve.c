/* One multiplication on a curve by the last core of a simulated cluster of two: `cluster_curve P N A B GX
   GY K`, hexadecimal numbers of 64 bits. Gives the error, and both coordinates. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "coprime_cluster.h"
#include "coprime_curves.h"

struct Simulation;
struct Simulation *coprime_create(uint64_t access_limit, uint64_t length);
void coprime_destroy(struct Simulation *simulation);
int coprime_read32(struct Simulation *simulation, uint32_t address, uint32_t *value);
int coprime_write32(struct Simulation *simulation, uint32_t address, uint32_t value);
int coprime_wait_interrupt(struct Simulation *simulation, uint64_t limit);

enum { CORES = 2, BITS = 64, NUMBERS = 7 };

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

int main(int count, char **arguments)
{
    static struct coprime_core cores[CORES];
    static uint32_t words[256], constants[COPRIME_CURVE_MEMORY(BITS)], numbers[NUMBERS][2];
    struct coprime_memory room = {words, sizeof words / 4};
    struct coprime_memory memory = {constants, sizeof constants / 4};
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
    const struct coprime_curve curve = {"of the test", COPRIME_WEIERSTRASS, BITS,       1,
                                        numbers[0],    numbers[1],          numbers[2], numbers[3],
                                        numbers[4],    numbers[5]};
    struct coprime_curve_constants made;
    struct coprime *const driver = &cores[CORES - 1].driver;
    uint32_t x[2] = {0}, y[2] = {0};
    int error = coprime_cluster_open(&cluster, &room);

    if (count != NUMBERS + 1) {
        return 1;
    }
    for (int i = 0; i < NUMBERS; ++i) {
        const uint64_t number = strtoull(arguments[i + 1], NULL, 16);

        numbers[i][0] = (uint32_t)number;
        numbers[i][1] = (uint32_t)(number >> 32);
    }
    if (!error) {
        error = coprime_curve_constants(driver, &curve, &made, &memory);
    }
    if (!error) {
        error = coprime_ec_multiply(driver, &made, numbers[6], numbers[4], numbers[5], x, y);
    }
    printf("%d %08" PRIx32 "%08" PRIx32 " %08" PRIx32 "%08" PRIx32 "\n", error, x[1], x[0], y[1],
           y[0]);
    coprime_destroy(cluster.context);
    return 0;
}
