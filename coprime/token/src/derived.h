/* Secret keys that follow from other keys: what derivation and encapsulation have in common. */
#ifndef COPRIME_TOKEN_DERIVED_H
#define COPRIME_TOKEN_DERIVED_H

#include "attributes.h"
#include "cryptoki.h"
#include "rules.h"
#include "session.h"

/* A template that another key has for those that follow from it. */
struct derived_template {
    const struct nested *nested;
    CK_RV conflict; /* the error if the caller's template contradicts it */
};

/* The attributes of the new key, or of the data that CKM_HKDF_DATA makes, all but its value and its
   length: what the caller's template says, and what the other key's adds to it, unless that is null.
   CKR_TEMPLATE_INCONSISTENT also for a key that wraps, as whoever makes it again can have it shown. */
CK_RV derived_begin(const struct session *session, CK_OBJECT_CLASS class,
                    const struct derived_template *added, const CK_ATTRIBUTE *template,
                    CK_ULONG count, struct attributes *made);

#endif
