#include "coprime.h"
#include "coprime_arithmetic.h"
#include "coprime_engine.h"
#include "coprime_operations.h"

/* What is loaded, in `struct coprime`. */
enum { LOADED_MODULUS = 1, LOADED_PUBLIC = 2, LOADED_PRIVATE = 4 };

/* Reads of STATUS in which an engine with slots has cleared itself after a reset. */
#define CLEARING 100000u

/* number = 2 * number - modulus, or + modulus where the number is below 0: in both cases it stays
   between -modulus and modulus. `sign` is 1 for a number below 0, in two's complement; returns the
   new one. */
static uint32_t twice(uint32_t *number, uint32_t sign, const uint32_t *modulus, uint32_t count)
{
    const uint32_t subtracts = mask_of(sign ^ 1);
    uint32_t top = 0, carry = sign ^ 1;

    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t word = number[i];
        const uint64_t sum = (uint64_t)(word << 1 | top) + (modulus[i] ^ subtracts) + carry;

        number[i] = (uint32_t)sum;
        carry = (uint32_t)(sum >> 32);
        top = word >> 31;
    }
    return (((0u - sign) << 1 | top) + subtracts + carry) >> 31;
}

/* number = 2^times * number mod modulus, for a number below it where `sign` is 0; where that is 1 the
   modulus is still to be added. `times` is public. */
void coprime_double_often(uint32_t *number, uint32_t sign, uint32_t times, const uint32_t *modulus,
                          uint32_t count)
{
    for (uint32_t i = 0; i < times; ++i) {
        sign = twice(number, sign, modulus, count);
    }
    (void)add(number, modulus, mask_of(sign), 0, count);
}

/* number = 2^exponent mod modulus, for a modulus of exactly `bits` bits. The exponent is public. */
void coprime_power_of_two(uint32_t *number, uint32_t exponent, const uint32_t *modulus,
                          uint32_t bits)
{
    const uint32_t count = COPRIME_WORDS(bits);
    uint32_t start;

    /* 2^(bits - 1) is not above the modulus. */
    start = exponent < bits - 1 ? exponent : bits - 1;
    set(number, 0, count);
    number[start / 32] = (uint32_t)1 << start % 32;
    coprime_double_often(number, subtract(number, modulus, count), exponent - start, modulus,
                         count);
}

/* inverse = -modulus^-1 mod 2^width; 0 for an even modulus.

   Bit by bit: `rest` is 1 + modulus * inverse, shifted right by the number of bits found, which
   are all 0. Only as many more bits of it are needed as are still to be found. */
void coprime_negative_inverse(uint32_t *inverse, uint32_t width, const uint32_t *modulus,
                              uint32_t count)
{
    uint32_t low[COPRIME_DIGIT_WORDS], rest[COPRIME_DIGIT_WORDS];
    const uint32_t words = COPRIME_WORDS(width);
    uint32_t odd;

    extend(low, COPRIME_DIGIT_WORDS, modulus, count);
    odd = low[0] & 1;
    set(rest, 1, words);
    set(inverse, 0, COPRIME_DIGIT_WORDS);
    for (uint32_t i = 0; i < width; ++i) {
        const uint32_t bit = rest[0] & odd;
        const uint32_t carry = add(rest, low, mask_of(bit), 0, words);

        shift_right(rest, carry, words);
        inverse[i / 32] |= bit << i % 32;
    }
    coprime_clear(low, COPRIME_DIGIT_WORDS);
    coprime_clear(rest, words);
}

/* a * b mod 2^32: nothing is multiplied, as not every processor does that in constant time. */
static uint32_t low_product(uint32_t a, uint32_t b)
{
    uint32_t product = 0;

    for (uint32_t i = 0; i < 32; ++i) {
        product += b << i & mask_of(a >> i & 1);
    }
    return product;
}

/* Lengths. */

static uint32_t told_prime(const struct coprime *driver, const struct coprime_private_key *key,
                           const struct coprime_modulus *prime)
{
    const uint32_t longer = key->p.bits > key->q.bits ? key->p.bits : key->q.bits;

    return told(driver, driver->equal_primes ? longer : prime->bits);
}

/* Constants. */

static int check_length(const struct coprime_modulus *modulus, uint32_t max_bits)
{
    const uint32_t top = modulus->bits - 1;

    if (modulus->bits > max_bits) {
        return COPRIME_ERROR_LENGTH_OVER;
    }
    if (modulus->bits == 0) {
        return COPRIME_ERROR_MODULUS_ZERO;
    }
    if (modulus->value == NULL) {
        return COPRIME_ERROR_OPERAND_MISSING;
    }
    if (!fits(modulus->value, modulus->bits)) {
        return COPRIME_ERROR_KEY_EXCESS;
    }
    return modulus->value[top / 32] >> top % 32 ? COPRIME_ERROR_NONE : COPRIME_ERROR_MODULUS_SHORT;
}

/* The registers. */

/* The accelerator's error: of the command, otherwise of a refused access. */
int coprime_flagged(const struct coprime *driver)
{
    const uint32_t word = read(driver, COPRIME_ERROR);
    const uint32_t code = (word & COPRIME_ERROR_CODE_MASK) >> COPRIME_ERROR_CODE_SHIFT;
    const uint32_t refusal = (word & COPRIME_ERROR_REFUSAL_MASK) >> COPRIME_ERROR_REFUSAL_SHIFT;

    if (word == NO_ANSWER) {
        return COPRIME_ERROR_DEVICE;
    }
    return (int)(code ? code : refusal);
}

/* Clear errors, and notice a reset of the hardware, after which nothing is loaded. */
int coprime_prepare(struct coprime *driver)
{
    const uint32_t status = read(driver, COPRIME_STATUS);

    if (status == NO_ANSWER) {
        return COPRIME_ERROR_DEVICE;
    }
    if (status & COPRIME_STATUS_BUSY_MASK) {
        return COPRIME_ERROR_BUSY;
    }
    write(driver, COPRIME_ERROR, 0);
    write(driver, COPRIME_INTERRUPT_ENABLE, driver->wait ? COPRIME_INTERRUPT_ENABLE_DONE_MASK : 0);
    if (driver->loaded) {
        const uint32_t length = read(driver, COPRIME_MODULUS_LENGTH);

        if (length == NO_ANSWER) {
            return COPRIME_ERROR_DEVICE;
        }
        if (length != told(driver, driver->modulus_bits)) {
            driver->loaded = 0;
        }
    }
    return COPRIME_ERROR_NONE;
}

/* Prepare for a command that needs loaded operands. */
static int prepare_command(struct coprime *driver, uint32_t needed)
{
    const int error = coprime_prepare(driver);

    if (error) {
        return error;
    }
    return driver->loaded & needed ? COPRIME_ERROR_NONE : COPRIME_ERROR_OPERAND_MISSING;
}

/* Write a register that starts a command. */
void coprime_begin(const struct coprime *driver, uint32_t address, uint32_t value)
{
    write(driver, COPRIME_INTERRUPT_STATUS, COPRIME_INTERRUPT_STATUS_DONE_MASK);
    write(driver, address, value);
}

