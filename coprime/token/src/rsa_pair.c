#include "rsa_pair.h"

#include "module.h"
#include "rsa_key.h"

/* The number that these bytes are, the highest first; the greatest one if that is too long. */
static uint64_t number_of(struct value value)
{
    uint64_t number = 0;

    if (value.size > sizeof number) {
        return UINT64_MAX;
    }
    for (size_t i = 0; i < value.size; ++i) {
        number = number << 8 | value.bytes[i];
    }
    return number;
}

/* The key pair that a public template asks for: with 65537 if it names no exponent. */
struct request {
    CK_ULONG bits;
    struct value e;
};

static struct request request_of(const struct attributes *public)
{
    static const uint8_t fermat_4[] = {1, 0, 1};
    const struct value e = attributes_get(public, CKA_PUBLIC_EXPONENT);

    return (struct request){
        attributes_ulong(public, CKA_MODULUS_BITS, 0),
        e.bytes ? e : (struct value){fermat_4, sizeof fermat_4},
    };
}

CK_RV rsa_pair_check(const struct attributes *public)
{
    const struct request request = request_of(public);
    const bool weak = module_allows(ALLOW_WEAK_RSA);
    const uint64_t e = number_of(request.e);

    if (request.bits == 0) {
        return CKR_TEMPLATE_INCOMPLETE;
    }
    if (request.bits < (weak ? MIN_RSA_BITS : 1024) || request.bits > MAX_RSA_BITS) {
        return CKR_KEY_SIZE_RANGE;
    }
    if (request.e.size > 8 || e % 2 == 0 || e < (weak ? 3 : 65537)) {
        return CKR_ATTRIBUTE_VALUE_INVALID;
    }
    return CKR_OK;
}

/* A key pair from the device. It is checked in software, as a disturbed engine may take any number
   for a prime. */
static CK_RV generate_on_device(const struct token *token, const struct request *request,
                                const struct cancel *cancel, struct attributes *numbers)
{
    CK_RV rv = device_generate(token->device, (uint32_t)request->bits,
                               (uint32_t)number_of(request->e), cancel, numbers);

    if (rv == CKR_OK) {
        rv = rsa_complete_private(token->crypto, numbers);
        rv = rv == CKR_OK || rv == CKR_HOST_MEMORY ? rv : CKR_DEVICE_ERROR;
    }
    return rv;
}

CK_RV rsa_pair_generate(const struct token *token, const struct attributes *public,
                        const struct cancel *cancel, struct attributes *numbers)
{
    const struct request request = request_of(public);
    const uint32_t bits = (uint32_t)request.bits;
    const uint64_t e = number_of(request.e);

    if (token->device_generates && e <= UINT32_MAX && device_can_generate(bits, (uint32_t)e)) {
        return generate_on_device(token, &request, cancel, numbers);
    }
    return rsa_generate(token->crypto, bits, request.e.bytes, request.e.size, cancel, numbers);
}
