#include "coprime_curves.h"
#include "coprime_arithmetic.h"
#include "coprime_engine.h"

/* Teeth of a comb, and points of its table: there are signs for all teeth but the highest one. */
enum { TEETH = 4, POINTS = 1 << (TEETH - 1) };

/* Two numbers of `count` words that are one operand, input or result of the engine: the second one is
   `half_bits` above the first. */
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

/* Bits of the exponent of a multiple of the base point. */
static uint32_t comb_bits(const struct coprime_curve_constants *curve)
{
    return curve->tooth ? TEETH * curve->tooth : curve->length + 1;
}

/* Load a curve with its table. */
static int load_base(struct coprime *driver, const struct coprime_curve_constants *curve,
                     enum coprime_command command)
{
    const uint32_t count = words_of(curve->curve), bits = comb_bits(curve);
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
    set(result->high, 0, count);
    for (uint32_t i = 0; i < COPRIME_WORDS(pair_bits(driver, curve)); ++i) {
        const uint32_t word = coprime_get_word(driver, i);

        if (i <= first && i < count) {
            result->low[i] = i < first ? word : word & (((uint32_t)1 << shift) - 1);
        }
        if (i >= first && i - first < count) {
            result->high[i - first] = word >> shift;
        }
        if (shift && i > first && i - first - 1 < count) {
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
        coprime_clear(high, x.count);
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

/* Constants. */

/* The exponent of two of R for numbers modulo p. Where -p^-1 is 1 modulo a digit's range, those of a
   field of points have a digit less than their length says. */
static uint32_t field_radix(const struct coprime *driver,
                            const struct coprime_curve_constants *curve)
{
    const bool is_less = curve->curve->form != COPRIME_MONTGOMERY &&
                          difference_from(curve->p.inverse, 1, COPRIME_DIGIT_WORDS) == 0;

    return radix_exponent(driver, curve->length) - (is_less ? driver->digit_width : 0);
}

/* Bits of a tooth, in whole digits: all teeth have a bit more than n. A sum of points is special
   where a number of them reaches n: on a curve of Weierstrass form that must be in the last columns,
   or there is no comb. */
static uint32_t tooth_of(const struct coprime *driver, const struct coprime_curve_constants *curve)
{
    const uint32_t bits = curve->n.bits, digits = TEETH * driver->digit_width;
    const uint32_t tooth = (bits + digits) / digits * driver->digit_width;

    return curve->curve->form == COPRIME_EDWARDS || (TEETH - 1) * tooth + 4 <= bits ? tooth : 0;
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
    uint32_t least = driver->min_bits, exponent;
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
    if (has_points && difference_from(made->p.inverse, 1, COPRIME_DIGIT_WORDS) == 0) {
        least += driver->digit_width; /* the digits that are left are those of the shortest modulus */
    }
    made->length = curve->bits > least ? curve->bits : least;
    if (has_points ? made->length > driver->max_prime_bits ||
                         driver->half_bits + made->length > driver->max_bits :
                     made->length > driver->max_bits) {
        return COPRIME_ERROR_LENGTH_OVER;
    }
    exponent = radix_exponent(driver, made->length);
    made->p.power = make_power(curve, &made->p, 2 * field_radix(driver, made), memory);
    if (has_points) {
        made->tooth = tooth_of(driver, made);
        made->n.power = make_power(curve, &made->n, 2 * exponent, memory);
        made->half = make_power(curve, &made->n, 2 * exponent - 1, memory);
        made->p_less_2 = make_less_2(curve, &made->p, memory);
        made->n_less_2 = make_less_2(curve, &made->n, memory);
    }
    return COPRIME_ERROR_NONE;
}

/* number = 2^(3 t) and plus or minus 2^(t j) of the lower teeth j, for a tooth of t bits: the highest
   bit of the index is 1 where that of j = 0 is added, and so on. */
static void comb_scalar(uint32_t *number, uint32_t *scratch, uint32_t tooth, uint32_t index,
                        uint32_t count)
{
    set(number, 0, count);
    number[(TEETH - 1) * tooth / 32] = (uint32_t)1 << (TEETH - 1) * tooth % 32;
    for (uint32_t j = 0; j < TEETH - 1; ++j) {
        set(scratch, 0, count);
        scratch[j * tooth / 32] = (uint32_t)1 << j * tooth % 32;
        if (index >> (TEETH - 2 - j) & 1) {
            (void)add(number, scratch, ~(uint32_t)0, 0, count);
        } else {
            (void)subtract(number, scratch, count);
        }
    }
}

/* A number of the table into Montgomery form. */
static void to_form(const struct coprime *driver, const struct coprime_curve_constants *curve,
                    uint32_t *number)
{
    coprime_double_often(number, 0, field_radix(driver, curve), curve->p.value,
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

            comb_scalar(x, scratch, curve->tooth, i, count);
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

int coprime_curve_table(struct coprime *driver, struct coprime_curve_constants *made,
                        struct coprime_memory *memory)
{
    const uint32_t count = words_of(made->curve);
    int error;

    made->table = NULL;
    if (made->curve->form != COPRIME_WEIERSTRASS) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    if (memory->count < COPRIME_TABLE_MEMORY(made->curve->bits)) {
        return COPRIME_ERROR_MEMORY;
    }
    error = weierstrass_table(driver, made, memory->words, memory->words + 2 * POINTS * count);
    if (!error) {
        made->table = take(memory, 2 * POINTS * count);
    }
    return error;
}

/* Weierstrass form. */

int coprime_ec_multiply(struct coprime *driver, const struct coprime_curve_constants *curve,
                        const uint32_t *k, const uint32_t *x, const uint32_t *y, uint32_t *x_out,
                        uint32_t *y_out)
{
    const enum coprime_command command = COPRIME_COMMAND_EC_MULTIPLY;
    const uint32_t bits = curve->length + 1; /* for a multiple of n that is added */
    int error;

    if (!(is_short(curve, k) && is_short(curve, x) && is_short(curve, y))) {
        return COPRIME_ERROR_OPERAND_RANGE;
    }
    error = load_curve(driver, curve, command, bits);
    if (!error) {
        error = load_scaling(driver, curve, curve->n.bits, NULL);
    }
    if (!error) {
        error = load_number(driver, curve, COPRIME_OPERAND_E, k, bits);
    }
    return error ? error : run(driver, curve, command, x, y, x_out, y_out);
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
        error = load_number(driver, curve, COPRIME_OPERAND_E, k, comb_bits(curve));
    }
    return error ? error : run(driver, curve, command, NULL, NULL, x_out, y_out);
}

int coprime_ec_base_multiply(struct coprime *driver, const struct coprime_curve_constants *curve,
                             const uint32_t *k, uint32_t *x_out, uint32_t *y_out)
{
    return base_multiply(driver, curve, COPRIME_COMMAND_EC_BASE_MULTIPLY, k, x_out, y_out);
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
                enum coprime_command command, const uint32_t *d, const uint32_t *z,
                const uint32_t *k, uint32_t *r, uint32_t *s)
{
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
                             comb_bits(curve));
    }
    return error ? error : run(driver, curve, command, z, NULL, r, s);
}

int coprime_ecdsa_sign(struct coprime *driver, const struct coprime_curve_constants *curve,
                       const uint32_t *d, const uint32_t *z, uint32_t *r, uint32_t *s)
{
    return sign(driver, curve, COPRIME_COMMAND_ECDSA_SIGN, d, z, NULL, r, s);
}

int coprime_ecdsa_sign_with(struct coprime *driver, const struct coprime_curve_constants *curve,
                            const uint32_t *d, const uint32_t *z, const uint32_t *k, uint32_t *r,
                            uint32_t *s)
{
    return sign(driver, curve, COPRIME_COMMAND_ECDSA_SIGN_WITH, d, z, k, r, s);
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
        error = load_number(driver, curve, COPRIME_OPERAND_E, z, comb_bits(curve));
    }
    return error ? error : verify(driver, curve, command, r, s);
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
