#include "ml_kem_use.h"
#include "system.h"

#define MOST_EK 1568u
#define MOST_C 1568u

int use_ml_kem(struct coprime *driver, const struct ml_kem_job *job)
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
