#include "operation.h"

#include <limits.h>
#include <string.h>

#include <openssl/crypto.h>

#include "blinding.h"
#include "padding.h"
#include "secret.h"

static const CK_FLAGS flags_of[OPERATIONS] = {
    [SIGN] = CKF_SIGN,       [VERIFY] = CKF_VERIFY, [ENCRYPT] = CKF_ENCRYPT,
    [DECRYPT] = CKF_DECRYPT, [DIGEST] = CKF_DIGEST,
};

void operation_end(struct operation *operation)
{
    rsa_key_release(operation->key);
    EVP_MD_CTX_free(operation->digest);
    EVP_CIPHER_CTX_free(operation->cipher);
    secret_free(operation->collected);
    memset(operation, 0, sizeof *operation);
}

static CK_RV begin_digest(const struct crypto *crypto, struct operation *operation)
{
    const struct digest *const digest = digest_of(operation->mechanism->digest);

    if (digest == NULL) {
        return CKR_OK;
    }
    operation->digest = EVP_MD_CTX_new();
    if (operation->digest == NULL ||
        EVP_DigestInit_ex2(operation->digest, digest_md(crypto, digest), NULL) != 1) {
        return CKR_HOST_MEMORY;
    }
    return CKR_OK;
}

/* Whether the key is long enough for the padding of any message. */
static bool is_long_enough(const struct operation *operation)
{
    const struct padding *const padding = &operation->parameters.padding;
    const struct digest *const digest = digest_of(operation->mechanism->digest);
    const size_t bytes = operation->key->bytes;

    switch (operation->mechanism->scheme) {
    case PKCS1:
        return digest == NULL || bytes >= digest->info_size + digest->size + 11;
    case OAEP:
        return bytes >= 2 * padding->digest->size + 2;
    case PSS:
        return (operation->key->bits + 6) / 8 >= padding->digest->size + padding->salt + 2;
    default:
        return true;
    }
}

CK_RV operation_begin(const struct context *context, struct operation *operation,
                      enum operation_kind kind, const CK_MECHANISM *mechanism,
                      const struct operation_key *key)
{
    const struct mechanism *const found = mechanism_find(mechanism->mechanism);
    CK_RV rv = CKR_OK;

    operation->key = key->rsa;
    if (found == NULL || !(found->info.flags & flags_of[kind])) {
        rv = CKR_MECHANISM_INVALID;
    }
    if (rv == CKR_OK) {
        operation->mechanism = found;
        rv = mechanism_parameters(found, mechanism, &operation->parameters);
    }
    if (rv == CKR_OK && key->rsa && !is_long_enough(operation)) {
        rv = CKR_KEY_SIZE_RANGE;
    }
    if (rv == CKR_OK && found->scheme == AES) {
        operation->cipher = aes_begin(context->crypto, key->secret.bytes, key->secret.size,
                                      operation->parameters.iv, kind == ENCRYPT);
        rv = operation->cipher ? CKR_OK : CKR_KEY_SIZE_RANGE;
    }
    if (rv == CKR_OK) {
        rv = begin_digest(context->crypto, operation);
    }
    if (rv != CKR_OK) {
        operation_end(operation);
    }
    return rv;
}

/* Keep a part of what takes no more than a modulus; a longer one is an error at the end. */
static CK_RV collect(struct operation *operation, const uint8_t *input, size_t size)
{
    const size_t room = operation->key->bytes - operation->collected_size;

    if (operation->collected == NULL) {
        operation->collected = secret_allocate(MAX_RSA_BYTES);
        if (operation->collected == NULL) {
            return CKR_HOST_MEMORY;
        }
    }
    if (size > room) {
        return CKR_DATA_LEN_RANGE;
    }
    if (size) {
        memcpy(operation->collected + operation->collected_size, input, size);
    }
    operation->collected_size += size;
    return CKR_OK;
}

/* Bytes that a cipher gives for more input: whole blocks, of which a decryption keeps the last one
   back, as it may be padding. */
static size_t cipher_gives(const struct operation *operation, enum operation_kind kind, size_t size)
{
    const size_t keeps = kind == DECRYPT ? 1 : 0, before = operation->entered;
    const size_t all = before + size;

    return (all > keeps ? (all - keeps) / AES_BLOCK * AES_BLOCK : 0) -
           (before > keeps ? (before - keeps) / AES_BLOCK * AES_BLOCK : 0);
}

