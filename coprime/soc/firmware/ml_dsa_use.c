#include "ml_dsa_use.h"

#include "system.h"

#define MOST_PK 2592u
#define MOST_SIGNATURE 4627u

static uint8_t pk[MOST_PK], signature[MOST_SIGNATURE];

void print_signature(const struct ml_dsa_job *job)
{
    print_bytes("signature", signature, job->signature_bytes);
}

int use_ml_dsa(struct coprime *driver, const struct ml_dsa_job *job)
{
    const struct coprime_ml_dsa_message message = {.bytes = job->message,
                                                   .size = ML_DSA_MESSAGE_BYTES};
    uint32_t began = now();
    int error = coprime_parameter_set(driver, job->parameter_set);

    /* The private key never leaves the accelerator. */
    error = error ? error : coprime_ml_dsa_key_pair(driver, job->seed, pk, job->pk_bytes, NULL, 0);
    if (error)
        return error;
    print_call(driver, "signing key", "signing key, engine", now() - began);
    print_bytes("pk", pk, job->pk_bytes);

    began = now();
    error = coprime_ml_dsa_sign(driver, NULL, 0, &message, job->rnd, signature,
                                job->signature_bytes);
    if (error)
        return error;
    print_call(driver, "signature", "signature, engine", now() - began);
    print_signature(job);

    began = now();
    error = coprime_ml_dsa_verify(driver, pk, job->pk_bytes, &message, signature,
                                  job->signature_bytes);
    if (error)
        return error;
    print_call(driver, "verification", "verification, engine", now() - began);

    signature[0] ^= 1u;
    error = coprime_ml_dsa_verify(driver, pk, job->pk_bytes, &message, signature,
                                  job->signature_bytes);
    if (error != COPRIME_ERROR_SIGNATURE)
        return error ? error : COPRIME_ERROR_SIGNATURE;
    print("an altered signature is refused\n");
    return COPRIME_ERROR_NONE;
}

int begin_signature(struct coprime *driver, const struct ml_dsa_job *job)
{
    int error = coprime_load_slot(driver, job->mu_slot, job->mu, sizeof job->mu);

    error = error ? error : coprime_load_slot(driver, job->rnd_slot, job->rnd, sizeof job->rnd);
    return error ? error : coprime_call_start(driver, COPRIME_ML_DSA_CALL_SIGN);
}

int end_signature(struct coprime *driver, const struct ml_dsa_job *job)
{
    uint32_t size = sizeof signature;
    const int error = coprime_call_end(driver);

    return error ? error : coprime_read_slot(driver, job->signature_slot, signature, &size);
}
