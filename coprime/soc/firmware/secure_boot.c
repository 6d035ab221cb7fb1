/* Secure boot: a firmware image runs only if its signature of ML-DSA is right.

   The job lies in memory already. Its first part stands for memory that is written once, when the
   device is made: the public key and the least version. The second part stands for flash memory,
   which anyone may have changed: the signature, and the image with its header, which is signed, too.
   Whatever is wrong ends with a line that says so, and without the image. coprime/soc/secure_boot.py
   writes the job. */
#include <stdint.h>

#include "coprime_calls.h"
#include "system.h"

#define BOOT_MAGIC 0x544F4F42u /* "BOOT" */

/* Of an image: little-endian, signed with the rest. */
struct boot_header {
    uint32_t magic;
    uint32_t version;
    uint32_t bytes; /* of the whole image, with this header */
    uint32_t entry; /* where it starts, from the beginning of the header on */
};

struct job {
    uint32_t least_version;
    uint8_t key[BOOT_KEY_BYTES];
    uint8_t signature[(BOOT_SIGNATURE_BYTES + 3u) / 4u * 4u];
    struct boot_header image; /* and the rest of it */
};

static const struct job *const job = (const struct job *)SYSTEM_JOB;

/* The beginning of M' (FIPS 204, algorithm 3): pure ML-DSA, and the context. Signatures for other
   purposes by the same key have another one. */
static const uint8_t prefix[] = {0, 11, 's', 'e', 'c', 'u', 'r', 'e', ' ', 'b', 'o', 'o', 't'};

/* 0, or what is wrong with a header, before any byte of it is trusted. */
static const char *check_header(const struct boot_header *header)
{
    if (header->magic != BOOT_MAGIC)
        return "there is no image";
    if (header->bytes < sizeof *header || header->bytes > BOOT_IMAGE_BYTES)
        return "the image has a wrong length";
    if (header->entry < sizeof *header || header->entry >= header->bytes || header->entry % 4u)
        return "the image begins outside itself";
    if (header->version < job->least_version)
        return "the image is older than allowed";
    return 0;
}

/* 0 if the signature is right; the accelerator hashes the image as it streams in. */
static int verify(struct coprime *driver, uint32_t bytes)
{
    int error = coprime_parameter_set(driver, BOOT_SET);

    error = error ? error : coprime_load_slot(driver, BOOT_SLOT_KEY, job->key, BOOT_KEY_BYTES);
    error = error ? error
                  : coprime_load_slot(driver, BOOT_SLOT_SIGNATURE, job->signature,
                                      BOOT_SIGNATURE_BYTES);
    error = error ? error : coprime_call_start(driver, BOOT_CALL_VERIFY);
    error = error ? error
                  : coprime_call_update(driver, BOOT_SLOT_MESSAGE, prefix, sizeof prefix);
    error = error ? error
                  : coprime_call_finish(driver, BOOT_SLOT_MESSAGE, (const uint8_t *)&job->image,
                                        bytes);
    return error ? error : coprime_call_end(driver);
}

static int refuse(const char *reason)
{
    print("refused: ");
    print(reason);
    print("\n");
    print_end();
    return 1;
}

int main(void)
{
    struct coprime driver = accelerator_driver();
    const char *wrong = check_header(&job->image);
    uint32_t began;
    int error;

    if (wrong)
        return refuse(wrong);
    began = now();
    error = coprime_open(&driver);
    error = error ? error : verify(&driver, job->image.bytes);
    if (error)
        return refuse(coprime_error_text(error));
    print_cycles("verification", now() - began);
    print_cycles("verification, engine", coprime_engine_cycles(&driver));
    /* It does not return. */
    ((void (*)(void))((uintptr_t)&job->image + job->image.entry))();
    return 1;
}
