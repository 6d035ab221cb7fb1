/* Common parts of all keys: those of RSA, and those on curves. */
#ifndef COPRIME_TOKEN_KEY_H
#define COPRIME_TOKEN_KEY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "attributes.h"
#include "crypto.h"
#include "cryptoki.h"

/* The first member of a `struct rsa_key` (CKK_RSA), or of a `struct curve_key` (CKK_EC,
   CKK_EC_EDWARDS, CKK_EC_MONTGOMERY). */
struct key {
    CK_KEY_TYPE type;
    atomic_uint references;
    atomic_bool revoked; /* somebody logged out: who waits to use it ends */
    uint64_t number; /* no other key of this process had it */
    void (*destroy)(struct key *key);
};

/* Set a key's members. `destroy` returns its memory when nobody refers to it any more. */
void key_begin(struct key *key, CK_KEY_TYPE type, void (*destroy)(struct key *key));

/* The key of an object of CKO_PUBLIC_KEY or CKO_PRIVATE_KEY; null without memory, for another object,
   or if its numbers are not there, are out of bounds, or do not fit each other: nothing that comes
   from a file is trusted. */
struct key *key_new(const struct crypto *crypto, const struct attributes *attributes);

struct key *key_share(struct key *key);
void key_release(struct key *key); /* null is allowed */

/* Check the numbers of a key that was given, find those that are missing, and set them all.
   CKR_TEMPLATE_INCOMPLETE, CKR_ATTRIBUTE_VALUE_INVALID, CKR_KEY_SIZE_RANGE. */
CK_RV key_complete(const struct crypto *crypto, struct attributes *attributes);

#endif
