/* What a token keeps on the disk: one file, which is replaced as a whole.

   A change is made in memory, written to a new file beside the old one, brought to the disk, and
   renamed over it: whoever reads, and whoever is stopped at any moment, finds the state before or
   the state after. The generation before is kept as token.old. Writers hold the lock of a file of
   its own; readers need none. A new file has the owner, the group and the mode of the one before.

   Private objects are sealed with the master key, which is random, and is itself sealed with a key
   derived from the user's PIN, and once more with one derived from the security officer's. A tag
   under the master key authenticates the rest: label, PIN records but for their counters, and all
   records but those that were written without a PIN, which are marked. */
#ifndef COPRIME_TOKEN_STORE_H
#define COPRIME_TOKEN_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "crypto.h"
#include "cryptoki.h"

enum { LABEL_BYTES = 32, SERIAL_BYTES = 16, INSTANCE_BYTES = 16 };

/* How often a PIN may be wrong before it is locked. */
enum { MAX_FAILURES = 10 };

/* Limits of what is written. A file that exceeds them is read all the same, so that something can be
   deleted; whatever has no PIN may use a small part only. Sizes are those of records, in bytes. */
enum {
    MAX_RECORDS = 8192,
    MAX_RECORDS_SIZE = 32 << 20,
    MAX_GUEST_RECORDS = 256,
    MAX_GUEST_RECORDS_SIZE = 1 << 20,
};

enum { TAG = 32 };

/* How a PIN's record binds the master key: NO_PIN is none, OLD_PIN that of files without a tag. */
enum pin_form { NO_PIN, OLD_PIN, TAGGED_PIN };

/* A PIN: how often it was wrong, and the master key under it. */
struct pin_record {
    uint32_t form, failures; /* `form` is one of `enum pin_form` */
    struct derivation derivation;
    uint8_t sealed[SEALED(SEAL_KEY)];
};

/* RECORD_GUEST: written without a PIN, and so not under the tag. */
enum { RECORD_PRIVATE = 1, RECORD_GUEST = 2 };

/* An object. `bytes` are its attributes, sealed if it is private. */
struct record {
    uint64_t id, revision;
    uint32_t flags, size;
    uint8_t *bytes;
};

/* The content of the file. */
struct image {
    bool initialized; /* whether there is a file */
    bool tagged; /* false: a file of the first version, until somebody logs in */
    uint8_t tag[TAG];
    uint64_t generation; /* grows with every change */
    uint8_t instance[INSTANCE_BYTES]; /* random, of this initialization */
    uint8_t label[LABEL_BYTES], serial[SERIAL_BYTES];
    uint64_t next_id;
    struct pin_record so, user;
    uint32_t count, room;
    struct record *records; /* by increasing ids */
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
   CKR_TOKEN_NOT_RECOGNIZED for a file that is not a token's, or is damaged; CKR_DEVICE_ERROR if it
   cannot be read; CKR_HOST_MEMORY. */
CK_RV store_read(const struct store *store, const struct crypto *crypto, struct image *image);

/* Whether the file is still the one that was read. */
bool store_is_current(const struct store *store, const struct image *image);

/* Whether this process may write: the folder can be changed, or made. */
bool store_is_writable(const struct store *store);

/* Begin and end a change: between them no other process writes. The module's lock is released while
   another one does. CKR_TOKEN_WRITE_PROTECTED if the system does not allow it, CKR_CANT_LOCK if
   another process has the lock for ten seconds. */
CK_RV store_lock(struct store *store);
void store_unlock(struct store *store);

/* The tag of an image under the master key; false without memory. */
bool store_tag(const struct crypto *crypto, const struct image *image,
               const uint8_t master[SEAL_KEY], uint8_t tag[TAG]);

/* Whether the image has room for one more record of this size and with these flags, or for one in
   place of `old`, if that is not null. */
bool image_has_room(const struct image *image, const struct record *old, uint32_t flags,
                    size_t size);

/* Replace the file; its generation becomes one more. Only while it is locked. CKR_DEVICE_MEMORY if
   the disk is full. */
CK_RV store_write(const struct store *store, const struct crypto *crypto, struct image *image);

void image_free(struct image *image);

/* The record with this id; null if there is none. */
struct record *image_find(const struct image *image, uint64_t id);

/* Add a record with a greater id than all others, whose bytes now belong to the image; false without
   memory. */
bool image_add(struct image *image, const struct record *record);
void image_remove(struct image *image, uint64_t id);

#endif
