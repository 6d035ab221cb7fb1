/* The curves of keys, by the names that PKCS #11, libcrypto and the driver have for them. */
#ifndef COPRIME_TOKEN_CURVE_H
#define COPRIME_TOKEN_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/bn.h>

#include "attributes.h"
#include "coprime_curves.h"
#include "cryptoki.h"

/* The longest number of a curve, in bits (P-521) and words; in bytes also with Ed448's sign (57). */
enum { MAX_CURVE_BITS = 521, MAX_CURVE_WORDS = COPRIME_WORDS(MAX_CURVE_BITS), MAX_CURVE_BYTES = 66 };
/* The longest point, 4, x and y, and its encoding as an OCTET STRING. */
enum { MAX_POINT = 1 + 2 * MAX_CURVE_BYTES, MAX_ENCODED_POINT = 3 + MAX_POINT };
/* The longest signature. */
enum { MAX_CURVE_SIGNATURE = 2 * MAX_CURVE_BYTES };

struct curve {
    CK_KEY_TYPE type; /* CKK_EC, CKK_EC_EDWARDS or CKK_EC_MONTGOMERY */
    const char *name; /* libcrypto's: of the group, or of the kind of key */
    /* What CKA_EC_PARAMS may have in place of the OBJECT IDENTIFIER, a text or another one; or null. */
    const char *text, *identifier;
    uint32_t bits; /* of the longer one of p and n */
    size_t bytes; /* of a private key; on Edwards and Montgomery curves also of a public one */
    size_t signature; /* bytes; 0: keys on this curve do not sign */
    const struct coprime_curve *engine;
};

/* The curve that CKA_EC_PARAMS names, of this type of key; null if there is none: a curve of explicit
   parameters, or of another type. */
const struct curve *curve_named(CK_KEY_TYPE type, struct value parameters);

/* The curve that libcrypto has this name for; null if there is none. */
const struct curve *curve_of_libcrypto(const char *name);

/* Set CKA_EC_PARAMS: the OBJECT IDENTIFIER. */
bool curve_set_parameters(const struct curve *curve, struct attributes *attributes);

/* The index of a curve, below CURVES. */
enum { CURVES = 14 };
unsigned curve_index(const struct curve *curve);

/* The bytes of a public key of `size` bytes at most: CKA_EC_POINT without its OCTET STRING, if it has
   one. `point` is changed to them. */
void curve_strip_point(const struct curve *curve, struct value *point);

/* A number of the driver as libcrypto has it, and back, with as many words as the curve's numbers. */
BIGNUM *curve_number(const struct curve *curve, const uint32_t *words);
bool curve_words(const struct curve *curve, const BIGNUM *number, uint32_t *words);

#endif
