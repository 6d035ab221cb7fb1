#include "curve_table.h"

#include <openssl/ec.h>
#include <openssl/objects.h>

#include "edwards.h"

/* Teeth of the comb, and points of its table. */
enum { TEETH = 4, POINTS = 1 << (TEETH - 1) };

/* What a table is computed with. All numbers are public. */
struct maker {
    const struct curve *curve;
    const struct coprime_curve_constants *made;
    uint32_t radix;
    uint32_t *table;
    BN_CTX *context;
    BIGNUM *p, *n, *d; /* of the curve */
};

/* Write a number of the table, in Montgomery form. */
static bool put(const struct maker *maker, unsigned place, const BIGNUM *number)
{
    BIGNUM *const shifted = BN_CTX_get(maker->context);

    return shifted && BN_mod_lshift(shifted, number, (int)maker->radix, maker->p, maker->context) &&
           curve_words(maker->curve, shifted,
                       maker->table + place * COPRIME_WORDS(maker->curve->bits));
}

/* Whether 2^(t j) B is added in a point of the table, and not subtracted. */
static bool is_added(unsigned point, unsigned tooth)
{
    return point >> (TEETH - 2 - tooth) & 1;
}

/* The number whose multiple a point of the table is, modulo n. */
static bool find_scalar(const struct maker *maker, unsigned point, BIGNUM *scalar)
{
    const int tooth = (int)maker->made->tooth;
    BIGNUM *const power = BN_CTX_get(maker->context);
    bool done = power && BN_one(scalar);

    if (tooth == 0) {
        return done;
    }
    done = done && BN_lshift(scalar, scalar, (TEETH - 1) * tooth);
    for (unsigned j = 0; j < TEETH - 1; ++j) {
        done = done && BN_one(power) && BN_lshift(power, power, (int)j * tooth) &&
               (is_added(point, j) ? BN_add(scalar, scalar, power) :
                                     BN_sub(scalar, scalar, power));
    }
    return done && BN_nnmod(scalar, scalar, maker->n, maker->context);
}

static bool make_weierstrass(const struct crypto *crypto, const struct maker *maker)
{
    EC_GROUP *const group =
        EC_GROUP_new_by_curve_name_ex(crypto->context, NULL, OBJ_sn2nid(maker->curve->name));
    EC_POINT *const product = group ? EC_POINT_new(group) : NULL;
    BIGNUM *const scalar = BN_CTX_get(maker->context);
    BIGNUM *const x = BN_CTX_get(maker->context), *const y = BN_CTX_get(maker->context);
    bool done = product && y;

    for (unsigned i = 0; done && i < POINTS; ++i) {
        BN_CTX_start(maker->context);
        done = find_scalar(maker, i, scalar) &&
               EC_POINT_mul(group, product, scalar, NULL, NULL, maker->context) == 1 &&
               EC_POINT_get_affine_coordinates(group, product, x, y, maker->context) == 1 &&
               put(maker, 2 * i, x) && put(maker, 2 * i + 1, y);
        BN_CTX_end(maker->context);
    }
    EC_POINT_free(product);
    EC_GROUP_free(group);
    return done;
}

/* The three numbers of a point: (y - x) / 2 and (y + x) / 2, at two places, and d x y. */
static bool put_point(const struct maker *maker, const struct edwards_point *point, unsigned pair,
                      unsigned third)
{
    BN_CTX *const context = maker->context;
    const BIGNUM *const p = maker->p;
    BIGNUM *number, *half;
    bool done;

    BN_CTX_start(context);
    number = BN_CTX_get(context);
    half = BN_CTX_get(context);
    done = half && BN_rshift1(half, p) && BN_add_word(half, 1) &&
           BN_mod_sub(number, point->y, point->x, p, context) &&
           BN_mod_mul(number, number, half, p, context) && put(maker, pair, number) &&
           BN_mod_add(number, point->y, point->x, p, context) &&
           BN_mod_mul(number, number, half, p, context) && put(maker, pair + 1, number) &&
           BN_mod_mul(number, point->x, point->y, p, context) &&
           BN_mod_mul(number, number, maker->d, p, context) && put(maker, third, number);
    BN_CTX_end(context);
    return done;
}

/* The base point, and what is 2^t times the one before, for a tooth of t bits. */
static bool make_teeth(const struct edwards *edwards, uint32_t tooth,
                       const struct edwards_point teeth[TEETH])
{
    bool done = edwards_set_base(edwards, &teeth[0]);

    for (unsigned j = 1; j < TEETH; ++j) {
        done = done && edwards_copy(&teeth[j], &teeth[j - 1]);
        for (uint32_t i = 0; done && i < tooth; ++i) {
            done = edwards_add(edwards, &teeth[j], &teeth[j], true);
        }
    }
    return done;
}

static bool make_edwards(const struct crypto *crypto, const struct maker *maker)
{
    struct edwards edwards;
    struct edwards_point teeth[TEETH], sum;
    bool done = edwards_begin(&edwards, maker->curve, crypto->context);

    for (unsigned j = 0; done && j < TEETH; ++j) {
        teeth[j] = edwards_new(&edwards);
    }
    if (done) {
        sum = edwards_new(&edwards);
        done = sum.y && make_teeth(&edwards, maker->made->tooth, teeth) &&
               put_point(maker, &teeth[0], 3 * POINTS, 3 * POINTS + 2);
    }
    for (unsigned i = 0; done && i < POINTS; ++i) {
        done = edwards_copy(&sum, &teeth[TEETH - 1]);
        for (unsigned j = 0; done && j < TEETH - 1; ++j) {
            done = edwards_add(&edwards, &sum, &teeth[j], is_added(i, j));
        }
        done = done && put_point(maker, &sum, 2 * i, 2 * POINTS + i);
    }
    edwards_end(&edwards);
    return done;
}

bool curve_table_compute(const struct crypto *crypto, const struct coprime *driver,
                         const struct curve *curve, const struct coprime_curve_constants *made,
                         uint32_t table[MAX_TABLE_WORDS])
{
    const struct coprime_curve *const named = curve->engine;
    const struct maker maker = {
        .curve = curve,
        .made = made,
        .radix = coprime_curve_radix(driver, made),
        .table = table,
        .context = BN_CTX_new_ex(crypto->context),
        .p = curve_number(curve, named->p),
        .n = curve_number(curve, named->n),
        .d = curve_number(curve, named->b),
    };
    bool done = maker.context && maker.p && maker.n && maker.d;

    if (done) {
        BN_CTX_start(maker.context);
        done = curve->type == CKK_EC ? make_weierstrass(crypto, &maker) : make_edwards(crypto, &maker);
        BN_CTX_end(maker.context);
    }
    BN_free(maker.p);
    BN_free(maker.n);
    BN_free(maker.d);
    BN_CTX_free(maker.context);
    return done;
}
