#include "unpad.h"

uint32_t unpad(const uint8_t *bytes, uint32_t size)
{
    uint32_t place = 0, looking = 1;
    for (uint32_t i = 2; i < size; ++i) {
        const uint32_t zero = (bytes[i] - 1u) >> 31;
        place |= (i + 1) & (0u - (looking & zero));
        looking &= ~zero;
    }
    const uint32_t wrong = bytes[0] | (bytes[1] ^ 2u) | looking | ((place - 11u) >> 31);
    return place & (0u - ((wrong - 1u) >> 31));
}
