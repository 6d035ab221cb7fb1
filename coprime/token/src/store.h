/* What a token keeps on the disk: one file, which is replaced as a whole.

   A change is made in memory, written to a new file beside the old one, brought to the disk, and
   renamed over it: whoever reads, and whoever is stopped at any moment, finds the state before or
   the state after. Writers hold the lock of a file of its own; readers need none.

   Private objects are sealed with the master key, which is random, and is itself sealed with a key
   derived from the user's PIN, and once more with one derived from the security officer's. */
#ifndef COPRIME_TOKEN_STORE_H
#define COPRIME_TOKEN_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "crypto.h"
#include "cryptoki.h"

enum { LABEL_BYTES = 32, SERIAL_BYTES = 16, INSTANCE_BYTES = 16 };

/* How often a PIN may be wrong before it is locked. */
enum { MAX_FAILURES = 10 };

/* A PIN: how often it was wrong, and the master key under it. */
struct pin_record {
    uint32_t present, failures;
    struct derivation derivation;
    uint8_t sealed[SEALED(SEAL_KEY)];
};

enum { RECORD_PRIVATE = 1 };

/* An object. `bytes` are its attributes, sealed if it is private. */
struct record {
    uint64_t id, revision;
    uint32_t flags, size;
    uint8_t *bytes;
};

/* The content of the file. */
struct image {
    bool initialized; /* whether there is a file */
    uint64_t generation; /* grows with every change */
    uint8_t instance[INSTANCE_BYTES]; /* random, of this initialization */
    uint8_t label[LABEL_BYTES], serial[SERIAL_BYTES];
    uint64_t next_id;
    struct pin_record so, user;
    uint32_t count;
    struct record *records;
};

/* Where it is, and the lock while a change is made. */
struct store {
    char *folder;
    int lock;
};

/* `folder` is copied; it need not exist. */
bool store_open(struct store *store, const char *folder);
void store_close(struct store *store);

/* Read the file. CKR_OK also where there is none, into an image that is not initialized. Errors:
   CKR_TOKEN_NOT_RECOGNIZED for a file that is not a token's, or is damaged; CKR_DEVICE_ERROR;
   CKR_HOST_MEMORY. */
CK_RV store_read(const struct store *store, const struct crypto *crypto, struct image *image);

/* Whether the file is still the one that was read. */
bool store_is_current(const struct store *store, const struct image *image);

/* Begin and end a change: between them no other process writes. CKR_TOKEN_WRITE_PROTECTED if the
   system does not allow it. */
CK_RV store_lock(struct store *store);
void store_unlock(struct store *store);

/* Replace the file; its generation becomes one more. Only while it is locked. */
CK_RV store_write(const struct store *store, const struct crypto *crypto, struct image *image);

void image_free(struct image *image);

/* The record with this id; null if there is none. */
struct record *image_find(const struct image *image, uint64_t id);

/* Add a record, whose bytes now belong to the image; false without memory. */
bool image_add(struct image *image, const struct record *record);
void image_remove(struct image *image, uint64_t id);

#endif
