/* SHA-3 and SHAKE (FIPS 202), in times that depend on lengths alone. libcrypto 3.0 has both, but gives the
   output of SHAKE in one piece only. */
#ifndef COPRIME_TOKEN_KECCAK_H
#define COPRIME_TOKEN_KECCAK_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a block, by the function. */
enum { SHAKE128_RATE = 168, SHAKE256_RATE = 136, SHA3_256_RATE = 136, SHA3_512_RATE = 72 };

/* A hash that is computed. */
struct keccak {
    uint64_t lanes[25];
    unsigned rate, place; /* of the next byte in the block */
};

/* keccak_begin, keccak_absorb as often as there are parts, keccak_end, keccak_squeeze as often as output
   is wanted; keccak_clear, if that is secret. */
void keccak_begin(struct keccak *hash, unsigned rate);
void keccak_absorb(struct keccak *hash, const uint8_t *bytes, size_t size);
/* `suffix` is that of SHA-3 or SHAKE, with the first bit of the padding. */
enum keccak_suffix { SHA3_SUFFIX = 0x06, SHAKE_SUFFIX = 0x1F };
void keccak_end(struct keccak *hash, enum keccak_suffix suffix);
void keccak_squeeze(struct keccak *hash, uint8_t *bytes, size_t size);
void keccak_clear(struct keccak *hash);

/* A part of a message. */
struct keccak_part {
    const uint8_t *bytes;
    size_t size;
};

/* The hash of a message of at most two parts, of which the second may be empty. */
void keccak_hash(unsigned rate, enum keccak_suffix suffix, struct keccak_part first,
                 struct keccak_part second, uint8_t *result, size_t size);

#endif
