#include "coprime_curves.h"
#include "coprime_arithmetic.h"
#include "coprime_engine.h"

/* Teeth of a comb, and points of its table: there are signs for all teeth but the highest one. A point
   of Edwards form has a third number, and after these the table has the base point's three numbers. */
enum { TEETH = 4, POINTS = 1 << (TEETH - 1), BASE = 3 * POINTS };

/* Two numbers of `count` words that are one operand, input or result of the engine: the second one is
   `half_bits` above the first. Of a result the second one is not wanted where it is a null pointer. */
struct pair {
    uint32_t *low, *high;
    uint32_t count;
};

struct const_pair {
    const uint32_t *low, *high; /* a null pointer is 0 */
    uint32_t count;
};

static uint32_t words_of(const struct coprime_curve *curve)
{
    return COPRIME_WORDS(curve->bits);
}

/* Word `place` of a number that is shifted up by `shift` bits, 0 to 31. */
static uint32_t shifted_word(const uint32_t *number, uint32_t count, uint32_t shift, uint32_t place)
{
    const uint32_t word = place < count ? number[place] << shift : 0;

    if (shift == 0 || place == 0 || place - 1 >= count) {
        return word;
    }
    return word | number[place - 1] >> (32 - shift);
}

/* Word `place` of a pair. */
static uint32_t pair_word(const struct coprime *driver, const struct const_pair *pair, uint32_t place)
{
    const uint32_t first = driver->half_bits / 32;
    uint32_t word = 0;

    if (pair->low && place < pair->count) {
        word = pair->low[place];
    }
    if (pair->high && place >= first) {
        word |= shifted_word(pair->high, pair->count, driver->half_bits % 32, place - first);
    }
    return word;
}

/* Bits of an operand of two numbers. */
static uint32_t pair_bits(const struct coprime *driver, const struct coprime_curve_constants *curve)
{
    return driver->half_bits + curve->length;
}

static int load_pair(const struct coprime *driver, const struct coprime_curve_constants *curve,
                     enum coprime_operand operand, const uint32_t *low, const uint32_t *high)
{
    const struct const_pair pair = {low, high, words_of(curve->curve)};
    const uint32_t count = COPRIME_WORDS(pair_bits(driver, curve));

    if (!(driver->held >> operand & 1)) {
        return COPRIME_ERROR_NONE;
    }
    write(driver, COPRIME_KEY_OPERAND, (uint32_t)operand);
    for (uint32_t i = 0; i < count; ++i) {
        write(driver, COPRIME_KEY_DATA, pair_word(driver, &pair, i));
    }
    return coprime_flagged(driver);
}

/* M of an operation on a curve: the power of two 2^top, and a number in the upper half. */
static int load_scaling(const struct coprime *driver, const struct coprime_curve_constants *curve,
                        uint32_t top, const uint32_t *high)
{
    const struct const_pair pair = {NULL, high, words_of(curve->curve)};
    const uint32_t count = COPRIME_WORDS(pair_bits(driver, curve));

    write(driver, COPRIME_KEY_OPERAND, COPRIME_OPERAND_M);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t power = i == top / 32 ? (uint32_t)1 << top % 32 : 0;

        write(driver, COPRIME_KEY_DATA, pair_word(driver, &pair, i) | power);
    }
    return coprime_flagged(driver);
}

/* Load a number as long as p and n, or an exponent. */
static int load_number(const struct coprime *driver, const struct coprime_curve_constants *curve,
                       enum coprime_operand operand, const uint32_t *number, uint32_t bits)
{
    return coprime_load(driver, operand, number, words_of(curve->curve), bits);
}

/* Load what belongs to one of the two moduli, of which the operands are given. */
static int load_modulus(const struct coprime *driver, const struct coprime_curve_constants *curve,
                        const struct coprime_modulus *modulus, const uint32_t *less_2, bool second)
{
    const uint32_t bits = curve->length;
    int error = load_number(driver, curve, second ? COPRIME_OPERAND_Q : COPRIME_OPERAND_P,
                            modulus->value, bits);

    if (!error) {
        error = load_number(driver, curve, second ? COPRIME_OPERAND_DQ : COPRIME_OPERAND_DP, less_2,
                            bits);
    }
    if (!error) {
        error = load_number(driver, curve,
                            second ? COPRIME_OPERAND_Q_POWER : COPRIME_OPERAND_P_POWER,
                            modulus->power, bits);
    }
    if (!error) {
        error = coprime_load(driver,
                             second ? COPRIME_OPERAND_Q_INVERSE : COPRIME_OPERAND_P_INVERSE,
                             modulus->inverse, COPRIME_DIGIT_WORDS, driver->digit_width);
    }
    return error;
}

/* Load all of a curve but its table, for a command whose exponent has `bits` bits. */
static int load_curve(struct coprime *driver, const struct coprime_curve_constants *curve,
                      enum coprime_command command, uint32_t bits)
{
    const struct coprime_curve *const named = curve->curve;
    int error = coprime_prepare(driver);

    if (error) {
        return error;
    }
    if (!knows(driver, command)) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    driver->loaded = 0;
    write(driver, COPRIME_MODULUS_LENGTH, pair_bits(driver, curve));
    write(driver, COPRIME_P_LENGTH, curve->length);
    write(driver, COPRIME_Q_LENGTH, curve->length);
    write(driver, COPRIME_EXPONENT_LENGTH, bits);
    error = load_modulus(driver, curve, &curve->p, curve->p_less_2, false);
    if (!error) {
        error = load_modulus(driver, curve, &curve->n, curve->n_less_2, true);
    }
    if (!error) {
        error = load_pair(driver, curve, COPRIME_OPERAND_Y, named->a, named->b);
    }
    return error;
}

