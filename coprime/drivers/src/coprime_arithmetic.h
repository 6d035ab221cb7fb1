/* Arithmetic of the driver's sources, not for its users.

   Numbers of `count` words. Neither the time nor the addresses depend on their values. A mask is
   all ones or zero. */
#ifndef COPRIME_ARITHMETIC_H
#define COPRIME_ARITHMETIC_H

#include <stdint.h>

/* Turn a bit into a mask. A volatile object prevents the compiler from finding out that there are
   only two masks, and from using a branch. */
static inline uint32_t mask_of(uint32_t bit)
{
    volatile uint32_t hidden = bit;

    return 0u - hidden;
}

static inline void copy(uint32_t *to, const uint32_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        to[i] = from[i];
    }
}

/* to = from, of `count` and `from_count` words. */
static inline void extend(uint32_t *to, uint32_t count, const uint32_t *from, uint32_t from_count)
{
    for (uint32_t i = 0; i < count; ++i) {
        to[i] = i < from_count ? from[i] : 0;
    }
}

static inline void set(uint32_t *number, uint32_t value, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        number[i] = i == 0 ? value : 0;
    }
}

/* number = (number + top * 2^(32 * count)) / 2, rounded down. */
static inline void shift_right(uint32_t *number, uint32_t top, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;) {
        const uint32_t word = number[i];

        number[i] = word >> 1 | top << 31;
        top = word & 1;
    }
}

/* number += other & mask, plus carry; returns the carry. */
static inline uint32_t add(uint32_t *number, const uint32_t *other, uint32_t mask, uint32_t carry,
                    uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t sum = (uint64_t)number[i] + (other[i] & mask) + carry;

        number[i] = (uint32_t)sum;
        carry = (uint32_t)(sum >> 32);
    }
    return carry;
}

/* number -= other & mask; returns the borrow. */
static inline uint32_t subtract_if(uint32_t mask, uint32_t *number, const uint32_t *other,
                                   uint32_t count)
{
    uint32_t borrow = 0;

    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t difference = (uint64_t)number[i] - (other[i] & mask) - borrow;

        number[i] = (uint32_t)difference;
        borrow = (uint32_t)(difference >> 32) & 1;
    }
    return borrow;
}

/* number -= other; returns the borrow. */
static inline uint32_t subtract(uint32_t *number, const uint32_t *other, uint32_t count)
{
    return subtract_if(~(uint32_t)0, number, other, count);
}

/* The bits in which a number differs from the word `value`, combined over all words; 0 if equal. */
static inline uint32_t difference_from(const uint32_t *number, uint32_t value, uint32_t count)
{
    uint32_t difference = count == 0 ? value : 0;

    for (uint32_t i = 0; i < count; ++i) {
        difference |= number[i] ^ (i == 0 ? value : 0);
    }
    return difference;
}

#endif
