/* LMS by firmware: whether the signature in the job is one of the message, and how long that takes. */
#include "coprime_calls.h"
#include "lms.c"
#include "system.h"

struct job {
    uint32_t key_bytes, message_bytes, signature_bytes;
    uint8_t bytes[]; /* key, message, signature */
};

int main(void)
{
    const struct job *const job = (const struct job *)SYSTEM_JOB;
    const uint8_t *const message = job->bytes + job->key_bytes;
    struct coprime driver = accelerator_driver();
    const struct lms_hash hash = {&driver, lms_shake256, true};
    int error = coprime_open(&driver);
    const uint32_t began = now();

    error = error ? error
                  : hss_verify(&hash, job->bytes, job->key_bytes, message, job->message_bytes,
                               message + job->message_bytes, job->signature_bytes);
    print_cycles("verification", now() - began);
    print(error ? "refused\n" : "right\n");
    print_end();
    return 0;
}