/* Bits that the scalar of a ladder has beyond those of n and the one for a multiple of n: of a blinded
   one, half as many random bits as n has, and 2. */
static uint32_t ladder_bits(const struct coprime *driver,
                            const struct coprime_curve_constants *curve)
{
    return driver->blinds_scalars ? (curve->length + 1) / 2 + 2 : 0;
}

/* The same of a comb, whose scalar is blinded twice. */
static uint32_t more_comb_bits(const struct coprime *driver,
                               const struct coprime_curve_constants *curve)
{
    return driver->blinds_scalars ? (curve->length + 1) / 2 + 1 : 0;
}

/* Bits of the exponent of a multiple of the base point. */
static uint32_t comb_bits(const struct coprime *driver,
                          const struct coprime_curve_constants *curve)
{
    return curve->tooth ? TEETH * curve->tooth :
                          curve->length + more_comb_bits(driver, curve) + 1;
}

/* Load a curve with its table. */
static int load_base(struct coprime *driver, const struct coprime_curve_constants *curve,
                     enum coprime_command command)
{
    const uint32_t count = words_of(curve->curve), bits = comb_bits(driver, curve);
    const uint32_t *const thirds = curve->table + 2 * POINTS * count;
    int error;

    if (curve->table == NULL) {
        return COPRIME_ERROR_OPERAND_MISSING;
    }
    error = load_curve(driver, curve, command, bits);
    if (!error) {
        error = load_scaling(driver, curve, curve->tooth ? bits - 1 : curve->n.bits,
                             curve->tooth ? curve->half : NULL);
    }
    for (uint32_t i = 0; i < POINTS && !error; ++i) {
        error = load_pair(driver, curve, (enum coprime_operand)(COPRIME_OPERAND_TABLE_0 + i),
                          curve->table + 2 * i * count, curve->table + (2 * i + 1) * count);
    }
    for (uint32_t i = 0; curve->curve->form == COPRIME_EDWARDS && i < POINTS / 2 && !error; ++i) {
        error = load_pair(driver, curve, (enum coprime_operand)(COPRIME_OPERAND_TABLE_8 + i),
                          thirds + 2 * i * count, thirds + (2 * i + 1) * count);
    }
    return error;
}

/* Whether a number has no bits above the curve's length. */
static bool is_short(const struct coprime_curve_constants *curve, const uint32_t *number)
{
    return fits(number, curve->curve->bits);
}

/* Write the input: a word 0 if there is none. */
static void put_pair(const struct coprime *driver, const struct coprime_curve_constants *curve,
                     const struct const_pair *x)
{
    const bool any = x->low != NULL;
    const uint32_t bits = any ? pair_bits(driver, curve) : 8;

    for (uint32_t i = 0; i < COPRIME_WORDS(bits); ++i) {
        coprime_put_word(driver, i, pair_word(driver, x, i));
    }
    write(driver, COPRIME_INPUT_LENGTH, (bits + 7) / 8);
}

/* Read the result, each of its words once. */
static void get_pair(const struct coprime *driver, const struct coprime_curve_constants *curve,
                     const struct pair *result)
{
    const uint32_t first = driver->half_bits / 32, shift = driver->half_bits % 32;
    const uint32_t count = result->count;

    set(result->low, 0, count);
    if (result->high) {
        set(result->high, 0, count);
    }
    for (uint32_t i = 0; i < COPRIME_WORDS(pair_bits(driver, curve)); ++i) {
        const uint32_t word = coprime_get_word(driver, i);

        if (i <= first && i < count) {
            result->low[i] = i < first ? word : word & (((uint32_t)1 << shift) - 1);
        }
        if (result->high && i >= first && i - first < count) {
            result->high[i - first] = word >> shift;
        }
        if (result->high && shift && i > first && i - first - 1 < count) {
            result->high[i - first - 1] |= word << (32 - shift);
        }
    }
}

static uint32_t pair_residue(const struct coprime *driver, const uint32_t *low,
                             const uint32_t *high, uint32_t count)
{
    /* Half the bits of a pair are a multiple of V. */
    return coprime_residue(driver, (low ? coprime_residue_of(driver, low, count) : 0) +
                                       (high ? coprime_residue_of(driver, high, count) : 0));
}

/* Whether the result, as it was read, belongs to the input with this residue, as it was sent. */
static bool belongs(const struct coprime *driver, uint32_t x_residue, const struct pair *result)
{
    const uint32_t zero = ((uint32_t)1 << driver->residue_width) - 1;
    const uint32_t own = pair_residue(driver, result->low, result->high, result->count);
    const uint32_t expected = coprime_residue(driver, x_residue + own);
    const uint32_t found = coprime_residue(driver, read(driver, COPRIME_RESIDUE));
    const uint32_t difference = coprime_residue(driver, expected + (zero - found));

    return difference == 0 || difference == zero;
}

/* Write the input, and run a command. */
static int start(struct coprime *driver, const struct coprime_curve_constants *curve,
                 enum coprime_command command, const struct const_pair *x)
{
    put_pair(driver, curve, x);
    return coprime_execute(driver, COPRIME_COMMAND, (uint32_t)command);
}

