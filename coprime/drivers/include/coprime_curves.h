/* Operations on elliptic curves, of accelerators that are built for them: ECDH, ECDSA, EdDSA, X25519
   and X448. Hashes, encodings and random numbers are the caller's.

   Like the driver it allocates no memory, has no global variables and needs no library. Curves of the
   standards are in coprime_named_curves.c: a linker that drops what is not used (-fdata-sections,
   --gc-sections) keeps those that a program names.

   A curve's numbers, points and scalars have COPRIME_WORDS(bits) words each, where `bits` is the
   curve's. Results may alias the numbers that are given. Nothing stays loaded for the functions of
   coprime.h: these need their modulus or key to be loaded again. What was loaded, a private key too,
   stays in the accelerator, where it cannot be read, until something else takes its place, or
   coprime_wipe. Time and memory accesses of software are the same for all numbers that are below
   2^bits.

   Errors of all functions, beside those that they document: COPRIME_ERROR_UNSUPPORTED if the
   accelerator lacks the operation; COPRIME_ERROR_OPERAND_RANGE if a coordinate is not below p, or a
   scalar not below n; COPRIME_ERROR_LENGTH_OVER if the curve, or an exponent, is too long for the
   accelerator; COPRIME_ERROR_FAULT if a result is not what the accelerator has checked: it is
   cleared; COPRIME_ERROR_BUSY, COPRIME_ERROR_TIMEOUT, COPRIME_ERROR_DEVICE. */
#ifndef COPRIME_CURVES_H
#define COPRIME_CURVES_H

#include "coprime.h"
#include "coprime_named_curves.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words of memory for the constants of a curve of `bits` bits, and for the table of its base point
   and what is needed to make that: of Weierstrass form, and of Edwards form. */
#define COPRIME_CURVE_MEMORY(bits) (5u * COPRIME_WORDS(bits))
#define COPRIME_TABLE_MEMORY(bits) (17u * COPRIME_WORDS(bits))
#define COPRIME_EDWARDS_TABLE_MEMORY(bits) (62u * COPRIME_WORDS(bits))

enum coprime_curve_form {
    /* y^2 = x^3 + a x + b, whose points have a prime order: for COPRIME_COMMAND_EC_MULTIPLY,
       _EC_BASE_MULTIPLY, _ECDSA_SIGN, _ECDSA_SIGN_WITH and _ECDSA_VERIFY. */
    COPRIME_WEIERSTRASS = 1,
    /* a x^2 + y^2 = 1 + b x^2 y^2, where a is 1 or p - 1: for COPRIME_COMMAND_ED_BASE_MULTIPLY,
       _ED_FINISH and _ED_VERIFY. */
    COPRIME_EDWARDS = 2,
    /* v^2 = u^3 + A u^2 + u, where a is (A - 2) / 4: for COPRIME_COMMAND_X_MULTIPLY. */
    COPRIME_MONTGOMERY = 3,
};

/* A curve modulo the prime p. `bits` is the length of the longer one of p and n. */
struct coprime_curve {
    const char *name;
    enum coprime_curve_form form;
    uint32_t bits;
    /* Of all its points there are this times n: a power of two. */
    uint32_t cofactor;
    const uint32_t *p;
    /* The order of the base point, a prime. A curve of Montgomery form has a null pointer here, for b
       and for gy. */
    const uint32_t *n;
    const uint32_t *a, *b;
    /* The base point. */
    const uint32_t *gx, *gy;
};

/* A curve with its constants, which are specific to an accelerator's digit_width, headroom,
   radix_bits, min_bits and blinds_scalars. Made by coprime_curve_constants and coprime_curve_table, or in advance. */
struct coprime_curve_constants {
    const struct coprime_curve *curve;
    /* Length of p and n as written to the hardware. */
    uint32_t length;
    /* Bits of a tooth of the comb that multiplies the base point; 0: n is too short for one. */
    uint32_t tooth;
    /* p and n. Powers and the three numbers below have as many words as the curve's numbers. */
    struct coprime_modulus p, n;
    const uint32_t *p_less_2, *n_less_2;
    /* R^2 / 2 modulo n. */
    const uint32_t *half;
    /* The table, in Montgomery form. With S_i = 2^(3 t) B + or - 2^(2 t) B + or - 2^t B + or - B, for a
       tooth of t bits, where the signs are + for 1, and the lowest bit of i is that of 2^(2 t) B, it
       has x and y of S_0 to S_7: 16 numbers. Without a tooth each S_i is B. Of Edwards form it has
       (y - x) / 2 and (y + x) / 2 of S_0 to S_7, then b x y of each, then the three numbers of B: 27
       numbers. Null: there is none, and only coprime_ec_multiply and coprime_x_multiply work. */
    const uint32_t *table;
};

/* Make the constants of a curve, by software only: some hundred additions as long as p. They occupy
   COPRIME_CURVE_MEMORY(bits) words at the front of `memory`, which is reduced to the rest, and must
   stay there. There is no table then. Errors: COPRIME_ERROR_MODULUS_SHORT if `bits` is over the
   length of both p and n, COPRIME_ERROR_KEY_EXCESS if it is below that of one;
   COPRIME_ERROR_MODULUS_EVEN unless p and n are odd, COPRIME_ERROR_OPERAND_RANGE unless they are 5
   or more; COPRIME_ERROR_MEMORY. */
int coprime_curve_constants(struct coprime *driver, const struct coprime_curve *curve,
                            struct coprime_curve_constants *made, struct coprime_memory *memory);