/* Wait until the command has ended, and return its error. */
int coprime_await(struct coprime *driver)
{
    int error;

    while (!(read(driver, COPRIME_INTERRUPT_STATUS) & COPRIME_INTERRUPT_STATUS_DONE_MASK)) {
        if (driver->wait && driver->wait(driver->context)) {
            return COPRIME_ERROR_TIMEOUT;
        }
    }
    write(driver, COPRIME_INTERRUPT_STATUS, COPRIME_INTERRUPT_STATUS_DONE_MASK);
    error = coprime_flagged(driver);
    if (error == COPRIME_ERROR_FAULT) {
        driver->loaded = 0; /* the engine has wiped its memory */
    }
    return error;
}

/* Write a register that starts a command, and wait until the command has ended. */
int coprime_execute(struct coprime *driver, uint32_t address, uint32_t value)
{
    coprime_begin(driver, address, value);
    return coprime_await(driver);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Load an operand, if the engine has it: `count` words, with zeros above them. */
int coprime_load(const struct coprime *driver, enum coprime_operand operand, const uint32_t *words,
                uint32_t count, uint32_t length)
{
    const uint32_t total = COPRIME_WORDS(length);
    uint32_t place = 0;

    if (!(driver->held >> operand & 1)) {
        return COPRIME_ERROR_NONE;
    }
    if (words == NULL && count > 0) {
        return COPRIME_ERROR_OPERAND_MISSING;
    }
    write(driver, COPRIME_KEY_OPERAND, (uint32_t)operand);
    if (driver->write_block) {
        const uint32_t end = least(count, total);

        while (place < end) {
            const uint32_t block = least(end - place, COPRIME_KEY_WINDOW_WORDS);

            driver->write_block(driver->context, COPRIME_KEY_WINDOW, words + place, block);
            place += block;
        }
    }
    for (; place < total; ++place) {
        write(driver, COPRIME_KEY_DATA, place < count ? words[place] : 0);
    }
    return coprime_flagged(driver);
}

/* E is going to change: whatever key has it there is not loaded any more. */
static void forget_exponent(struct coprime *driver)
{
    driver->loaded &= ~(uint32_t)LOADED_PUBLIC;
    if (driver->checked || !knows(driver, COPRIME_COMMAND_RSA_PRIVATE)) {
        driver->loaded &= ~(uint32_t)LOADED_PRIVATE;
    }
}

/* Load an exponent, of which `bits` bits are scanned. */
static int load_exponent(struct coprime *driver, const uint32_t *exponent, uint32_t bits)
{
    if (bits == 0) {
        return COPRIME_ERROR_EXPONENT_LENGTH;
    }
    if (bits > driver->max_bits) {
        return COPRIME_ERROR_LENGTH_OVER;
    }
    forget_exponent(driver);
    write(driver, COPRIME_EXPONENT_LENGTH, bits);
    return coprime_load(driver, COPRIME_OPERAND_E, exponent, COPRIME_WORDS(bits), bits);
}

/* Write a word of the input buffer. */
void coprime_put_word(const struct coprime *driver, uint32_t place, uint32_t word)
{
    if (place < COPRIME_INPUT_WINDOW_WORDS) {
        write(driver, COPRIME_INPUT_WINDOW + 4 * place, word);
    } else {
        write(driver, COPRIME_INPUT_FIFO, word);
        write(driver, COPRIME_WRITE_ADDRESS, place);
    }
}

/* Read a word of the result. */
uint32_t coprime_get_word(const struct coprime *driver, uint32_t place)
{
    if (place < COPRIME_OUTPUT_WINDOW_WORDS) {
        return read(driver, COPRIME_OUTPUT_WINDOW + 4 * place);
    }
    write(driver, COPRIME_READ_ADDRESS, place);
    return read(driver, COPRIME_OUTPUT_FIFO);
}

/* Write the first words of the input buffer, or read those of the result, as a block where there are
   functions for it. Return how many words have been moved. */
static uint32_t put_block(const struct coprime *driver, const uint32_t *words, uint32_t count)
{
    const uint32_t block = driver->write_block ? least(count, COPRIME_INPUT_WINDOW_WORDS) : 0;

    if (block) {
        driver->write_block(driver->context, COPRIME_INPUT_WINDOW, words, block);
    }
    return block;
}

static uint32_t get_block(const struct coprime *driver, uint32_t *words, uint32_t count)
{
    const uint32_t block = driver->read_block ? least(count, COPRIME_OUTPUT_WINDOW_WORDS) : 0;

    if (block) {
        driver->read_block(driver->context, COPRIME_OUTPUT_WINDOW, words, block);
    }
    return block;
}

/* Residues modulo 2^V - 1, where V is the residue_width: 0 to 2^V - 1, of which the greatest is 0,
   too. The time is the same for every number. */
uint32_t coprime_residue(const struct coprime *driver, uint32_t number)
{
    const uint32_t width = driver->residue_width, greatest = ((uint32_t)1 << width) - 1;

    for (uint32_t bits = 0; bits <= 32; bits += width) {
        number = (number & greatest) + (number >> width);
    }
    return number;
}

uint32_t coprime_residue_of(const struct coprime *driver, const uint32_t *number, uint32_t count)
{
    const uint32_t width = driver->residue_width, greatest = ((uint32_t)1 << width) - 1;
    const uint32_t shift = 32 % width; /* times 2^32 is a rotation */
    uint32_t found = 0;

    for (uint32_t i = count; i-- > 0;) {
        found = (found << shift & greatest) | found >> (width - shift);
        found = coprime_residue(driver, found + coprime_residue(driver, number[i]));
    }
    return found;
}

/* Whether the result of RSA_PRIVATE, as it was read, belongs to the x with this residue, as it was
   sent: no bit has changed on the way. */
static bool belongs(const struct coprime *driver, uint32_t x_residue, const uint32_t *result)
{
    const uint32_t count = COPRIME_WORDS(driver->modulus_bits);
    const uint32_t zero = ((uint32_t)1 << driver->residue_width) - 1;
    const uint32_t sum = coprime_residue(driver, x_residue + 1);
    const uint32_t once = coprime_residue_of(driver, result, count);
    const uint32_t thrice = coprime_residue(driver, once + coprime_residue(driver, 2 * once));
    const uint32_t expected = coprime_residue(driver, sum + thrice);
    const uint32_t checked = coprime_residue(driver, read(driver, COPRIME_RESIDUE));
    const uint32_t found = coprime_residue(driver, checked + driver->modulus_residue);
    const uint32_t difference = coprime_residue(driver, expected + (zero - found));

    return difference == 0 || difference == zero;
}

/* Write the input, run a command, and read its result. */
static int run(struct coprime *driver, enum coprime_command command, const uint32_t *x,
               uint32_t *result)
{
    const uint32_t count = COPRIME_WORDS(driver->modulus_bits);
    const uint32_t bytes = (driver->modulus_bits + 7) / 8;
    const bool checks = command == COPRIME_COMMAND_RSA_PRIVATE && driver->checked;
    uint32_t x_residue;
    int error;

    if (!fits(x, driver->modulus_bits)) {
        return COPRIME_ERROR_OPERAND_RANGE;
    }
    for (uint32_t i = put_block(driver, x, count); i < count || i == 0; ++i) {
        coprime_put_word(driver, i, i < count ? x[i] : 0);
    }
    write(driver, COPRIME_INPUT_LENGTH, bytes ? bytes : 1);
    /* Before the result takes its place. */
    x_residue = checks ? coprime_residue_of(driver, x, count) : 0;
    error = coprime_execute(driver, COPRIME_COMMAND, (uint32_t)command);
    if (error) {
        return error;
    }
    for (uint32_t i = get_block(driver, result, count); i < count; ++i) {
        result[i] = coprime_get_word(driver, i);
    }
    error = coprime_flagged(driver);
    if (error) { /* the device has gone while the result was read */
        set(result, 0, count);
        return error;
    }
    if (checks && !belongs(driver, x_residue, result)) {
        set(result, 0, count);
        return COPRIME_ERROR_FAULT;
    }
    return COPRIME_ERROR_NONE;
}

/* A command that not every engine implements, or the general one. */
static enum coprime_command either(const struct coprime *driver, enum coprime_command command)
{
    return !knows(driver, command) && knows(driver, COPRIME_COMMAND_MODEXP) ?
               COPRIME_COMMAND_MODEXP :
               command;
}

/* Allocate words from the front of the memory; the caller has checked that there are enough. */
static uint32_t *take(struct coprime_memory *memory, uint32_t count)
{
    uint32_t *const words = memory->words;

    memory->words += count;
    memory->count -= count;
    return words;
}

/* Set-up: the constants of a key, made with the engine's own commands. */

/* Give the engine a modulus with its inverse; `length` is what the hardware is told. */
static int set_modulus(struct coprime *driver, const struct coprime_modulus *modulus,
                       uint32_t length)
{
    const uint32_t count = COPRIME_WORDS(modulus->bits);
    int error;

    driver->loaded = 0;
    driver->modulus_bits = modulus->bits;
    write(driver, COPRIME_MODULUS_LENGTH, length);
    error = coprime_load(driver, COPRIME_OPERAND_M, modulus->value, count, length);
    if (!error) {
        error = coprime_load(driver, COPRIME_OPERAND_M_INVERSE, modulus->inverse,
                             COPRIME_DIGIT_WORDS, driver->digit_width);
    }
    return error;
}

/* result = x * y * power / R^2 modulo the modulus that is set; an engine without R has no power, and
   result = x * y. A null power is the one that is loaded. */
static int multiply(struct coprime *driver, const uint32_t *x, const uint32_t *y,
                    const uint32_t *power, uint32_t *result)
{
    const uint32_t count = COPRIME_WORDS(driver->modulus_bits);
    const uint32_t length = read(driver, COPRIME_MODULUS_LENGTH);
    int error = coprime_load(driver, COPRIME_OPERAND_Y, y, count, length);

    if (!error && power) {
        error = coprime_load(driver, COPRIME_OPERAND_M_POWER, power, count, length);
    }
    return error ? error : run(driver, COPRIME_COMMAND_MODMUL, x, result);
}

/* number = 2^exponent modulo the modulus that is set, whose R is 2^own.

   A product of three times 2^k R is 2^(3 k) R: so k, the exponent less `own`, is made of its thirds,
   and of a doubling or two for what is left. */
static int raise_two(struct coprime *driver, const struct coprime_modulus *modulus, uint32_t own,
                     uint32_t exponent, uint32_t *number)
{
    const uint32_t most = 8; /* doublings that are faster than a product */
    uint32_t parts = 1, k = exponent > own ? exponent - own : 0;

    while (k / parts > most) {
        parts *= 3;
    }
    coprime_power_of_two(number, parts > 1 ? own + k / parts : exponent, modulus->value,
                         modulus->bits);
    while (parts > 1) {
        const int error = multiply(driver, number, number, number, number);

        if (error) {
            return error;
        }
        parts /= 3;
        coprime_double_often(number, 0, k / parts % 3, modulus->value,
                             COPRIME_WORDS(modulus->bits));
    }
    return COPRIME_ERROR_NONE;
}

/* The constants of a modulus whose length is checked; its power is 2^exponent. */
static int compute_constants(struct coprime *driver, struct coprime_modulus *modulus,
                             uint32_t length, uint32_t exponent, struct coprime_memory *memory)
{
    const uint32_t count = COPRIME_WORDS(modulus->bits);
    uint32_t *const power = take(memory, count);
    int error;

    coprime_negative_inverse(modulus->inverse, driver->digit_width, modulus->value, count);
    modulus->power = power;
    error = set_modulus(driver, modulus, length);
    return error ? error :
                   raise_two(driver, modulus, radix_exponent(driver, length), exponent, power);
}

/* Nothing of a key stays in the engine's memory, nor in its output, but for what is loaded. */
static int wipe_after(struct coprime *driver, int error)
{
    const int wiped = coprime_wipe(driver);

    return error ? error : wiped;
}

int coprime_modulus_constants(struct coprime *driver, struct coprime_modulus *modulus,
                              struct coprime_memory *memory)
{
    const uint32_t length = told(driver, modulus->bits);
    int error = check_length(modulus, driver->max_bits);

    if (!error && driver->radix_bits && !(modulus->value[0] & 1)) {
        error = COPRIME_ERROR_MODULUS_EVEN;
    }
    if (!error && memory->count < COPRIME_MODULUS_MEMORY(modulus->bits)) {
        error = COPRIME_ERROR_MEMORY;
    }
    if (!error) {
        error = coprime_prepare(driver);
    }
    if (error) {
        return error;
    }
    error = compute_constants(driver, modulus, length, 2 * radix_exponent(driver, length), memory);
    return wipe_after(driver, error);
}

/* The primes of a key: odd, above 1, and of exactly the given lengths. */
static int check_prime(const struct coprime *driver, const struct coprime_modulus *prime)
{
    const int error = check_length(prime, driver->max_prime_bits);

    if (error) {
        return error;
    }
    if (prime->bits < 2) {
        return COPRIME_ERROR_KEY;
    }
    return prime->value[0] & 1 ? COPRIME_ERROR_NONE : COPRIME_ERROR_MODULUS_EVEN;
}

/* The modulus is the product of the primes, as far as its length and its lowest word tell; and all
   numbers are there. What is left is seen as the factors are made. */
static int check_key(const struct coprime_private_key *key)
{
    const struct coprime_modulus *const n = &key->public_key.modulus;
    const uint32_t bits = key->p.bits + key->q.bits;

    if (n->bits != bits && n->bits + 1 != bits) {
        return COPRIME_ERROR_KEY;
    }
    if (key->qinv == NULL) {
        return COPRIME_ERROR_OPERAND_MISSING;
    }
    return low_product(key->p.value[0], key->q.value[0]) == n->value[0] ? COPRIME_ERROR_NONE :
                                                                          COPRIME_ERROR_KEY;
}

/* The factors that combine the halves of the result, modulo n, which is set with its power:
   z = (q^-1 mod p) * q times R_p, and (1 - z) times R_q, since 1 - z is the other prime's. `scratch`
   has as many words as n. */
static int compute_factors(struct coprime *driver, struct coprime_private_key *key,
                           uint32_t *crt_p, uint32_t *crt_q, uint32_t *scratch)
{
    const struct coprime_modulus *const n = &key->public_key.modulus;
    const uint32_t count = COPRIME_WORDS(n->bits);
    const uint32_t q_count = COPRIME_WORDS(key->q.bits), p_count = COPRIME_WORDS(key->p.bits);
    uint32_t borrow;
    int error;

    /* (z - 1) * q = 0 modulo n: z is 1 modulo p. */
    extend(crt_q, count, key->q.value, q_count);
    extend(crt_p, count, key->qinv, p_count);
    error = multiply(driver, crt_p, crt_q, n->power, crt_p);
    if (error) {
        return error;
    }
    set(scratch, 1, count);
    copy(crt_q, crt_p, count);
    borrow = subtract(crt_q, scratch, count);
    extend(scratch, count, key->q.value, q_count);
    error = multiply(driver, crt_q, scratch, NULL, scratch);
    if (error) {
        return error;
    }
    if (borrow | difference_from(scratch, 0, count)) {
        return COPRIME_ERROR_KEY;
    }
    /* 1 - z = n - (z - 1) */
    copy(scratch, crt_q, count);
    copy(crt_q, n->value, count);
    (void)subtract(crt_q, scratch, count);
    coprime_power_of_two(scratch, radix_exponent(driver, told_prime(driver, key, &key->p)),
                         n->value, n->bits);
    error = multiply(driver, crt_p, scratch, NULL, crt_p);
    key->crt_p = crt_p;
    key->crt_q = NULL;
    if (!error && driver->held >> COPRIME_OPERAND_CRT_Q & 1) {
        coprime_power_of_two(scratch, radix_exponent(driver, told_prime(driver, key, &key->q)),
                             n->value, n->bits);
        error = multiply(driver, crt_q, scratch, NULL, crt_q);
        key->crt_q = crt_q;
    }
    return error;
}

/* All constants of a checked key, in memory of COPRIME_PRIVATE_MEMORY words. */
static int compute_private(struct coprime *driver, struct coprime_private_key *key,
                           struct coprime_memory *memory)
{
    struct coprime_modulus *const n = &key->public_key.modulus;
    const uint32_t n_count = COPRIME_WORDS(n->bits), length = told(driver, n->bits);
    const uint32_t p_length = told_prime(driver, key, &key->p);
    const uint32_t q_length = told_prime(driver, key, &key->q);
    const uint32_t own = radix_exponent(driver, length);
    uint32_t *const crt_p = take(memory, n_count), *const crt_q = take(memory, n_count);
    int error = compute_constants(driver, n, length, 2 * own, memory);

    if (!error) {
        error = compute_factors(driver, key, crt_p, crt_q, memory->words);
    }
    if (!error) {
        error = compute_constants(driver, &key->p, p_length,
                                  own + radix_exponent(driver, p_length), memory);
    }
    if (!error) {
        error = compute_constants(driver, &key->q, q_length,
                                  own + radix_exponent(driver, q_length), memory);
    }
    return error;
}

int coprime_private_constants(struct coprime *driver, struct coprime_private_key *key,
                              struct coprime_memory *memory)
{
    struct coprime_modulus *const n = &key->public_key.modulus;
    const uint32_t longer = key->p.bits > key->q.bits ? key->p.bits : key->q.bits;
    const uint32_t total = COPRIME_PRIVATE_MEMORY(n->bits, longer);
    uint32_t *const words = memory->words;
    int error;

    if (!knows(driver, COPRIME_COMMAND_RSA_PRIVATE)) {
        return coprime_modulus_constants(driver, n, memory);
    }
    error = check_length(n, driver->max_bits);
    if (!error) {
        error = check_prime(driver, &key->p);
    }
    if (!error) {
        error = check_prime(driver, &key->q);
    }
    if (!error) {
        error = check_key(key);
    }
    if (!error && memory->count < total) {
        error = COPRIME_ERROR_MEMORY;
    }
    if (!error) {
        error = coprime_prepare(driver);
    }
    if (error) {
        return error;
    }
    error = wipe_after(driver, compute_private(driver, key, memory));
    if (!error) {
        return COPRIME_ERROR_NONE;
    }
    coprime_clear(words, total);
    memory->count += (size_t)(memory->words - words);
    memory->words = words;
    return error == COPRIME_ERROR_OPERAND_RANGE ? COPRIME_ERROR_KEY : error;
}

/* Read the properties of an engine of numbers. */
static int open_numbers(struct coprime *driver)
{
    uint32_t word = read(driver, COPRIME_DIGITS), half;
    int error;

    driver->digit_width = (word & COPRIME_DIGITS_WIDTH_MASK) >> COPRIME_DIGITS_WIDTH_SHIFT;
    for (driver->residue_width = 31; driver->digit_width % driver->residue_width != 0;) {
        --driver->residue_width;
    }
    driver->headroom = (word & COPRIME_DIGITS_HEADROOM_MASK) >> COPRIME_DIGITS_HEADROOM_SHIFT;
    driver->radix_bits = (word & COPRIME_DIGITS_RADIX_MASK) >> COPRIME_DIGITS_RADIX_SHIFT;
    half = (word & COPRIME_DIGITS_HALF_MASK) >> COPRIME_DIGITS_HALF_SHIFT;
    driver->half_bits = half ? driver->digit_width << half : 0;
    driver->blinds_scalars = word & COPRIME_DIGITS_SCALAR_BLINDING_MASK;
    word = read(driver, COPRIME_MAX_LENGTH);
    driver->max_bits = (word & COPRIME_MAX_LENGTH_MODULUS_MASK) >> COPRIME_MAX_LENGTH_MODULUS_SHIFT;
    driver->max_prime_bits =
        (word & COPRIME_MAX_LENGTH_PRIME_MASK) >> COPRIME_MAX_LENGTH_PRIME_SHIFT;
    driver->min_bits = (read(driver, COPRIME_MIN_LENGTH) & COPRIME_MIN_LENGTH_BITS_MASK) >>
                       COPRIME_MIN_LENGTH_BITS_SHIFT;
    error = coprime_prepare(driver);
    if (error) {
        return error;
    }
    /* The engine refuses to select an operand that it does not hold. */
    for (uint32_t operand = COPRIME_OPERAND_Y; operand <= COPRIME_OPERAND_TABLE_11; ++operand) {
        write(driver, COPRIME_ERROR, 0);
        write(driver, COPRIME_KEY_OPERAND, operand);
        if (coprime_flagged(driver) != COPRIME_ERROR_ADDRESS) {
            driver->held |= (uint32_t)1 << operand;
        }
    }
    error = coprime_flagged(driver);
    return error == COPRIME_ERROR_DEVICE ? error : COPRIME_ERROR_NONE;
}

/* Find the slots: those that can be selected. None has the length that is announced, and what is
   streamed is refused while no command runs. */
static int open_slots(struct coprime *driver)
{
    int error = COPRIME_ERROR_BUSY;

    for (uint32_t i = 0; i < CLEARING && error == COPRIME_ERROR_BUSY; ++i) {
        error = coprime_prepare(driver);
    }
    if (error) {
        return error;
    }
    write(driver, COPRIME_PARAMETER_SET, 0);
    for (uint32_t slot = 0; COPRIME_COMPLETE_SLOTS_MASK >> slot & 1 && !error; ++slot) {
        write(driver, COPRIME_ERROR, 0);
        write(driver, COPRIME_SLOT, slot);
        write(driver, COPRIME_SLOT_LENGTH, COPRIME_SLOT_LENGTH_BYTES_MASK);
        error = coprime_flagged(driver);
        if (error != COPRIME_ERROR_ADDRESS) {
            driver->slots |= (uint32_t)1 << slot;
        }
        if (error == COPRIME_ERROR_NOT_READY) {
            driver->streams |= (uint32_t)1 << slot;
        }
        error = error == COPRIME_ERROR_DEVICE ? error : COPRIME_ERROR_NONE;
    }
    write(driver, COPRIME_ERROR, 0);
    return error;
}

/* Public functions. */

int coprime_open(struct coprime *driver)
{
    uint32_t word;

    driver->loaded = driver->held = driver->modulus_bits = 0;
    driver->slots = driver->streams = driver->parameter_set = driver->commands_high = 0;
    driver->selected = driver->kept = driver->kept_bytes = 0;
    driver->digit_width = driver->headroom = driver->radix_bits = driver->half_bits = 0;
    driver->max_bits = driver->max_prime_bits = driver->min_bits = driver->residue_width = 0;
    driver->blinds_scalars = false;
    word = read(driver, COPRIME_IDENTIFICATION);
    if (word != COPRIME_IDENTIFICATION_ID_RESET) {
        return word == NO_ANSWER ? COPRIME_ERROR_DEVICE : COPRIME_ERROR_IDENTIFICATION;
    }
    driver->version = read(driver, COPRIME_VERSION);
    driver->family = read(driver, COPRIME_FAMILY);
    word = read(driver, COPRIME_CAPABILITIES);
    driver->commands =
        (word & COPRIME_CAPABILITIES_COMMANDS_MASK) >> COPRIME_CAPABILITIES_COMMANDS_SHIFT;
    if (word & COPRIME_CAPABILITIES_MORE_COMMANDS_MASK) {
        driver->commands = read(driver, COPRIME_COMMANDS);
        driver->commands_high = read(driver, COPRIME_COMMANDS_HIGH);
    }
    driver->constant_time = (word & COPRIME_CAPABILITIES_CONSTANT_TIME_MASK) != 0;
    driver->fixed_modulus = (word & COPRIME_CAPABILITIES_FIXED_MODULUS_MASK) != 0;
    driver->equal_primes = (word & COPRIME_CAPABILITIES_EQUAL_PRIMES_MASK) != 0;
    driver->checked = (word & COPRIME_CAPABILITIES_CHECKED_MASK) != 0;
    driver->paddings =
        (word & COPRIME_CAPABILITIES_PADDINGS_MASK) >> COPRIME_CAPABILITIES_PADDINGS_SHIFT;
    driver->source = (word & COPRIME_CAPABILITIES_SOURCE_MASK) >> COPRIME_CAPABILITIES_SOURCE_SHIFT;
    return word & COPRIME_CAPABILITIES_SLOTS_MASK ? open_slots(driver) : open_numbers(driver);
}

int coprime_load_modulus(struct coprime *driver, const struct coprime_modulus *modulus)
{
    const uint32_t count = COPRIME_WORDS(modulus->bits), length = told(driver, modulus->bits);
    int error = coprime_prepare(driver);

    if (error) {
        return error;
    }
    driver->loaded = 0;
    if (driver->slots) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    if (modulus->bits > driver->max_bits) {
        return COPRIME_ERROR_LENGTH_OVER;
    }
    if (driver->checked) {
        driver->modulus_residue = coprime_residue_of(driver, modulus->value, count);
    }
    error = set_modulus(driver, modulus, length);
    if (!error) {
        error = coprime_load(driver, COPRIME_OPERAND_M_POWER, modulus->power, count, length);
    }
    if (!error) {
        driver->loaded = LOADED_MODULUS;
    }
    return error;
}

/* The operation of a command that is given numbers; null if there is none. */
static const struct operation *operation_of(enum coprime_command command)
{
    for (uint32_t i = 0; i < sizeof(operations) / sizeof(operations[0]); ++i) {
        if (operations[i].command == command) {
            return &operations[i];
        }
    }
    return NULL;
}

/* Word `place` of an operand that several inputs share: bit k of an input is bit stride * k + offset
   of it. What an input has no words for is 0. */
static uint32_t shared_word(const struct operation *operation, enum coprime_operand operand,
                            const struct coprime_input *inputs, uint32_t place)
{
    uint32_t word = 0;

    for (uint32_t i = 0; i < operation->count; ++i) {
        const struct operation_input *const input = &operation->inputs[i];

        for (uint32_t bit = 0; input->operand == operand && bit < 32; ++bit) {
            const uint32_t k = 32 * place + bit - input->offset;

            if (32 * place + bit >= input->offset && k % input->stride == 0 &&
                k / input->stride < inputs[i].bits) {
                const uint32_t source = k / input->stride;

                word |= (inputs[i].words[source / 32] >> source % 32 & 1) << bit;
            }
        }
    }
    return word;
}

/* Load the exponents of an operation, which may share an operand: each has `bits` bits. */
static int load_exponents(struct coprime *driver, const struct operation *operation,
                          const struct coprime_input *inputs, uint32_t bits)
{
    uint32_t length, first = 0;

    while (operation->inputs[first].operand != COPRIME_OPERAND_E) {
        ++first;
    }
    if (operation->inputs[first].stride == 1) {
        return load_exponent(driver, inputs[first].words, bits);
    }
    if (bits > driver->max_bits / operation->inputs[first].stride) {
        return COPRIME_ERROR_LENGTH_OVER;
    }
    length = bits * operation->inputs[first].stride;
    forget_exponent(driver);
    write(driver, COPRIME_EXPONENT_LENGTH, length);
    write(driver, COPRIME_KEY_OPERAND, COPRIME_OPERAND_E);
    for (uint32_t i = 0; i < COPRIME_WORDS(length); ++i) {
        write(driver, COPRIME_KEY_DATA, shared_word(operation, COPRIME_OPERAND_E, inputs, i));
    }
    return coprime_flagged(driver);
}

int coprime_operate(struct coprime *driver, enum coprime_command command,
                    const struct coprime_input *inputs, uint32_t *result)
{
    const struct operation *const operation = operation_of(command);
    const uint32_t modulus_bits = driver->modulus_bits;
    const uint32_t *x = NULL;
    uint32_t exponents = 0, bits = 0;
    int error;

    if (operation == NULL) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    error = prepare_command(driver, LOADED_MODULUS);
    if (!error && !knows(driver, command)) {
        error = COPRIME_ERROR_UNSUPPORTED;
    }
    for (uint32_t i = 0; i < operation->count && !error; ++i) {
        const enum coprime_operand operand = operation->inputs[i].operand;

        if (operand == COPRIME_OPERAND_X) {
            x = inputs[i].words;
        } else if (operand == COPRIME_OPERAND_E) {
            ++exponents;
            bits = inputs[i].bits > bits ? inputs[i].bits : bits;
            if (operation->inputs[i].stride > 1 && !fits(inputs[i].words, inputs[i].bits)) {
                error = COPRIME_ERROR_KEY_EXCESS;
            }
        } else if (!fits(inputs[i].words, modulus_bits)) {
            error = COPRIME_ERROR_OPERAND_RANGE;
        } else {
            error = coprime_load(driver, operand, inputs[i].words, COPRIME_WORDS(modulus_bits),
                                 told(driver, modulus_bits));
        }
    }
    if (!error && exponents) {
        error = bits ? load_exponents(driver, operation, inputs, bits)
                     : COPRIME_ERROR_EXPONENT_LENGTH;
    }
    return error ? error : run(driver, command, x, result);
}

int coprime_modmul(struct coprime *driver, const uint32_t *x, const uint32_t *y, uint32_t *result)
{
    const struct coprime_input inputs[] = {{x, 0}, {y, 0}};

    return coprime_operate(driver, COPRIME_COMMAND_MODMUL, inputs, result);
}

int coprime_modexp(struct coprime *driver, const uint32_t *x, const uint32_t *exponent,
                   uint32_t exponent_bits, uint32_t *result)
{
    const struct coprime_input inputs[] = {{x, 0}, {exponent, exponent_bits}};

    return coprime_operate(driver, COPRIME_COMMAND_MODEXP, inputs, result);
}

int coprime_load_public(struct coprime *driver, const struct coprime_public_key *key)
{
    int error = coprime_load_modulus(driver, &key->modulus);

    if (!error) {
        error = load_exponent(driver, key->exponent, key->exponent_bits);
    }
    if (error) {
        return error;
    }
    driver->loaded |= LOADED_PUBLIC;
    return COPRIME_ERROR_NONE;
}

int coprime_public(struct coprime *driver, const uint32_t *x, uint32_t *result)
{
    const int error = prepare_command(driver, LOADED_PUBLIC);

    return error ? error : run(driver, either(driver, COPRIME_COMMAND_RSA_PUBLIC), x, result);
}

/* Load the four operands of a prime, of which the first three have its length. */
static int load_prime(struct coprime *driver, const struct coprime_modulus *prime,
                      const uint32_t *exponent, uint32_t length, bool second)
{
    const uint32_t count = COPRIME_WORDS(prime->bits);
    int error;

    if (prime->bits > driver->max_prime_bits) {
        return COPRIME_ERROR_LENGTH_OVER;
    }
    write(driver, second ? COPRIME_Q_LENGTH : COPRIME_P_LENGTH, length);
    error = coprime_load(driver, second ? COPRIME_OPERAND_Q : COPRIME_OPERAND_P, prime->value,
                         count, length);
    if (!error) {
        error = coprime_load(driver, second ? COPRIME_OPERAND_DQ : COPRIME_OPERAND_DP, exponent,
                             count, length);
    }
    if (!error) {
        error = coprime_load(driver, second ? COPRIME_OPERAND_Q_POWER : COPRIME_OPERAND_P_POWER,
                             prime->power, count, length);
    }
    if (!error) {
        error = coprime_load(driver, second ? COPRIME_OPERAND_Q_INVERSE : COPRIME_OPERAND_P_INVERSE,
                             prime->inverse, COPRIME_DIGIT_WORDS, driver->digit_width);
    }
    return error;
}

/* Load the primes and all operands that belong to them. */
static int load_primes(struct coprime *driver, const struct coprime_private_key *key)
{
    const uint32_t bits = key->public_key.modulus.bits;
    const uint32_t count = COPRIME_WORDS(bits), length = told(driver, bits);
    int error = load_prime(driver, &key->p, key->dp, told_prime(driver, key, &key->p), false);

    if (!error) {
        error = load_prime(driver, &key->q, key->dq, told_prime(driver, key, &key->q), true);
    }
    if (!error) {
        error = coprime_load(driver, COPRIME_OPERAND_CRT_P, key->crt_p, count, length);
    }
    if (!error) {
        error = coprime_load(driver, COPRIME_OPERAND_CRT_Q, key->crt_q, count, length);
    }
    return error;
}

int coprime_load_private(struct coprime *driver, const struct coprime_private_key *key)
{
    const struct coprime_public_key *const public_key = &key->public_key;
    int error = coprime_load_modulus(driver, &public_key->modulus);

    if (error) {
        return error;
    }
    if (!knows(driver, COPRIME_COMMAND_RSA_PRIVATE)) {
        error = load_exponent(driver, key->d, public_key->modulus.bits);
    } else {
        error = load_primes(driver, key);
        if (!error && driver->checked && !public_key->exponent) {
            error = COPRIME_ERROR_OPERAND_MISSING;
        }
        if (!error && public_key->exponent) {
            error = load_exponent(driver, public_key->exponent, public_key->exponent_bits);
            driver->loaded |= error ? 0 : LOADED_PUBLIC;
        }
    }
    if (error) {
        driver->loaded = 0;
        return error;
    }
    driver->loaded |= LOADED_PRIVATE;
    return COPRIME_ERROR_NONE;
}

/* Before a private operation: what it consumes must be loaded again. */
static int prepare_private(struct coprime *driver)
{
    const int error = prepare_command(driver, LOADED_PRIVATE);

    if (!error && driver->checked) {
        driver->loaded = LOADED_PRIVATE;
    }
    return error;
}

int coprime_private(struct coprime *driver, const uint32_t *x, uint32_t *result)
{
    const int error = prepare_private(driver);

    return error ? error : run(driver, either(driver, COPRIME_COMMAND_RSA_PRIVATE), x, result);
}

/* Word `place`, counted from the end, of an octet string with zeros after it up to `room` bytes. */
static uint32_t word_from_end(const uint8_t *bytes, uint32_t size, uint32_t room, uint32_t place)
{
    uint32_t word = 0;

    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t index = room - 1 - (4 * place + i); /* huge before the string's start */

        word |= index < size ? (uint32_t)bytes[index] << 8 * i : 0;
    }
    return word;
}

