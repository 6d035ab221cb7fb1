#include "keccak.h"

#include <string.h>

#include <openssl/crypto.h>

enum { LANES = 25, ROUNDS = 24 };

static uint64_t rotate(uint64_t lane, unsigned bits)
{
    return bits ? lane << bits | lane >> (64 - bits) : lane;
}

/* FIPS 202, 3.2.1: every lane gets the parities of two columns. */
static void theta(uint64_t a[LANES])
{
    uint64_t parity[5];

    for (int x = 0; x < 5; ++x) {
        parity[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    }
    for (int x = 0; x < 5; ++x) {
        const uint64_t added = parity[(x + 4) % 5] ^ rotate(parity[(x + 1) % 5], 1);

        for (int y = 0; y < LANES; y += 5) {
            a[x + y] ^= added;
        }
    }
}

/* 3.2.2 and 3.2.3: lanes are rotated, and each takes the place of the next one in this order. */
static void rho_pi(uint64_t a[LANES])
{
    static const uint8_t order[LANES - 1] = {
        10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1,
    };
    uint64_t moved = a[1];
    unsigned offset = 0;

    for (unsigned t = 0; t < LANES - 1; ++t) {
        const uint64_t kept = a[order[t]];

        offset = (offset + t + 1) % 64;
        a[order[t]] = rotate(moved, offset);
        moved = kept;
    }
}

/* 3.2.4. */
static void chi(uint64_t a[LANES])
{
    for (int y = 0; y < LANES; y += 5) {
        const uint64_t first = a[y], second = a[y + 1];

        for (int x = 0; x < 3; ++x) {
            a[y + x] ^= ~a[y + x + 1] & a[y + x + 2];
        }
        a[y + 3] ^= ~a[y + 4] & first;
        a[y + 4] ^= ~first & second;
    }
}

/* 3.2.5: the constant of a round, whose bits come from a shift register that goes on with each round. */
static uint64_t next_constant(uint8_t *bits)
{
    uint64_t constant = 0;

    for (unsigned j = 0; j < 7; ++j) {
        constant |= (uint64_t)(*bits & 1u) << ((1u << j) - 1);
        *bits = (uint8_t)(*bits << 1 ^ (*bits >> 7) * 0x71u);
    }
    return constant;
}

static void permute(uint64_t a[LANES])
{
    uint8_t bits = 1;

    for (int round = 0; round < ROUNDS; ++round) {
        theta(a);
        rho_pi(a);
        chi(a);
        a[0] ^= next_constant(&bits);
    }
}

static void add_byte(struct keccak *hash, unsigned place, uint8_t byte)
{
    hash->lanes[place / 8] ^= (uint64_t)byte << 8 * (place % 8);
}

void keccak_begin(struct keccak *hash, unsigned rate)
{
    memset(hash, 0, sizeof *hash);
    hash->rate = rate;
}

void keccak_absorb(struct keccak *hash, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        add_byte(hash, hash->place, bytes[i]);
        if (++hash->place == hash->rate) {
            permute(hash->lanes);
            hash->place = 0;
        }
    }
}

void keccak_end(struct keccak *hash, enum keccak_suffix suffix)
{
    add_byte(hash, hash->place, (uint8_t)suffix);
    add_byte(hash, hash->rate - 1, 0x80);
    hash->place = hash->rate;
}

void keccak_squeeze(struct keccak *hash, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        if (hash->place == hash->rate) {
            permute(hash->lanes);
            hash->place = 0;
        }
        bytes[i] = (uint8_t)(hash->lanes[hash->place / 8] >> 8 * (hash->place % 8));
        ++hash->place;
    }
}

void keccak_clear(struct keccak *hash)
{
    OPENSSL_cleanse(hash, sizeof *hash);
}

void keccak_hash(unsigned rate, enum keccak_suffix suffix, struct keccak_part first,
                 struct keccak_part second, uint8_t *result, size_t size)
{
    struct keccak hash;

    keccak_begin(&hash, rate);
    keccak_absorb(&hash, first.bytes, first.size);
    keccak_absorb(&hash, second.bytes, second.size);
    keccak_end(&hash, suffix);
    keccak_squeeze(&hash, result, size);
    keccak_clear(&hash);
}