/* A command whose result the engine checks, if it checks any. */
static int run(struct coprime *driver, const struct coprime_curve_constants *curve,
               enum coprime_command command, const uint32_t *x_low, const uint32_t *x_high,
               uint32_t *low, uint32_t *high)
{
    const struct const_pair x = {x_low, x_high, words_of(curve->curve)};
    const struct pair result = {low, high, x.count};
    /* Before the result takes its place. */
    const uint32_t x_residue = pair_residue(driver, x_low, x_high, x.count);
    int error = start(driver, curve, command, &x);

    if (error) {
        return error;
    }
    get_pair(driver, curve, &result);
    error = coprime_flagged(driver); /* the device may have gone while the result was read */
    if (!error && driver->checked && !belongs(driver, x_residue, &result)) {
        error = COPRIME_ERROR_FAULT;
    }
    if (error) {
        coprime_clear(low, x.count);
        coprime_clear(high, high ? x.count : 0);
    }
    return error;
}

/* A verification: its result is the first number of the input, and 0. */
static int verify(struct coprime *driver, const struct coprime_curve_constants *curve,
                  enum coprime_command command, const uint32_t *low, const uint32_t *high)
{
    const struct const_pair x = {low, high, words_of(curve->curve)}, expected = {low, NULL, x.count};
    uint32_t difference = 0;
    int error = start(driver, curve, command, &x);

    for (uint32_t i = 0; i < COPRIME_WORDS(pair_bits(driver, curve)) && !error; ++i) {
        difference |= coprime_get_word(driver, i) ^ pair_word(driver, &expected, i);
    }
    if (!error) {
        error = coprime_flagged(driver);
    }
    return !error && difference ? COPRIME_ERROR_FAULT : error;
}

/* Whether a point that was read, if it was, is on its curve of Weierstrass form: RESIDUE does not see
   digits that have changed places. EC_CHECK takes it back, with a and b, which operations use up. */
static int check_point(struct coprime *driver, const struct coprime_curve_constants *curve,
                       uint32_t *x, uint32_t *y, int error)
{
    const struct coprime_curve *const named = curve->curve;

    if (error) {
        return error;
    }
    error = load_pair(driver, curve, COPRIME_OPERAND_Y, named->a, named->b);
    if (!error) {
        error = verify(driver, curve, COPRIME_COMMAND_EC_CHECK, x, y);
    }
    if (error == COPRIME_ERROR_POINT || error == COPRIME_ERROR_OPERAND_RANGE) {
        error = COPRIME_ERROR_FAULT;
    }
    if (error) {
        coprime_clear(x, words_of(named));
        coprime_clear(y, words_of(named));
    }
    return error;
}

/* Constants. */

/* Bits by which numbers of a field of points are shorter than their length says: the digits of c in
   the headroom, where c of p is 1, as the lowest bits of p are ones. */
static uint32_t bits_less(const struct coprime *driver, const struct coprime_curve *curve)
{
    const uint32_t bits = driver->headroom / driver->digit_width * driver->digit_width;

    for (uint32_t i = 0; i < bits; ++i) {
        if (curve->form == COPRIME_MONTGOMERY || i >= 32 * words_of(curve) ||
            !(curve->p[i / 32] >> i % 32 & 1)) {
            return 0;
        }
    }
    return bits;
}

uint32_t coprime_curve_radix(const struct coprime *driver,
                             const struct coprime_curve_constants *curve)
{
    return radix_exponent(driver, curve->length) - bits_less(driver, curve->curve);
}

/* Bits of a tooth with at least so many columns. The accelerator finds a tooth's digits by the length
   of the exponent: the highest of them must have a bit of it. */
static uint32_t tooth_of(const struct coprime *driver, uint32_t columns)
{
    const uint32_t width = driver->digit_width, headroom = driver->headroom % width;

    for (;; ++columns) {
        const uint32_t digits = (TEETH * columns + headroom + width - 1) / width;

        if ((digits + TEETH - 1) / TEETH == (columns + width - 1) / width) {
            return columns;
        }
    }
}

/* The same of the comb: all teeth have a bit more than the length, and what blinds a scalar. A sum of
   points is special where a number of them reaches n: on a curve of Weierstrass form that must be in
   the last two columns, if nothing is blinded, or there is no comb. */
static uint32_t comb_tooth(const struct coprime *driver,
                           const struct coprime_curve_constants *curve)
{
    const uint32_t tooth = tooth_of(driver, (curve->length + TEETH) / TEETH);
    const bool fits = (TEETH - 1) * tooth + 4 <= curve->n.bits;

    if (curve->curve->form != COPRIME_EDWARDS && !fits) {
        return 0;
    }
    return tooth_of(driver, (curve->length + more_comb_bits(driver, curve) + TEETH) / TEETH);
}

static uint32_t *take(struct coprime_memory *memory, uint32_t count)
{
    uint32_t *const words = memory->words;

    memory->words += count;
    memory->count -= count;
    return words;
}

/* The constants of p or n, but for the power. */
static int make_modulus(const struct coprime *driver, const struct coprime_curve *curve,
                        const uint32_t *value, struct coprime_modulus *modulus)
{
    const uint32_t count = words_of(curve);

    modulus->value = value;
    modulus->bits = coprime_bit_length(value, count);
    if (modulus->bits > curve->bits) {
        return COPRIME_ERROR_KEY_EXCESS;
    }
    if (modulus->bits < 3) { /* odd, and over 3 */
        return COPRIME_ERROR_OPERAND_RANGE;
    }
    if (!(value[0] & 1)) {
        return COPRIME_ERROR_MODULUS_EVEN;
    }
    coprime_negative_inverse(modulus->inverse, driver->digit_width, value, count);
    return COPRIME_ERROR_NONE;
}

/* number = 2^exponent modulo p or n, with zeros up to the words of the curve. */
static uint32_t *make_power(const struct coprime_curve *curve,
                            const struct coprime_modulus *modulus, uint32_t exponent,
                            struct coprime_memory *memory)
{
    uint32_t *const number = take(memory, words_of(curve));

