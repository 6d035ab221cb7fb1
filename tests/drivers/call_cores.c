/* Calls on all cores of a simulated accelerator at once: call_cores CALL KEY SECOND COPY BYTES PENDING.

   Standard input has a key of BYTES for each core in hexadecimal. The call CALL of a core takes the
   slots KEY and SECOND, of 4 bytes, and gives COPY. All cores are started, and ended in the opposite
   order. Prints the number of cores, then of each core, from the last one on, the bits that were pending
   before its end, its error and its copy; then how many cores hold a slot after the first one has been
   wiped, and after all. With PENDING, waits until so many bits are pending before the first end. */
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

static uint32_t simulated_read(void *context, uint32_t address)
{
    uint32_t value = 0;

    if (coprime_read32(context, address, &value)) {
        fprintf(stderr, "a read was refused\n");
        exit(1);
    }
    return value;
}

static void simulated_write(void *context, uint32_t address, uint32_t value)
{
    if (coprime_write32(context, address, value)) {
        fprintf(stderr, "a write was refused\n");
        exit(1);
    }
}

static int simulated_wait(void *context)
{
    return coprime_wait_interrupt(context, 100000) ? 0 : 1;
}

static uint32_t holding(struct coprime *drivers, uint32_t count)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; ++i) {
        found += coprime_complete_slots(&drivers[i]) != 0;
    }
    return found;
}

int main(int count, char **words)
{
    static struct coprime_call_core core[MAX_CORES];
    static struct coprime drivers[MAX_CORES];
    struct coprime_call_cores cores = {0};
    uint8_t bytes[MAX_BYTES], second[4] = {0};
    struct Simulation *const simulation = coprime_create(100000, 0);
    uint32_t number[7], size, ended;

    if (count != 7 || simulation == NULL) {
        return 2;
    }
    for (int i = 1; i < 7; ++i) {
        number[i] = (uint32_t)strtoul(words[i], NULL, 10);
    }
    cores.context = simulation;
    cores.read = simulated_read;
    cores.write = simulated_write;
    cores.wait = simulated_wait;
    if (coprime_call_cores_open(&cores)) {
        return 3;
    }
    printf("%u %d\n", (unsigned)cores.count,
           coprime_call_core_open(&core[0], &cores, cores.count, &drivers[0]));
    for (uint32_t i = 0; i < cores.count; ++i) {
        int error = coprime_call_core_open(&core[i], &cores, i, &drivers[i]);

        for (uint32_t k = 0; k < number[5]; ++k) {
            unsigned byte;

            if (scanf("%2x", &byte) != 1) {
                return 4;
            }
            bytes[k] = (uint8_t)byte;
        }
        error = error ? error : coprime_open(&drivers[i]);
        error = error ? error : coprime_load_slot(&drivers[i], number[2], bytes, number[5]);
        error = error ? error : coprime_load_slot(&drivers[i], number[3], second, sizeof second);
        error = error ? error : coprime_call_start(&drivers[i], number[1]);
        if (error) {
            printf("%s\n", coprime_error_text(error));
            return 5;
        }
    }
    do {
        const uint32_t pending = coprime_call_cores_pending(&cores);

        ended = 0;
        for (uint32_t i = 0; i < cores.count; ++i) {
            ended += pending >> i & 1;
        }
    } while (ended < number[6]);
    for (uint32_t i = cores.count; i-- > 0;) {
        const unsigned pending = coprime_call_cores_pending(&cores);
        int error = coprime_call_end(&drivers[i]);

        size = sizeof bytes;
        error = error ? error : coprime_read_slot(&drivers[i], number[4], bytes, &size);
        printf("%u %d ", pending, error);
        for (uint32_t k = 0; k < size; ++k) {
            printf("%02x", bytes[k]);
        }
        printf("\n");
    }
    printf("%u", (unsigned)holding(drivers, cores.count));
    for (uint32_t i = 0; i < cores.count; ++i) {
        printf(" %d", coprime_wipe(&drivers[i]));
        printf(" %u", (unsigned)holding(drivers, cores.count));
    }
    printf("\n");
    coprime_destroy(simulation);
    return 0;
}
