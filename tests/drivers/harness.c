/* Runs the driver as standard input says, on a simulated accelerator or without any.

   A line is a command with its arguments; numbers are hexadecimal, lengths and counts decimal, and
   `-` is a null pointer. To each line one answers: the error code, and what the command gives. All
   arrays have exactly the size that the header asks for, so that a sanitizer sees each step beyond.
   tests/drivers/test_driver.py writes the lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coprime.h"
#ifdef KEYGEN
#include "coprime_keygen.h"
#endif
#ifdef CURVES
#include "coprime_curves.h"
#endif
#ifdef CALLS
#include "coprime_calls.h"
#endif

/* The simulation, in simulation.cpp; not there when the driver is tested alone. */
#ifdef SIMULATION
struct Simulation;
struct Simulation *coprime_create(uint64_t access_limit, uint64_t length);
void coprime_destroy(struct Simulation *simulation);
void coprime_reset(struct Simulation *simulation);
int coprime_read32(struct Simulation *simulation, uint32_t address, uint32_t *value);
int coprime_write32(struct Simulation *simulation, uint32_t address, uint32_t value);
int coprime_read_block(struct Simulation *simulation, uint32_t address, uint32_t *values,
                       uint64_t count);
int coprime_write_block(struct Simulation *simulation, uint32_t address, const uint32_t *values,
                        uint64_t count);
int coprime_wait_interrupt(struct Simulation *simulation, uint64_t limit);
#endif

#ifdef TRACE
/* Called by the compiler's instrumentation at the start of each basic block of the driver. */
static uint64_t blocks, path;

__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void)
{
    ++blocks;
    path = (path ^ (uint64_t)(uintptr_t)__builtin_return_address(0)) * 0x100000001B3u;
}
#endif

static struct coprime driver;
static uint64_t limit = 1000000000;
static uint64_t blocks_moved; /* words that were moved in blocks */
static uint32_t wrong_address = 1, wrong_bits; /* what a read of an address has of wrong bits */
static struct coprime_public_key public_key;
static struct coprime_private_key private_key;
static struct coprime_memory memory;
static uint32_t *constants;

static void fail(const char *why)
{
    fprintf(stderr, "harness: %s\n", why);
    exit(1);
}

static uint32_t simulated_read(void *context, uint32_t address)
{
    uint32_t value = 0;

#ifdef SIMULATION
    if (coprime_read32(context, address, &value)) {
        fail("a read was refused");
    }
#else
    (void)context;
    (void)address;
#endif
    return address == wrong_address ? value ^ wrong_bits : value;
}

static void simulated_write(void *context, uint32_t address, uint32_t value)
{
#ifdef SIMULATION
    if (coprime_write32(context, address, value)) {
        fail("a write was refused");
    }
#else
    (void)context;
    (void)address;
    (void)value;
#endif
}

static void check_block(uint32_t address, uint32_t count)
{
    if (count == 0 || count > 256 || address % 4 || address + 4 * count > 4096) {
        fail("no such block");
    }
    blocks_moved += count;
}

static void simulated_write_block(void *context, uint32_t address, const uint32_t *words,
                                  uint32_t count)
{
    check_block(address, count);
#ifdef SIMULATION
    if (coprime_write_block(context, address, words, count)) {
        fail("a write of a block was refused");
    }
#else
    (void)context;
    (void)words;
#endif
}

static void simulated_read_block(void *context, uint32_t address, uint32_t *words, uint32_t count)
{
    check_block(address, count);
#ifdef SIMULATION
    if (coprime_read_block(context, address, words, count)) {
        fail("a read of a block was refused");
    }
    for (uint32_t i = 0; i < count; ++i) {
        words[i] = address + 4 * i == wrong_address ? words[i] ^ wrong_bits : words[i];
    }
#else
    (void)context;
    memset(words, 0, count * sizeof *words);
#endif
}

