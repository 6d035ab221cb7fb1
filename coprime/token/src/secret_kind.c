#include "secret_kind.h"

#include "aes.h"
#include "check_value.h"

bool secret_has_size(const struct attributes *attributes, size_t size)
{
    return attributes_ulong(attributes, CKA_KEY_TYPE, UNAVAILABLE) != CKK_AES || aes_has_size(size);
}

bool secret_is_complete(const struct attributes *list)
{
    const struct value value = attributes_get(list, CKA_VALUE);

    return value.bytes && attributes_ulong(list, CKA_KEY_TYPE, UNAVAILABLE) != UNAVAILABLE &&
           secret_has_size(list, value.size) &&
           attributes_ulong(list, CKA_VALUE_LEN, value.size) == value.size;
}

CK_RV secret_complete(const struct crypto *crypto, struct attributes *attributes)
{
    const struct value value = attributes_get(attributes, CKA_VALUE);
    CK_RV rv;

    if (attributes_ulong(attributes, CKA_KEY_TYPE, UNAVAILABLE) == UNAVAILABLE ||
        value.bytes == NULL) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if (!secret_has_size(attributes, value.size)) {
        return CKR_ATTRIBUTE_VALUE_INVALID;
    }
    rv = check_value_test(crypto, attributes);
    if (rv != CKR_OK) {
        return rv;
    }
    return attributes_set_ulong(attributes, CKA_VALUE_LEN, value.size) ? CKR_OK : CKR_HOST_MEMORY;
}

CK_RV secret_set(struct attributes *attributes, const uint8_t *value, size_t size)
{
    return attributes_set(attributes, CKA_VALUE, value, size) &&
                   attributes_set_ulong(attributes, CKA_VALUE_LEN, size) ?
               CKR_OK :
               CKR_HOST_MEMORY;
}
