/* PKCS #1 v1.5, section 7.2.2 of RFC 8017: where the message begins. */
#ifndef UNPAD_H
#define UNPAD_H

#include <stdint.h>

/* Give the place of the message behind 00 02, eight or more bytes that are not 0, and 00; or 0 if
   the padding is wrong. Every byte is looked at, whatever is found. 2 <= size. */
uint32_t unpad(const uint8_t *bytes, uint32_t size);

#endif
