/* Common parts of keys of all kinds of two halves. */
#ifndef COPRIME_TOKEN_KEY_H
#define COPRIME_TOKEN_KEY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cryptoki.h"

/* The first member of a `struct rsa_key`, a `struct curve_key` or a `struct lattice_key`. */
struct key {
    CK_KEY_TYPE type;
    atomic_uint references;
    atomic_bool revoked; /* somebody logged out: who waits to use it ends */
    uint64_t number; /* no other key of this process had it */
    void (*destroy)(struct key *key);
};

/* Set a key's members. `destroy` returns its memory when nobody refers to it any more. */
void key_begin(struct key *key, CK_KEY_TYPE type, void (*destroy)(struct key *key));

struct key *key_share(struct key *key);
void key_release(struct key *key); /* null is allowed */

#endif