static int simulated_wait(void *context)
{
#ifdef SIMULATION
    return !coprime_wait_interrupt(context, limit);
#else
    (void)context;
    return 1;
#endif
}

static void *allocate(size_t size)
{
    void *const memory_there = malloc(size ? size : 1);

    if (memory_there == NULL) {
        fail("no memory");
    }
    return memory_there;
}

static const char *word(void)
{
    const char *const found = strtok(NULL, " \n");

    if (found == NULL) {
        fail("an argument is missing");
    }
    return found;
}

static uint32_t decimal(void)
{
    return (uint32_t)strtoul(word(), NULL, 10);
}

/* A hexadecimal number of a whole number of bytes; `size` is set. */
static uint8_t *octets(const char *text, size_t *size)
{
    uint8_t *const bytes = allocate(strlen(text) / 2);

    *size = strlen(text) / 2;
    for (size_t i = 0; i < *size; ++i) {
        unsigned value = 0;

        if (sscanf(text + 2 * i, "%2x", &value) != 1) {
            fail("this is no number");
        }
        bytes[i] = (uint8_t)value;
    }
    return bytes;
}

static uint32_t *number(uint32_t bits)
{
    const char *const text = word();
    const size_t count = COPRIME_WORDS(bits);
    uint32_t *words;
    uint8_t *bytes;
    size_t size;

    if (strcmp(text, "-") == 0) {
        return NULL;
    }
    words = allocate(4 * count);
    bytes = octets(text, &size);
    if (coprime_from_bytes(words, count, bytes, size)) {
        fail("a number is too large");
    }
    free(bytes);
    return words;
}

static void show(const uint32_t *words, size_t count)
{
    uint8_t *const bytes = allocate(4 * count);

    if (coprime_to_bytes(bytes, 4 * count, words, count)) {
        fail("a number cannot be shown");
    }
    printf(" 0");
    for (size_t i = 0; i < 4 * count; ++i) {
        printf("%02x", bytes[i]);
    }
    free(bytes);
}

static void set_memory(uint32_t count)
{
    free(constants);
    constants = allocate(4 * (size_t)count);
    memset(constants, 0xA5, 4 * (size_t)count);
    memory = (struct coprime_memory){constants, count};
}

static void read_modulus(struct coprime_modulus *modulus)
{
    free((void *)modulus->value);
    modulus->bits = decimal();
    modulus->value = number(modulus->bits);
    modulus->power = NULL;
}

static void show_constants(const struct coprime_modulus *modulus)
{
    show(modulus->inverse, COPRIME_DIGIT_WORDS);
    show(modulus->power, COPRIME_WORDS(modulus->bits));
}

static void read_public(struct coprime_public_key *key)
{
    read_modulus(&key->modulus);
    free((void *)key->exponent);
    key->exponent_bits = decimal();
    key->exponent = number(key->exponent_bits);
}

static void read_private(void)
{
    struct coprime_private_key *const key = &private_key;

    read_public(&key->public_key);
    free((void *)key->d);
    key->d = number(key->public_key.modulus.bits);
    read_modulus(&key->p);
    read_modulus(&key->q);
    free((void *)key->dp);
    key->dp = number(key->p.bits);
    free((void *)key->dq);
    key->dq = number(key->q.bits);
    free((void *)key->qinv);
    key->qinv = number(key->p.bits);
}

/* Compute all constants, in memory of as many words as the macros tell, less `missing`. Gives the
   error, and the constants. */