/* The four numbers of PADDING_WINDOW, in its order. */
enum padding_number { NUMBER_SECRET, NUMBER_LABEL, NUMBER_SALT, NUMBER_DIGEST };

/* Write one of them, of `size` bytes with zeros after the last one. */
static void put_number(const struct coprime *driver, enum padding_number which,
                       const uint8_t *bytes, uint32_t size)
{
    const uint32_t room = COPRIME_DIGEST_BYTES;

    for (uint32_t i = 0; i < room / 4; ++i) {
        write(driver, COPRIME_PADDING_WINDOW + room * (uint32_t)which + 4 * i,
              word_from_end(bytes, size, room, i));
    }
}

/* Write the register PADDING, and the part of PADDING_WINDOW that the operation needs. */
static int set_padding(const struct coprime *driver, const struct coprime_padding *padding,
                       bool decodes)
{
    const uint32_t size = COPRIME_DIGEST_BYTES;

    if (decodes && padding->scheme == COPRIME_SCHEME_PKCS1) {
        if (padding->secret == NULL) {
            return COPRIME_ERROR_OPERAND_MISSING;
        }
        put_number(driver, NUMBER_SECRET, padding->secret, size);
    } else if (padding->scheme == COPRIME_SCHEME_OAEP && padding->label) {
        put_number(driver, NUMBER_LABEL, padding->label, size);
    } else if (decodes && padding->scheme != COPRIME_SCHEME_OAEP) {
        if (padding->digest == NULL) {
            return COPRIME_ERROR_OPERAND_MISSING;
        }
        put_number(driver, NUMBER_DIGEST, padding->digest, size);
    } else if (padding->scheme == COPRIME_SCHEME_PSS && padding->salt) {
        put_number(driver, NUMBER_SALT, padding->salt, padding->salt_length);
    }
    write(driver, COPRIME_PADDING,
          (uint32_t)padding->scheme << COPRIME_PADDING_SCHEME_SHIFT |
              (uint32_t)padding->hash << COPRIME_PADDING_HASH_SHIFT |
              (uint32_t)padding->digest_info << COPRIME_PADDING_DIGEST_INFO_SHIFT |
              (uint32_t)(padding->label != NULL) << COPRIME_PADDING_LABEL_SHIFT |
              (uint32_t)(padding->salt != NULL) << COPRIME_PADDING_SALT_SHIFT |
              padding->salt_length << COPRIME_PADDING_SALT_LENGTH_SHIFT);
    return COPRIME_ERROR_NONE;
}

