/* Points of curves a x^2 + y^2 = 1 + d x^2 y^2, by libcrypto's numbers. All of them are public: the time
   depends on them. */
#ifndef COPRIME_TOKEN_EDWARDS_H
#define COPRIME_TOKEN_EDWARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/bn.h>

#include "curve.h"

struct edwards {
    const struct curve *curve;
    BN_CTX *context;
    BIGNUM *p, *a, *d;
};

struct edwards_point {
    BIGNUM *x, *y;
};

/* Begin computing, and end it; false without memory: it is to be ended then, too. */
bool edwards_begin(struct edwards *edwards, const struct curve *curve, OSSL_LIB_CTX *library);
void edwards_end(struct edwards *edwards);

/* A point whose numbers belong to the context, until edwards_end; `y` is null without memory. */
struct edwards_point edwards_new(const struct edwards *edwards);

bool edwards_copy(const struct edwards_point *to, const struct edwards_point *from);
bool edwards_set_base(const struct edwards *edwards, const struct edwards_point *to);

/* Read y, the lowest byte first, and as the highest bit the lowest one of x (RFC 8032, 5.1.3); false
   unless it is a point of the curve. */
bool edwards_decode(const struct edwards *edwards, const uint8_t *bytes, size_t size,
                    const struct edwards_point *to);

/* The same back. */
bool edwards_encode(const struct edwards *edwards, const struct edwards_point *from,
                    uint8_t *bytes);

/* to = to + other, or minus it; `to` may be `other`. */
bool edwards_add(const struct edwards *edwards, const struct edwards_point *to,
                 const struct edwards_point *other, bool adds);

/* to = scalar * from, two different points. */
bool edwards_multiply(const struct edwards *edwards, const struct edwards_point *to,
                      const BIGNUM *scalar, const struct edwards_point *from);

/* Whether these bytes are a point of the curve. */
bool edwards_is_point(const struct curve *curve, OSSL_LIB_CTX *library, const uint8_t *bytes,
                      size_t size);

#endif
