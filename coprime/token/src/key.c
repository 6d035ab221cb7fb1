#include "key.h"

#include "curve_key.h"
#include "public_info.h"
#include "rsa_key.h"

void key_begin(struct key *key, CK_KEY_TYPE type, void (*destroy)(struct key *key))
{
    static atomic_uint_fast64_t made;

    key->type = type;
    atomic_init(&key->references, 1);
    atomic_init(&key->revoked, false);
    key->number = atomic_fetch_add(&made, 1) + 1;
    key->destroy = destroy;
}

struct key *key_new(const struct crypto *crypto, const struct attributes *attributes)
{
    const CK_OBJECT_CLASS class = attributes_ulong(attributes, CKA_CLASS, CKO_DATA);

    if (class != CKO_PUBLIC_KEY && class != CKO_PRIVATE_KEY) {
        return NULL;
    }
    return attributes_ulong(attributes, CKA_KEY_TYPE, UNAVAILABLE) == CKK_RSA ?
               rsa_key_new(crypto, attributes, class == CKO_PRIVATE_KEY) :
               curve_key_new(crypto, attributes, class == CKO_PRIVATE_KEY);
}

struct key *key_share(struct key *key)
{
    atomic_fetch_add(&key->references, 1);
    return key;
}

void key_release(struct key *key)
{
    if (key && atomic_fetch_sub(&key->references, 1) == 1) {
        key->destroy(key);
    }
}

static CK_RV complete(const struct crypto *crypto, struct attributes *attributes)
{
    const bool is_private = attributes_ulong(attributes, CKA_CLASS, CKO_DATA) == CKO_PRIVATE_KEY;
    const CK_KEY_TYPE type = attributes_ulong(attributes, CKA_KEY_TYPE, UNAVAILABLE);

    switch (type) {
    case CKK_RSA:
        return is_private ? rsa_complete_private(crypto, attributes) :
                            rsa_complete_public(attributes);
    case CKK_EC:
    case CKK_EC_EDWARDS:
    case CKK_EC_MONTGOMERY:
        return curve_complete(crypto, attributes, is_private);
    default:
        return type == UNAVAILABLE ? CKR_TEMPLATE_INCOMPLETE : CKR_ATTRIBUTE_VALUE_INVALID;
    }
}

CK_RV key_complete(const struct crypto *crypto, struct attributes *attributes)
{
    const CK_RV rv = complete(crypto, attributes);

    return rv == CKR_OK ? public_info_set(crypto, attributes) : rv;
}
