#include "coprime_ml_kem.h"

#include <stddef.h>

/* As in coprime_lattice.h, for any parameters of the family. */
enum slot { SLOT_D, SLOT_Z, SLOT_EK, SLOT_DK, SLOT_M, SLOT_C, SLOT_KEY };
enum call { KEY_PAIR = 40, ENCAPSULATE, DECAPSULATE, CHECK_KEY };

#define MOST_SLOTS 2u

struct call_slots {
    struct coprime_slot_input inputs[MOST_SLOTS];
    struct coprime_slot_output outputs[MOST_SLOTS];
    uint32_t input_count, output_count;
};

static void give(struct call_slots *slots, enum slot slot, const uint8_t *bytes, uint32_t size)
{
    if (bytes != NULL) {
        slots->inputs[slots->input_count] =
            (struct coprime_slot_input){(uint32_t)slot, bytes, size};
        slots->input_count += 1u;
    }
}

static void take(struct call_slots *slots, enum slot slot, uint8_t *bytes, uint32_t size)
{
    if (bytes != NULL) {
        slots->outputs[slots->output_count] =
            (struct coprime_slot_output){(uint32_t)slot, bytes, size};
        slots->output_count += 1u;
    }
}

static int make(struct coprime *driver, enum call call, struct call_slots *slots)
{
    return coprime_call(driver, (uint32_t)call, slots->inputs, slots->input_count, slots->outputs,
                        slots->output_count);
}

int coprime_ml_kem_key_pair(struct coprime *driver, const uint8_t *seed, uint8_t *ek,
                            uint32_t ek_size, uint8_t *dk, uint32_t dk_size)
{
    const uint32_t half = COPRIME_ML_KEM_SEED_BYTES / 2u;
    struct call_slots slots = {.input_count = 0};

    give(&slots, SLOT_D, seed, half);
    give(&slots, SLOT_Z, seed == NULL ? NULL : &seed[half], half);
    take(&slots, SLOT_EK, ek, ek_size);
    take(&slots, SLOT_DK, dk, dk_size);
    return make(driver, KEY_PAIR, &slots);
}

int coprime_ml_kem_encapsulate(struct coprime *driver, const uint8_t *ek, uint32_t ek_size,
                               const uint8_t *m, uint8_t *c, uint32_t c_size, uint8_t *secret)
{
    struct call_slots slots = {.input_count = 0};

    give(&slots, SLOT_EK, ek, ek_size);
    give(&slots, SLOT_M, m, COPRIME_ML_KEM_MESSAGE_BYTES);
    take(&slots, SLOT_C, c, c_size);
    take(&slots, SLOT_KEY, secret, COPRIME_ML_KEM_SECRET_BYTES);
    return make(driver, ENCAPSULATE, &slots);
}

int coprime_ml_kem_decapsulate(struct coprime *driver, const uint8_t *dk, uint32_t dk_size,
                               const uint8_t *c, uint32_t c_size, uint8_t *secret)
{
    struct call_slots slots = {.input_count = 0};

    give(&slots, SLOT_DK, dk, dk_size);
    give(&slots, SLOT_C, c, c_size);
    take(&slots, SLOT_KEY, secret, COPRIME_ML_KEM_SECRET_BYTES);
    return make(driver, DECAPSULATE, &slots);
}

int coprime_ml_kem_check_key(struct coprime *driver, const uint8_t *ek, uint32_t ek_size,
                             const uint8_t *dk, uint32_t dk_size)
{
    struct call_slots slots = {.input_count = 0};

    give(&slots, SLOT_EK, ek, ek_size);
    give(&slots, SLOT_DK, dk, dk_size);
    return make(driver, CHECK_KEY, &slots);
}
