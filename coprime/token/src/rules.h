/* Which attributes an object of each class has: one table, from which creating, generating,
   copying, changing, showing and searching follow. */
#ifndef COPRIME_TOKEN_RULES_H
#define COPRIME_TOKEN_RULES_H

#include "attributes.h"
#include "cryptoki.h"

/* How an object comes into being, or is changed. */
enum origin { CREATED = 1, GENERATED = 2, UNWRAPPED = 4, COPIED = 8, CHANGED = 16, DERIVED = 32 };

/* Whether callers may make objects of this class. */
bool rules_makes_class(CK_OBJECT_CLASS class);

/* Whether a list that was stored is an object as this module makes them: its class is known, each of
   its attributes belongs to the class, has its form and a length within bounds, and is there once;
   and a key has the numbers or the value of its kind. */
bool rules_accept(const struct attributes *list);

/* Add what a template says to the attributes of an object of a class. CKR_ATTRIBUTE_TYPE_INVALID,
   CKR_ATTRIBUTE_VALUE_INVALID, CKR_ATTRIBUTE_READ_ONLY, CKR_TEMPLATE_INCONSISTENT. */
CK_RV rules_apply(struct attributes *attributes, CK_OBJECT_CLASS class, enum origin origin,
                  const CK_ATTRIBUTE *template, CK_ULONG count);

/* Whether a key has no attribute of a key of another type. */
bool rules_fit_key(const struct attributes *attributes);

/* Set what is not there and has a value by default. */
bool rules_set_defaults(struct attributes *attributes, CK_OBJECT_CLASS class);

/* Whether an attribute may not be shown, of this object. */
bool rules_hides(const struct attributes *attributes, CK_ATTRIBUTE_TYPE type);

/* Whether the user of a key can read what is wrapped for it: it decrypts, or on a curve it derives the key
   of CKM_ECDH_AES_KEY_WRAP. `otherwise` if the attribute is not there. */
bool rules_reads(const struct attributes *key, bool otherwise);

/* Whether a key is bound by a rule that whoever unwraps it would leave out: its list of mechanisms or
   one of its templates; the PIN for each operation; or that it does not decrypt, if it is one of AES, or
   a private key that unwraps. */
bool rules_bind(const struct attributes *key);

/* Whether an object is what a search asks for. */
bool rules_match(const struct attributes *attributes, const CK_ATTRIBUTE *template, CK_ULONG count);

/* A template that an attribute has as its value, such as CKA_WRAP_TEMPLATE, as callers have it: the
   items point into the list, which the reader frees. */
enum { MAX_NESTED = 32 };

struct nested {
    struct attributes list;
    CK_ATTRIBUTE items[MAX_NESTED];
    CK_ULONG count;
};

/* Whether an attribute's value is a template. In a list it is a list itself. */
bool rules_is_nested(CK_ATTRIBUTE_TYPE type);

/* Read one; empty if it is not there. False without memory, or if its list is none. */
bool nested_read(struct nested *nested, const struct attributes *attributes,
                 CK_ATTRIBUTE_TYPE type);

/* One attribute of a template; null if it is not there. */
const CK_ATTRIBUTE *template_find(const CK_ATTRIBUTE *template, CK_ULONG count,
                                  CK_ATTRIBUTE_TYPE type);

#endif
