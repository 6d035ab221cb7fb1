/* Each core of a cluster has the registers of an accelerator, for the driver in coprime.c: what it
   reads and writes becomes accesses of the cluster. */
#include "coprime_cluster.h"

#include "coprime_cluster_registers.h"

enum { UNKNOWN = 0xFFFF }; /* no core's number */

static void lock(const struct coprime_cluster *cluster)
{
    if (cluster->lock) {
        cluster->lock(cluster->context);
    }
}

static void unlock(const struct coprime_cluster *cluster)
{
    if (cluster->unlock) {
        cluster->unlock(cluster->context);
    }
}

static uint32_t get(const struct coprime_cluster *cluster, uint32_t address)
{
    return cluster->read(cluster->context, address);
}

static void put(const struct coprime_cluster *cluster, uint32_t address, uint32_t value)
{
    cluster->write(cluster->context, address, value);
}

/* Let the registers belong to a core. With the lock. */
static void select(struct coprime_core *core)
{
    if (core->cluster->selected != core->number) {
        put(core->cluster, COPRIME_CLUSTER_CORE, core->number);
        core->cluster->selected = core->number;
    }
}

/* The error of an access that was refused, which is kept, and cleared for others. With the lock. */
static uint32_t take_refusal(struct coprime_core *core)
{
    const uint32_t word = get(core->cluster, COPRIME_CLUSTER_ERROR);
    const uint32_t refusal =
        (word & COPRIME_CLUSTER_ERROR_REFUSAL_MASK) >> COPRIME_CLUSTER_ERROR_REFUSAL_SHIFT;

    if (refusal) {
        put(core->cluster, COPRIME_CLUSTER_ERROR, 0);
        core->refusal = core->refusal ? core->refusal : refusal;
    }
    return refusal;
}

/* The words of an operand follow each other without another core's accesses between them: the core
   has the lock from its choice until the driver looks at errors, or sets the input's length. */
static void begin_loading(struct coprime_core *core, uint32_t operand)
{
    lock(core->cluster);
    core->loads = true;
    select(core);
    put(core->cluster, COPRIME_CLUSTER_KEY_OPERAND, operand);
}

static void end_loading(struct coprime_core *core)
{
    if (core->loads) {
        (void)take_refusal(core);
        core->loads = false;
        unlock(core->cluster);
    }
}

/* Take the oldest completion, which may be another core's. With the lock. */
static bool take_completion(struct coprime_cluster *cluster)
{
    const uint32_t word = get(cluster, COPRIME_CLUSTER_COMPLETION);
    const uint32_t number =
        (word & COPRIME_CLUSTER_COMPLETION_CORE_MASK) >> COPRIME_CLUSTER_COMPLETION_CORE_SHIFT;

    if (!(word & COPRIME_CLUSTER_COMPLETION_VALID_MASK)) {
        return false;
    }
    if (number < cluster->count) {
        struct coprime_core *const core = &cluster->cores[number];
        const uint32_t bytes = get(cluster, COPRIME_CLUSTER_RESULT_LENGTH);

        for (uint32_t i = 0; i < (bytes + 3) / 4 && i < core->room; ++i) {
            core->result[i] = get(cluster, COPRIME_CLUSTER_RESULT);
        }
        core->residue = cluster->checked ? get(cluster, COPRIME_CLUSTER_RESIDUE) : 0;
        core->code = (word & COPRIME_CLUSTER_COMPLETION_ERROR_MASK) >>
                     COPRIME_CLUSTER_COMPLETION_ERROR_SHIFT;
        core->is_done = core->runs;
        core->runs = false;
    }
    put(cluster, COPRIME_CLUSTER_NEXT, 0);
    return true;
}

static void take_completions(struct coprime_cluster *cluster)
{
    while (take_completion(cluster)) {
    }
}

/* Start a command, unless its input was refused. */
static void start(struct coprime_core *core, uint32_t command)
{
    end_loading(core);
    lock(core->cluster);
    core->code = 0;
    core->place = 0;
    if (!core->refusal) {
        select(core);
        put(core->cluster, COPRIME_CLUSTER_COMMAND, command);
        core->runs = take_refusal(core) == 0;
    }
    core->is_done = !core->runs;
    unlock(core->cluster);
}

/* A word of the input: it is the operand X. */
static void put_input(struct coprime_core *core, uint32_t word)
{
    if (!core->loads) {
        begin_loading(core, COPRIME_OPERAND_X);
    }
    put(core->cluster, COPRIME_CLUSTER_KEY_DATA, word);
}