    set(number, 0, words_of(curve));
    coprime_power_of_two(number, exponent, modulus->value, modulus->bits);
    return number;
}

/* A modulus less 2: the exponent of an inversion. */
static uint32_t *make_less_2(const struct coprime_curve *curve,
                             const struct coprime_modulus *modulus, struct coprime_memory *memory)
{
    uint32_t *const number = take(memory, words_of(curve));
    uint32_t borrow = 2;

    for (uint32_t i = 0; i < words_of(curve); ++i) {
        number[i] = modulus->value[i] - borrow;
        borrow = modulus->value[i] < borrow;
    }
    return number;
}

int coprime_curve_constants(struct coprime *driver, const struct coprime_curve *curve,
                            struct coprime_curve_constants *made, struct coprime_memory *memory)
{
    const bool has_points = curve->form != COPRIME_MONTGOMERY;
    const enum coprime_command command =
        curve->form == COPRIME_WEIERSTRASS ? COPRIME_COMMAND_EC_MULTIPLY :
        curve->form == COPRIME_EDWARDS     ? COPRIME_COMMAND_ED_BASE_MULTIPLY :
                                             COPRIME_COMMAND_X_MULTIPLY;
    uint32_t least, exponent;
    int error;

    if (!knows(driver, command)) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    if (memory->count < COPRIME_CURVE_MEMORY(curve->bits)) {
        return COPRIME_ERROR_MEMORY;
    }
    *made = (struct coprime_curve_constants){.curve = curve};
    error = make_modulus(driver, curve, curve->p, &made->p);
    if (!error && has_points) {
        error = make_modulus(driver, curve, curve->n, &made->n);
    }
    if (error) {
        return error;
    }
    if (made->p.bits < curve->bits && !(has_points && made->n.bits == curve->bits)) {
        return COPRIME_ERROR_MODULUS_SHORT;
    }
    /* The digits that are left are those of the shortest modulus. */
    least = driver->min_bits + bits_less(driver, curve);
    made->length = curve->bits > least ? curve->bits : least;
    if (has_points ? made->length > driver->max_prime_bits ||
                         driver->half_bits + made->length > driver->max_bits :
                     made->length > driver->max_bits) {
        return COPRIME_ERROR_LENGTH_OVER;
    }
    exponent = radix_exponent(driver, made->length);
    made->p.power = make_power(curve, &made->p, 2 * coprime_curve_radix(driver, made), memory);
    if (has_points) {
        made->tooth = comb_tooth(driver, made);
        made->n.power = make_power(curve, &made->n, 2 * exponent, memory);
        made->half = make_power(curve, &made->n, 2 * exponent - 1, memory);
        made->p_less_2 = make_less_2(curve, &made->p, memory);
        made->n_less_2 = make_less_2(curve, &made->n, memory);
    }
    return COPRIME_ERROR_NONE;
}

/* number = number less the modulus, where it is not below it, for a number below twice the modulus
   with the carry of the sum that it is. */
static void reduce(uint32_t *number, uint32_t carry, const uint32_t *modulus, uint32_t count)
{
    const uint32_t borrow = subtract(number, modulus, count);

    (void)add(number, modulus, mask_of(borrow & (carry ^ 1)), 0, count);
}

/* number = 2^(t j) modulo n, for a tooth of t bits. */
static void tooth_scalar(const struct coprime_curve_constants *curve, uint32_t *number, uint32_t j)
{
    set(number, 0, words_of(curve->curve));
    coprime_power_of_two(number, j * curve->tooth, curve->n.value, curve->n.bits);
}

/* number = 2^(3 t) and plus or minus 2^(t j) of the lower teeth j, modulo n, for a tooth of t bits: the
   highest bit of the index is 1 where that of j = 0 is added, and so on. */
static void comb_scalar(const struct coprime_curve_constants *curve, uint32_t *number,
                        uint32_t *scratch, uint32_t index)
{
    const uint32_t count = words_of(curve->curve), *const n = curve->n.value;

    tooth_scalar(curve, number, TEETH - 1);
    for (uint32_t j = 0; j < TEETH - 1; ++j) {
        tooth_scalar(curve, scratch, j);
        if (index >> (TEETH - 2 - j) & 1) {
            reduce(number, add(number, scratch, ~(uint32_t)0, 0, count), n, count);
        } else {
            (void)add(number, n, mask_of(subtract(number, scratch, count)), 0, count);
        }
    }
}

/* A number of the table into Montgomery form. */
static void to_form(const struct coprime *driver, const struct coprime_curve_constants *curve,
                    uint32_t *number)
{
    coprime_double_often(number, 0, coprime_curve_radix(driver, curve), curve->p.value,
                         COPRIME_WORDS(curve->p.bits));
}

/* The engine's ladder multiplies the base point by what a point of the table is of it. */
static int weierstrass_table(struct coprime *driver, const struct coprime_curve_constants *curve,
                             uint32_t *table, uint32_t *scratch)
{
    const struct coprime_curve *const named = curve->curve;
    const uint32_t count = words_of(named);

    for (uint32_t i = 0; i < POINTS; ++i) {
        uint32_t *const x = table + 2 * i * count, *const y = x + count;

        copy(x, named->gx, count);
        copy(y, named->gy, count);
        if (curve->tooth) {
            int error;

            comb_scalar(curve, x, scratch, i);
            error = coprime_ec_multiply(driver, curve, x, named->gx, named->gy, x, y);
            if (error) {
                return error;
            }
        }
        to_form(driver, curve, x);
        to_form(driver, curve, y);
    }
    return COPRIME_ERROR_NONE;
}

