/* The hashes of EdDSA (RFC 8032), and what follows from a private key by them. */
#ifndef COPRIME_TOKEN_EDDSA_HASH_H
#define COPRIME_TOKEN_EDDSA_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attributes.h"
#include "crypto.h"
#include "curve.h"

/* Bytes of the hash: of SHA-512, and of Ed448's SHAKE256; and of a message that is hashed before. */
enum { EDDSA_MAX_HASH = 2 * 57, EDDSA_PREHASH = 64 };

bool eddsa_is_448(const struct curve *curve);

/* H of the RFC, or of another size, which Ed448 has. */
bool eddsa_hash(const struct crypto *crypto, const struct curve *curve, const struct value *parts,
                unsigned count, uint8_t *result, size_t size);

/* A number of bytes, the lowest first, modulo n. */
bool eddsa_reduce(const struct crypto *crypto, const struct curve *curve, const uint8_t *bytes,
                  size_t size, uint32_t *words);

/* The scalar, modulo n, and the prefix of a private key. */
bool eddsa_expand(const struct crypto *crypto, const struct curve *curve, const uint8_t *bytes,
                  uint32_t *scalar, uint8_t *prefix);

#endif