static void private_constants(uint32_t missing)
{
    struct coprime_private_key *const key = &private_key;
    const uint32_t bits = key->public_key.modulus.bits, count = COPRIME_WORDS(bits);
    const uint32_t longer = key->p.bits > key->q.bits ? key->p.bits : key->q.bits;
    int error;

    set_memory(COPRIME_PRIVATE_MEMORY(bits, longer) - missing);
#ifdef TRACE
    blocks = path = 0;
#endif
    error = coprime_private_constants(&driver, key, &memory);
    printf("%d", error);
#ifdef TRACE
    printf(" 0%llx 0%llx", (unsigned long long)blocks, (unsigned long long)path);
#endif
    if (error) {
        return;
    }
    show_constants(&key->public_key.modulus);
    if (driver.commands >> COPRIME_COMMAND_RSA_PRIVATE & 1) {
        show_constants(&key->p);
        show_constants(&key->q);
        show(key->crt_p, count);
        if (key->crt_q) {
            show(key->crt_q, count);
        }
    }
}

static void modulus_constants(uint32_t missing)
{
    struct coprime_modulus *const modulus = &public_key.modulus;
    int error;

    set_memory(COPRIME_MODULUS_MEMORY(modulus->bits) - missing);
    error = coprime_modulus_constants(&driver, modulus, &memory);
    printf("%d", error);
    if (!error) {
        show_constants(modulus);
    }
}

/* One of the operations with a result. */
static void compute(const char *name)
{
    const uint32_t bits = driver.modulus_bits;
    const size_t count = COPRIME_WORDS(bits);
    uint32_t *const result = allocate(4 * count);
    uint32_t *const x = number(bits);
    uint32_t *y = NULL;
    int error;

    memset(result, 0x5A, 4 * count);
    if (strcmp(name, "modmul") == 0) {
        y = number(bits);
        error = coprime_modmul(&driver, x, y, result);
    } else if (strcmp(name, "modexp") == 0) {
        const uint32_t exponent_bits = decimal();

        y = number(exponent_bits);
        error = coprime_modexp(&driver, x, y, exponent_bits, result);
    } else if (strcmp(name, "public") == 0) {
        error = coprime_public(&driver, x, result);
    } else if (strcmp(name, "private_in_place") == 0) {
        memcpy(result, x, 4 * count);
        error = coprime_private(&driver, result, result);
    } else {
        error = coprime_private(&driver, x, result);
    }
    printf("%d", error);
    show(result, count);
    if (!error) {
        printf(" 0%x 0%x", coprime_engine_cycles(&driver), coprime_engine_products(&driver));
    }
    free(result);
    free(x);
    free(y);
}

/* An octet string with a letter before it; null for `-`. */
static uint8_t *string(size_t *size)
{
    const char *const text = word();

    return strcmp(text, "-") == 0 ? NULL : octets(text + 1, size);
}

/* An operation with padding in hardware. */
static void padded(void)
{
    const bool private = decimal() != 0;
    struct coprime_padding padding = {.scheme = (enum coprime_scheme)decimal()};
    const size_t room = (driver.modulus_bits + 7) / 8;
    uint8_t *const output = allocate(room);
    uint8_t *salt, *secret, *label, *digest, *input;
    uint32_t count = 0;
    size_t size = 0;
    int error;

    padding.hash = decimal() != 0;
    padding.digest_info = decimal() != 0;
    padding.salt_length = decimal();
    padding.salt = salt = string(&size);
    padding.secret = secret = string(&size);
    padding.label = label = string(&size);
    padding.digest = digest = string(&size);
    input = string(&size);
    memset(output, 0x5A, room);
    error = (private ? coprime_padded_private : coprime_padded_public)(
        &driver, &padding, input, (uint32_t)size, output, &count);
    printf("%d 0%x 0", error, count);
    for (size_t i = 0; i < (error ? room : count); ++i) {
        printf("%02x", output[i]);
    }
    free(output);
    free(salt);
    free(secret);
    free(label);
    free(digest);
    free(input);
}

#ifdef KEYGEN
/* Numbers that look random, from a seed. */
static int draw(void *context, uint8_t *bytes, size_t size)
{
    uint64_t *const state = context;

    for (size_t i = 0; i < size; ++i) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        bytes[i] = (uint8_t)(*state >> 32);
    }
    return 0;
}

