#include "edwards.h"

#include <string.h>

bool edwards_begin(struct edwards *edwards, const struct curve *curve, OSSL_LIB_CTX *library)
{
    edwards->curve = curve;
    edwards->context = BN_CTX_new_ex(library);
    edwards->p = curve_number(curve, curve->engine->p);
    edwards->a = curve_number(curve, curve->engine->a);
    edwards->d = curve_number(curve, curve->engine->b);
    if (edwards->context) {
        BN_CTX_start(edwards->context);
    }
    return edwards->context && edwards->p && edwards->a && edwards->d;
}

void edwards_end(struct edwards *edwards)
{
    if (edwards->context) {
        BN_CTX_end(edwards->context);
    }
    BN_CTX_free(edwards->context);
    BN_free(edwards->p);
    BN_free(edwards->a);
    BN_free(edwards->d);
}

struct edwards_point edwards_new(const struct edwards *edwards)
{
    struct edwards_point made;

    made.x = BN_CTX_get(edwards->context);
    made.y = BN_CTX_get(edwards->context);
    return made;
}

bool edwards_copy(const struct edwards_point *to, const struct edwards_point *from)
{
    return BN_copy(to->x, from->x) && BN_copy(to->y, from->y);
}

bool edwards_set_base(const struct edwards *edwards, const struct edwards_point *to)
{
    BIGNUM *const x = curve_number(edwards->curve, edwards->curve->engine->gx);
    BIGNUM *const y = curve_number(edwards->curve, edwards->curve->engine->gy);
    const bool set = x && y && BN_copy(to->x, x) && BN_copy(to->y, y);

    BN_free(x);
    BN_free(y);
    return set;
}

/* x with this lowest bit, such that a x^2 + y^2 = 1 + d x^2 y^2; false if there is none. */
static bool find_x(const struct edwards *edwards, const BIGNUM *y, bool is_odd, BIGNUM *x)
{
    BN_CTX *const context = edwards->context;
    const BIGNUM *const p = edwards->p;
    BIGNUM *square, *divisor;
    bool found;

    BN_CTX_start(context);
    square = BN_CTX_get(context);
    divisor = BN_CTX_get(context);
    found = divisor && BN_cmp(y, p) < 0 && BN_mod_sqr(square, y, p, context) &&
            BN_mod_mul(divisor, edwards->d, square, p, context) &&
            BN_mod_sub(divisor, edwards->a, divisor, p, context) &&
            BN_mod_sub(square, BN_value_one(), square, p, context) &&
            BN_mod_inverse(divisor, divisor, p, context) &&
            BN_mod_mul(square, square, divisor, p, context) && BN_mod_sqrt(x, square, p, context);
    if (found && (bool)BN_is_odd(x) != is_odd) {
        found = !BN_is_zero(x) && BN_sub(x, p, x);
    }
    BN_CTX_end(context);
    return found;
}

bool edwards_decode(const struct edwards *edwards, const uint8_t *bytes, size_t size,
                    const struct edwards_point *to)
{
    const struct curve *const curve = edwards->curve;
    uint8_t y[MAX_CURVE_BYTES];

    if (size != curve->bytes) {
        return false;
    }
    memcpy(y, bytes, size);
    y[size - 1] &= 0x7f;
    return BN_lebin2bn(y, (int)size, to->y) &&
           find_x(edwards, to->y, bytes[size - 1] >> 7, to->x);
}

bool edwards_encode(const struct edwards *edwards, const struct edwards_point *from,
                    uint8_t *bytes)
{
    const int size = (int)edwards->curve->bytes;

    if (BN_bn2lebinpad(from->y, bytes, size) != size) {
        return false;
    }
    bytes[size - 1] |= (uint8_t)(BN_is_odd(from->x) << 7);
    return true;
}

bool edwards_add(const struct edwards *edwards, const struct edwards_point *to,
                 const struct edwards_point *other, bool adds)
{
    BN_CTX *const context = edwards->context;
    const BIGNUM *const p = edwards->p;
    BIGNUM *x, *xx, *yy, *xy, *yx, *both, *below;
    bool done;

    BN_CTX_start(context);
    x = BN_CTX_get(context);
    xx = BN_CTX_get(context);
    yy = BN_CTX_get(context);
    xy = BN_CTX_get(context);
    yx = BN_CTX_get(context);
    both = BN_CTX_get(context);
    below = BN_CTX_get(context);
    done = below && (adds ? BN_copy(x, other->x) != NULL : BN_sub(x, p, other->x)) &&
           BN_mod_mul(xx, to->x, x, p, context) && BN_mod_mul(yy, to->y, other->y, p, context) &&
           BN_mod_mul(xy, to->x, other->y, p, context) && BN_mod_mul(yx, to->y, x, p, context) &&
           BN_mod_mul(both, xx, yy, p, context) &&
           BN_mod_mul(both, both, edwards->d, p, context) &&
           BN_add(below, BN_value_one(), both) && BN_mod_inverse(below, below, p, context) &&
           BN_add(xy, xy, yx) && BN_mod_mul(to->x, xy, below, p, context) &&
           BN_mod_sub(below, BN_value_one(), both, p, context) &&
           BN_mod_inverse(below, below, p, context) &&
           BN_mod_mul(xx, xx, edwards->a, p, context) && BN_mod_sub(yy, yy, xx, p, context) &&
           BN_mod_mul(to->y, yy, below, p, context);
    BN_CTX_end(context);
    return done;
}

bool edwards_multiply(const struct edwards *edwards, const struct edwards_point *to,
                      const BIGNUM *scalar, const struct edwards_point *from)
{
    bool done = BN_set_word(to->x, 0) && BN_set_word(to->y, 1);

    for (int i = BN_num_bits(scalar); done && i-- > 0;) {
        done = edwards_add(edwards, to, to, true) &&
               (!BN_is_bit_set(scalar, i) || edwards_add(edwards, to, from, true));
    }
    return done;
}

bool edwards_is_point(const struct curve *curve, OSSL_LIB_CTX *library, const uint8_t *bytes,
                      size_t size)
{
    struct edwards edwards;
    bool is = edwards_begin(&edwards, curve, library);

    if (is) {
        const struct edwards_point point = edwards_new(&edwards);

        is = point.y && edwards_decode(&edwards, bytes, size, &point);
    }
    edwards_end(&edwards);
    return is;
}
