/* The arithmetic of ml_kem.c and ml_dsa.c, for every number where that is possible, against division. */
#include <inttypes.h>
#include <stdio.h>

#ifdef CHECK_KEM
#include "ml_kem.c"

static int check(void)
{
    static const unsigned widths[] = {1, 4, 5, 10, 11};
    int wrong = 0;

    for (uint32_t number = 0; number < 1u << 24; ++number) {
        wrong += reduce(number) != number % Q;
    }
    for (unsigned i = 0; i < sizeof widths / sizeof *widths; ++i) {
        const unsigned bits = widths[i];

        for (uint32_t x = 0; x < Q; ++x) {
            wrong += compress((uint16_t)x, bits) != (2 * (x << bits) + Q) / (2 * Q) % (1u << bits);
        }
        for (uint32_t y = 0; y < 1u << bits; ++y) {
            wrong += decompress((uint16_t)y, bits) != (2 * y * Q + (1u << bits)) >> (bits + 1);
        }
    }
    return wrong;
}
#else
#include "ml_dsa.c"

static int check(void)
{
    int wrong = 0;

    for (int i = 0; i < 2; ++i) {
        const int32_t step = 2 * ml_dsa_sets[i].gamma2;

        for (int32_t number = 0; number < Q; ++number) { /* algorithm 36 as it is written */
            int32_t low = number % step > step / 2 ? number % step - step : number % step;
            const bool wraps = number - low == Q - 1;
            const uint32_t high = wraps ? 0 : (uint32_t)((number - low) / step);
            int32_t found;

            low -= wraps;
            wrong += decompose(&ml_dsa_sets[i], (uint32_t)number, &found) != high || found != low;
        }
    }
    for (uint32_t x = 0; x < Q; ++x) {
        const uint32_t y = (uint32_t)((uint64_t)x * 2654435761u % Q);

        wrong += multiply(x, y) != (uint64_t)x * y % Q || multiply(x, Q - 1) != (x ? Q - x : 0);
        wrong += to_signed(x) != (int32_t)x - (x > Q / 2 ? Q : 0) || from_signed(to_signed(x)) != x;
    }
    return wrong + (multiply(Q - 1, Q - 1) != 1);
}
#endif

int main(void)
{
    const int wrong = check();

    printf("%d wrong\n", wrong);
    return wrong != 0;
}
