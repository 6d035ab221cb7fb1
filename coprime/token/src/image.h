/* The content of a token's file, and its form there: magic, generation, instance, tag, label, serial
   number, PINs and records; at the end the SHA-256 digest of all that.

   Private objects are sealed with the master key, which is random, and is itself sealed with a key
   derived from the user's PIN, and once more with one derived from the security officer's. The tag
   under the master key authenticates the rest: label, PIN records but for their counters, and all
   records but those that were written without a PIN, which are marked. */
#ifndef COPRIME_TOKEN_IMAGE_H
#define COPRIME_TOKEN_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto.h"

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

enum { TAG = 32, CHECK = 32 };

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
    uint64_t generation; /* grows with every change; a file that was put back begins an earlier one anew */
    uint8_t check[CHECK]; /* the digest of the file that this is; zeros: of none */
    uint8_t instance[INSTANCE_BYTES]; /* random, of this initialization */
    uint8_t label[LABEL_BYTES], serial[SERIAL_BYTES];
    uint64_t next_id;
    struct pin_record so, user;
    uint32_t count, room;
    struct record *records; /* by increasing ids */
};

/* Bytes at the beginning of each file: magic, generation and instance. */
enum { IMAGE_HEAD = 16 + 8 + INSTANCE_BYTES };

/* The bytes of a whole file, which are only read; false if they are damaged, or none of a token. */
bool image_decode(const struct crypto *crypto, uint8_t *bytes, size_t size, struct image *image);
/* The same back, in memory of malloc, with the digest as the last CHECK bytes; null without memory. */
uint8_t *image_encode(const struct crypto *crypto, const struct image *image, size_t *size);

/* The tag of an image under the master key; false without memory. */
bool image_tag(const struct crypto *crypto, const struct image *image,
               const uint8_t master[SEAL_KEY], uint8_t tag[TAG]);

/* Whether the image has room for one more record of this size and with these flags, or for one in
   place of `old`, if that is not null. */
bool image_has_room(const struct image *image, const struct record *old, uint32_t flags,
                    size_t size);

void image_free(struct image *image);

/* The record with this id; null if there is none. */
struct record *image_find(const struct image *image, uint64_t id);

/* Add a record with a greater id than all others, whose bytes now belong to the image; false without
   memory. */
bool image_add(struct image *image, const struct record *record);
void image_remove(struct image *image, uint64_t id);

#endif
