#include "rsa_kind.h"

#include <openssl/asn1.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/param_build.h>

#include "policy.h"
#include "rsa_generation.h"
#include "rsa_key.h"

static bool is_complete(const struct attributes *list, bool is_private)
{
    const int count = is_private ? RSA_NUMBERS : RSA_E + 1;
    bool complete = true;

    for (int i = 0; i < count; ++i) {
        complete = complete && attributes_get(list, rsa_attributes[i]).bytes;
    }
    return complete;
}

static CK_RV complete(const struct crypto *crypto, struct attributes *attributes, bool is_private)
{
    return is_private ? rsa_complete_private(crypto, attributes) : rsa_complete_public(attributes);
}

/* Generating pairs. */

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

static CK_RV check_pair(const struct attributes halves[2])
{
    const struct request request = request_of(&halves[0]);
    const bool weak = policy_allows(ALLOW_WEAK_RSA);
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
static CK_RV generate_on_device(const struct maker *maker, const struct request *request,
                                struct attributes *numbers)
{
    CK_RV rv = rsa_generation(maker->device, (uint32_t)request->bits,
                              (uint32_t)number_of(request->e), maker->cancel, numbers);

    if (rv == CKR_OK) {
        rv = rsa_complete_private(maker->crypto, numbers);
        rv = rv == CKR_OK || rv == CKR_HOST_MEMORY ? rv : CKR_DEVICE_ERROR;
    }
    return rv;
}

static CK_RV generate_numbers(const struct maker *maker, const struct attributes *public,
                              struct attributes *numbers)
{
    const struct request request = request_of(public);
    const uint32_t bits = (uint32_t)request.bits;
    const uint64_t e = number_of(request.e);

    if (maker->on_device && e <= UINT32_MAX && rsa_generation_is_possible(bits, (uint32_t)e)) {
        return generate_on_device(maker, &request, numbers);
    }
    return rsa_generate(maker->crypto, bits, request.e.bytes, request.e.size, maker->cancel,
                        numbers);
}

static CK_RV generate(const struct maker *maker, struct attributes halves[2])
{
    struct attributes numbers = {.secret = true};
    CK_RV rv = generate_numbers(maker, &halves[0], &numbers);

    if (rv == CKR_OK && (!attributes_take(&halves[0], &numbers, rsa_attributes, RSA_E + 1) ||
                         !attributes_take(&halves[1], &numbers, rsa_attributes, RSA_NUMBERS))) {
        rv = CKR_HOST_MEMORY;
    }
    attributes_free(&numbers);
    return rv;
}

/* Encodings. */

/* RSAPublicKey of RFC 8017, A.1.1, in memory of libcrypto. */
static unsigned char *rsa_bytes(const struct rsa_key *key, int *size)
{
    ASN1_INTEGER *const n = BN_to_ASN1_INTEGER(key->n, NULL);
    ASN1_INTEGER *const e = BN_to_ASN1_INTEGER(key->e, NULL);
    const int content = n && e ? i2d_ASN1_INTEGER(n, NULL) + i2d_ASN1_INTEGER(e, NULL) : 0;
    unsigned char *bytes = NULL, *place;

    if (content) {
        *size = ASN1_object_size(1, content, V_ASN1_SEQUENCE);
        bytes = OPENSSL_malloc((size_t)*size);
    }
    if (bytes) {
        place = bytes;
        ASN1_put_object(&place, 1, content, V_ASN1_SEQUENCE, V_ASN1_UNIVERSAL);
        (void)i2d_ASN1_INTEGER(n, &place);
        (void)i2d_ASN1_INTEGER(e, &place);
    }
    ASN1_INTEGER_free(n);
    ASN1_INTEGER_free(e);
    return bytes;
}

static bool identify(X509_PUBKEY *info, struct key *key)
{
    int size = 0;
    unsigned char *const bytes = rsa_bytes(rsa_key_of(key), &size);

    if (bytes && X509_PUBKEY_set0_param(info, OBJ_nid2obj(NID_rsaEncryption), V_ASN1_NULL, NULL,
                                        bytes, size) == 1) {
        return true;
    }
    OPENSSL_free(bytes);
    return false;
}

static EVP_PKEY *to_libcrypto(const struct crypto *crypto, const struct attributes *attributes)
{
    OSSL_PARAM_BLD *const builder = OSSL_PARAM_BLD_new();
    EVP_PKEY_CTX *const context = EVP_PKEY_CTX_new_from_name(crypto->context, "RSA", NULL);
    BIGNUM *numbers[RSA_NUMBERS] = {NULL};
    OSSL_PARAM *parameters = NULL;
    EVP_PKEY *key = NULL;
    bool done = builder && context;

    for (int i = 0; i < RSA_NUMBERS; ++i) {
        const struct value value = attributes_get(attributes, rsa_attributes[i]);

        numbers[i] = BN_secure_new(); /* so that libcrypto keeps its copy apart, too */
        done = done && numbers[i] && value.bytes && value.size <= MAX_RSA_BYTES &&
               BN_bin2bn(value.bytes, (int)value.size, numbers[i]) &&
               OSSL_PARAM_BLD_push_BN(builder, rsa_parameters[i], numbers[i]) == 1;
    }
    if (done) {
        parameters = OSSL_PARAM_BLD_to_param(builder);
    }
    if (parameters && EVP_PKEY_fromdata_init(context) == 1) {
        (void)EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters);
    }
    OSSL_PARAM_free(parameters);
    for (int i = 0; i < RSA_NUMBERS; ++i) {
        BN_clear_free(numbers[i]);
    }
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_BLD_free(builder);
    return key;
}

static PKCS8_PRIV_KEY_INFO *encode(const struct crypto *crypto, const struct attributes *attributes)
{
    EVP_PKEY *const key = to_libcrypto(crypto, attributes);
    PKCS8_PRIV_KEY_INFO *const info = key ? EVP_PKEY2PKCS8(key) : NULL;

    EVP_PKEY_free(key);
    return info;
}

static CK_RV decode(const struct crypto *crypto, const PKCS8_PRIV_KEY_INFO *info,
                    struct attributes *attributes)
{
    EVP_PKEY *const key = EVP_PKCS82PKEY_ex(info, crypto->context, NULL);
    const bool set = key && EVP_PKEY_is_a(key, "RSA") && rsa_set_numbers(key, attributes);

    EVP_PKEY_free(key);
    return set ? CKR_OK : CKR_WRAPPED_KEY_INVALID;
}

static const CK_ATTRIBUTE_TYPE public_half[] = {CKA_MODULUS, CKA_PUBLIC_EXPONENT, CKA_MODULUS_BITS};

const struct key_kind rsa_kind = {
    .type = CKK_RSA,
    .public_half = {public_half, sizeof public_half / sizeof *public_half},
    .private_half = {rsa_attributes, RSA_NUMBERS},
    .secret = CKA_PRIVATE_EXPONENT,
    .common = CKA_MODULUS,
    .reads = CKA_DECRYPT,
    .signing_decrypts = true,
    .rights = RIGHT_ENCRYPT | RIGHT_SIGN,
    .is_complete = is_complete,
    .make = rsa_key_new,
    .complete = complete,
    .check_pair = check_pair,
    .generate = generate,
    .identify = identify,
    .encode = encode,
    .decode = decode,
};
