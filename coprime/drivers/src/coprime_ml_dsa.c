#include "coprime_ml_dsa.h"

#include <stddef.h>

/* As in coprime_lattice.h of an engine of ML-DSA alone; other slots may be before these. */
enum slot { SLOT_PK, SLOT_SIGNATURE, SLOT_MU, SLOT_MESSAGE, SLOT_SK, SLOT_XI, SLOT_RND };
enum call { KEY_PAIR = 44, SIGN = COPRIME_ML_DSA_CALL_SIGN, VERIFY, CHECK_KEY };

/* A slot's number: the message is the streamed one. */
static uint32_t number_of(const struct coprime *driver, enum slot slot)
{
    uint32_t streamed = 0;

    while (streamed < 31 && !(driver->streams >> streamed & 1)) {
        ++streamed;
    }
    return streamed + (uint32_t)slot - SLOT_MESSAGE;
}

static int give(struct coprime *driver, enum slot slot, const uint8_t *bytes, uint32_t size)
{
    return bytes == NULL ? COPRIME_ERROR_NONE
                         : coprime_load_slot(driver, number_of(driver, slot), bytes, size);
}

static int take(struct coprime *driver, enum slot slot, uint8_t *bytes, uint32_t size)
{
    return bytes == NULL ? COPRIME_ERROR_NONE
                         : coprime_read_slot(driver, number_of(driver, slot), bytes, &size);
}

static void clear(uint8_t *bytes, uint32_t size)
{
    for (uint32_t i = 0; bytes != NULL && i < size; ++i) {
        bytes[i] = 0;
    }
}

static int run(struct coprime *driver, enum call call)
{
    const int error = coprime_call_start(driver, (uint32_t)call);

    return error ? error : coprime_call_end(driver);
}

/* A call that takes a message: its inputs are loaded. */
static int run_with(struct coprime *driver, enum call call,
                    const struct coprime_ml_dsa_message *message)
{
    const uint32_t slot = number_of(driver, SLOT_MESSAGE);
    uint8_t prefix[COPRIME_ML_DSA_PREFIX_BYTES];
    uint32_t size = 0;
    int error;

    if (message->mu != NULL) {
        error = give(driver, SLOT_MU, message->mu, COPRIME_ML_DSA_MU_BYTES);
        return error ? error : run(driver, call);
    }
    error = coprime_ml_dsa_prefix(message, prefix, &size);
    if (!error) {
        error = coprime_call_start(driver, (uint32_t)call);
    }
    if (!error) {
        error = coprime_call_update(driver, slot, prefix, size);
    }
    if (!error) {
        error = coprime_call_finish(driver, slot, message->bytes, message->size);
    }
    return error ? error : coprime_call_end(driver);
}

/* Bytes of a digest; 0 if there is no such hash. */
static uint32_t digest_bytes(enum coprime_ml_dsa_hash hash)
{
    static const uint8_t sizes[] = {0, 32, 48, 64, 28, 28, 32, 28, 32, 48, 64, 32, 64};

    return (uint32_t)hash < sizeof sizes ? sizes[hash] : 0;
}

int coprime_ml_dsa_prefix(const struct coprime_ml_dsa_message *message, uint8_t *prefix,
                          uint32_t *size)
{
    /* 2.16.840.1.101.3.4.2, under which the hashes have their numbers. */
    static const uint8_t identifier[] = {6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2};
    const bool hashes = message->hash != COPRIME_ML_DSA_PURE;
    uint32_t count = 2;

    if (message->context_size > COPRIME_ML_DSA_CONTEXT_BYTES
        || (hashes && (message->size == 0 || message->size != digest_bytes(message->hash)))) {
        return COPRIME_ERROR_SIZE;
    }
    prefix[0] = hashes;
    prefix[1] = (uint8_t)message->context_size;
    for (uint32_t i = 0; i < message->context_size; ++i) {
        prefix[count++] = message->context[i];
    }
    for (uint32_t i = 0; hashes && i < sizeof identifier; ++i) {
        prefix[count++] = identifier[i];
    }
    if (hashes) {
        prefix[count++] = (uint8_t)message->hash;
    }
    *size = count;
    return COPRIME_ERROR_NONE;
}

int coprime_ml_dsa_select(struct coprime *driver, const uint8_t *pk, uint32_t pk_size)
{
    int error = COPRIME_ERROR_SLOT_LENGTH;

    for (uint32_t number = 0; error == COPRIME_ERROR_SLOT_LENGTH; ++number) {
        error = coprime_parameter_set(driver, number);
        if (!error) {
            error = give(driver, SLOT_PK, pk, pk_size);
        }
    }
    return error == COPRIME_ERROR_ADDRESS ? COPRIME_ERROR_UNSUPPORTED : error;
}

int coprime_ml_dsa_key_pair(struct coprime *driver, const uint8_t *seed, uint8_t *pk,
                            uint32_t pk_size, uint8_t *sk, uint32_t sk_size)
{
    int error = give(driver, SLOT_XI, seed, COPRIME_ML_DSA_SEED_BYTES);

    if (!error) {
        error = run(driver, KEY_PAIR);
    }
    if (!error) {
        error = take(driver, SLOT_PK, pk, pk_size);
    }
    if (!error) {
        error = take(driver, SLOT_SK, sk, sk_size);
    }
    if (error) {
        clear(pk, pk_size);
        clear(sk, sk_size);
    }
    return error;
}

int coprime_ml_dsa_sign(struct coprime *driver, const uint8_t *sk, uint32_t sk_size,
                        const struct coprime_ml_dsa_message *message, const uint8_t *rnd,
                        uint8_t *signature, uint32_t signature_size)
{
    int error = give(driver, SLOT_SK, sk, sk_size);

    if (!error) {
        error = give(driver, SLOT_RND, rnd, COPRIME_ML_DSA_RND_BYTES);
    }
    if (!error) {
        error = run_with(driver, SIGN, message);
    }
    if (!error) {
        error = take(driver, SLOT_SIGNATURE, signature, signature_size);
    }
    if (error) {
        clear(signature, signature_size);
    }
    return error;
}

int coprime_ml_dsa_verify(struct coprime *driver, const uint8_t *pk, uint32_t pk_size,
                          const struct coprime_ml_dsa_message *message, const uint8_t *signature,
                          uint32_t signature_size)
{
    int error = give(driver, SLOT_PK, pk, pk_size);

    if (!error) {
        error = give(driver, SLOT_SIGNATURE, signature, signature_size);
    }
    return error ? error : run_with(driver, VERIFY, message);
}

int coprime_ml_dsa_check_key(struct coprime *driver, const uint8_t *sk, uint32_t sk_size,
                             const uint8_t *pk, uint32_t pk_size)
{
    int error = give(driver, SLOT_SK, sk, sk_size);

    if (!error) {
        error = give(driver, SLOT_PK, pk, pk_size);
    }
    return error ? error : run(driver, CHECK_KEY);
}
