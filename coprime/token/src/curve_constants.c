#include "curve_constants.h"

#include <stdlib.h>
#include <string.h>

#include "curve_table.h"

/* Public numbers. */
struct made_constants {
    struct made_constants *next;
    uint32_t build[7]; /* what they depend on */
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
        while (constants->of[i]) {
            struct made_constants *const next = constants->of[i]->next;

            free(constants->of[i]);
            constants->of[i] = next;
        }
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

static void read_build(const struct coprime *driver, uint32_t build[7])
{
    const uint32_t found[7] = {
        driver->digit_width,    driver->headroom,  driver->radix_bits,      driver->min_bits,
        driver->max_prime_bits, driver->half_bits, driver->blinds_scalars,
    };

    memcpy(build, found, sizeof found);
}

/* Those that fit the engine, or null. */
static struct made_constants *find(struct made_constants *list, const uint32_t build[7])
{
    while (list && memcmp(list->build, build, sizeof list->build) != 0) {
        list = list->next;
    }
    return list;
}

int curve_constants_find(struct curve_constants *constants, const struct crypto *crypto,
                         struct coprime *driver, const struct curve *curve,
                         const struct coprime_curve_constants **found)
{
    struct made_constants **const list = &constants->of[curve_index(curve)];
    struct made_constants *made;
    uint32_t build[7];
    int error = COPRIME_ERROR_NONE;

    read_build(driver, build);
    (void)pthread_mutex_lock(&constants->lock);
    made = find(*list, build);
    if (made == NULL) {
        made = calloc(1, sizeof *made);
        error = made ? make(crypto, driver, curve, made) : COPRIME_ERROR_MEMORY;
        if (error) {
            free(made);
            made = NULL;
        } else {
            memcpy(made->build, build, sizeof build);
            made->next = *list;
            *list = made;
        }
    }
    *found = made ? &made->constants : NULL;
    (void)pthread_mutex_unlock(&constants->lock);
    return error;
}