static CK_RV cipher_update(struct operation *operation, enum operation_kind kind,
                           const uint8_t *input, size_t size, uint8_t *output, CK_ULONG *output_size)
{
    const size_t gives = cipher_gives(operation, kind, size);
    int written = 0;

    if (output_size == NULL || size > INT_MAX / 2) {
        return CKR_ARGUMENTS_BAD;
    }
    if (output == NULL || *output_size < gives) {
        const bool asked = output == NULL;

        *output_size = gives;
        return asked ? CKR_OK : CKR_BUFFER_TOO_SMALL;
    }
    if (EVP_CipherUpdate(operation->cipher, output, &written, input, (int)size) != 1 ||
        (size_t)written != gives) {
        return CKR_FUNCTION_FAILED;
    }
    operation->entered += size;
    *output_size = gives;
    return CKR_OK;
}

CK_RV operation_update(struct operation *operation, enum operation_kind kind, const uint8_t *input,
                       size_t size, uint8_t *output, CK_ULONG *output_size)
{
    const bool asked = operation->cipher && output == NULL;

    if (operation->parts == IN_ONE) {
        return CKR_OPERATION_NOT_INITIALIZED;
    }
    if (!asked) {
        operation->parts = IN_PARTS;
    }
    if (operation->cipher) {
        return cipher_update(operation, kind, input, size, output, output_size);
    }
    if (output_size) {
        *output_size = 0;
    }
    if (operation->digest) {
        return EVP_DigestUpdate(operation->digest, input, size) == 1 ? CKR_OK : CKR_FUNCTION_FAILED;
    }
    return collect(operation, input, size);
}

/* All of it in one call: the text is made in memory of ours, and given if there is room. */
static CK_RV cipher_at_once(struct operation *operation, const uint8_t *input, size_t size,
                            uint8_t *output, CK_ULONG *output_size)
{
    const CK_ULONG room = *output_size;
    EVP_CIPHER_CTX *context;
    uint8_t *text;
    int first = 0, last = 0;
    CK_RV rv = CKR_ENCRYPTED_DATA_INVALID;

    if (size > INT_MAX / 2) {
        return CKR_DATA_LEN_RANGE;
    }
    context = EVP_CIPHER_CTX_new();
    text = secret_allocate(size + 2 * AES_BLOCK);
    if (context == NULL || text == NULL ||
        EVP_CIPHER_CTX_copy(context, operation->cipher) != 1) {
        rv = CKR_HOST_MEMORY;
    } else if (EVP_CipherUpdate(context, text, &first, input, (int)size) == 1 &&
               EVP_CipherFinal_ex(context, text + first, &last) == 1) {
        *output_size = (CK_ULONG)first + (CK_ULONG)last;
        rv = room < *output_size ? CKR_BUFFER_TOO_SMALL : CKR_OK;
    }
    if (rv == CKR_OK && *output_size) {
        memcpy(output, text, *output_size);
    }
    secret_free(text);
    EVP_CIPHER_CTX_free(context);
    return rv;
}

/* The last block, of a copy: a caller who has no room for it may call again. Who asks for the length
   is told the longest one, and may give more parts. */
static CK_RV cipher_tail(const struct operation *operation, uint8_t *output, CK_ULONG *output_size)
{
    const CK_ULONG room = *output_size;
    EVP_CIPHER_CTX *context;
    uint8_t tail[AES_BLOCK];
    int written = 0;
    CK_RV rv = CKR_OK;

    if (output == NULL) {
        *output_size = AES_BLOCK;
        return CKR_OK;
    }
    context = EVP_CIPHER_CTX_new();
    if (context == NULL || EVP_CIPHER_CTX_copy(context, operation->cipher) != 1) {
        rv = CKR_HOST_MEMORY;
    } else if (EVP_CipherFinal_ex(context, tail, &written) != 1) {
        rv = CKR_ENCRYPTED_DATA_INVALID;
    } else {
        *output_size = (CK_ULONG)written;
        rv = room < *output_size ? CKR_BUFFER_TOO_SMALL : CKR_OK;
    }
    if (rv == CKR_OK) {
        memcpy(output, tail, *output_size);
    }
    OPENSSL_cleanse(tail, sizeof tail);
    EVP_CIPHER_CTX_free(context);
    return rv;
}

static CK_RV cipher_finish(struct operation *operation, enum operation_kind kind, bool in_one,
                           const uint8_t *input, size_t size, uint8_t *output,
                           CK_ULONG *output_size)
{
    if (!in_one) {
        return cipher_tail(operation, output, output_size);
    }
    if (output == NULL) {
        *output_size = kind == ENCRYPT ? (size / AES_BLOCK + 1) * AES_BLOCK : size;
        return CKR_OK;
    }
    return cipher_at_once(operation, input, size, output, output_size);
}

