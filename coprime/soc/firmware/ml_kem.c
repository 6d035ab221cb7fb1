/* ML-KEM on the accelerator: a key pair, an encapsulation for it, its decapsulation, and that of an
   altered ciphertext.

   The job lies in memory already. All that is printed goes to the UART; coprime/soc/ml_kem.py reads
   it. The seed is the job's, that the host knows what must come of it: it is a TEST KEY. */
#include <stdint.h>

#include "coprime_ml_kem.h"
#include "system.h"

#define MOST_EK 1568u
#define MOST_C 1568u

/* As coprime/soc/ml_kem.py writes it: the number of the parameter set, bytes of ek and c. */
struct job {
    uint32_t parameter_set;
    uint32_t ek_bytes, c_bytes;
    uint8_t seed[COPRIME_ML_KEM_SEED_BYTES];
    uint8_t message[COPRIME_ML_KEM_MESSAGE_BYTES];
};

static const struct job *const job = (const struct job *)SYSTEM_JOB;

static void print_bytes(const char *what, const uint8_t *bytes, uint32_t size)
{
    static const char digits[] = "0123456789abcdef";

    print(what);
    print(": ");
    for (uint32_t i = 0; i < size; ++i) {
        put(digits[bytes[i] >> 4]);
        put(digits[bytes[i] & 15u]);
    }
    print("\n");
}

static void print_call(const struct coprime *driver, const char *what, const char *engine,
                       uint32_t cycles)
{
    print_cycles(what, cycles);
    print_cycles(engine, coprime_engine_cycles(driver));
}

static int make(struct coprime *driver)
{
    static uint8_t ek[MOST_EK], c[MOST_C];
    uint8_t secret[COPRIME_ML_KEM_SECRET_BYTES];
    uint32_t began = now();
    int error = coprime_parameter_set(driver, job->parameter_set);

    /* The private key never leaves the accelerator. */
    error = error ? error
                  : coprime_ml_kem_key_pair(driver, job->seed, ek, job->ek_bytes, NULL, 0);
    if (error)
        return error;
    print_call(driver, "key pair", "key pair, engine", now() - began);
    print_bytes("ek", ek, job->ek_bytes);

    began = now();
    error = coprime_ml_kem_encapsulate(driver, ek, job->ek_bytes, job->message, c, job->c_bytes,
                                       secret);
    if (error)
        return error;
    print_call(driver, "encapsulation", "encapsulation, engine", now() - began);
    print_bytes("c", c, job->c_bytes);
    print_bytes("sent", secret, sizeof secret);

    began = now();
    error = coprime_ml_kem_decapsulate(driver, NULL, 0, c, job->c_bytes, secret);
    if (error)
        return error;
    print_call(driver, "decapsulation", "decapsulation, engine", now() - began);
    print_bytes("received", secret, sizeof secret);

    c[0] ^= 1u;
    error = coprime_ml_kem_decapsulate(driver, NULL, 0, c, job->c_bytes, secret);
    if (error)
        return error;
    print_bytes("of an altered ciphertext", secret, sizeof secret);
    return coprime_wipe(driver);
}

int main(void)
{
    struct coprime driver = accelerator_driver();
    int error = coprime_open(&driver);

    error = error ? error : make(&driver);
    if (error) {
        print("the accelerator failed: ");
        print(coprime_error_text(error));
        print("\n");
        return 1;
    }
    print_end();
    return 0;
}
