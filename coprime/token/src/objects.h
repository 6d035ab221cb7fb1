/* Common steps of making objects. */
#ifndef COPRIME_TOKEN_OBJECTS_H
#define COPRIME_TOKEN_OBJECTS_H

#include "attributes.h"
#include "cryptoki.h"
#include "session.h"

/* Whether a session may make, or change, an object with these attributes. With the module's lock. */
CK_RV objects_check_access(const struct session *session, const struct attributes *attributes);
/* Only the officer may say that something is trusted. */
CK_RV objects_check_trusted(const struct session *session, const CK_ATTRIBUTE *template,
                            CK_ULONG count);

/* Whether a session may add objects with these attributes, whose values by default are set. Comes
   before what takes time. Without the module's lock. */
CK_RV objects_check_new(const struct session *session, const CK_ATTRIBUTE *template, CK_ULONG count,
                        const struct attributes *lists, unsigned lists_count);

/* Set what has a value by default, and where the object comes from: made here, or not. Without the
   module's lock. */
CK_RV objects_finish(const struct session *session, struct attributes *attributes, bool local,
                     CK_MECHANISM_TYPE mechanism);

/* Check and add objects whose attributes are complete. The lists are taken over; after an error
   `rv` in making them that is all, and it is returned. */
CK_RV objects_add(struct session *session, CK_RV rv, const CK_ATTRIBUTE *template, CK_ULONG count,
                  struct attributes *lists, unsigned lists_count, CK_OBJECT_HANDLE *handles);

/* An object that the session sees, as other processes may have changed it; null if there is none.
   With the module's lock. */
struct object *objects_find(struct session *session, CK_OBJECT_HANDLE handle);

/* Whether a key's list of mechanisms has this one, or there is no list. */
bool objects_allow(const struct attributes *attributes, CK_MECHANISM_TYPE type);

/* A key of a class, which allows an operation by an attribute such as CKA_SIGN, and the mechanism.
   CKR_KEY_HANDLE_INVALID, CKR_KEY_TYPE_INCONSISTENT, CKR_KEY_FUNCTION_NOT_PERMITTED,
   CKR_MECHANISM_INVALID. With the module's lock. */
CK_RV objects_find_key(struct session *session, CK_OBJECT_HANDLE handle, CK_OBJECT_CLASS class,
                       CK_ATTRIBUTE_TYPE allowed, CK_MECHANISM_TYPE mechanism,
                       struct object **object);

#endif
