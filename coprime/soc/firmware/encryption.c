/* Encrypt or decrypt on the accelerator with padding in hardware, as COMPRESSION's Figure 23.

   The driver loads the key. The operation itself uses the registers of the thesis's Table 6 and the
   interrupt. The job lies in memory already. All that is printed goes to the UART; coprime/soc/
   encryption.py reads it. */
#include <stdint.h>

#include "coprime.h"
#include "system.h"

#define MAX_BITS 4096
#define MAX_BYTES (MAX_BITS / 8)
#define DIGEST_WORDS (COPRIME_DIGEST_BYTES / 4)

/* As coprime/soc/encryption.py writes it. The numbers follow each other, the least significant word
   first: n of the modulus's words; e; d of the modulus's; p, dp, q^-1 mod p of p's; q, dq of q's; the
   digest of d, 8 words; the input. Without primes their lengths are 0. */
struct job {
    uint32_t decrypts, scheme;
    uint32_t modulus_bits, exponent_bits, p_bits, q_bits;
    uint32_t input_bytes;
    uint32_t numbers[];
};

static const struct job *const job = (const struct job *)SYSTEM_JOB;

static const uint32_t *take(const uint32_t **next, uint32_t words)
{
    const uint32_t *const number = *next;
    *next += words;
    return number;
}

static uint32_t get(uint32_t address)
{
    return read_register(0, address);
}

static void set(uint32_t address, uint32_t value)
{
    write_register(0, address, value);
}

/* Compute the key's constants, and load what the operation needs. */
static int load_key(struct coprime *driver, struct coprime_private_key *key)
{
    static uint32_t words[COPRIME_PRIVATE_MEMORY(MAX_BITS, MAX_BITS / 2)];
    struct coprime_memory memory = {words, sizeof words / sizeof *words};

    uint32_t began = now();
    int error = job->decrypts
                    ? coprime_private_constants(driver, key, &memory)
                    : coprime_modulus_constants(driver, &key->public_key.modulus, &memory);
    if (error)
        return error;
    print_cycles("constants of the key", now() - began);

    began = now();
    error = job->decrypts ? coprime_load_private(driver, key)
                          : coprime_load_public(driver, &key->public_key);
    if (error)
        return error;
    print_cycles("loading the key", now() - began);
    return 0;
}

/* Once for a key: the padding, its secret, and the interrupt. */
static void set_up(const uint32_t *secret)
{
    if (job->scheme) {
        set(COPRIME_PADDING, job->scheme << COPRIME_PADDING_SCHEME_SHIFT);
        for (uint32_t i = 0; i < DIGEST_WORDS; ++i)
            set(COPRIME_PADDING_WINDOW + 4 * i, secret[i]);
    }
    set(COPRIME_INTERRUPT_ENABLE, COPRIME_INTERRUPT_ENABLE_DONE_MASK);
    set(COPRIME_ERROR, 0);
    set(COPRIME_INTERRUPT_STATUS, COPRIME_INTERRUPT_STATUS_DONE_MASK);
}

