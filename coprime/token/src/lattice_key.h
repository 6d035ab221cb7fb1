/* Keys of ML-KEM and ML-DSA as this module computes with them: byte strings, whose lengths follow from
   a parameter set. */
#ifndef COPRIME_TOKEN_LATTICE_KEY_H
#define COPRIME_TOKEN_LATTICE_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/x509.h>

#include "attributes.h"
#include "crypto.h"
#include "cryptoki.h"
#include "key.h"

/* A parameter set, as CKA_PARAMETER_SET and X.509 name it. */
struct lattice_set {
    CK_ULONG number;
    const char *identifier; /* the OBJECT IDENTIFIER */
    size_t public_size, private_size; /* of ek and dk, or pk and sk, in bytes */
    const void *algorithm; /* what the scheme's functions take */
};

enum { LATTICE_SETS = 3, MAX_LATTICE_PUBLIC = 2592, MAX_LATTICE_PRIVATE = 4896, MAX_LATTICE_SEED = 64 };

/* A scheme; its functions return false without memory only, where nothing else is said. */
struct lattice_scheme {
    CK_KEY_TYPE type;
    size_t seed_size;
    struct lattice_set sets[LATTICE_SETS];
    /* The pair that follows from a seed. */
    bool (*expand)(const void *set, const uint8_t *seed, uint8_t *public, uint8_t *private);
    /* Whether the numbers in a public key are in range. */
    bool (*check)(const void *set, const uint8_t *public);
    /* The public key of a private one; false also if parts of the latter do not fit each other. */
    bool (*public_of)(const void *set, const uint8_t *private, uint8_t *public);
};

struct lattice_key {
    struct key base;
    const struct lattice_set *set;
    uint8_t public[MAX_LATTICE_PUBLIC];
    uint8_t *private; /* in secret memory; null in a public key */
};

static inline struct lattice_key *lattice_key_of(struct key *key)
{
    return (struct lattice_key *)key;
}

/* The set that a list names; null if there is none. */
const struct lattice_set *lattice_set_of(const struct lattice_scheme *scheme,
                                         const struct attributes *attributes);

/* The attributes of the halves: the first two of the public one, all of the private one. */
extern const CK_ATTRIBUTE_TYPE lattice_attributes[3];

/* As key_kind has them. A private key may have its seed, its value, or both. */
bool lattice_is_complete(const struct attributes *list, bool is_private);
struct key *lattice_make(const struct lattice_scheme *scheme, const struct attributes *attributes,
                         bool is_private);
CK_RV lattice_complete(const struct lattice_scheme *scheme, struct attributes *attributes,
                       bool is_private);
CK_RV lattice_check_pair(const struct lattice_scheme *scheme, const struct attributes halves[2]);
bool lattice_identify(X509_PUBKEY *info, struct key *key);

/* The private key as PKCS #8: its seed if that is there, else its value; one that is read may also have
   both (RFC 9881, 6; RFC 9935, 6). */
PKCS8_PRIV_KEY_INFO *lattice_encode(const struct lattice_scheme *scheme,
                                    const struct attributes *attributes);
CK_RV lattice_decode(const struct lattice_scheme *scheme, const PKCS8_PRIV_KEY_INFO *info,
                     struct attributes *attributes);

/* Set the numbers of both halves of a pair; the seed is null if only the engine that drew it knew it. */
CK_RV lattice_set_pair(const struct lattice_scheme *scheme, const struct lattice_set *set,
                       const uint8_t *seed, const uint8_t *public, const uint8_t *private,
                       struct attributes halves[2]);

#endif