/* Numbers modulo p while a table of Edwards form is made. */
enum field_number {
    X1, Y1, Z1, X2, Y2, Z2, X3, Y3, Z3, T_A, T_B, T_C, T_D, T_E, T_F, T_G, T_H, T_I,
    CURVE_A, CURVE_D, HALF, ZERO,
    TOOTH, /* X, Y and Z of each tooth */
    POWER = TOOTH + 3 * TEETH,
    FIELD_NUMBERS,
};

enum field_operation { PRODUCT, SUM, DIFFERENCE };

/* The second number of a sum or a difference has another place than the result. */
struct field_step {
    enum field_operation operation;
    enum field_number to, x, y;
};

/* X3 : Y3 : Z3 is the sum of two points, also of a point and itself. Bernstein, Birkner, Joye, Lange,
   Peters, Twisted Edwards curves (2008), section 6. */
static const struct field_step ADD_POINTS[] = {
    {PRODUCT, T_A, Z1, Z2},      {PRODUCT, T_B, T_A, T_A},    {PRODUCT, T_C, X1, X2},
    {PRODUCT, T_D, Y1, Y2},      {PRODUCT, T_E, T_C, T_D},    {PRODUCT, T_E, T_E, CURVE_D},
    {DIFFERENCE, T_F, T_B, T_E}, {SUM, T_G, T_B, T_E},        {SUM, T_H, X1, Y1},
    {SUM, T_I, X2, Y2},          {PRODUCT, T_H, T_H, T_I},    {DIFFERENCE, T_H, T_H, T_C},
    {DIFFERENCE, T_H, T_H, T_D}, {PRODUCT, T_H, T_H, T_F},    {PRODUCT, X3, T_A, T_H},
    {PRODUCT, T_C, T_C, CURVE_A}, {DIFFERENCE, T_D, T_D, T_C}, {PRODUCT, T_D, T_D, T_G},
    {PRODUCT, Y3, T_A, T_D},     {PRODUCT, Z3, T_F, T_G},
};

/* T_A, T_B and T_C are (y - x) / 2, (y + x) / 2 and d x y of X1 : Y1 : Z1; Z2 is 1 / Z1. */
static const struct field_step OF_TABLE[] = {
    {PRODUCT, X1, X1, Z2},       {PRODUCT, Y1, Y1, Z2},       {DIFFERENCE, T_A, Y1, X1},
    {PRODUCT, T_A, T_A, HALF},   {SUM, T_B, Y1, X1},          {PRODUCT, T_B, T_B, HALF},
    {PRODUCT, T_C, X1, Y1},      {PRODUCT, T_C, T_C, CURVE_D},
};

struct field {
    struct coprime *driver;
    const struct coprime_curve_constants *curve;
    uint32_t *numbers; /* `count` words each */
    uint32_t count;
};

static uint32_t *at(const struct field *field, uint32_t number)
{
    return field->numbers + number * field->count;
}

static int compute(const struct field *field, const struct field_step *steps, uint32_t count)
{
    int error = COPRIME_ERROR_NONE;

    for (uint32_t i = 0; i < count && !error; ++i) {
        uint32_t *const to = at(field, steps[i].to);
        const uint32_t *const other = at(field, steps[i].y);

        if (steps[i].operation == PRODUCT) {
            error = coprime_modmul(field->driver, at(field, steps[i].x), other, to);
            continue;
        }
        copy(to, at(field, steps[i].x), field->count);
        if (steps[i].operation == SUM) {
            reduce(to, add(to, other, ~(uint32_t)0, 0, field->count), field->curve->p.value,
                   field->count);
        } else {
            (void)add(to, field->curve->p.value, mask_of(subtract(to, other, field->count)), 0,
                      field->count);
        }
    }
    return error;
}

/* X1 : Y1 : Z1 = the sum of it and X2 : Y2 : Z2. */
static int add_points(const struct field *field)
{
    const int error = compute(field, ADD_POINTS, sizeof ADD_POINTS / sizeof *ADD_POINTS);

    copy(at(field, X1), at(field, X3), 3 * field->count);
    return error;
}

/* The three numbers of X1 : Y1 : Z1 as a table has them: to two places. */
static int enter_point(const struct field *field, uint32_t *pair, uint32_t *third)
{
    const struct coprime_curve_constants *const curve = field->curve;
    int error = coprime_modexp(field->driver, at(field, Z1), curve->p_less_2, curve->p.bits,
                               at(field, Z2));

    if (!error) {
        error = compute(field, OF_TABLE, sizeof OF_TABLE / sizeof *OF_TABLE);
    }
    for (uint32_t i = T_A; i <= T_C; ++i) {
        to_form(field->driver, curve, at(field, i));
    }
    copy(pair, at(field, T_A), 2 * field->count);
    copy(third, at(field, T_C), field->count);
    return error;
}

/* The teeth: the base point, and what is 2^t times the one before, for a tooth of t bits. */
static int make_teeth(const struct field *field)
{
    const struct coprime_curve *const named = field->curve->curve;
    int error = COPRIME_ERROR_NONE;

    copy(at(field, X1), named->gx, field->count);
    copy(at(field, Y1), named->gy, field->count);
    set(at(field, Z1), 1, field->count);
    for (uint32_t j = 0; j < TEETH && !error; ++j) {
        for (uint32_t i = 0; j > 0 && i < field->curve->tooth && !error; ++i) {
            copy(at(field, X2), at(field, X1), 3 * field->count);
            error = add_points(field);
        }
        copy(at(field, TOOTH + 3 * j), at(field, X1), 3 * field->count);
    }
    return error;
}