/* Figure 23. `output` has room for the modulus's words; *size is in bytes. Return ERROR.CODE. */
static uint32_t operate(const uint32_t *input, uint32_t *output, uint32_t *size)
{
    const uint32_t began = now(), before = interrupts;

    /* Parameters configuration: B/I, the input FIFO and its length. */
    while (get(COPRIME_STATUS) & COPRIME_STATUS_BUSY_MASK)
        ;
    for (uint32_t i = 0; i < (job->input_bytes + 3) / 4; ++i) {
        set(COPRIME_INPUT_FIFO, input[i]);
        set(COPRIME_WRITE_ADDRESS, i);
    }
    set(COPRIME_INPUT_LENGTH, job->input_bytes);

    /* Start: S, with E/D. */
    set(COPRIME_STATUS,
        COPRIME_STATUS_START_MASK | (job->decrypts ? COPRIME_STATUS_DECRYPT_MASK : 0));

    /* The end is an interruption. */
    wait_interrupt(0);

    /* The output FIFO. */
    *size = get(COPRIME_OUTPUT_LENGTH);
    for (uint32_t i = 0; i < (*size + 3) / 4; ++i) {
        set(COPRIME_READ_ADDRESS, i);
        output[i] = get(COPRIME_OUTPUT_FIFO);
    }
    const uint32_t ended = now();

    set(COPRIME_INTERRUPT_STATUS, COPRIME_INTERRUPT_STATUS_DONE_MASK);
    const uint32_t error = get(COPRIME_ERROR);
    if (error)
        return error & COPRIME_ERROR_CODE_MASK ? error & COPRIME_ERROR_CODE_MASK
                                               : error >> COPRIME_ERROR_REFUSAL_SHIFT;
    print_cycles("input in, start", waiting.began - began);
    print_cycles("waiting", waiting.ended - waiting.began);
    print_cycles("result out", ended - waiting.ended);
    print_cycles("engine", get(COPRIME_CYCLES));
    print_cycles("operation", ended - began);
    print("interrupts: ");
    print_number(interrupts - before);
    print("\n");
    return 0;
}

static uint8_t byte_of(const uint32_t *words, uint32_t place)
{
    return (uint8_t)(words[place / 4] >> 8 * (place % 4));
}

/* A message without padding is a number: zeros before it are no part of the message. */
static void print_message(const uint32_t *words, uint32_t size)
{
    while (!job->scheme && size && !byte_of(words, size - 1))
        --size;
    print("message: ");
    while (size)
        put((char)byte_of(words, --size));
    print("\n");
}

static void print_ciphertext(const uint32_t *words, uint32_t size)
{
    static const char digits[] = "0123456789abcdef";
    print("ciphertext: ");
    while (size) {
        const uint8_t byte = byte_of(words, --size);
        put(digits[byte >> 4]);
        put(digits[byte & 15]);
    }
    print("\n");
}

static int on_accelerator(struct coprime *driver)
{
    static uint32_t output[MAX_BYTES / 4];
    const uint32_t p_words = COPRIME_WORDS(job->p_bits), q_words = COPRIME_WORDS(job->q_bits);
    const uint32_t words = COPRIME_WORDS(job->modulus_bits);
    const uint32_t *next = job->numbers;
    struct coprime_private_key key = {
        .public_key = {.modulus = {.bits = job->modulus_bits, .value = take(&next, words)},
                       .exponent = take(&next, COPRIME_WORDS(job->exponent_bits)),
                       .exponent_bits = job->exponent_bits}};
    key.d = take(&next, words);
    key.p.bits = job->p_bits, key.p.value = take(&next, p_words);
    key.dp = take(&next, p_words);
    key.qinv = take(&next, p_words);
    key.q.bits = job->q_bits, key.q.value = take(&next, q_words);
    key.dq = take(&next, q_words);
    const uint32_t *const secret = take(&next, DIGEST_WORDS);

    int error = coprime_open(driver);
    if (error)
        return error;
    print("accelerator: family ");
    print_number(driver->family);
    print(", moduli of up to ");
    print_number(driver->max_bits);
    print(" bits\n");

    error = load_key(driver, &key);
    if (error)
        return error;
    set_up(secret);
    uint32_t size;
    error = (int)operate(next, output, &size);
    if (error)
        return error;
    (job->decrypts ? print_message : print_ciphertext)(output, size);
    return coprime_wipe(driver);
}

int main(void)
{
    struct coprime driver = {
        .read = read_register, .write = write_register, .wait = wait_interrupt};
    print("RSA-");
    print_number(job->modulus_bits);
    print(job->decrypts ? " decryption\n" : " encryption\n");
    const int error = on_accelerator(&driver);
    if (error) {
        print("the accelerator failed: ");
        print(coprime_error_text(error));
        print("\n");
        return 1;
    }
    print_end();
    return 0;
}
