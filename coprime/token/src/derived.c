#include "derived.h"

#include "objects.h"
#include "policy.h"

CK_RV derived_begin(const struct session *session, CK_OBJECT_CLASS class,
                    const struct derived_template *added, const CK_ATTRIBUTE *template,
                    CK_ULONG count, struct attributes *made)
{
    CK_RV rv = rules_apply(made, class, DERIVED, template, count);

    if (rv == CKR_OK && added) {
        rv = rules_apply(made, class, DERIVED, added->nested->items, added->nested->count);
        rv = rv == CKR_TEMPLATE_INCONSISTENT ? added->conflict : rv;
    }
    if (rv == CKR_OK && (attributes_ulong(made, CKA_CLASS, class) != class ||
                         attributes_get(made, CKA_VALUE).bytes)) {
        rv = CKR_TEMPLATE_INCONSISTENT;
    }
    if (rv == CKR_OK && attributes_bool(made, CKA_WRAP, false) &&
        !policy_allows(ALLOW_REVEAL_WRAPPED)) {
        rv = CKR_TEMPLATE_INCONSISTENT;
    }
    if (rv != CKR_OK) {
        return rv;
    }
    if (!attributes_set_ulong(made, CKA_CLASS, class) ||
        (class == CKO_SECRET_KEY &&
         !attributes_set_ulong(made, CKA_KEY_TYPE,
                               attributes_ulong(made, CKA_KEY_TYPE, CKK_GENERIC_SECRET)))) {
        return CKR_HOST_MEMORY;
    }
    return objects_finish(session, made, false, CK_UNAVAILABLE_INFORMATION);
}