/* A word of the result, which is then cleared. */
static uint32_t get_output(struct coprime_core *core, uint32_t place)
{
    uint32_t word = 0;

    if (place < core->room) {
        word = core->result[place];
        core->result[place] = 0;
    }
    return word;
}

/* The accelerator's registers. */

static uint32_t read_shared(struct coprime_core *core, uint32_t address)
{
    uint32_t word;

    lock(core->cluster);
    select(core);
    word = get(core->cluster, address);
    unlock(core->cluster);
    return word;
}

/* Whether the command has ended. Where threads wait for the interrupt, one of them takes all
   completions; else whoever asks. */
static bool has_ended(struct coprime_core *core)
{
    bool ended;

    lock(core->cluster);
    if (core->cluster->wait == NULL) {
        take_completions(core->cluster);
    }
    ended = core->is_done;
    unlock(core->cluster);
    return ended;
}

/* Whether a command still runs, after a wait that was given up. A reset of the hardware is noticed:
   it has selected another core, and ended what ran without a completion. */
static bool is_busy(struct coprime_core *core)
{
    struct coprime_cluster *const cluster = core->cluster;
    bool busy;

    end_loading(core);
    lock(cluster);
    if ((get(cluster, COPRIME_CLUSTER_CORE) & COPRIME_CLUSTER_CORE_NUMBER_MASK) !=
        cluster->selected) {
        cluster->selected = UNKNOWN;
    }
    if (core->runs) {
        take_completions(cluster);
        select(core);
        core->runs = core->runs &&
                     get(cluster, COPRIME_CLUSTER_CORE) & COPRIME_CLUSTER_CORE_OCCUPIED_MASK;
    }
    busy = core->runs;
    unlock(cluster);
    return busy;
}

static uint32_t read_register(void *context, uint32_t address)
{
    struct coprime_core *const core = context;

    if (address >= COPRIME_OUTPUT_WINDOW && address < COPRIME_KEY_WINDOW) {
        return get_output(core, (address - COPRIME_OUTPUT_WINDOW) / 4);
    }
    switch (address) {
    case COPRIME_STATUS:
        return is_busy(core) ? COPRIME_STATUS_BUSY_MASK : 0;
    case COPRIME_ERROR:
        end_loading(core);
        return core->code << COPRIME_ERROR_CODE_SHIFT | core->refusal << COPRIME_ERROR_REFUSAL_SHIFT;
    case COPRIME_INTERRUPT_STATUS:
        return has_ended(core) ? COPRIME_INTERRUPT_STATUS_DONE_MASK : 0;
    case COPRIME_OUTPUT_FIFO:
        return get_output(core, core->place);
    case COPRIME_RESIDUE:
        return core->residue;
    case COPRIME_IDENTIFICATION:
        return read_shared(core, address) == COPRIME_CLUSTER_IDENTIFICATION_ID_RESET ?
                   COPRIME_IDENTIFICATION_ID_RESET :
                   0;
    case COPRIME_CAPABILITIES:
        return read_shared(core, address) & ~COPRIME_CAPABILITIES_PADDINGS_MASK;
    case COPRIME_VERSION:
    case COPRIME_FAMILY:
    case COPRIME_COMMANDS:
    case COPRIME_DIGITS:
    case COPRIME_MAX_LENGTH:
    case COPRIME_MIN_LENGTH:
    case COPRIME_MODULUS_LENGTH:
        return read_shared(core, address);
    default:
        return 0; /* counts of cycles, which a cluster has not */
    }
}

static void write_length(struct coprime_core *core, uint32_t address, uint32_t value)
{
    end_loading(core);
    lock(core->cluster);
    select(core);
    put(core->cluster, address, value);
    (void)take_refusal(core);
    unlock(core->cluster);
}