/* Run one of the two operations that STATUS starts. */
static int run_padded(struct coprime *driver, const struct coprime_padding *padding, bool private,
                      const uint8_t *input, uint32_t input_size, uint8_t *output,
                      uint32_t *output_size)
{
    const bool signs = padding->scheme == COPRIME_SCHEME_PKCS1_SIGNATURE ||
                       padding->scheme == COPRIME_SCHEME_PSS;
    const bool decodes = private != signs;
    uint32_t bytes, size, word = 0;
    int error;

    if (driver->paddings == 0 || padding->scheme == COPRIME_SCHEME_NONE) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    error = private ? prepare_private(driver) : prepare_command(driver, LOADED_PUBLIC);
    if (error) {
        return error;
    }
    bytes = (driver->modulus_bits + 7) / 8;
    if ((decodes && input_size != bytes) || padding->salt_length > COPRIME_DIGEST_BYTES) {
        return COPRIME_ERROR_SIZE;
    }
    if (private && signs && !padding->hash && input_size != COPRIME_DIGEST_BYTES &&
        (padding->digest_info || padding->scheme == COPRIME_SCHEME_PSS)) {
        return COPRIME_ERROR_SIZE;
    }
    if (input_size > bytes) {
        return COPRIME_ERROR_INPUT_CLIPPED;
    }
    error = set_padding(driver, padding, decodes);
    if (error) {
        return error;
    }
    for (uint32_t i = 0; i < (input_size + 3) / 4; ++i) {
        coprime_put_word(driver, i, word_from_end(input, input_size, input_size, i));
    }
    write(driver, COPRIME_INPUT_LENGTH, input_size);
    error = coprime_execute(driver, COPRIME_STATUS,
                    COPRIME_STATUS_START_MASK | (private ? COPRIME_STATUS_DECRYPT_MASK : 0));
    if (error) {
        return error;
    }
    size = read(driver, COPRIME_OUTPUT_LENGTH);
    size = size < bytes ? size : bytes;
    for (uint32_t i = 0; i < size; ++i) {
        word = i % 4 == 0 ? coprime_get_word(driver, i / 4) : word >> 8;
        output[size - 1 - i] = (uint8_t)(word & 0xFFu);
    }
    *output_size = size;
    return coprime_flagged(driver);
}

