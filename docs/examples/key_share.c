/* Key shares of TLS 1.3's group X25519MLKEM768 (0x11EC) on two accelerators: `lattice` with
   ML-KEM-768, and an engine of numbers with curves=montgomery.

   The client calls offer, and finish with the server's share; the server calls answer. A share, and
   the secret, has ML-KEM's part first. COPRIME_ERROR_INVALID_KEY and COPRIME_ERROR_POINT are the
   other side's fault: TLS ends with the alert illegal_parameter. */
#include "coprime_curves.h"
#include "coprime_lattice.h"
#include "coprime_ml_kem.h"

enum {
    POINT_BYTES = 32,
    EK_BYTES = COPRIME_LATTICE_BYTES_EK_ML_KEM_768,
    C_BYTES = COPRIME_LATTICE_BYTES_C_ML_KEM_768,
    CLIENT_SHARE_BYTES = EK_BYTES + POINT_BYTES,
    SERVER_SHARE_BYTES = C_BYTES + POINT_BYTES,
    SECRET_BYTES = COPRIME_ML_KEM_SECRET_BYTES + POINT_BYTES
};

struct key_shares {
    struct coprime *lattice, *curves;
    struct coprime_curve_constants x25519;
    uint32_t words[COPRIME_CURVE_MEMORY(255)];
};

/* Random bytes of one handshake: the client keeps them until finish, then clears them. */
struct client_random {
    uint8_t seed[COPRIME_ML_KEM_SEED_BYTES];
    uint8_t scalar[POINT_BYTES];
};

struct server_random {
    uint8_t message[COPRIME_ML_KEM_MESSAGE_BYTES];
    uint8_t scalar[POINT_BYTES];
};

/* Once, with both drivers' functions set. */
int key_shares_open(struct key_shares *on)
{
    struct coprime_memory memory = {on->words, sizeof on->words / sizeof *on->words};
    int error = coprime_open(on->lattice);

    error = error ? error : coprime_open(on->curves);
    return error ? error
                 : coprime_curve_constants(on->curves, &coprime_x25519, &on->x25519, &memory);
}

/* Remove the handshake's secrets from both accelerators, and after an error from the output. */
static int finished(struct key_shares *on, int error, uint8_t *output, uint32_t size)
{
    const int first = coprime_wipe(on->lattice), second = coprime_wipe(on->curves);

    error = error ? error : first ? first : second;
    for (uint32_t i = 0; error && i < size; ++i)
        ((volatile uint8_t *)output)[i] = 0;
    return error;
}

int offer(struct key_shares *on, const struct client_random *own,
          uint8_t share[CLIENT_SHARE_BYTES])
{
    int error = coprime_parameter_set(on->lattice, COPRIME_LATTICE_SET_ML_KEM_768);

    error = error ? error
                  : coprime_ml_kem_key_pair(on->lattice, own->seed, share, EK_BYTES, NULL, 0);
    error = error ? error
                  : coprime_x_public(on->curves, &on->x25519, own->scalar, share + EK_BYTES);
    return finished(on, error, share, CLIENT_SHARE_BYTES);
}

int answer(struct key_shares *on, const struct server_random *own,
           const uint8_t client[CLIENT_SHARE_BYTES], uint8_t share[SERVER_SHARE_BYTES],
           uint8_t secret[SECRET_BYTES])
{
    int error = coprime_parameter_set(on->lattice, COPRIME_LATTICE_SET_ML_KEM_768);

    error = error ? error : coprime_ml_kem_check_key(on->lattice, client, EK_BYTES, NULL, 0);
    error = error ? error
                  : coprime_ml_kem_encapsulate(on->lattice, NULL, 0, own->message, share, C_BYTES,
                                               secret);
    error = error ? error
                  : coprime_x_public(on->curves, &on->x25519, own->scalar, share + C_BYTES);
    error = error ? error
                  : coprime_x_multiply(on->curves, &on->x25519, own->scalar, client + EK_BYTES,
                                       secret + COPRIME_ML_KEM_SECRET_BYTES);
    return finished(on, error, secret, SECRET_BYTES);
}

int finish(struct key_shares *on, const struct client_random *own,
           const uint8_t server[SERVER_SHARE_BYTES], uint8_t secret[SECRET_BYTES])
{
    int error = coprime_parameter_set(on->lattice, COPRIME_LATTICE_SET_ML_KEM_768);

    /* dk is made again of its seed, and never leaves the accelerator. */
    error = error ? error : coprime_ml_kem_key_pair(on->lattice, own->seed, NULL, 0, NULL, 0);
    error = error ? error
                  : coprime_ml_kem_decapsulate(on->lattice, NULL, 0, server, C_BYTES, secret);
    error = error ? error
                  : coprime_x_multiply(on->curves, &on->x25519, own->scalar, server + C_BYTES,
                                       secret + COPRIME_ML_KEM_SECRET_BYTES);
    return finished(on, error, secret, SECRET_BYTES);
}
