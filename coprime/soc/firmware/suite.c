/* The engines of a suite: RSA, curves, ML-KEM and ML-DSA on one accelerator, each on the first engine that
   has the operation; then RSA and ML-DSA at the same time.

   The job lies in memory already. What no engine of the suite has is left out. All that is printed goes
   to the UART; coprime/soc/suite.py writes the job, and reads the lines. */
#include <stdint.h>

#include "coprime_call_cores.h"
#ifdef SYSTEM_CURVES
#include "curves.h"
#endif
#include "ml_dsa_use.h"
#include "ml_kem_use.h"
#include "system.h"
#include "unpad.h"

#define MAX_BITS 4096u
#define MAX_WORDS COPRIME_WORDS(MAX_BITS)

/* The numbers follow each other, the least significant word first, as in main.c. */
struct job {
    struct ml_kem_job ml_kem;
    struct ml_dsa_job ml_dsa;
    uint32_t ml_kem_call; /* the code of that which makes a key pair */
    uint32_t modulus_bits, exponent_bits, p_bits, q_bits;
    uint32_t numbers[];
};

static const struct job *const job = (const struct job *)SYSTEM_JOB;

/* An engine of the suite: its core, and the driver that leads to it. */
struct engine {
    struct coprime_call_core core;
    struct coprime driver;
    bool present;
};

static struct coprime_call_cores cores;

static uint32_t result[MAX_WORDS]; /* of RSA */

/* Find the first engine that has a command, of numbers or, with slots, of byte strings. */
static int find(struct engine *engine, bool slots, uint32_t command)
{
    const int error = coprime_call_core_find(&engine->core, &cores, slots, command, &engine->driver);

    engine->present = error == COPRIME_ERROR_NONE;
    return error == COPRIME_ERROR_UNSUPPORTED ? COPRIME_ERROR_NONE : error;
}

static void print_engine(const struct engine *engine, const char *what)
{
    print(what);
    print(": engine ");
    print_number(engine->core.number);
    print("\n");
}

/* --- RSA ----------------------------------------------------------------------------------- */

static int load_rsa(struct coprime *driver)
{
    static uint32_t words[COPRIME_PRIVATE_MEMORY(MAX_BITS, MAX_BITS)];
    struct coprime_memory memory = {words, sizeof words / sizeof *words};
    const uint32_t modulus_words = COPRIME_WORDS(job->modulus_bits);
    const uint32_t p_words = COPRIME_WORDS(job->p_bits), q_words = COPRIME_WORDS(job->q_bits);
    struct coprime_private_key key = {
        .public_key = {.modulus = {.bits = job->modulus_bits},
                       .exponent_bits = job->exponent_bits},
        .p = {.bits = job->p_bits},
        .q = {.bits = job->q_bits},
    };
    const uint32_t *next = job->numbers + modulus_words; /* after the ciphertext */
    int error;

    key.public_key.modulus.value = next, next += modulus_words;
    key.public_key.exponent = next, next += COPRIME_WORDS(job->exponent_bits);
    key.d = next, next += modulus_words;
    key.p.value = next, next += p_words;
    key.dp = next, next += p_words;
    key.qinv = next, next += p_words;
    key.q.value = next, next += q_words;
    key.dq = next;
    error = coprime_private_constants(driver, &key, &memory);
    return error ? error : coprime_load_private(driver, &key);
}

static int decrypt(struct coprime *driver)
{
    return coprime_private(driver, job->numbers, result);
}

static int print_message(void)
{
    static uint8_t bytes[4 * MAX_WORDS];
    const uint32_t size = (job->modulus_bits + 7) / 8;
    const int error = coprime_to_bytes(bytes, size, result, COPRIME_WORDS(job->modulus_bits));
    uint32_t place;

    if (error)
        return error;
    place = unpad(bytes, size);
    if (!place)
        return COPRIME_ERROR_PADDING;
    print("message: ");
    for (uint32_t i = place; i < size; ++i)
        put((char)bytes[i]);
    print("\n");
    return COPRIME_ERROR_NONE;
}

static int use_rsa(struct coprime *driver)
{
    int error = load_rsa(driver);
    const uint32_t began = now();

    error = error ? error : decrypt(driver);
    if (error)
        return error;
    print_call(driver, "decryption", "decryption, engine", now() - began);
    return print_message();
}

/* --- Curves -------------------------------------------------------------------------------- */

/* The operations whose result is known, on the engine that has them and is long enough. */
static int use_curves(void)
{
#ifdef SYSTEM_CURVES
    for (const struct known_answer *one = known_answers; one->name; ++one) {
        struct engine engine;
        int error = find(&engine, false, one->command);
        const uint32_t began = now();

        if (!error && !engine.present)
            continue;
        error = error ? error : one->run(&engine.driver);
        if (error == COPRIME_ERROR_LENGTH_OVER)
            continue;
        if (error)
            return error;
        print_cycles(one->name, now() - began);
        print_engine(&engine, one->name);
        print("known answer: ");
        print(one->name);
        print("\n");
    }
#endif
    return COPRIME_ERROR_NONE;
}

/* --- At the same time ---------------------------------------------------------------------- */

/* ML-DSA's engine signs while RSA's decrypts; the processor waits for both. */
static int use_both(struct coprime *rsa, struct coprime *ml_dsa)
{
    const uint32_t began = now();
    int error = begin_signature(ml_dsa, &job->ml_dsa);

    error = error ? error : decrypt(rsa);
    error = error ? error : end_signature(ml_dsa, &job->ml_dsa);
    if (error)
        return error;
    print_cycles("decryption and signature at the same time", now() - began);
    print_signature(&job->ml_dsa);
    return print_message();
}

/* Finding an engine clears the marks of what others hold: all of a group are found before one is used. */
static int use_all(void)
{
    struct engine rsa, ml_kem, ml_dsa;
    int error = coprime_call_cores_open(&cores);

    if (error)
        return error;
    print("engines: ");
    print_number(cores.count);
    print("\n");
    error = use_curves();
    error = error ? error : find(&ml_kem, true, job->ml_kem_call);
    if (!error && ml_kem.present) {
        print_engine(&ml_kem, "ML-KEM");
        error = use_ml_kem(&ml_kem.driver, &job->ml_kem);
    }
    error = error ? error : find(&rsa, false, COPRIME_COMMAND_RSA_PRIVATE);
    error = error ? error : find(&ml_dsa, true, COPRIME_ML_DSA_CALL_SIGN);
    if (!error && rsa.present) {
        print_engine(&rsa, "RSA");
        error = use_rsa(&rsa.driver);
    }
    if (!error && ml_dsa.present) {
        print_engine(&ml_dsa, "ML-DSA");
        error = use_ml_dsa(&ml_dsa.driver, &job->ml_dsa);
    }
    if (!error && rsa.present && ml_dsa.present)
        error = use_both(&rsa.driver, &ml_dsa.driver);
    if (!error && rsa.present)
        error = coprime_wipe(&rsa.driver);
    if (!error && ml_dsa.present)
        error = coprime_wipe(&ml_dsa.driver);
    return error;
}

int main(void)
{
    const struct coprime bus = accelerator_driver();
    int error;

    cores.read = bus.read;
    cores.write = bus.write;
    cores.wait = bus.wait;
    cores.write_block = bus.write_block;
    cores.read_block = bus.read_block;
    error = use_all();
    if (error) {
        print("the accelerator failed: ");
        print(coprime_error_text(error));
        print("\n");
        return 1;
    }
    print_end();
    return 0;
}