int coprime_padded_public(struct coprime *driver, const struct coprime_padding *padding,
                          const uint8_t *input, uint32_t input_size, uint8_t *output,
                          uint32_t *output_size)
{
    return run_padded(driver, padding, false, input, input_size, output, output_size);
}

int coprime_padded_private(struct coprime *driver, const struct coprime_padding *padding,
                           const uint8_t *input, uint32_t input_size, uint8_t *output,
                           uint32_t *output_size)
{
    return run_padded(driver, padding, true, input, input_size, output, output_size);
}

/* CAPABILITIES.SOURCE of a source that software seeds, and of one that noise does;
   RANDOM_STATUS.STATE; reads after which a source is taken to be out of order. */
enum { SEEDED_SOURCE = 1, NOISE_SOURCE = 2 };
enum { SOURCE_TESTING, SOURCE_UNSEEDED, SOURCE_READY, SOURCE_FAILED };
enum { SOURCE_POLLS = 100000 };

static uint32_t source_state(uint32_t status)
{
    return (status & COPRIME_RANDOM_STATUS_STATE_MASK) >> COPRIME_RANDOM_STATUS_STATE_SHIFT;
}

/* RANDOM_STATUS once the random source neither tests nor seeds itself, which takes some thousand
   cycles; its last value if it does not end. */
