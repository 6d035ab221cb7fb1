#include "coprime.h"

enum { BITS = 2048, WORDS = COPRIME_WORDS(BITS), HALF = WORDS / 2 + 1 };

struct octets {
    const uint8_t *bytes;
    size_t size;
};

struct octet_key {
    struct octets n, e, p, q, dp, dq, qinv;
};

/* message = ciphertext ^ d mod n; both are as many bytes as n. */
int decrypt(struct coprime *driver, const struct octet_key *from, const uint8_t *ciphertext,
            uint8_t *message)
{
    uint32_t n[WORDS], e[WORDS], p[HALF], q[HALF], dp[HALF], dq[HALF], qinv[HALF];
    uint32_t x[WORDS], constants[COPRIME_PRIVATE_MEMORY(BITS, 32 * HALF)];
    struct coprime_memory memory = {constants, sizeof constants / sizeof *constants};
    struct coprime_private_key key = {0};
    int error = 0;

    error |= coprime_from_bytes(n, WORDS, from->n.bytes, from->n.size);
    error |= coprime_from_bytes(e, WORDS, from->e.bytes, from->e.size);
    error |= coprime_from_bytes(p, HALF, from->p.bytes, from->p.size);
    error |= coprime_from_bytes(q, HALF, from->q.bytes, from->q.size);
    error |= coprime_from_bytes(dp, HALF, from->dp.bytes, from->dp.size);
    error |= coprime_from_bytes(dq, HALF, from->dq.bytes, from->dq.size);
    error |= coprime_from_bytes(qinv, HALF, from->qinv.bytes, from->qinv.size);
    error |= coprime_from_bytes(x, WORDS, ciphertext, from->n.size);
    key.public_key.modulus.value = n;
    key.public_key.modulus.bits = coprime_bit_length(n, WORDS);
    key.public_key.exponent = e;
    key.public_key.exponent_bits = coprime_bit_length(e, WORDS);
    key.p.value = p;
    key.p.bits = coprime_bit_length(p, HALF);
    key.q.value = q;
    key.q.bits = coprime_bit_length(q, HALF);
    key.dp = dp;
    key.dq = dq;
    key.qinv = qinv;

    if (!error) {
        error = coprime_private_constants(driver, &key, &memory);
    }
    if (!error) {
        error = coprime_load_private(driver, &key);
    }
    if (!error) {
        error = coprime_private(driver, x, x);
    }
    if (!error) {
        error = coprime_to_bytes(message, from->n.size, x,
                                 COPRIME_WORDS(key.public_key.modulus.bits));
    }
    coprime_clear(p, HALF);
    coprime_clear(q, HALF);
    coprime_clear(dp, HALF);
    coprime_clear(dq, HALF);
    coprime_clear(qinv, HALF);
    coprime_clear(x, WORDS);
    coprime_clear(constants, sizeof constants / sizeof *constants);
    return error;
}
