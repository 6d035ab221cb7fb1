#include "coprime_call_cores.h"
#include "coprime_engine.h"

static void lock(const struct coprime_call_cores *cores)
{
    if (cores->lock) {
        cores->lock(cores->context);
    }
}

static void unlock(const struct coprime_call_cores *cores)
{
    if (cores->unlock) {
        cores->unlock(cores->context);
    }
}

/* Take the bus for an access of a core, which is then selected; `unlock` gives it back. */
static struct coprime_call_cores *lock_for(const struct coprime_call_core *core)
{
    struct coprime_call_cores *const cores = core->cores;

    lock(cores);
    if (cores->count > 1 && cores->selected != core->number) {
        cores->write(cores->context, COPRIME_CORE_SELECT, core->number);
        cores->selected = core->number;
    }
    return cores;
}

static uint32_t read_core(void *context, uint32_t address)
{
    struct coprime_call_cores *const cores = lock_for(context);
    const uint32_t word = cores->read(cores->context, address);

    unlock(cores);
    return word;
}

static void write_core(void *context, uint32_t address, uint32_t value)
{
    struct coprime_call_cores *const cores = lock_for(context);

    cores->write(cores->context, address, value);
    unlock(cores);
}

static void write_block_core(void *context, uint32_t address, const uint32_t *words, uint32_t count)
{
    struct coprime_call_cores *const cores = lock_for(context);

    cores->write_block(cores->context, address, words, count);
    unlock(cores);
}

static void read_block_core(void *context, uint32_t address, uint32_t *words, uint32_t count)
{
    struct coprime_call_cores *const cores = lock_for(context);

    cores->read_block(cores->context, address, words, count);
    unlock(cores);
}

/* Wait until the command of a core may have ended. The first thread to come waits for the interrupt,
   without the lock; the others sleep until it has come. Then each looks at its own core, and comes back
   if that still works. None is missed: the interrupt stays until the thread of its core has seen it. */
static int wait_core(void *context)
{
    const struct coprime_call_core *const core = context;
    struct coprime_call_cores *const cores = core->cores;
    int gives_up = 0;

    lock(cores);
    if (cores->waits) {
        cores->sleep(cores->context);
    } else {
        cores->waits = true;
        unlock(cores);
        gives_up = cores->wait(cores->context);
        lock(cores);
        cores->waits = false;
        if (cores->wake_all) {
            cores->wake_all(cores->context);
        }
    }
    unlock(cores);
    return gives_up;
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
    cores->waits = false;
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
    const uint32_t address = cores->count > 1 ? COPRIME_PENDING : COPRIME_INTERRUPT_STATUS;
    uint32_t word;

    lock(cores);
    word = cores->read(cores->context, address);
    unlock(cores);
    return word;
}
