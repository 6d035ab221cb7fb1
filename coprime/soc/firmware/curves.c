/* Public keys whose private ones stand in RFCs: TEST KEYS, which protect nothing. */
#ifdef SYSTEM_CURVES
#include "curves.h"
#include "coprime_curves.h"

enum { BITS = 256, WORDS = COPRIME_WORDS(BITS) };

static uint32_t words[COPRIME_CURVE_MEMORY(BITS)];

static int constants(struct coprime *driver, const struct coprime_curve *curve,
                     struct coprime_curve_constants *made)
{
    struct coprime_memory memory = {words, sizeof words / sizeof *words};
    return coprime_curve_constants(driver, curve, made, &memory);
}

/* RFC 6979, appendix A.2.5: the private key x, and its public key. */
static int of_p_256(struct coprime *driver)
{
    static const uint32_t key[WORDS] = {0x120F6721, 0x7B8A622B, 0x36E89B12, 0x4E50C3DB,
                                        0x67B1D693, 0x6B5C2157, 0x45BA7516, 0xC9AFA9D8};
    static const uint32_t expected[2 * WORDS] = {
        0x60F29FB6, 0xE669622E, 0x3B61FA6C, 0xC049B892, 0xC6356D68, 0xC961EB74, 0x255A9D31,
        0x60FED4BA, 0xD4462299, 0x77A3C294, 0x2D7E9F51, 0xF2F1B20C, 0x5628BC64, 0xA41AE9E9,
        0x08B8BC99, 0x7903FE10};
    const struct coprime_curve *const curve = &coprime_p_256;
    struct coprime_curve_constants made;
    uint32_t found[2 * WORDS], differs = 0;
    int error = constants(driver, curve, &made);
    if (!error)
        error = coprime_ec_multiply(driver, &made, key, curve->gx, curve->gy, found, found + WORDS);
    if (error)
        return error;
    for (int i = 0; i < 2 * WORDS; ++i)
        differs |= found[i] ^ expected[i];
    return differs ? COPRIME_ERROR_SIGNATURE : 0;
}

/* RFC 7748, section 6.1: Alice's private key, and her public key. */
static int of_x25519(struct coprime *driver)
{
    static const uint8_t key[] = {0x77, 0x07, 0x6d, 0x0a, 0x73, 0x18, 0xa5, 0x7d, 0x3c, 0x16, 0xc1,
                                  0x72, 0x51, 0xb2, 0x66, 0x45, 0xdf, 0x4c, 0x2f, 0x87, 0xeb, 0xc0,
                                  0x99, 0x2a, 0xb1, 0x77, 0xfb, 0xa5, 0x1d, 0xb9, 0x2c, 0x2a};
    static const uint8_t expected[] = {
        0x85, 0x20, 0xf0, 0x09, 0x89, 0x30, 0xa7, 0x54, 0x74, 0x8b, 0x7d, 0xdc, 0xb4, 0x3e, 0xf7, 0x5a,
        0x0d, 0xbf, 0x3a, 0x0d, 0x26, 0x38, 0x1a, 0xf4, 0xeb, 0xa4, 0xa9, 0x8e, 0xaa, 0x9b, 0x4e, 0x6a};
    struct coprime_curve_constants made;
    uint8_t found[sizeof expected], differs = 0;
    int error = constants(driver, &coprime_x25519, &made);
    if (!error)
        error = coprime_x_public(driver, &made, key, found);
    if (error)
        return error;
    for (unsigned i = 0; i < sizeof expected; ++i)
        differs |= found[i] ^ expected[i];
    return differs ? COPRIME_ERROR_SIGNATURE : 0;
}

const struct known_answer known_answers[] = {
    {"P-256", COPRIME_COMMAND_EC_MULTIPLY, of_p_256},
    {"X25519", COPRIME_COMMAND_X_MULTIPLY, of_x25519},
    {0},
};
#endif