static uint32_t settled_source(const struct coprime *driver)
{
    uint32_t status = 0;

    for (uint32_t i = 0; i < SOURCE_POLLS && source_state(status) == SOURCE_TESTING; ++i) {
        status = read(driver, COPRIME_RANDOM_STATUS);
    }
    return status;
}

bool coprime_waits(const struct coprime *driver)
{
    const uint32_t word = read(driver, driver->slots ? COPRIME_WAITING : COPRIME_STATUS);
    const uint32_t mask =
        driver->slots ? COPRIME_WAITING_RANDOM_MASK : COPRIME_STATUS_RANDOM_MASK;

    return word != NO_ANSWER && word & mask;
}

bool coprime_needs_seed(const struct coprime *driver)
{
    uint32_t status;

    if (driver->source != SEEDED_SOURCE) {
        return false;
    }
    status = settled_source(driver);
    return source_state(status) == SOURCE_UNSEEDED ||
           (source_state(status) == SOURCE_READY && status & COPRIME_RANDOM_STATUS_AGES_MASK);
}

int coprime_seed(struct coprime *driver, const uint8_t *material, uint32_t size)
{
    uint32_t status;

    if (driver->source != SEEDED_SOURCE) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    if (size < COPRIME_SEED_BYTES || size > COPRIME_SEED_MOST_BYTES || size % 4) {
        return COPRIME_ERROR_SIZE;
    }
    for (uint32_t i = 0; i < size; i += 4) {
        write(driver, COPRIME_RANDOM_SEED,
              (uint32_t)material[i] << 24 | (uint32_t)material[i + 1] << 16 |
                  (uint32_t)material[i + 2] << 8 | material[i + 3]);
    }
    write(driver, COPRIME_RANDOM_CONTROL, COPRIME_RANDOM_CONTROL_SEED_MASK);
    status = settled_source(driver);
    if (status == NO_ANSWER) {
        return COPRIME_ERROR_DEVICE;
    }
    return source_state(status) == SOURCE_READY ? COPRIME_ERROR_NONE : COPRIME_ERROR_RANDOM;
}

