#include "rsa_operation.h"

#include <string.h>

#include <openssl/crypto.h>

#include "blinding.h"
#include "padding.h"
#include "rsa_engine.h"
#include "rsa_key.h"
#include "secret.h"

static CK_RV check(const struct work *work)
{
    const struct padding *const padding = &work->parameters->padding;
    const struct digest *const digest = digest_of(work->mechanism->digest);
    const struct rsa_key *const key = rsa_key_of(work->key);
    const size_t bytes = key->bytes;
    bool fits = true;

    switch (work->mechanism->scheme) {
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
static CK_RV encode(const struct work *work, struct value text, uint8_t *padded)
{
    const struct padding *const padding = &work->parameters->padding;
    const struct rsa_key *const key = rsa_key_of(work->key);

    switch (work->mechanism->scheme) {
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
        return pad_pss(work->context.crypto, padding, key->bits, text.bytes, padded) ? CKR_OK :
                                                                          CKR_FUNCTION_FAILED;
    default:
        return CKR_MECHANISM_INVALID;
    }
}

static CK_RV sign(const struct work *work, struct value text, uint8_t *signature)
{
    uint8_t padded[MAX_RSA_BYTES];
    CK_RV rv = encode(work, text, padded);

    if (rv == CKR_OK) {
        rv = rsa_engine_private(work->context.device, rsa_key_of(work->key), padded, signature);
    }
    OPENSSL_cleanse(padded, sizeof padded);
    return rv;
}

static CK_RV verify(const struct work *work, struct value text, struct value signature)
{
    const struct padding *const padding = &work->parameters->padding;
    uint8_t found[MAX_RSA_BYTES], expected[MAX_RSA_BYTES];
    CK_RV rv;

    if (signature.size != rsa_key_of(work->key)->bytes) {
        return CKR_SIGNATURE_LEN_RANGE;
    }
    if (!rsa_public(rsa_key_of(work->key), signature.bytes, found)) {
        return CKR_SIGNATURE_INVALID;
    }
    if (work->mechanism->scheme == PSS) {
        if (text.size != padding->digest->size) {
            return CKR_DATA_LEN_RANGE;
        }
        return check_pss(work->context.crypto, padding, rsa_key_of(work->key)->bits, text.bytes, found) ?
                   CKR_OK :
                   CKR_SIGNATURE_INVALID;
    }
    rv = encode(work, text, expected);
    if (rv == CKR_OK && memcmp(found, expected, rsa_key_of(work->key)->bytes) != 0) {
        rv = CKR_SIGNATURE_INVALID;
    }
    return rv;
}

static CK_RV encrypt(const struct work *work, struct value text, uint8_t *ciphertext)
{
    const struct rsa_key *const key = rsa_key_of(work->key);
    uint8_t padded[MAX_RSA_BYTES];
    CK_RV rv = CKR_DATA_LEN_RANGE;

    if (work->mechanism->scheme == RAW) {
        rv = encode(work, text, padded);
    } else if (work->mechanism->scheme == PKCS1 ?
                   pad_pkcs1(work->context.crypto, key->bytes, text.bytes, text.size, padded) :
                   pad_oaep(work->context.crypto, &work->parameters->padding, key->bytes,
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

static CK_RV decrypt(const struct work *work, struct value text, uint8_t *message, size_t *size)
{
    struct rsa_key *const key = rsa_key_of(work->key);
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
        rv = decrypt_blinded(&work->context, key, text.bytes, padded);
    }
    if (rv == CKR_OK) {
        switch (work->mechanism->scheme) {
        case PKCS1:
            done = unpad_pkcs1(work->context.crypto, key, text.bytes, padded, message, size);
            break;
        case OAEP:
            done = unpad_oaep(work->context.crypto, &work->parameters->padding, key->bytes, padded,
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

static size_t size_of(const struct work *work)
{
    return rsa_key_of(work->key)->bytes;
}

const struct scheme_functions rsa_functions = {
    .check = check,
    .size = size_of,
    .sign = sign,
    .verify = verify,
    .encrypt = encrypt,
    .decrypt = decrypt,
};
