/* The constants of curves, which engines of the same build have in common: made when a curve is first
   used. */
#ifndef COPRIME_TOKEN_CURVE_CONSTANTS_H
#define COPRIME_TOKEN_CURVE_CONSTANTS_H

#include <pthread.h>

#include "crypto.h"
#include "curve.h"

struct made_constants;

struct curve_constants {
    pthread_mutex_t lock;
    struct made_constants *of[CURVES]; /* of each curve a list, for builds that differ */
};

void curve_constants_begin(struct curve_constants *constants);
void curve_constants_end(struct curve_constants *constants);

/* Find the constants of a curve for an engine, with the table of its base point. They stay as long as
   `constants` does. An error of the driver. */
int curve_constants_find(struct curve_constants *constants, const struct crypto *crypto,
                         struct coprime *driver, const struct curve *curve,
                         const struct coprime_curve_constants **found);

#endif
