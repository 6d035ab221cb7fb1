/* A list of attributes in one piece of memory, which is also what the store keeps.

   Each attribute is its type (8 bytes, lowest first), the length of its value (4 bytes), and the
   value as PKCS #11 has it in memory; a CK_ULONG is that of this machine. */
#ifndef COPRIME_TOKEN_ATTRIBUTES_H
#define COPRIME_TOKEN_ATTRIBUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cryptoki.h"

struct attributes {
    uint8_t *bytes;
    size_t size, room;
    bool secret; /* whether `bytes` is of secret_allocate */
};

/* A value in a list; null `bytes` for an attribute that is not there. */
struct value {
    const uint8_t *bytes;
    size_t size;
};

void attributes_free(struct attributes *list);

/* Take a copy of bytes that were stored; false if they are no list, or there is no memory. */
bool attributes_parse(struct attributes *list, const uint8_t *bytes, size_t size, bool secret);

/* to = a copy of `from`, in secret memory or not. */
bool attributes_copy(struct attributes *to, const struct attributes *from, bool secret);

/* Add a value, or replace it; false without memory. */
bool attributes_set(struct attributes *list, CK_ATTRIBUTE_TYPE type, const void *bytes, size_t size);
bool attributes_set_bool(struct attributes *list, CK_ATTRIBUTE_TYPE type, bool value);
bool attributes_set_ulong(struct attributes *list, CK_ATTRIBUTE_TYPE type, CK_ULONG value);

/* Set those of `types` as `from` has them, all of which it has; false without memory. */
bool attributes_take(struct attributes *list, const struct attributes *from,
                     const CK_ATTRIBUTE_TYPE *types, size_t count);

struct value attributes_get(const struct attributes *list, CK_ATTRIBUTE_TYPE type);
/* The value, or `otherwise` if it is not there. */
bool attributes_bool(const struct attributes *list, CK_ATTRIBUTE_TYPE type, bool otherwise);
CK_ULONG attributes_ulong(const struct attributes *list, CK_ATTRIBUTE_TYPE type,
                          CK_ULONG otherwise);

/* The next attribute from *place on, which starts at 0; false at the end. */
bool attributes_next(const struct attributes *list, size_t *place, CK_ATTRIBUTE_TYPE *type,
                     struct value *value);

#endif
