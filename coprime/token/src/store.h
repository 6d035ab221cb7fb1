/* The token on the disk: one file, which is replaced as a whole.

   A change is made in memory, written to a new file next to the old one, flushed to the disk and
   renamed over the old one: an interruption leaves either the old or the new state. The previous
   generation is kept as token.old; after a change that removes something, token.old is a second copy
   of the new generation instead. Writers hold the lock of a separate file; readers need none. A
   new file keeps the owner, the group and the mode of the old one. */
#ifndef COPRIME_TOKEN_STORE_H
#define COPRIME_TOKEN_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "crypto.h"
#include "cryptoki.h"
#include "image.h"

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

/* Whether the file is still the one that was read, or written: by its digest. */
bool store_is_current(const struct store *store, const struct image *image);

/* Whether this process may write: the folder can be changed, or made. */
bool store_is_writable(const struct store *store);

/* Begin and end a change: between them no other process writes. The module's lock is released while
   another one does. CKR_TOKEN_WRITE_PROTECTED if the system does not allow it, CKR_CANT_LOCK if
   another process has the lock for ten seconds. */
CK_RV store_lock(struct store *store);
void store_unlock(struct store *store);

/* Replace the file; its generation becomes one more. What `removes` something leaves no generation
   that has it. Only while it is locked. CKR_DEVICE_MEMORY if the disk is full. */
CK_RV store_write(const struct store *store, const struct crypto *crypto, struct image *image,
                  bool removes);

#endif