bool coprime_source_failed(const struct coprime *driver)
{
    return driver->source && source_state(read(driver, COPRIME_RANDOM_STATUS)) == SOURCE_FAILED;
}

int coprime_restart_source(struct coprime *driver)
{
    if (!driver->source) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    write(driver, COPRIME_RANDOM_CONTROL, COPRIME_RANDOM_CONTROL_RESTART_MASK);
    return COPRIME_ERROR_NONE;
}

int coprime_begin_samples(struct coprime *driver)
{
    if (driver->source != NOISE_SOURCE) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    write(driver, COPRIME_RANDOM_CONTROL, COPRIME_RANDOM_CONTROL_RESTART_MASK);
    write(driver, COPRIME_RANDOM_CONTROL, COPRIME_RANDOM_CONTROL_EXPOSE_MASK);
    return COPRIME_ERROR_NONE;
}

int coprime_next_samples(struct coprime *driver, uint32_t samples[COPRIME_SAMPLE_WORDS])
{
    uint32_t status = 0;

    if (driver->source != NOISE_SOURCE) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    for (uint32_t i = 0; i < SOURCE_POLLS && !(status & COPRIME_RANDOM_STATUS_SAMPLED_MASK); ++i) {
        status = read(driver, COPRIME_RANDOM_STATUS);
    }
    if (status == NO_ANSWER) {
        return COPRIME_ERROR_DEVICE;
    }
    if (!(status & COPRIME_RANDOM_STATUS_SAMPLED_MASK)) {
        return COPRIME_ERROR_RANDOM;
    }
    for (uint32_t i = 0; i < COPRIME_SAMPLE_WORDS; ++i) {
        samples[i] = read(driver, COPRIME_RANDOM_SAMPLES + 4 * i);
    }
    write(driver, COPRIME_RANDOM_CONTROL, COPRIME_RANDOM_CONTROL_EXPOSE_MASK);
    return COPRIME_ERROR_NONE;
}

