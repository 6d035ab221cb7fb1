/* Secret keys as objects of a token: their values, whatever their type. */
#ifndef COPRIME_TOKEN_SECRET_KIND_H
#define COPRIME_TOKEN_SECRET_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "attributes.h"
#include "crypto.h"
#include "cryptoki.h"

/* Whether a value of this many bytes is a key of the object's type. */
bool secret_has_size(const struct attributes *attributes, size_t size);

/* Whether a stored list has a value, of a length that its kind of key can have. */
bool secret_is_complete(const struct attributes *list);

/* Check the value of a key that was given, and set its length. CKR_TEMPLATE_INCOMPLETE,
   CKR_ATTRIBUTE_VALUE_INVALID. */
CK_RV secret_complete(const struct crypto *crypto, struct attributes *attributes);

/* Set the value of a new key, and its length. */
CK_RV secret_set(struct attributes *attributes, const uint8_t *value, size_t size);

#endif