/* Generate a key; gives its numbers. */
static void generate(void)
{
    const uint32_t bits = decimal(), count = COPRIME_WORDS(bits), e = decimal();
    uint64_t state = decimal();
    const struct coprime_generation wanted = {
        .bits = bits, .exponent = e, .context = &state, .random = draw};
    struct coprime_private_key key;
    int error;

    set_memory(COPRIME_KEYGEN_MEMORY(bits));
    error = coprime_generate_key(&driver, &wanted, &key, &memory);
    printf("%d", error);
    if (!error) {
        show(key.public_key.modulus.value, count);
        show(key.public_key.exponent, 1);
        show(key.d, count);
        show(key.p.value, count / 2);
        show(key.q.value, count / 2);
        show(key.dp, count / 2);
        show(key.dq, count / 2);
        show(key.qinv, count / 2);
    }
}
#endif

#ifdef CURVES
static struct coprime_curve curve;
static struct coprime_curve_constants curve_constants;
static uint32_t *curve_numbers[6], *curve_memory, *table_memory;

static void free_curve(void)
{
    for (size_t i = 0; i < 6; ++i) {
        free(curve_numbers[i]);
        curve_numbers[i] = NULL;
    }
    free(curve_memory);
    free(table_memory);
    curve_memory = table_memory = NULL;
}

/* A curve of a form, with its length and its numbers. */
static void set_curve(void)
{
    const enum coprime_curve_form form = (enum coprime_curve_form)decimal();
    const uint32_t bits = decimal();

    free_curve();
    for (size_t i = 0; i < 6; ++i) {
        curve_numbers[i] = number(bits);
    }
    curve = (struct coprime_curve){.name = "of the test",
                                   .form = form,
                                   .bits = bits,
                                   .cofactor = 1,
                                   .p = curve_numbers[0],
                                   .n = curve_numbers[1],
                                   .a = curve_numbers[2],
                                   .b = curve_numbers[3],
                                   .gx = curve_numbers[4],
                                   .gy = curve_numbers[5]};
    printf("0");
}

/* One of the curves that the driver knows. */
static void name_curve(void)
{
    const char *const name = word();

    free_curve();
    for (size_t i = 0; coprime_named_curves[i]; ++i) {
        if (strcmp(name, coprime_named_curves[i]->name) == 0) {
            curve = *coprime_named_curves[i];
            printf("0 0%x 0%x", (unsigned)curve.form, (unsigned)curve.bits);
            return;
        }
    }
    fail("the driver does not know this curve");
}

static struct coprime_memory memory_of(uint32_t **area, uint32_t count)
{
    free(*area);
    *area = allocate(4 * (size_t)count);
    memset(*area, 0xA5, 4 * (size_t)count);
    return (struct coprime_memory){*area, count};
}

/* Make the constants in memory of as many words as the macro tells, less `missing`. */
static void make_curve(uint32_t missing)
{
    const uint32_t count = COPRIME_WORDS(curve.bits);
    const struct coprime_curve_constants *const made = &curve_constants;
    struct coprime_memory left =
        memory_of(&curve_memory, COPRIME_CURVE_MEMORY(curve.bits) - missing);
    const int error = coprime_curve_constants(&driver, &curve, &curve_constants, &left);

    printf("%d", error);
    if (error) {
        return;
    }
    printf(" 0%x 0%x", made->length, made->tooth);
    show(made->p.inverse, COPRIME_DIGIT_WORDS);
    show(made->p.power, count);
    if (curve.form != COPRIME_MONTGOMERY) {
        show(made->n.inverse, COPRIME_DIGIT_WORDS);
        show(made->n.power, count);
        show(made->p_less_2, count);
        show(made->n_less_2, count);
        show(made->half, count);
    }
}

