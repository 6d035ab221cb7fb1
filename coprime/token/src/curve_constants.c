#include "curve_constants.h"

#include <stdlib.h>

#include "curve_table.h"

/* Public numbers. */
struct made_constants {
    struct coprime_curve_constants constants;
    uint32_t words[COPRIME_CURVE_MEMORY(MAX_CURVE_BITS)], table[MAX_TABLE_WORDS];
};

void curve_constants_begin(struct curve_constants *constants)
{
    (void)pthread_mutex_init(&constants->lock, NULL);
}

void curve_constants_end(struct curve_constants *constants)
{
    for (unsigned i = 0; i < CURVES; ++i) {
        free(constants->of[i]);
    }
    (void)pthread_mutex_destroy(&constants->lock);
}

static int make(const struct crypto *crypto, struct coprime *driver, const struct curve *curve,
                struct made_constants *made)
{
    struct coprime_memory memory = {made->words, sizeof made->words / sizeof *made->words};
    const int error = coprime_curve_constants(driver, curve->engine, &made->constants, &memory);

    if (error || curve->type == CKK_EC_MONTGOMERY) {
        return error;
    }
    if (!curve_table_compute(crypto, driver, curve, &made->constants, made->table)) {
        return COPRIME_ERROR_MEMORY;
    }
    made->constants.table = made->table;
    return COPRIME_ERROR_NONE;
}

int curve_constants_find(struct curve_constants *constants, const struct crypto *crypto,
                         struct coprime *driver, const struct curve *curve,
                         const struct coprime_curve_constants **found)
{
    struct made_constants **const place = &constants->of[curve_index(curve)];
    int error = COPRIME_ERROR_NONE;

    (void)pthread_mutex_lock(&constants->lock);
    if (*place == NULL) {
        struct made_constants *const made = calloc(1, sizeof *made);

        error = made ? make(crypto, driver, curve, made) : COPRIME_ERROR_MEMORY;
        if (error) {
            free(made);
        } else {
            *place = made;
        }
    }
    *found = error ? NULL : &(*place)->constants;
    (void)pthread_mutex_unlock(&constants->lock);
    return error;
}