int coprime_wipe(struct coprime *driver)
{
    const int error = coprime_prepare(driver);

    /* WIPE takes the place of a command that waits for random bytes; with slots, of any call. */
    if (error && !(error == COPRIME_ERROR_BUSY && (driver->slots || coprime_waits(driver)))) {
        return error;
    }
    if (error) {
        write(driver, COPRIME_ERROR, 0);
    }
    driver->loaded = 0;
    return coprime_execute(driver, COPRIME_COMMAND, (uint32_t)COPRIME_COMMAND_WIPE);
}

uint32_t coprime_engine_cycles(const struct coprime *driver)
{
    return read(driver, COPRIME_CYCLES);
}

uint32_t coprime_engine_products(const struct coprime *driver)
{
    return read(driver, COPRIME_PRODUCTS);
}

uint32_t coprime_bit_length(const uint32_t *words, size_t count)
{
    while (count > 0 && words[count - 1] == 0) {
        --count;
    }
    if (count == 0) {
        return 0;
    }
    for (uint32_t bits = 32;; --bits) {
        if (words[count - 1] >> (bits - 1)) {
            return (uint32_t)(32 * (count - 1)) + bits;
        }
    }
}

int coprime_from_bytes(uint32_t *words, size_t count, const uint8_t *bytes, size_t size)
{
    uint32_t beyond = 0;

    coprime_clear(words, count);
    for (size_t i = 0; i < size; ++i) {
        const uint32_t byte = bytes[size - 1 - i];

        if (i / 4 < count) {
            words[i / 4] |= byte << 8 * (i % 4);
        } else {
            beyond |= byte;
        }
    }
    if (beyond) {
        return COPRIME_ERROR_SIZE;
    }
    return COPRIME_ERROR_NONE;
}

int coprime_to_bytes(uint8_t *bytes, size_t size, const uint32_t *words, size_t count)
{
    uint32_t beyond = 0;

    for (size_t i = 0; i < size || i < 4 * count; ++i) {
        const uint32_t byte = i / 4 < count ? words[i / 4] >> 8 * (i % 4) & 0xFFu : 0;

        if (i < size) {
            bytes[size - 1 - i] = (uint8_t)byte;
        } else {
            beyond |= byte;
        }
    }
    if (beyond) {
        return COPRIME_ERROR_SIZE;
    }
    return COPRIME_ERROR_NONE;
}

void coprime_clear(uint32_t *words, size_t count)
{
    volatile uint32_t *const hidden = words;

    for (size_t i = 0; i < count; ++i) {
        hidden[i] = 0;
    }
}

const char *coprime_error_text(int code)
{
    switch (code) {
    case COPRIME_ERROR_NONE:
        return "no error";
    case COPRIME_ERROR_UNSUPPORTED:
        return "the accelerator does not implement the command";
    case COPRIME_ERROR_LENGTH_ZERO:
        return "the modulus or a prime is shorter than the accelerator's minimum length";
    case COPRIME_ERROR_LENGTH_OVER:
        return "a length is over the accelerator's maximum";
    case COPRIME_ERROR_EXPONENT_LENGTH:
        return "the exponent has length 0";
    case COPRIME_ERROR_MODULUS_ZERO:
        return "the modulus or a prime is zero";
    case COPRIME_ERROR_MODULUS_EVEN:
        return "the modulus or a prime is even";
    case COPRIME_ERROR_OPERAND_RANGE:
        return "an operand is not below the modulus";
    case COPRIME_ERROR_BUSY:
        return "the accelerator is busy with another command";
    case COPRIME_ERROR_OPERAND_MISSING:
        return "the command needs an operand or a slot that is not loaded";
    case COPRIME_ERROR_KEY_OVERRUN:
        return "more words were written to an operand or a slot, or read, than it holds";
    case COPRIME_ERROR_KEY_EXCESS:
        return "an operand has bits above its length";
    case COPRIME_ERROR_INPUT_CLIPPED:
        return "the input is longer than the modulus, or than its padding allows";
    case COPRIME_ERROR_ADDRESS:
        return "a word address, an operand, a slot or a parameter set does not exist";
    case COPRIME_ERROR_MODULUS_SHORT:
        return "the modulus or a prime is shorter than its length";
    case COPRIME_ERROR_CANCELLED:
        return "the command was cancelled before it had a result";
    case COPRIME_ERROR_MODULUS_FIXED:
        return "the accelerator is built for another modulus, and accepts no other";
    case COPRIME_ERROR_PADDING:
        return "the padding is wrong";
    case COPRIME_ERROR_PADDING_LENGTH:
        return "the modulus is too short for the padding";
    case COPRIME_ERROR_POINT:
        return "a point is not on its curve, or the result is the point at infinity";
    case COPRIME_ERROR_SIGNATURE:
        return "the signature is wrong";
    case COPRIME_ERROR_FAULT:
        return "the result was wrong and was wiped: a fault, or a key with inconsistent numbers";
    case COPRIME_ERROR_SOURCE:
        return "the source of random bytes has failed a test, and everything was wiped";
    case COPRIME_ERROR_SLOT_LENGTH:
        return "a slot has another length with this parameter set";
    case COPRIME_ERROR_NOT_READY:
        return "the accelerator takes or gives no word";
    case COPRIME_ERROR_INVALID_KEY:
        return "the encapsulation key, or the hash in the decapsulation key, is wrong";
    case COPRIME_ERROR_IDENTIFICATION:
        return "this is not a Coprime accelerator";
    case COPRIME_ERROR_TIMEOUT:
        return "the command did not end in time";
    case COPRIME_ERROR_MEMORY:
        return "the memory for constants is too small";
    case COPRIME_ERROR_KEY:
        return "the modulus is not the product of two primes";
    case COPRIME_ERROR_SIZE:
        return "a number is too large for its destination";
    case COPRIME_ERROR_RANDOM:
        return "the random source has failed, or repeats itself";
    case COPRIME_ERROR_PRIME:
        return "no prime in as many random numbers as the standard allows";
    case COPRIME_ERROR_DEVICE:
        return "the device does not answer, or has been reset";
    case COPRIME_ERROR_STOPPED:
        return "the key's generation was stopped";
    case COPRIME_ERROR_UNREADABLE:
        return "the slot is not complete, or is not for reading";
    default:
        return "unknown error";
    }
}