static void make_table(uint32_t missing)
{
    const uint32_t count = COPRIME_WORDS(curve.bits);
    const bool is_edwards = curve.form == COPRIME_EDWARDS;
    struct coprime_memory left = memory_of(
        &table_memory, (is_edwards ? COPRIME_EDWARDS_TABLE_MEMORY(curve.bits) :
                                     COPRIME_TABLE_MEMORY(curve.bits)) - missing);
    const int error = coprime_curve_table(&driver, &curve_constants, &left);

    printf("%d", error);
    for (uint32_t i = 0; !error && i < (is_edwards ? 27 : 16); ++i) {
        show(curve_constants.table + i * count, count);
    }
}

/* An operation on the curve, with its numbers; gives its error, and two numbers where it has two. */
static void on_curve(const char *name)
{
    const size_t count = COPRIME_WORDS(curve.bits);
    uint32_t *given[6] = {NULL}, *const low = allocate(4 * count), *const high = allocate(4 * count);
    const uint32_t inputs = decimal();
    int error = -1, results = 2;

    for (uint32_t i = 0; i < inputs; ++i) {
        given[i] = number(curve.bits);
    }
    memset(low, 0x5A, 4 * count);
    memset(high, 0x5A, 4 * count);
#ifdef TRACE
    blocks = path = 0;
#endif
    if (strcmp(name, "ec_multiply") == 0) {
        error = coprime_ec_multiply(&driver, &curve_constants, given[0], given[1], given[2], low,
                                    high);
    } else if (strcmp(name, "ec_multiply_in_place") == 0) {
        memcpy(low, given[0], 4 * count);
        memcpy(high, given[1], 4 * count);
        error = coprime_ec_multiply(&driver, &curve_constants, low, high, given[2], high, low);
    } else if (strcmp(name, "ec_base_multiply") == 0) {
        error = coprime_ec_base_multiply(&driver, &curve_constants, given[0], low, high);
    } else if (strcmp(name, "ecdsa_sign") == 0) {
        error = coprime_ecdsa_sign(&driver, &curve_constants, given[0], given[1], low, high);
    } else if (strcmp(name, "ecdsa_sign_with") == 0) {
        error = coprime_ecdsa_sign_with(&driver, &curve_constants, given[0], given[1], given[2],
                                        low, high);
    } else if (strcmp(name, "ecdsa_verify") == 0) {
        error = coprime_ecdsa_verify(&driver, &curve_constants, given[0], given[1], given[2],
                                     given[3], given[4]);
        results = 0;
    } else if (strcmp(name, "ed_base_multiply") == 0) {
        error = coprime_ed_base_multiply(&driver, &curve_constants, given[0], low, high);
    } else if (strcmp(name, "ed_finish") == 0) {
        error = coprime_ed_finish(&driver, &curve_constants, given[0], given[1], given[2], low);
        results = 1;
    } else if (strcmp(name, "ed_verify") == 0) {
        error = coprime_ed_verify(&driver, &curve_constants, given[0], given[1], given[2], given[3],
                                  given[4], given[5]);
        results = 0;
    } else {
        fail(name);
    }
    printf("%d", error);
#ifdef TRACE
    printf(" 0%llx 0%llx", (unsigned long long)blocks, (unsigned long long)path);
#endif
    if (results > 0) {
        show(low, count);
    }
    if (results > 1) {
        show(high, count);
    }
    if (!error) {
        printf(" 0%x", coprime_engine_cycles(&driver));
    }
    for (uint32_t i = 0; i < inputs; ++i) {
        free(given[i]);
    }
    free(low);
    free(high);
}

static void hash(void)
{
    const size_t count = COPRIME_WORDS(curve.bits);
    uint32_t *const z = allocate(4 * count);
    size_t size = 0;
    uint8_t *const digest = octets(word() + 1, &size);

    coprime_ecdsa_hash(&curve_constants, digest, size, z);
    printf("0");
    show(z, count);
    free(digest);
    free(z);
}