/* A text: the digest of all input, or the input itself. */
struct text {
    const uint8_t *bytes;
    size_t size;
    uint8_t digest[19 + MAX_DIGEST];
};

/* Finish a copy of the digest, as the operation may go on after this. */
static bool finish_digest(const struct operation *operation, const uint8_t *input, size_t size,
                          uint8_t *result)
{
    EVP_MD_CTX *const copy = EVP_MD_CTX_new();
    const bool done = copy && EVP_MD_CTX_copy_ex(copy, operation->digest) == 1 &&
                      EVP_DigestUpdate(copy, input, size) == 1 &&
                      EVP_DigestFinal_ex(copy, result, NULL) == 1;

    EVP_MD_CTX_free(copy);
    return done;
}

static CK_RV gather(struct operation *operation, const uint8_t *input, size_t size,
                    struct text *text)
{
    const struct digest *const digest = digest_of(operation->mechanism->digest);
    size_t head = 0;

    if (digest == NULL) {
        text->bytes = operation->collected ? operation->collected : input;
        text->size = operation->collected ? operation->collected_size : size;
        return CKR_OK;
    }
    if (operation->mechanism->scheme == PKCS1) {
        head = digest->info_size;
        memcpy(text->digest, digest->info, head);
    }
    text->bytes = text->digest;
    text->size = head + digest->size;
    return finish_digest(operation, input, size, text->digest + head) ? CKR_OK :
                                                                        CKR_FUNCTION_FAILED;
}

/* The string that a signature is the power of. */
static CK_RV encode(const struct crypto *crypto, const struct operation *operation,
                    const struct text *text, uint8_t *padded)
{
    const struct padding *const padding = &operation->parameters.padding;
    const struct rsa_key *const key = operation->key;

    switch (operation->mechanism->scheme) {
    case RAW:
        if (text->size > key->bytes) {
            return CKR_DATA_LEN_RANGE;
        }
        memset(padded, 0, key->bytes);
        if (text->size) {
            memcpy(padded + key->bytes - text->size, text->bytes, text->size);
        }
        return rsa_is_below_modulus(key, padded) ? CKR_OK : CKR_DATA_INVALID;
    case PKCS1:
        return pad_pkcs1_signature(key->bytes, text->bytes, text->size, padded) ?
                   CKR_OK :
                   CKR_DATA_LEN_RANGE;
    case PSS:
        if (text->size != padding->digest->size) {
            return CKR_DATA_LEN_RANGE;
        }
        return pad_pss(crypto, padding, key->bits, text->bytes, padded) ? CKR_OK :
                                                                          CKR_FUNCTION_FAILED;
    default:
        return CKR_MECHANISM_INVALID;
    }
}

static CK_RV sign(const struct context *context, struct operation *operation,
                  const struct text *text, uint8_t *signature)
{
    uint8_t padded[MAX_RSA_BYTES];
    CK_RV rv = encode(context->crypto, operation, text, padded);

    if (rv == CKR_OK) {
        rv = device_private(context->device, operation->key, padded, signature);
    }
    OPENSSL_cleanse(padded, sizeof padded);
    return rv;
}

static CK_RV verify(const struct context *context, struct operation *operation,
                    const struct text *text, const uint8_t *signature, size_t size)
{
    const struct padding *const padding = &operation->parameters.padding;
    uint8_t found[MAX_RSA_BYTES], expected[MAX_RSA_BYTES];
    CK_RV rv;

    if (size != operation->key->bytes) {
        return CKR_SIGNATURE_LEN_RANGE;
    }
    if (!rsa_public(operation->key, signature, found)) {
        return CKR_SIGNATURE_INVALID;
    }
    if (operation->mechanism->scheme == PSS) {
        if (text->size != padding->digest->size) {
            return CKR_DATA_LEN_RANGE;
        }
        return check_pss(context->crypto, padding, operation->key->bits, text->bytes, found) ?
                   CKR_OK :
                   CKR_SIGNATURE_INVALID;
    }
    rv = encode(context->crypto, operation, text, expected);
    if (rv == CKR_OK && memcmp(found, expected, size) != 0) {
        rv = CKR_SIGNATURE_INVALID;
    }
    return rv;
}