/* The accelerator multiplies modulo p, and software adds points of these products. */
static int edwards_table(struct coprime *driver, const struct coprime_curve_constants *curve,
                         uint32_t *table, uint32_t *scratch)
{
    const struct coprime_curve *const named = curve->curve;
    const struct field field = {driver, curve, scratch, words_of(named)};
    const uint32_t count = field.count;
    struct coprime_modulus p = curve->p;
    int error;

    set(scratch, 0, FIELD_NUMBERS * count);
    coprime_power_of_two(at(&field, POWER), 2 * radix_exponent(driver, told(driver, p.bits)),
                         p.value, p.bits);
    p.power = at(&field, POWER);
    copy(at(&field, CURVE_A), named->a, count);
    copy(at(&field, CURVE_D), named->b, count);
    copy(at(&field, HALF), p.value, count); /* (p + 1) / 2 */
    shift_right(at(&field, HALF), 0, count);
    set(at(&field, T_A), 1, count);
    (void)add(at(&field, HALF), at(&field, T_A), ~(uint32_t)0, 0, count);
    error = coprime_load_modulus(driver, &p);
    if (!error) {
        error = make_teeth(&field);
    }
    for (uint32_t i = 0; i <= POINTS && !error; ++i) {
        const uint32_t first = i < POINTS ? TEETH - 1 : 0; /* the last one is the base point */

        copy(at(&field, X1), at(&field, TOOTH + 3 * first), 3 * count);
        for (uint32_t j = 0; j < first && !error; ++j) {
            const struct field_step negate = {DIFFERENCE, X2, ZERO,
                                              (enum field_number)(TOOTH + 3 * j)};

            copy(at(&field, X2), at(&field, TOOTH + 3 * j), 3 * count);
            if (!(i >> (TEETH - 2 - j) & 1)) {
                (void)compute(&field, &negate, 1);
            }
            error = add_points(&field);
        }
        if (!error) {
            error = enter_point(&field, table + (i < POINTS ? 2 * i : BASE) * count,
                                table + (i < POINTS ? 2 * POINTS + i : BASE + 2) * count);
        }
    }
    return error;
}

int coprime_curve_table(struct coprime *driver, struct coprime_curve_constants *made,
                        struct coprime_memory *memory)
{
    const bool is_edwards = made->curve->form == COPRIME_EDWARDS;
    const uint32_t numbers = is_edwards ? BASE + 3 : 2 * POINTS;
    const uint32_t count = words_of(made->curve);
    int error;

    made->table = NULL;
    if (made->curve->form == COPRIME_MONTGOMERY) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    if (memory->count < (is_edwards ? COPRIME_EDWARDS_TABLE_MEMORY(made->curve->bits) :
                                      COPRIME_TABLE_MEMORY(made->curve->bits))) {
        return COPRIME_ERROR_MEMORY;
    }
    error = (is_edwards ? edwards_table : weierstrass_table)(driver, made, memory->words,
                                                             memory->words + numbers * count);
    if (!error) {
        made->table = take(memory, numbers * count);
    }
    return error;
}

/* Weierstrass form. */

int coprime_ec_multiply(struct coprime *driver, const struct coprime_curve_constants *curve,
                        const uint32_t *k, const uint32_t *x, const uint32_t *y, uint32_t *x_out,
                        uint32_t *y_out)
{
    const enum coprime_command command = COPRIME_COMMAND_EC_MULTIPLY;
    const uint32_t longer = ladder_bits(driver, curve);
    const uint32_t bits = curve->length + longer + 1; /* for a multiple of n that is added */
    int error;

    if (!(is_short(curve, k) && is_short(curve, x) && is_short(curve, y))) {
        return COPRIME_ERROR_OPERAND_RANGE;
    }
    error = load_curve(driver, curve, command, bits);
    if (!error) {
        error = load_scaling(driver, curve, curve->n.bits + longer, NULL);
    }
    if (!error) {
        error = load_number(driver, curve, COPRIME_OPERAND_E, k, bits);
    }
    if (!error) {
        error = run(driver, curve, command, x, y, x_out, y_out);
    }
    return check_point(driver, curve, x_out, y_out, error);
}

/* k times the base point, of either form. */
static int base_multiply(struct coprime *driver, const struct coprime_curve_constants *curve,
                         enum coprime_command command, const uint32_t *k, uint32_t *x_out,
                         uint32_t *y_out)
{
    int error;

    if (!is_short(curve, k)) {
        return COPRIME_ERROR_OPERAND_RANGE;
    }
    error = load_base(driver, curve, command);
    if (!error) {
        error = load_number(driver, curve, COPRIME_OPERAND_E, k, comb_bits(driver, curve));
    }
    return error ? error : run(driver, curve, command, NULL, NULL, x_out, y_out);
}

int coprime_ec_base_multiply(struct coprime *driver, const struct coprime_curve_constants *curve,
                             const uint32_t *k, uint32_t *x_out, uint32_t *y_out)
{
    const int error =
        base_multiply(driver, curve, COPRIME_COMMAND_EC_BASE_MULTIPLY, k, x_out, y_out);

    return check_point(driver, curve, x_out, y_out, error);
}

void coprime_ecdsa_hash(const struct coprime_curve_constants *curve, const uint8_t *digest,
                        size_t size, uint32_t *z)
{
    const uint32_t count = words_of(curve->curve), bits = curve->n.bits;
    const size_t taken = size < (bits + 7) / 8 ? size : (bits + 7) / 8;

    (void)coprime_from_bytes(z, count, digest, taken);
    for (size_t excess = bits; excess < 8 * taken; ++excess) {
        shift_right(z, 0, count);
    }
    /* Below 2^bits, and so below 2 n. */
    (void)add(z, curve->n.value, mask_of(subtract(z, curve->n.value, count)), 0, count);
}

