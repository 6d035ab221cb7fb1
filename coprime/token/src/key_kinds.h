/* All kinds of keys of two halves. */
#ifndef COPRIME_TOKEN_KEY_KINDS_H
#define COPRIME_TOKEN_KEY_KINDS_H

#include "key_kind.h"

/* The kind of this CKA_KEY_TYPE, or of an object's; null if there is none. */
const struct key_kind *key_kind_of(CK_KEY_TYPE type);
const struct key_kind *key_kind_of_object(const struct attributes *attributes);

/* Whether an object, of the public or the private half, has an attribute that only keys of other kinds
   have. */
bool key_has_foreign(const struct key_kind *kind, const struct attributes *attributes,
                     bool is_private);

/* The key of an object of CKO_PUBLIC_KEY or CKO_PRIVATE_KEY; null for another object, and as
   key_kind.make. */
struct key *key_new(const struct crypto *crypto, const struct attributes *attributes);

/* As key_kind.complete, and set CKA_PUBLIC_KEY_INFO. */
CK_RV key_complete(const struct crypto *crypto, struct attributes *attributes);

#endif