/* X25519 or X448 of a scalar and a coordinate; of the base point without one. */
static void x_multiply(void)
{
    const size_t room = (curve.bits + 7) / 8;
    uint8_t *const result = allocate(room);
    uint8_t *scalar, *u;
    size_t size;
    int error;

    memset(result, 0x5A, room);
    scalar = string(&size);
    u = string(&size);
#ifdef TRACE
    blocks = path = 0;
#endif
    error = u ? coprime_x_multiply(&driver, &curve_constants, scalar, u, result) :
                coprime_x_public(&driver, &curve_constants, scalar, result);
    printf("%d", error);
#ifdef TRACE
    printf(" 0%llx 0%llx", (unsigned long long)blocks, (unsigned long long)path);
#endif
    printf(" 0");
    for (size_t i = 0; i < room; ++i) {
        printf("%02x", result[i]);
    }
    free(result);
    free(scalar);
    free(u);
}
#endif

static void open_driver(void)
{
    const int error = coprime_open(&driver);

    printf("%d", error);
    if (!error) {
        printf(" 0%x 0%x 0%x 0%x 0%x 0%x 0%x 0%x 0%x 0%x 0%x 0%x 0%x 0%x 0%x",
               driver.version, driver.family,
               driver.commands, driver.max_bits, driver.max_prime_bits, driver.min_bits,
               driver.digit_width, driver.headroom, driver.radix_bits, driver.constant_time,
               driver.fixed_modulus, driver.equal_primes, driver.held,
               driver.paddings, driver.checked);
    }
}

static void from_bytes(void)
{
    const size_t count = decimal();
    uint32_t *const words = allocate(4 * count);
    size_t size;
    uint8_t *const bytes = octets(word() + 1, &size);

    printf("%d", coprime_from_bytes(words, count, bytes, size));
    show(words, count);
    printf(" 0%x", coprime_bit_length(words, count));
    free(bytes);
    free(words);
}

static void to_bytes(void)
{
    const size_t size = decimal();
    uint8_t *const bytes = allocate(size);
    const uint32_t bits = decimal();
    uint32_t *const words = number(bits);

    printf("%d 0", coprime_to_bytes(bytes, size, words, COPRIME_WORDS(bits)));
    for (size_t i = 0; i < size; ++i) {
        printf("%02x", bytes[i]);
    }
    free(bytes);
    free(words);
}

#ifdef CALLS
#define MOST_SLOTS 8

/* Bytes after a 1, so that a number has them all. */
static void show_bytes(const uint8_t *bytes, uint32_t size)
{
    printf(" 1");
    for (uint32_t i = 0; i < size; ++i) {
        printf("%02x", bytes[i]);
    }
}

/* A whole call: its code, a count of inputs with their slots and strings, and one of outputs with
   slots and room. Gives the error and the outputs. */
static void call(void)
{
    const uint32_t code = decimal(), input_count = decimal();
    struct coprime_slot_input inputs[MOST_SLOTS];
    struct coprime_slot_output outputs[MOST_SLOTS];
    uint8_t *given[MOST_SLOTS];
    uint32_t output_count;

    for (uint32_t i = 0; i < input_count; ++i) {
        size_t size = 0;

        inputs[i].slot = decimal();
        given[i] = string(&size);
        inputs[i].bytes = given[i];
        inputs[i].size = (uint32_t)size;
    }
    output_count = decimal();
    for (uint32_t i = 0; i < output_count; ++i) {
        outputs[i].slot = decimal();
        outputs[i].size = decimal();
        outputs[i].bytes = allocate(outputs[i].size);
        memset(outputs[i].bytes, 0x5A, outputs[i].size);
    }
    printf("%d", coprime_call(&driver, code, inputs, input_count, outputs, output_count));
    for (uint32_t i = 0; i < output_count; ++i) {
        show_bytes(outputs[i].bytes, outputs[i].size);
        free(outputs[i].bytes);
    }
    for (uint32_t i = 0; i < input_count; ++i) {
        free(given[i]);
    }
}