/* A signature; a null k is one that the engine draws. */
static int sign(struct coprime *driver, const struct coprime_curve_constants *curve,
                const uint32_t *d, const uint32_t *z, const uint32_t *k, uint32_t *r, uint32_t *s)
{
    const enum coprime_command command =
        k ? COPRIME_COMMAND_ECDSA_SIGN_WITH : COPRIME_COMMAND_ECDSA_SIGN;
    int error;

    if (!(is_short(curve, d) && is_short(curve, z) && (k == NULL || is_short(curve, k)))) {
        return COPRIME_ERROR_OPERAND_RANGE;
    }
    error = load_base(driver, curve, command);
    if (!error) {
        error = load_number(driver, curve, COPRIME_OPERAND_SECRET, d, curve->length);
    }
    if (!error) {
        error = coprime_load(driver, COPRIME_OPERAND_E, k, k ? words_of(curve->curve) : 0,
                             comb_bits(driver, curve));
    }
    return error ? error : run(driver, curve, command, z, NULL, r, s);
}

int coprime_ecdsa_sign(struct coprime *driver, const struct coprime_curve_constants *curve,
                       const uint32_t *d, const uint32_t *z, uint32_t *r, uint32_t *s)
{
    return sign(driver, curve, d, z, NULL, r, s);
}

int coprime_ecdsa_sign_with(struct coprime *driver, const struct coprime_curve_constants *curve,
                            const uint32_t *d, const uint32_t *z, const uint32_t *k, uint32_t *r,
                            uint32_t *s)
{
    return sign(driver, curve, d, z, k, r, s);
}

int coprime_ecdsa_verify(struct coprime *driver, const struct coprime_curve_constants *curve,
                         const uint32_t *x, const uint32_t *y, const uint32_t *z, const uint32_t *r,
                         const uint32_t *s)
{
    const enum coprime_command command = COPRIME_COMMAND_ECDSA_VERIFY;
    int error;

    if (!(is_short(curve, x) && is_short(curve, y) && is_short(curve, z) && is_short(curve, r) &&
          is_short(curve, s))) {
        return COPRIME_ERROR_OPERAND_RANGE;
    }
    error = load_base(driver, curve, command);
    if (!error) {
        error = load_pair(driver, curve, COPRIME_OPERAND_POINT, x, y);
    }
    if (!error) {
        error = load_number(driver, curve, COPRIME_OPERAND_E, z, comb_bits(driver, curve));
    }
    return error ? error : verify(driver, curve, command, r, s);
}

/* Edwards form. */

int coprime_ed_base_multiply(struct coprime *driver, const struct coprime_curve_constants *curve,
                             const uint32_t *k, uint32_t *x_out, uint32_t *y_out)
{
    return base_multiply(driver, curve, COPRIME_COMMAND_ED_BASE_MULTIPLY, k, x_out, y_out);
}

int coprime_ed_finish(struct coprime *driver, const struct coprime_curve_constants *curve,
                      const uint32_t *r, const uint32_t *h, const uint32_t *a, uint32_t *s)
{
    const enum coprime_command command = COPRIME_COMMAND_ED_FINISH;
    int error;

    if (!(is_short(curve, r) && is_short(curve, h) && is_short(curve, a))) {
        return COPRIME_ERROR_OPERAND_RANGE;
    }
    error = load_curve(driver, curve, command, curve->length + 1);
    if (!error) {
        error = load_scaling(driver, curve, curve->n.bits, NULL);
    }
    if (!error) {
        error = load_number(driver, curve, COPRIME_OPERAND_SECRET, a, curve->length);
    }
    return error ? error : run(driver, curve, command, r, h, s, NULL);
}

/* Whether a number, which is public, is below n. */
static bool is_below_order(const struct coprime_curve_constants *curve, const uint32_t *number)
{
    uint32_t borrow = 0;

    for (uint32_t i = 0; i < words_of(curve->curve); ++i) {
        borrow = (uint32_t)(((uint64_t)number[i] - curve->n.value[i] - borrow) >> 32) & 1;
    }
    return borrow;
}

/* The digits of a number's non-adjacent form, -1, 0 and 1, the lowest one first. They are the bits of
   3 k less those of k, from the second one on: `carry` is that of the sum k + 2 k. */
struct signed_digits {
    const uint32_t *number;
    uint32_t count, carry;
};

static uint32_t bit_of(const struct signed_digits *digits, uint32_t place)
{
    return place / 32 < digits->count ? digits->number[place / 32] >> place % 32 & 1 : 0;
}

static int next_digit(struct signed_digits *digits, uint32_t place)
{
    const uint32_t bit = bit_of(digits, place + 1), below = bit_of(digits, place);
    const uint32_t sum = bit + below + digits->carry;

    digits->carry = sum >> 1;
    return (int)(sum & 1) - (int)bit;
}

/* The bit of a tooth in a column with a digit of s and one of h: of the number of the point B, A,
   A + B, A - B or none in the table in the first three, inverted where that is subtracted, and in the
   fourth 1 where it is added. */
static uint32_t joint_bit(int of_s, int of_h, uint32_t tooth)
{
    const bool is_added = of_h > 0 || (of_h == 0 && of_s >= 0);
    const int sign = is_added ? 1 : -1;
    const uint32_t point = of_h == 0      ? (of_s == 0 ? 4u : 0u) :
                           of_s == 0      ? 1u :
                           of_s == of_h   ? 2u :
                                            3u;
    const uint32_t number = sign > 0 ? point : 7u - point;

    return tooth == 3 ? (uint32_t)is_added : number >> (2 - tooth) & 1;
}

