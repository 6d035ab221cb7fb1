#include "rsa_operation.h"

#include <string.h>

#include <openssl/crypto.h>

#include "blinding.h"
#include "padding.h"
#include "rsa_engine.h"
#include "secret.h"

CK_RV rsa_check(const struct operation *operation)
{
    const struct padding *const padding = &operation->parameters.padding;
    const struct digest *const digest = digest_of(operation->mechanism->digest);
    const struct rsa_key *const key = rsa_key_of(operation->key);
    const size_t bytes = key->bytes;
    bool fits = true;

    switch (operation->mechanism->scheme) {
    case PKCS1:
        fits = digest == NULL || bytes >= digest->info_size + digest->size + 11;
        break;
    case OAEP:
        fits = bytes >= 2 * padding->digest->size + 2;
        break;
    case PSS:
        fits = (key->bits + 6) / 8 >= padding->digest->size + padding->salt + 2;
        break;
    default:
        break;
    }
    return fits ? CKR_OK : CKR_KEY_SIZE_RANGE;
}

/* The string that a signature is the power of. */
static CK_RV encode(const struct crypto *crypto, const struct operation *operation,
                    struct value text, uint8_t *padded)
{
    const struct padding *const padding = &operation->parameters.padding;
    const struct rsa_key *const key = rsa_key_of(operation->key);

    switch (operation->mechanism->scheme) {
    case RAW:
        if (text.size > key->bytes) {
            return CKR_DATA_LEN_RANGE;
        }
        memset(padded, 0, key->bytes);
        if (text.size) {
            memcpy(padded + key->bytes - text.size, text.bytes, text.size);
        }
        return rsa_is_below_modulus(key, padded) ? CKR_OK : CKR_DATA_INVALID;
    case PKCS1:
        return pad_pkcs1_signature(key->bytes, text.bytes, text.size, padded) ?
                   CKR_OK :
                   CKR_DATA_LEN_RANGE;
    case PSS:
        if (text.size != padding->digest->size) {
            return CKR_DATA_LEN_RANGE;
        }
        return pad_pss(crypto, padding, key->bits, text.bytes, padded) ? CKR_OK :
                                                                          CKR_FUNCTION_FAILED;
    default:
        return CKR_MECHANISM_INVALID;
    }
}

CK_RV rsa_sign(const struct context *context, const struct operation *operation,
                  struct value text, uint8_t *signature)
{
    uint8_t padded[MAX_RSA_BYTES];
    CK_RV rv = encode(context->crypto, operation, text, padded);

    if (rv == CKR_OK) {
        rv = rsa_engine_private(context->device, rsa_key_of(operation->key), padded, signature);
    }
    OPENSSL_cleanse(padded, sizeof padded);
    return rv;
}

CK_RV rsa_verify(const struct context *context, const struct operation *operation,
                    struct value text, const uint8_t *signature)
{
    const struct padding *const padding = &operation->parameters.padding;
    uint8_t found[MAX_RSA_BYTES], expected[MAX_RSA_BYTES];
    CK_RV rv;

    if (!rsa_public(rsa_key_of(operation->key), signature, found)) {
        return CKR_SIGNATURE_INVALID;
    }
    if (operation->mechanism->scheme == PSS) {
        if (text.size != padding->digest->size) {
            return CKR_DATA_LEN_RANGE;
        }
        return check_pss(context->crypto, padding, rsa_key_of(operation->key)->bits, text.bytes, found) ?
                   CKR_OK :
                   CKR_SIGNATURE_INVALID;
    }
    rv = encode(context->crypto, operation, text, expected);
    if (rv == CKR_OK && memcmp(found, expected, rsa_key_of(operation->key)->bytes) != 0) {
        rv = CKR_SIGNATURE_INVALID;
    }
    return rv;
}

CK_RV rsa_encrypt(const struct context *context, const struct operation *operation,
                     struct value text, uint8_t *ciphertext)
{
    const struct rsa_key *const key = rsa_key_of(operation->key);
    uint8_t padded[MAX_RSA_BYTES];
    CK_RV rv = CKR_DATA_LEN_RANGE;

    if (operation->mechanism->scheme == RAW) {
        rv = encode(context->crypto, operation, text, padded);
    } else if (operation->mechanism->scheme == PKCS1 ?
                   pad_pkcs1(context->crypto, key->bytes, text.bytes, text.size, padded) :
                   pad_oaep(context->crypto, &operation->parameters.padding, key->bytes,
                            text.bytes, text.size, padded)) {
        rv = CKR_OK;
    }
    if (rv == CKR_OK && !rsa_public(key, padded, ciphertext)) {
        rv = CKR_FUNCTION_FAILED;
    }
    OPENSSL_cleanse(padded, sizeof padded);
    return rv;
}

/* padded = ciphertext^d mod n. What comes back from the engine, and is verified with the public
   exponent, is blinded: the padded message is in no computation whose time depends on it. */
static CK_RV decrypt_blinded(const struct context *context, struct rsa_key *key,
                             const uint8_t *ciphertext, uint8_t *padded)
{
    struct blinding blinding;
    uint8_t blinded[MAX_RSA_BYTES];
    CK_RV rv = CKR_FUNCTION_FAILED;

    if (blinding_begin(&blinding, context->crypto, key, ciphertext, blinded)) {
        rv = rsa_engine_private(context->device, key, blinded, padded);
    }
    if (rv == CKR_OK && !blinding_undo(&blinding, key, padded, padded)) {
        rv = CKR_FUNCTION_FAILED;
    }
    blinding_end(&blinding);
    OPENSSL_cleanse(blinded, sizeof blinded);
    return rv;
}

CK_RV rsa_decrypt(const struct context *context, const struct operation *operation,
                     struct value text, uint8_t *message, size_t *size)
{
    struct rsa_key *const key = rsa_key_of(operation->key);
    uint8_t *const padded = secret_allocate(MAX_RSA_BYTES);
    CK_RV rv = padded ? CKR_OK : CKR_HOST_MEMORY;
    bool done = true;

    if (rv == CKR_OK && text.size != key->bytes) {
        rv = CKR_ENCRYPTED_DATA_LEN_RANGE;
    }
    if (rv == CKR_OK && !rsa_is_below_modulus(key, text.bytes)) {
        rv = CKR_ENCRYPTED_DATA_INVALID;
    }
    if (rv == CKR_OK) {
        rv = decrypt_blinded(context, key, text.bytes, padded);
    }
    if (rv == CKR_OK) {
        switch (operation->mechanism->scheme) {
        case PKCS1:
            done = unpad_pkcs1(context->crypto, key, text.bytes, padded, message, size);
            break;
        case OAEP:
            done = unpad_oaep(context->crypto, &operation->parameters.padding, key->bytes, padded,
                              message, size);
            break;
        default:
            *size = key->bytes;
            memcpy(message, padded, *size);
        }
        rv = done ? CKR_OK : CKR_ENCRYPTED_DATA_INVALID;
    }
    secret_free(padded);
    return rv;
}