/* A step of a call that moves a string to a slot. */
static void give_bytes(int (*step)(struct coprime *, uint32_t, const uint8_t *, uint32_t))
{
    const uint32_t slot = decimal();
    size_t size = 0;
    uint8_t *const bytes = string(&size);

    printf("%d", step(&driver, slot, bytes, (uint32_t)size));
    free(bytes);
}

/* Read a slot, or a part of a stream. */
static void take_bytes(bool streamed)
{
    const uint32_t slot = decimal(), room = decimal();
    uint8_t *const bytes = allocate(room);
    uint32_t size = room;

    memset(bytes, 0x5A, room);
    printf("%d", streamed ? coprime_call_read(&driver, slot, bytes, room)
                          : coprime_read_slot(&driver, slot, bytes, &size));
    show_bytes(bytes, size);
    free(bytes);
}

static bool run_call(const char *name)
{
    if (strcmp(name, "call") == 0) {
        call();
    } else if (strcmp(name, "slots") == 0) {
        printf("0 0%x 0%x 0%x 0%x", driver.slots, driver.streams, driver.commands,
               driver.commands_high);
    } else if (strcmp(name, "complete") == 0) {
        printf("0 0%x", coprime_complete_slots(&driver));
    } else if (strcmp(name, "cycles") == 0) {
        printf("0 0%x 0%x", coprime_engine_cycles(&driver), coprime_engine_products(&driver));
    } else if (strcmp(name, "parameter_set") == 0) {
        printf("%d", coprime_parameter_set(&driver, decimal()));
    } else if (strcmp(name, "start") == 0) {
        printf("%d", coprime_call_start(&driver, decimal()));
    } else if (strcmp(name, "end") == 0) {
        printf("%d", coprime_call_end(&driver));
    } else if (strcmp(name, "load_slot") == 0) {
        give_bytes(coprime_load_slot);
    } else if (strcmp(name, "update") == 0) {
        give_bytes(coprime_call_update);
    } else if (strcmp(name, "finish") == 0) {
        give_bytes(coprime_call_finish);
    } else if (strcmp(name, "read_slot") == 0 || strcmp(name, "read_stream") == 0) {
        take_bytes(strcmp(name, "read_stream") == 0);
    } else {
        return false;
    }
    return true;
}
#endif