/* Load the exponent of a verification. */
static int load_columns(struct coprime *driver, const struct coprime_curve_constants *curve,
                        const uint32_t *s, const uint32_t *h, uint32_t tooth)
{
    const uint32_t count = words_of(curve->curve), bits = TEETH * tooth;
    struct signed_digits of_s = {s, count, 0}, of_h = {h, count, 0};
    uint32_t word = 0;

    write(driver, COPRIME_KEY_OPERAND, COPRIME_OPERAND_E);
    for (uint32_t i = 0; i < bits; ++i) {
        const uint32_t column = i % tooth;

        if (column == 0) {
            of_s.carry = of_h.carry = 0;
        }
        /* Both digits are taken, whatever the first one is. */
        const int digit_of_s = next_digit(&of_s, column), digit_of_h = next_digit(&of_h, column);

        word |= joint_bit(digit_of_s, digit_of_h, i / tooth) << i % 32;
        if (i % 32 == 31 || i == bits - 1) {
            write(driver, COPRIME_KEY_DATA, word);
            word = 0;
        }
    }
    return coprime_flagged(driver);
}

int coprime_ed_verify(struct coprime *driver, const struct coprime_curve_constants *curve,
                      const uint32_t *x, const uint32_t *y, const uint32_t *h, const uint32_t *xr,
                      const uint32_t *yr, const uint32_t *s)
{
    const enum coprime_command command = COPRIME_COMMAND_ED_VERIFY;
    const uint32_t count = words_of(curve->curve), quarter = curve->length / TEETH;
    const uint32_t columns = curve->n.bits > quarter ? curve->n.bits : quarter;
    const uint32_t tooth = tooth_of(driver, columns + 1);
    const uint32_t *const base = curve->table + BASE * count;
    int error;

    if (curve->table == NULL) {
        return COPRIME_ERROR_OPERAND_MISSING;
    }
    if (!(is_short(curve, x) && is_short(curve, y) && is_short(curve, xr) && is_short(curve, yr) &&
          is_below_order(curve, h) && is_below_order(curve, s))) {
        return COPRIME_ERROR_OPERAND_RANGE;
    }
    error = load_curve(driver, curve, command, TEETH * tooth);
    if (!error) {
        error = load_scaling(driver, curve, curve->n.bits, NULL);
    }
    if (!error) {
        error = load_pair(driver, curve, COPRIME_OPERAND_TABLE_0, base, base + count);
    }
    if (!error) {
        error = load_pair(driver, curve, COPRIME_OPERAND_TABLE_8, base + 2 * count, NULL);
    }
    if (!error) {
        error = load_pair(driver, curve, COPRIME_OPERAND_POINT, x, y);
    }
    if (!error) {
        error = load_columns(driver, curve, s, h, tooth);
    }
    return error ? error : verify(driver, curve, command, xr, yr);
}

/* Montgomery form. */

/* Words of the longest p, 512 bits. */
enum { LONGEST = 16 };

/* Convert `size` bytes, least significant first. */
static void from_little(uint32_t *words, uint32_t count, const uint8_t *bytes, uint32_t size)
{
    set(words, 0, count);
    for (uint32_t i = 0; i < size; ++i) {
        words[i / 4] |= (uint32_t)bytes[i] << 8 * (i % 4);
    }
}

/* The function of RFC 7748; a null `u` is the base point. */
static int x_multiply(struct coprime *driver, const struct coprime_curve_constants *curve,
                      const uint8_t *scalar, const uint8_t *u, uint8_t *result)
{
    const uint32_t bits = curve->p.bits, count = COPRIME_WORDS(bits), size = (bits + 7) / 8;
    const uint32_t top = (bits - 1) / 32, above = ~(uint32_t)0 >> (31 - (bits - 1) % 32);
    uint32_t k[LONGEST], x[LONGEST];
    const struct coprime_input inputs[] = {{x, 0}, {k, curve->length}, {curve->curve->a, 0}};
    uint32_t any = 0;
    int error;

    if (curve->curve->form != COPRIME_MONTGOMERY) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    if (COPRIME_WORDS(curve->length) > LONGEST) {
        return COPRIME_ERROR_LENGTH_OVER;
    }
    from_little(k, LONGEST, scalar, size);
    k[0] &= 0u - curve->curve->cofactor;
    k[top] = (k[top] & above) | (uint32_t)1 << (bits - 1) % 32;
    extend(x, LONGEST, curve->curve->gx, count);
    if (u) {
        from_little(x, LONGEST, u, size);
        x[top] &= above;
        (void)add(x, curve->p.value, mask_of(subtract(x, curve->p.value, count)), 0, count);
    }
    error = coprime_load_modulus(driver, &curve->p);
    if (!error) {
        error = coprime_operate(driver, COPRIME_COMMAND_X_MULTIPLY, inputs, x);
    }
    coprime_clear(k, count);
    for (uint32_t i = 0; i < size && !error; ++i) {
        result[i] = (uint8_t)(x[i / 4] >> 8 * (i % 4) & 0xFFu);
        any |= result[i];
    }
    coprime_clear(x, count);
    return !error && !any ? COPRIME_ERROR_POINT : error;
}

int coprime_x_multiply(struct coprime *driver, const struct coprime_curve_constants *curve,
                       const uint8_t *scalar, const uint8_t *u, uint8_t *result)
{
    return x_multiply(driver, curve, scalar, u, result);
}

int coprime_x_public(struct coprime *driver, const struct coprime_curve_constants *curve,
                     const uint8_t *scalar, uint8_t *result)
{
    return x_multiply(driver, curve, scalar, NULL, result);
}
