/* Decrypt a message on the accelerator, and in software, and tell how long each took.

   The job, key and ciphertext, lies in memory already. All that is printed goes to the UART. Lines
   that end with "cycles" are read by coprime/soc/decryption.py. */
#include <stdbool.h>
#include <stdint.h>

#include "coprime.h"
#ifdef SYSTEM_CURVES
#include "curves.h"
#endif
#include "software_rsa.h"
#include "system.h"
#include "unpad.h"

#define MAX_BITS (2 * 32 * SOFTWARE_WORDS)
#define MAX_WORDS COPRIME_WORDS(MAX_BITS)

/* As coprime/soc/decryption.py writes it. The numbers follow each other, the least significant word
   first: ciphertext and n of the modulus's words; e; d of the modulus's; p, dp, q^-1 mod p of p's;
   q, dq of q's. */
struct job {
    uint32_t actions;
    uint32_t modulus_bits, exponent_bits, p_bits, q_bits;
    uint32_t numbers[];
};
#define ON_ACCELERATOR 1u
#define IN_SOFTWARE 2u

static const struct job *const job = (const struct job *)SYSTEM_JOB;

/* --- The message --------------------------------------------------------------------------- */

static void print_message(const uint32_t *number, uint32_t words, uint32_t bits)
{
    static uint8_t bytes[4 * MAX_WORDS];
    const uint32_t size = (bits + 7) / 8, began = now();
    uint32_t place = 0;
    if (!coprime_to_bytes(bytes, size, number, words))
        place = unpad(bytes, size);
    const uint32_t ended = now();
    if (!place) {
        print("the padding is wrong\n");
        return;
    }
    print("message: ");
    for (uint32_t i = place; i < size; ++i)
        put((char)bytes[i]);
    print("\n");
    print_cycles("padding taken off", ended - began);
}

/* --- Curves -------------------------------------------------------------------------------- */

/* The operations whose result is known that the accelerator has, and is long enough for. */
static int on_curves(struct coprime *driver)
{
#ifdef SYSTEM_CURVES
    for (const struct known_answer *one = known_answers; one->name; ++one) {
        if (!(driver->commands >> one->command & 1))
            continue;
        const uint32_t began = now();
        const int error = one->run(driver);
        if (error == COPRIME_ERROR_LENGTH_OVER)
            continue;
        if (error)
            return error;
        const uint32_t ended = now();
        print("known answer: ");
        print(one->name);
        print("\n");
        print_cycles(one->name, ended - began);
    }
#else
    (void)driver;
#endif
    return 0;
}

/* --- The two ways -------------------------------------------------------------------------- */

struct numbers {
    const uint32_t *ciphertext, *n, *e, *d, *p, *dp, *coefficient, *q, *dq;
};

static int on_accelerator(const struct numbers *of, uint32_t *result)
{
    static uint32_t words[COPRIME_PRIVATE_MEMORY(MAX_BITS, MAX_BITS)];
    struct coprime_memory memory = {words, sizeof words / sizeof *words};
    struct coprime_private_key key = {
        .public_key = {.modulus = {.bits = job->modulus_bits, .value = of->n},
                       .exponent = of->e,
                       .exponent_bits = job->exponent_bits},
        .d = of->d,
        .p = {.bits = job->p_bits, .value = of->p},
        .q = {.bits = job->q_bits, .value = of->q},
        .dp = of->dp,
        .dq = of->dq,
        .qinv = of->coefficient,
    };
    struct coprime driver = {
        .read = read_register, .write = write_register, .wait = wait_interrupt};

    int error = coprime_open(&driver);
    if (error)
        return error;
    print("accelerator: family ");
    print_number(driver.family);
    print(", moduli of up to ");
    print_number(driver.max_bits);
    print(" bits\n");

    uint32_t began = now();
    error = coprime_private_constants(&driver, &key, &memory);
    if (error)
        return error;
    print_cycles("constants of the key", now() - began);

    began = now();
    error = coprime_load_private(&driver, &key);
    if (error)
        return error;
    print_cycles("loading the key", now() - began);

    const uint32_t before = interrupts;
    began = now();
    error = coprime_private(&driver, of->ciphertext, result);
    const uint32_t ended = now();
    if (error)
        return error;
    print_cycles("ciphertext in, start", waiting.began - began);
    print_cycles("waiting", waiting.ended - waiting.began);
    print_cycles("result out", ended - waiting.ended);
    print_cycles("engine", coprime_engine_cycles(&driver));
    print_cycles("decryption on the accelerator", ended - began);
    print("interrupts: ");
    print_number(interrupts - before);
    print("\n");
    error = on_curves(&driver);
    return error ? error : coprime_wipe(&driver);
}

static void take(uint32_t *to, const uint32_t *from, uint32_t bits)
{
    for (uint32_t i = 0; i < COPRIME_WORDS(bits); ++i)
        to[i] = from[i];
}

static void in_software(const struct numbers *of, uint32_t *result)
{
    static struct software_key key;
    static uint32_t ciphertext[MAX_WORDS];
    const uint32_t longer = job->p_bits > job->q_bits ? job->p_bits : job->q_bits;
    key.p.words = key.q.words = COPRIME_WORDS(longer);
    take(ciphertext, of->ciphertext, job->modulus_bits);
    take(key.p.value, of->p, job->p_bits);
    take(key.q.value, of->q, job->q_bits);
    take(key.dp, of->dp, job->p_bits);
    take(key.dq, of->dq, job->q_bits);
    take(key.coefficient, of->coefficient, job->p_bits);

    uint32_t began = now();
    software_prepare(&key.p);
    software_prepare(&key.q);
    print_cycles("constants for software", now() - began);

    began = now();
    software_private(&key, ciphertext, result);
    print_cycles("decryption in software", now() - began);
}

int main(void)
{
    static uint32_t result[MAX_WORDS];
    const uint32_t modulus_words = COPRIME_WORDS(job->modulus_bits);
    const uint32_t p_words = COPRIME_WORDS(job->p_bits), q_words = COPRIME_WORDS(job->q_bits);
    struct numbers of;
    const uint32_t *next = job->numbers;
    of.ciphertext = next, next += modulus_words;
    of.n = next, next += modulus_words;
    of.e = next, next += COPRIME_WORDS(job->exponent_bits);
    of.d = next, next += modulus_words;
    of.p = next, next += p_words;
    of.dp = next, next += p_words;
    of.coefficient = next, next += p_words;
    of.q = next, next += q_words;
    of.dq = next;

    print("RSA-");
    print_number(job->modulus_bits);
    print(" decryption\n");
    if (job->actions & ON_ACCELERATOR) {
        const int error = on_accelerator(&of, result);
        if (error) {
            print("the accelerator failed: ");
            print(coprime_error_text(error));
            print("\n");
            return 1;
        }
        print_message(result, modulus_words, job->modulus_bits);
    }
    if (job->actions & IN_SOFTWARE) {
        in_software(&of, result);
        print_message(result, modulus_words, job->modulus_bits);
    }
    print_end();
    return 0;
}