static void write_register(void *context, uint32_t address, uint32_t value)
{
    struct coprime_core *const core = context;

    if (address >= COPRIME_INPUT_WINDOW && address < COPRIME_OUTPUT_WINDOW) {
        put_input(core, value);
        return;
    }
    switch (address) {
    case COPRIME_KEY_OPERAND:
        end_loading(core);
        begin_loading(core, value);
        break;
    case COPRIME_KEY_DATA:
        put(core->cluster, COPRIME_CLUSTER_KEY_DATA, value);
        break;
    case COPRIME_INPUT_FIFO:
        put_input(core, value);
        break;
    case COPRIME_INPUT_LENGTH:
        end_loading(core);
        break;
    case COPRIME_READ_ADDRESS:
        core->place = value;
        break;
    case COPRIME_COMMAND:
        start(core, value);
        break;
    case COPRIME_ERROR:
        end_loading(core);
        core->code = core->refusal = 0;
        break;
    case COPRIME_INTERRUPT_STATUS:
        lock(core->cluster);
        core->is_done = false;
        unlock(core->cluster);
        break;
    case COPRIME_INTERRUPT_ENABLE:
    case COPRIME_MODULUS_LENGTH:
    case COPRIME_EXPONENT_LENGTH:
    case COPRIME_P_LENGTH:
    case COPRIME_Q_LENGTH:
        write_length(core, address, value);
        break;
    default:
        break; /* WRITE_ADDRESS: words come in order */
    }
}

/* Wait until the core's command has ended. The first thread to come waits for the interrupt and takes
   completions for all; the others sleep, so that none is taken while somebody waits for it. */
static int wait_for_core(void *context)
{
    struct coprime_core *const core = context;
    struct coprime_cluster *const cluster = core->cluster;
    int gives_up = 0;

    lock(cluster);
    while (!core->is_done && !gives_up) {
        if (cluster->waits) {
            cluster->sleep(cluster->context);
            continue;
        }
        take_completions(cluster);
        if (!core->is_done) {
            cluster->waits = true;
            unlock(cluster);
            gives_up = cluster->wait(cluster->context);
            lock(cluster);
            cluster->waits = false;
            take_completions(cluster);
        }
        if (cluster->wake_all) {
            cluster->wake_all(cluster->context);
        }
    }
    gives_up = core->is_done ? 0 : gives_up;
    unlock(cluster);
    return gives_up;
}

static int open_core(struct coprime_cluster *cluster, uint32_t number, struct coprime_memory *memory)
{
    struct coprime_core *const core = &cluster->cores[number];
    const uint32_t room = COPRIME_WORDS((get(cluster, COPRIME_MAX_LENGTH) &
                                         COPRIME_MAX_LENGTH_MODULUS_MASK) >>
                                        COPRIME_MAX_LENGTH_MODULUS_SHIFT);
    int error;

    if (memory->count < room) {
        return COPRIME_ERROR_MEMORY;
    }
    *core = (struct coprime_core){0};
    core->driver.context = core;
    core->driver.read = read_register;
    core->driver.write = write_register;
    core->driver.wait = cluster->wait ? wait_for_core : NULL;
    core->cluster = cluster;
    core->number = number;
    core->result = memory->words;
    core->room = room;
    memory->words += room;
    memory->count -= room;
    select(core);
    if (get(cluster, COPRIME_CLUSTER_CORE) & COPRIME_CLUSTER_CORE_OCCUPIED_MASK) {
        return COPRIME_ERROR_BUSY;
    }
    error = coprime_open(&core->driver);
    coprime_clear(core->result, room);
    return error;
}

int coprime_cluster_open(struct coprime_cluster *cluster, struct coprime_memory *memory)
{
    uint32_t there;
    int error = COPRIME_ERROR_NONE;

    if (get(cluster, COPRIME_CLUSTER_IDENTIFICATION) != COPRIME_CLUSTER_IDENTIFICATION_ID_RESET) {
        return COPRIME_ERROR_IDENTIFICATION;
    }
    there = (get(cluster, COPRIME_CLUSTER_CORES) & COPRIME_CLUSTER_CORES_COUNT_MASK) >>
            COPRIME_CLUSTER_CORES_COUNT_SHIFT;
    cluster->count = there < cluster->count ? there : cluster->count;
    cluster->selected = UNKNOWN;
    cluster->waits = false;
    cluster->checked =
        (get(cluster, COPRIME_CAPABILITIES) & COPRIME_CAPABILITIES_CHECKED_MASK) != 0;
    put(cluster, COPRIME_CLUSTER_ERROR, 0);
    if (cluster->count == 0) {
        return COPRIME_ERROR_SIZE;
    }
    for (uint32_t number = 0; number < cluster->count && !error; ++number) {
        error = open_core(cluster, number, memory);
    }
    return error;
}

void coprime_cluster_cancel(struct coprime_core *core)
{
    lock(core->cluster);
    if (core->runs) {
        select(core);
        put(core->cluster, COPRIME_CLUSTER_CANCEL, 0);
    }
    unlock(core->cluster);
}