static void run(const char *name)
{
#ifdef CALLS
    if (run_call(name)) {
        return;
    }
#endif
    if (strcmp(name, "open") == 0) {
        open_driver();
    } else if (strcmp(name, "waits") == 0) {
        printf("0 0%x", (unsigned)coprime_waits(&driver));
    } else if (strcmp(name, "needs_seed") == 0) {
        printf("0 0%x 0%x", (unsigned)coprime_needs_seed(&driver), driver.source);
    } else if (strcmp(name, "seed") == 0) {
        size_t size;
        uint8_t *const material = octets(word() + 1, &size);

        printf("%d", coprime_seed(&driver, material, (uint32_t)size));
        free(material);
    } else if (strcmp(name, "source_failed") == 0) {
        printf("0 0%x", (unsigned)coprime_source_failed(&driver));
    } else if (strcmp(name, "restart_source") == 0) {
        printf("%d", coprime_restart_source(&driver));
    } else if (strcmp(name, "begin_samples") == 0) {
        printf("%d", coprime_begin_samples(&driver));
    } else if (strcmp(name, "next_samples") == 0) {
        uint32_t samples[COPRIME_SAMPLE_WORDS] = {0};

        printf("%d", coprime_next_samples(&driver, samples));
        for (unsigned i = 0; i < COPRIME_SAMPLE_WORDS; ++i) {
            printf(" 0%x", (unsigned)samples[i]);
        }
    } else if (strcmp(name, "limit") == 0) {
        limit = decimal();
        driver.wait = simulated_wait;
        printf("0");
    } else if (strcmp(name, "poll") == 0) {
        driver.wait = NULL;
        printf("0");
    } else if (strcmp(name, "blocks") == 0) { /* 1: moves blocks from now on; 0: words */
        const uint32_t wanted = decimal();

        driver.write_block = wanted ? simulated_write_block : NULL;
        driver.read_block = wanted ? simulated_read_block : NULL;
        printf("0 %llx", (unsigned long long)blocks_moved);
        blocks_moved = 0;
#ifdef KEYGEN
    } else if (strcmp(name, "generate") == 0) {
        generate();
#endif
#ifdef CURVES
    } else if (strcmp(name, "set_curve") == 0) {
        set_curve();
    } else if (strcmp(name, "name_curve") == 0) {
        name_curve();
    } else if (strcmp(name, "make_curve") == 0) {
        make_curve(decimal());
    } else if (strcmp(name, "make_table") == 0) {
        make_table(decimal());
    } else if (strcmp(name, "ecdsa_hash") == 0) {
        hash();
    } else if (strcmp(name, "x_multiply") == 0) {
        x_multiply();
    } else if (strncmp(name, "ec", 2) == 0 || strncmp(name, "ed", 2) == 0) {
        on_curve(name);
#endif
#ifdef SIMULATION
    } else if (strcmp(name, "reset") == 0) {
        coprime_reset(driver.context);
        printf("0");
#endif
    } else if (strcmp(name, "write") == 0) {
        const uint32_t address = decimal();

        simulated_write(driver.context, address, decimal());
        printf("0");
    } else if (strcmp(name, "wrong") == 0) {
        wrong_address = decimal();
        wrong_bits = decimal();
        printf("0");
    } else if (strcmp(name, "read") == 0) {
        printf("0 0%x", simulated_read(driver.context, decimal()));
    } else if (strcmp(name, "set_public") == 0) {
        read_public(&public_key);
        printf("0");
    } else if (strcmp(name, "set_private") == 0) {
        read_private();
        printf("0");
    } else if (strcmp(name, "modulus_constants") == 0) {
        modulus_constants(decimal());
    } else if (strcmp(name, "private_constants") == 0) {
        private_constants(decimal());
    } else if (strcmp(name, "load_modulus") == 0) {
        printf("%d", coprime_load_modulus(&driver, &public_key.modulus));
    } else if (strcmp(name, "load_public") == 0) {
        printf("%d", coprime_load_public(&driver, &public_key));
    } else if (strcmp(name, "load_private") == 0) {
        printf("%d", coprime_load_private(&driver, &private_key));
    } else if (strcmp(name, "wipe") == 0) {
        printf("%d", coprime_wipe(&driver));
    } else if (strcmp(name, "padded") == 0) {
        padded();
    } else if (strcmp(name, "from_bytes") == 0) {
        from_bytes();
    } else if (strcmp(name, "to_bytes") == 0) {
        to_bytes();
    } else {
        compute(name);
    }
}

static void free_modulus(struct coprime_modulus *modulus)
{
    free((void *)modulus->value);
}

int main(void)
{
    static char line[1 << 16];

    driver.read = simulated_read;
    driver.write = simulated_write;
    driver.wait = simulated_wait;
#ifdef SIMULATION
    driver.context = coprime_create(1000000, 0);
#endif
    while (fgets(line, sizeof line, stdin)) {
        run(strtok(line, " \n"));
        printf("\n");
        fflush(stdout);
    }
#ifdef SIMULATION
    coprime_destroy(driver.context);
#endif
#ifdef CURVES
    free_curve();
#endif
    free(constants);
    free_modulus(&public_key.modulus);
    free((void *)public_key.exponent);
    free_modulus(&private_key.public_key.modulus);
    free((void *)private_key.public_key.exponent);
    free((void *)private_key.d);
    free_modulus(&private_key.p);
    free_modulus(&private_key.q);
    free((void *)private_key.dp);
    free((void *)private_key.dq);
    free((void *)private_key.qinv);
    return 0;
}
