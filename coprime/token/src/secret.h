/* Memory for keys and PINs: whole pages that are locked where the system allows it, never part of a
   core dump, empty in a child after fork, and overwritten before they are returned. */
#ifndef COPRIME_TOKEN_SECRET_H
#define COPRIME_TOKEN_SECRET_H

#include <stddef.h>

/* `size` bytes of zeros; null if there is no memory. */
void *secret_allocate(size_t size);

/* Overwrite and return what secret_allocate gave, or null. Not in a child after fork: there the
   pages are empty, and what they were for is forgotten. */
void secret_free(void *memory);

/* Overwrite the stack below the caller, where functions that have returned left parts of keys:
   libcrypto's, and what the compiler put there. */
void secret_clear_stack(void);

#endif
