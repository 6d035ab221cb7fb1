/* x^e mod m on the accelerator, and in software: the experiment of KARATSUBA's Table 4.

   The job lies in memory already. All that is printed goes to the UART; coprime/soc/
   exponentiation.py reads it. */
#include <stdint.h>

#include "coprime.h"
#include "software_rsa.h"
#include "system.h"

/* As coprime/soc/exponentiation.py writes it. The numbers follow each other, the least significant
   word first: x and m of m's words; e. */
struct job {
    uint32_t actions;
    uint32_t modulus_bits, exponent_bits;
    uint32_t numbers[];
};
#define ON_ACCELERATOR 1u
#define IN_SOFTWARE 2u

static const struct job *const job = (const struct job *)SYSTEM_JOB;

static void print_result(const uint32_t *result, uint32_t words)
{
    print("result: ");
    print_words(result, words);
    print("\n");
}

static int on_accelerator(const uint32_t *x, const uint32_t *m, const uint32_t *e, uint32_t *result)
{
    static uint32_t words[COPRIME_MODULUS_MEMORY(32 * SOFTWARE_WORDS)];
    struct coprime_memory memory = {words, sizeof words / sizeof *words};
    struct coprime_modulus modulus = {.bits = job->modulus_bits, .value = m};
    struct coprime driver = accelerator_driver();

    int error = coprime_open(&driver);
    if (error)
        return error;
    uint32_t began = now();
    error = coprime_modulus_constants(&driver, &modulus, &memory);
    if (error)
        return error;
    print_cycles("constants of the modulus", now() - began);

    const uint32_t before = interrupts;
    began = now();
    error = coprime_load_modulus(&driver, &modulus);
    if (error)
        return error;
    const uint32_t loaded = now();
    error = coprime_modexp(&driver, x, e, job->exponent_bits, result);
    const uint32_t ended = now();
    if (error)
        return error;
    print_cycles("modulus in", loaded - began);
    print_cycles("exponent and base in, start", waiting.began - loaded);
    print_cycles("waiting", waiting.ended - waiting.began);
    print_cycles("result out", ended - waiting.ended);
    print_cycles("engine", coprime_engine_cycles(&driver));
    print_cycles("exponentiation on the accelerator", ended - began);
    print("interrupts: ");
    print_number(interrupts - before);
    print("\n");
    return coprime_wipe(&driver);
}

static void in_software(const uint32_t *x, const uint32_t *m, const uint32_t *e, uint32_t *result)
{
    static struct software_modulus modulus;
    static uint32_t exponent[SOFTWARE_WORDS];
    modulus.words = COPRIME_WORDS(job->modulus_bits);
    for (uint32_t i = 0; i < modulus.words; ++i)
        modulus.value[i] = m[i];
    for (uint32_t i = 0; i < COPRIME_WORDS(job->exponent_bits); ++i)
        exponent[i] = e[i];

    uint32_t began = now();
    software_prepare(&modulus);
    print_cycles("constants for software", now() - began);

    began = now();
    software_modexp(&modulus, x, exponent, result);
    print_cycles("exponentiation in software", now() - began);
}

int main(void)
{
    static uint32_t result[SOFTWARE_WORDS];
    const uint32_t words = COPRIME_WORDS(job->modulus_bits);
    const uint32_t *const x = job->numbers, *const m = x + words, *const e = m + words;

    print("exponentiation of ");
    print_number(job->modulus_bits);
    print(" bits\n");
    if (job->actions & ON_ACCELERATOR) {
        const int error = on_accelerator(x, m, e, result);
        if (error) {
            print("the accelerator failed: ");
            print(coprime_error_text(error));
            print("\n");
            return 1;
        }
        print_result(result, words);
    }
    if (job->actions & IN_SOFTWARE) {
        in_software(x, m, e, result);
        print_result(result, words);
    }
    print_end();
    return 0;
}
