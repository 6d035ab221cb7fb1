#include "key_kinds.h"

#include "edwards_kind.h"
#include "ml_dsa_kind.h"
#include "ml_kem_kind.h"
#include "montgomery_kind.h"
#include "public_info.h"
#include "rsa_kind.h"
#include "weierstrass_kind.h"

static const struct key_kind *const kinds[] = {
    &rsa_kind, &weierstrass_kind, &edwards_kind, &montgomery_kind, &ml_kem_kind, &ml_dsa_kind,
};

enum { KINDS = sizeof kinds / sizeof *kinds };

const struct key_kind *key_kind_of(CK_KEY_TYPE type)
{
    for (int i = 0; i < KINDS; ++i) {
        if (kinds[i]->type == type) {
            return kinds[i];
        }
    }
    return NULL;
}

const struct key_kind *key_kind_of_object(const struct attributes *attributes)
{
    return key_kind_of(attributes_ulong(attributes, CKA_KEY_TYPE, UNAVAILABLE));
}

static const struct key_attributes *half_of(const struct key_kind *kind, bool is_private)
{
    return is_private ? &kind->private_half : &kind->public_half;
}

static bool has(const struct key_attributes *half, CK_ATTRIBUTE_TYPE type)
{
    for (size_t i = 0; i < half->count; ++i) {
        if (half->types[i] == type) {
            return true;
        }
    }
    return false;
}

bool key_has_foreign(const struct key_kind *kind, const struct attributes *attributes,
                     bool is_private)
{
    for (int i = 0; i < KINDS; ++i) {
        for (int k = 0; k < 2; ++k) {
            const struct key_attributes *const half = half_of(kinds[i], k != 0);

            for (size_t j = 0; j < half->count; ++j) {
                if (attributes_get(attributes, half->types[j]).bytes &&
                    !has(half_of(kind, is_private), half->types[j])) {
                    return true;
                }
            }
        }
    }
    return false;
}

struct key *key_new(const struct crypto *crypto, const struct attributes *attributes)
{
    const CK_OBJECT_CLASS class = attributes_ulong(attributes, CKA_CLASS, CKO_DATA);
    const struct key_kind *const kind = key_kind_of_object(attributes);

    if (kind == NULL || (class != CKO_PUBLIC_KEY && class != CKO_PRIVATE_KEY)) {
        return NULL;
    }
    return kind->make(crypto, attributes, class == CKO_PRIVATE_KEY);
}

CK_RV key_complete(const struct crypto *crypto, struct attributes *attributes)
{
    const bool is_private = attributes_ulong(attributes, CKA_CLASS, CKO_DATA) == CKO_PRIVATE_KEY;
    const struct key_kind *const kind = key_kind_of_object(attributes);
    CK_RV rv;

    if (kind == NULL) {
        return attributes_get(attributes, CKA_KEY_TYPE).bytes ? CKR_ATTRIBUTE_VALUE_INVALID :
                                                                CKR_TEMPLATE_INCOMPLETE;
    }
    rv = kind->complete(crypto, attributes, is_private);
    return rv == CKR_OK ? public_info_set(crypto, kind, attributes) : rv;
}