static CK_RV encrypt(const struct context *context, struct operation *operation,
                     const struct text *text, uint8_t *ciphertext)
{
    const struct rsa_key *const key = operation->key;
    uint8_t padded[MAX_RSA_BYTES];
    CK_RV rv = CKR_DATA_LEN_RANGE;

    if (operation->mechanism->scheme == RAW) {
        rv = encode(context->crypto, operation, text, padded);
    } else if (operation->mechanism->scheme == PKCS1 ?
                   pad_pkcs1(context->crypto, key->bytes, text->bytes, text->size, padded) :
                   pad_oaep(context->crypto, &operation->parameters.padding, key->bytes,
                            text->bytes, text->size, padded)) {
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
        rv = device_private(context->device, key, blinded, padded);
    }
    if (rv == CKR_OK && !blinding_undo(&blinding, key, padded, padded)) {
        rv = CKR_FUNCTION_FAILED;
    }
    blinding_end(&blinding);
    OPENSSL_cleanse(blinded, sizeof blinded);
    return rv;
}

/* The message, which is as long as the modulus at most. */
static CK_RV decrypt(const struct context *context, struct operation *operation,
                     const struct text *text, uint8_t *message, size_t *size)
{
    struct rsa_key *const key = operation->key;
    uint8_t *const padded = secret_allocate(MAX_RSA_BYTES);
    CK_RV rv = padded ? CKR_OK : CKR_HOST_MEMORY;
    bool done = true;

    if (rv == CKR_OK && text->size != key->bytes) {
        rv = CKR_ENCRYPTED_DATA_LEN_RANGE;
    }
    if (rv == CKR_OK && !rsa_is_below_modulus(key, text->bytes)) {
        rv = CKR_ENCRYPTED_DATA_INVALID;
    }
    if (rv == CKR_OK) {
        rv = decrypt_blinded(context, key, text->bytes, padded);
    }
    if (rv == CKR_OK) {
        switch (operation->mechanism->scheme) {
        case PKCS1:
            done = unpad_pkcs1(context->crypto, key, text->bytes, padded, message, size);
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

/* Decrypt to a buffer of the caller, which may be too small for this message. */
static CK_RV decrypt_to(const struct context *context, struct operation *operation,
                        const struct text *text, uint8_t *output, CK_ULONG *output_size)
{
    uint8_t *const message = secret_allocate(MAX_RSA_BYTES);
    size_t size = 0;
    CK_RV rv = message ? decrypt(context, operation, text, message, &size) : CKR_HOST_MEMORY;

    if (rv == CKR_OK) {
        if (*output_size < size) {
            rv = CKR_BUFFER_TOO_SMALL;
        } else {
            memcpy(output, message, size);
        }
        *output_size = size;
    }
    secret_free(message);
    return rv;
}

CK_RV operation_finish(const struct context *context, struct operation *operation,
                       enum operation_kind kind, bool in_one, const uint8_t *input, size_t size,
                       uint8_t *output, CK_ULONG *output_size)
{
    const struct digest *const digest = digest_of(operation->mechanism->digest);
    struct text text;
    size_t most;
    CK_RV rv;

    if (operation->parts == (in_one ? IN_PARTS : IN_ONE)) {
        return in_one ? CKR_OPERATION_ACTIVE : CKR_OPERATION_NOT_INITIALIZED;
    }
    operation->parts = in_one ? IN_ONE : IN_PARTS;
    if (operation->cipher) {
        return cipher_finish(operation, kind, in_one, input, size, output, output_size);
    }
    most = kind == DIGEST ? digest->size : operation->key->bytes;
    if (kind != VERIFY && output == NULL) {
        *output_size = most;
        return CKR_OK;
    }
    if (kind != VERIFY && kind != DECRYPT && *output_size < most) {
        *output_size = most;
        return CKR_BUFFER_TOO_SMALL;
    }
    if (operation->needs_login) {
        return CKR_USER_NOT_LOGGED_IN;
    }
    rv = gather(operation, input, size, &text);
    if (rv != CKR_OK) {
        return rv;
    }
    switch (kind) {
    case SIGN:
        rv = sign(context, operation, &text, output);
        break;
    case VERIFY:
        return verify(context, operation, &text, output, *output_size);
    case ENCRYPT:
        rv = encrypt(context, operation, &text, output);
        break;
    case DECRYPT:
        return decrypt_to(context, operation, &text, output, output_size);
    default:
        memcpy(output, text.bytes, text.size);
    }
    if (rv == CKR_OK) {
        *output_size = most;
    }
    return rv;
}