/* log2 of R of the numbers in a table. */
uint32_t coprime_curve_radix(const struct coprime *driver,
                             const struct coprime_curve_constants *curve);

/* Make the table of the base point, of constants that are made. The accelerator computes it: with
   eight multiplications of a point, or for Edwards form some thousands modulo p. It occupies 16
   numbers, or 27, at the front of `memory`, of which COPRIME_TABLE_MEMORY(bits) words are used, or
   COPRIME_EDWARDS_TABLE_MEMORY(bits), and must stay there. Errors: as coprime_ec_multiply and
   coprime_modmul; COPRIME_ERROR_MEMORY. */
int coprime_curve_table(struct coprime *driver, struct coprime_curve_constants *made,
                        struct coprime_memory *memory);

/* Weierstrass form. Scalars are from 1 to n - 1. */

/* (x_out, y_out) = k * (x, y). With the base point, or by coprime_ec_base_multiply, it is the public
   key of a private one; with somebody's public key x_out is the shared secret of ECDH. A public key
   need not be checked before. Errors: COPRIME_ERROR_POINT unless (x, y) is on the curve. */
int coprime_ec_multiply(struct coprime *driver, const struct coprime_curve_constants *curve,
                        const uint32_t *k, const uint32_t *x, const uint32_t *y, uint32_t *x_out,
                        uint32_t *y_out);

/* (x_out, y_out) = k * the base point. Errors: COPRIME_ERROR_OPERAND_MISSING without a table. */
int coprime_ec_base_multiply(struct coprime *driver, const struct coprime_curve_constants *curve,
                             const uint32_t *k, uint32_t *x_out, uint32_t *y_out);

/* z of a message's digest, as signatures take it: its leftmost bits, as many as n has, modulo n. */
void coprime_ecdsa_hash(const struct coprime_curve_constants *curve, const uint8_t *digest,
                        size_t size, uint32_t *z);

/* r and s, the signature of z with the private key d and a nonce that the accelerator draws. Errors:
   COPRIME_ERROR_OPERAND_MISSING without a table. */
int coprime_ecdsa_sign(struct coprime *driver, const struct coprime_curve_constants *curve,
                       const uint32_t *d, const uint32_t *z, uint32_t *r, uint32_t *s);

/* The same with the nonce k, which must be as secret as d, and another one for each signature: random,
   or as RFC 6979 derives it. COPRIME_ERROR_OPERAND_RANGE also if r or s would be 0, so that another k
   is needed. */
int coprime_ecdsa_sign_with(struct coprime *driver, const struct coprime_curve_constants *curve,
                            const uint32_t *d, const uint32_t *z, const uint32_t *k, uint32_t *r,
                            uint32_t *s);

/* 0 if r and s are a signature of z with the public key (x, y); everything else is none. Errors:
   COPRIME_ERROR_SIGNATURE if they are not; COPRIME_ERROR_OPERAND_RANGE if r or s is 0 or not below n;
   COPRIME_ERROR_POINT if the public key is not on the curve, or a sum of points is infinite;
   COPRIME_ERROR_OPERAND_MISSING without a table. */
int coprime_ecdsa_verify(struct coprime *driver, const struct coprime_curve_constants *curve,
                         const uint32_t *x, const uint32_t *y, const uint32_t *z, const uint32_t *r,
                         const uint32_t *s);

/* Edwards form: EdDSA as RFC 8032 has it, with a table. Errors: COPRIME_ERROR_OPERAND_MISSING without
   one. */

/* (x_out, y_out) = k * the base point, of k from 0 to n - 1: a public key, or R of a signature. */
int coprime_ed_base_multiply(struct coprime *driver, const struct coprime_curve_constants *curve,
                             const uint32_t *k, uint32_t *x_out, uint32_t *y_out);

/* s = r + h * a modulo n, of numbers below n: the private scalar a, the secret number r and the hash
   h, all reduced. */
int coprime_ed_finish(struct coprime *driver, const struct coprime_curve_constants *curve,
                      const uint32_t *r, const uint32_t *h, const uint32_t *a, uint32_t *s);

/* 0 if (xr, yr) = s * the base point - h * (x, y): the signature of a message with the hash h and the
   public key (x, y). s and h are below n. Everything else is none. Errors: COPRIME_ERROR_SIGNATURE if
   that is not so; COPRIME_ERROR_POINT if a point is not on the curve. */
int coprime_ed_verify(struct coprime *driver, const struct coprime_curve_constants *curve,
                      const uint32_t *x, const uint32_t *y, const uint32_t *h, const uint32_t *xr,
                      const uint32_t *yr, const uint32_t *s);

/* Montgomery form: the function X25519 or X448 of RFC 7748. A scalar and coordinates have as many
   bytes as p, the lowest first; the scalar is clamped, and unused bits of the coordinate are ignored.
   With the base point it is a public key, with somebody's public key the shared secret. Errors:
   COPRIME_ERROR_POINT if the result is 0, since the point is of low order. */
int coprime_x_multiply(struct coprime *driver, const struct coprime_curve_constants *curve,
                       const uint8_t *scalar, const uint8_t *u, uint8_t *result);

/* The same of the base point: a public key. */
int coprime_x_public(struct coprime *driver, const struct coprime_curve_constants *curve,
                     const uint8_t *scalar, uint8_t *result);

#ifdef __cplusplus
}
#endif

#endif
