#include "coprime_call_cores.h"
#include "coprime_engine.h"

/* The accelerator of a core, which is selected. */
static struct coprime_call_cores *select_core(void *context)
{
    const struct coprime_call_core *const core = context;
    struct coprime_call_cores *const cores = core->cores;

    if (cores->count > 1 && cores->selected != core->number) {
        cores->write(cores->context, COPRIME_CORE_SELECT, core->number);
        cores->selected = core->number;
    }
    return cores;
}

static uint32_t read_core(void *context, uint32_t address)
{
    struct coprime_call_cores *const cores = select_core(context);

    return cores->read(cores->context, address);
}

static void write_core(void *context, uint32_t address, uint32_t value)
{
    struct coprime_call_cores *const cores = select_core(context);

    cores->write(cores->context, address, value);
}

static int wait_core(void *context)
{
    const struct coprime_call_core *const core = context;

    return core->cores->wait(core->cores->context);
}

static void write_block_core(void *context, uint32_t address, const uint32_t *words, uint32_t count)
{
    struct coprime_call_cores *const cores = select_core(context);

    cores->write_block(cores->context, address, words, count);
}

static void read_block_core(void *context, uint32_t address, uint32_t *words, uint32_t count)
{
    struct coprime_call_cores *const cores = select_core(context);

    cores->read_block(cores->context, address, words, count);
}

int coprime_call_cores_open(struct coprime_call_cores *cores)
{
    const uint32_t identification = cores->read(cores->context, COPRIME_IDENTIFICATION);
    const uint32_t word = cores->read(cores->context, COPRIME_CAPABILITIES);

    if (identification == NO_ANSWER || word == NO_ANSWER) {
        return COPRIME_ERROR_DEVICE;
    }
    if (identification != COPRIME_IDENTIFICATION_ID_RESET) {
        return COPRIME_ERROR_IDENTIFICATION;
    }
    cores->count = 1;
    cores->selected = 0;
    if (word & COPRIME_CAPABILITIES_CORES_MASK) {
        cores->count = cores->read(cores->context, COPRIME_CORES);
        cores->write(cores->context, COPRIME_CORE_SELECT, 0);
    }
    return COPRIME_ERROR_NONE;
}

int coprime_call_core_open(struct coprime_call_core *core, struct coprime_call_cores *cores, uint32_t number,
                      struct coprime *driver)
{
    if (number >= cores->count) {
        return COPRIME_ERROR_SIZE;
    }
    core->cores = cores;
    core->number = number;
    driver->context = core;
    driver->read = read_core;
    driver->write = write_core;
    driver->wait = cores->wait ? wait_core : NULL;
    driver->write_block = cores->write_block ? write_block_core : NULL;
    driver->read_block = cores->read_block ? read_block_core : NULL;
    return COPRIME_ERROR_NONE;
}

int coprime_call_core_find(struct coprime_call_core *core, struct coprime_call_cores *cores, bool slots,
                           uint32_t command, struct coprime *driver)
{
    for (uint32_t number = 0; number < cores->count; ++number) {
        int error = coprime_call_core_open(core, cores, number, driver);
        uint32_t word;

        error = error ? error : coprime_open(driver);
        if (error) {
            return error;
        }
        word = command < 32u ? driver->commands : driver->commands_high;
        if (command < 64u && (driver->slots != 0u) == slots && (word >> command % 32u & 1u)) {
            return COPRIME_ERROR_NONE;
        }
    }
    return COPRIME_ERROR_UNSUPPORTED;
}

uint32_t coprime_call_cores_pending(const struct coprime_call_cores *cores)
{
    return cores->read(cores->context, cores->count > 1 ? COPRIME_PENDING :
                                                          COPRIME_INTERRUPT_STATUS);
}
