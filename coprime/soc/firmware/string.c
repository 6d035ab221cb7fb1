#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    while (count--)
        *target++ = *source++;
    return to;
}

void *memmove(void *to, const void *from, size_t count)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    if (target <= source)
        return memcpy(to, from, count);
    while (count--)
        target[count] = source[count];
    return to;
}

void *memset(void *to, int value, size_t count)
{
    unsigned char *target = to;
    while (count--)
        *target++ = (unsigned char)value;
    return to;
}

int memcmp(const void *one, const void *other, size_t count)
{
    const unsigned char *first = one, *second = other;
    for (; count; --count, ++first, ++second)
        if (*first != *second)
            return *first < *second ? -1 : 1;
    return 0;
}
