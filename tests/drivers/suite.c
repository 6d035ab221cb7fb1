/* A simulated suite with one driver: it verifies an image before it would start it, and then answers a
   client of TLS 1.3 with X25519MLKEM768. Both on one bus slave: an engine for curves, and one for
   lattices.

   Standard input has, each on a line in hexadecimal: a public key of ML-DSA-65, a signature and the
   image; the client's share, this server's scalar of X25519, and its message of ML-KEM, which in
   earnest both are drawn. Prints the error of the signature, 0 for none, and of that of an image in
   which a bit has changed; then the server's share and the secret. */
#include <stdio.h>
#include <stdlib.h>

#include "coprime_call_cores.h"
#include "coprime_curves.h"
#include "coprime_ml_dsa.h"
#include "coprime_ml_kem.h"
#include "coprime_suite.h"
#include "coprime_suite_lattice.h"

struct Simulation;
struct Simulation *coprime_create(uint64_t access_limit, uint64_t length);
void coprime_destroy(struct Simulation *simulation);
int coprime_read32(struct Simulation *simulation, uint32_t address, uint32_t *value);
int coprime_write32(struct Simulation *simulation, uint32_t address, uint32_t value);
int coprime_wait_interrupt(struct Simulation *simulation, uint64_t limit);

enum {
    MOST = 8192,
    POINT = 32,
    SIGNATURE = COPRIME_SUITE_LATTICE_BYTES_SIGNATURE_ML_DSA_65,
    KEY = COPRIME_SUITE_LATTICE_BYTES_PK_ML_DSA_65,
    EK = COPRIME_SUITE_LATTICE_BYTES_EK_ML_KEM_768,
    CIPHERTEXT = COPRIME_SUITE_LATTICE_BYTES_C_ML_KEM_768,
};

static uint32_t simulated_read(void *context, uint32_t address)
{
    uint32_t value = 0;

    if (coprime_read32(context, address, &value)) {
        fprintf(stderr, "a read of %03x was refused\n", (unsigned)address);
        exit(1);
    }
    return value;
}

static void simulated_write(void *context, uint32_t address, uint32_t value)
{
    if (coprime_write32(context, address, value)) {
        fprintf(stderr, "a write of %03x was refused\n", (unsigned)address);
        exit(1);
    }
}

static int simulated_wait(void *context)
{
    return coprime_wait_interrupt(context, 10000000) ? 0 : 1;
}

/* A line of hexadecimal digits, as bytes; how many. */
static uint32_t read_line(uint8_t *bytes)
{
    uint32_t size = 0;
    unsigned byte;

    while (size < MOST && scanf("%2x", &byte) == 1) {
        int next;

        bytes[size++] = (uint8_t)byte;
        next = getchar();
        if (next == '\n' || next == EOF) {
            break;
        }
        (void)ungetc(next, stdin);
    }
    return size;
}

static void print_line(const uint8_t *bytes, uint32_t size)
{
    for (uint32_t i = 0; i < size; ++i) {
        printf("%02x", bytes[i]);
    }
    printf("\n");
}

/* Whether a signature of the image is the key's. */
static int verify(struct coprime *lattice, const uint8_t *key, const uint8_t *signature,
                  const uint8_t *image, uint32_t size)
{
    const struct coprime_ml_dsa_message message = {.bytes = image, .size = size};
    const int error =
        coprime_parameter_set(lattice, COPRIME_SUITE_LATTICE_SET_ML_DSA_65);

    return error ? error : coprime_ml_dsa_verify(lattice, key, KEY, &message, signature, SIGNATURE);
}

/* The server's share, and the secret, for a client's share: ML-KEM's part first. */
static int answer(struct coprime *lattice, struct coprime *curves, const uint8_t *client,
                  const uint8_t *scalar, const uint8_t *message, uint8_t *share, uint8_t *secret)
{
    static uint32_t words[COPRIME_CURVE_MEMORY(256)];
    struct coprime_memory memory = {words, sizeof words / sizeof *words};
    struct coprime_curve_constants curve;
    int error = coprime_parameter_set(lattice, COPRIME_SUITE_LATTICE_SET_ML_KEM_768);

    error = error ? error : coprime_curve_constants(curves, &coprime_x25519, &curve, &memory);
    error = error ? error : coprime_ml_kem_encapsulate(lattice, client, EK, message, share, CIPHERTEXT,
                                                       secret);
    error = error ? error : coprime_x_public(curves, &curve, scalar, &share[CIPHERTEXT]);
    return error ? error : coprime_x_multiply(curves, &curve, scalar, &client[EK],
                                              &secret[COPRIME_ML_KEM_SECRET_BYTES]);
}

int main(void)
{
    static uint8_t key[MOST], signature[MOST], image[MOST], client[MOST], scalar[MOST], message[MOST];
    static uint8_t share[CIPHERTEXT + POINT], secret[COPRIME_ML_KEM_SECRET_BYTES + POINT];
    struct coprime_call_core core[2];
    struct coprime lattice = {0}, curves = {0};
    struct coprime_call_cores cores = {0};
    struct Simulation *const simulation = coprime_create(100000, 0);
    uint32_t size;
    int error;

    if (simulation == NULL || read_line(key) != KEY || read_line(signature) != SIGNATURE) {
        return 2;
    }
    size = read_line(image);
    if (read_line(client) != EK + POINT || read_line(scalar) != POINT ||
        read_line(message) != COPRIME_ML_KEM_MESSAGE_BYTES) {
        return 3;
    }
    cores.context = simulation;
    cores.read = simulated_read;
    cores.write = simulated_write;
    cores.wait = simulated_wait;
    error = coprime_call_cores_open(&cores);
    error = error ? error : coprime_call_core_find(&core[0], &cores, false, COPRIME_COMMAND_X_MULTIPLY,
                                                   &curves);
    error = error ? error : coprime_call_core_find(&core[1], &cores, true,
                                                   COPRIME_SUITE_LATTICE_CALL_ML_DSA_VERIFY, &lattice);
    if (error || core[0].number != COPRIME_SUITE_CORE_COMPACT ||
        core[1].number != COPRIME_SUITE_CORE_LATTICE || cores.count != COPRIME_SUITE_CORES) {
        fprintf(stderr, "%s\n", coprime_error_text(error));
        return 4;
    }
    printf("%d\n", verify(&lattice, key, signature, image, size));
    image[size / 2] ^= 1u;
    printf("%d\n", verify(&lattice, key, signature, image, size));
    error = answer(&lattice, &curves, client, scalar, message, share, secret);
    if (error) {
        fprintf(stderr, "%s\n", coprime_error_text(error));
        return 5;
    }
    print_line(share, sizeof share);
    print_line(secret, sizeof secret);
    coprime_destroy(simulation);
    return 0;
}
