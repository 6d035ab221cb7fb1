#include "operation.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "aes.h"
#include "rsa_key.h"
#include "schemes.h"
#include "secret.h"

static const CK_FLAGS flags_of[OPERATIONS] = {
    [SIGN] = CKF_SIGN,       [VERIFY] = CKF_VERIFY, [ENCRYPT] = CKF_ENCRYPT,
    [DECRYPT] = CKF_DECRYPT, [DIGEST] = CKF_DIGEST, [VERIFY_GIVEN] = CKF_VERIFY,
    [SIGN_MESSAGES] = CKF_MESSAGE_SIGN, [VERIFY_MESSAGES] = CKF_MESSAGE_VERIFY,
    [ENCRYPT_MESSAGES] = CKF_MESSAGE_ENCRYPT, [DECRYPT_MESSAGES] = CKF_MESSAGE_DECRYPT,
};

void operation_end(struct operation *operation)
{
    key_release(operation->key);
    EVP_MD_CTX_free(operation->digest);
    cipher_end(operation->cipher);
    EVP_MAC_CTX_free(operation->mac);
    secret_free(operation->message_key);
    secret_free(operation->collected);
    free(operation->signature);
    memset(operation, 0, sizeof *operation);
}

static struct work work_of(const struct context *context, const struct operation *operation)
{
    return (struct work){*context, operation->mechanism, &operation->parameters, operation->key};
}

/* What the mechanism does with keys of two halves; null if it takes secret keys, or none. */
static const struct scheme_functions *functions_of(const struct operation *operation)
{
    return operation->key ? scheme_of(operation->mechanism) : NULL;
}

static CK_RV begin_digest(const struct context *context, struct operation *operation)
{
    const struct digest *const digest = digest_of_mechanism(operation->mechanism->digest);
    const struct scheme_functions *const functions = functions_of(operation);
    const struct work work = work_of(context, operation);

    if (digest == NULL) {
        return CKR_OK;
    }
    operation->digest = EVP_MD_CTX_new();
    if (operation->digest == NULL ||
        EVP_DigestInit_ex2(operation->digest, digest_md(context->crypto, digest), NULL) != 1 ||
        (functions && functions->begin && !functions->begin(&work, operation->digest))) {
        return CKR_HOST_MEMORY;
    }
    return CKR_OK;
}

/* Whether the key is one for the mechanism. */
static CK_RV check_key(const struct context *context, const struct operation *operation)
{
    const struct scheme_functions *const functions = functions_of(operation);
    const struct work work = work_of(context, operation);

    return functions && functions->check ? functions->check(&work) : CKR_OK;
}

static CK_RV begin_mac(const struct crypto *crypto, struct operation *operation, struct value key)
{
    const bool is_cmac = operation->mechanism->scheme == CMAC;

    if (is_cmac ? !aes_has_size(key.size) : key.size == 0 || key.size > MAX_MAC_KEY) {
        return CKR_KEY_SIZE_RANGE;
    }
    operation->mac = is_cmac ? crypto_begin_cmac(crypto, key.bytes, key.size) :
                               crypto_begin_hmac(crypto, digest_of(operation->mechanism->digest),
                                                 key.bytes, key.size);
    return operation->mac ? CKR_OK : CKR_HOST_MEMORY;
}

/* Whether the mechanism's cipher has keys of this many bytes. */
static bool has_key_size(const struct mechanism *mechanism, size_t size)
{
    return aes_has_size(size) && size >= mechanism->info.ulMinKeySize;
}

static CK_RV begin_cipher(const struct crypto *crypto, const struct operation *operation,
                          const struct cipher_parameters *parameters, struct value key,
                          bool encrypts, struct cipher **cipher)
{
    if (!has_key_size(operation->mechanism, key.size)) {
        return CKR_KEY_SIZE_RANGE;
    }
    *cipher = cipher_begin(crypto, operation->mechanism->type, key.bytes, key.size, parameters,
                           encrypts);
    return *cipher ? CKR_OK : CKR_HOST_MEMORY;
}

/* Messages have parameters of their own, and begin later. */
static CK_RV begin_messages(struct operation *operation, struct value key)
{
    if (!has_key_size(operation->mechanism, key.size)) {
        return CKR_KEY_SIZE_RANGE;
    }
    operation->message_key = secret_allocate(key.size);
    if (operation->message_key == NULL) {
        return CKR_HOST_MEMORY;
    }
    memcpy(operation->message_key, key.bytes, key.size);
    operation->message_key_size = key.size;
    return CKR_OK;
}

static bool enciphers_messages(enum operation_kind kind)
{
    return kind == ENCRYPT_MESSAGES || kind == DECRYPT_MESSAGES;
}

CK_RV operation_begin(const struct context *context, struct operation *operation,
                      enum operation_kind kind, const CK_MECHANISM *mechanism,
                      const struct operation_key *key)
{
    const struct mechanism *const found = mechanism_find(mechanism->mechanism);
    CK_RV rv = CKR_OK;

    operation->key = key->shared;
    if (found == NULL || !(found->info.flags & flags_of[kind])) {
        rv = CKR_MECHANISM_INVALID;
    }
    if (rv == CKR_OK) {
        operation->mechanism = found;
        rv = enciphers_messages(kind) ?
                 begin_messages(operation, key->secret) :
                 mechanism_parameters(found, mechanism, &operation->parameters);
    }
    if (rv == CKR_OK) {
        rv = check_key(context, operation);
    }
    if (rv == CKR_OK && found->scheme == CIPHER && !enciphers_messages(kind)) {
        rv = begin_cipher(context->crypto, operation, &operation->parameters.cipher, key->secret,
                          kind == ENCRYPT, &operation->cipher);
    }
    if (rv == CKR_OK && (found->scheme == HMAC || found->scheme == CMAC)) {
        rv = begin_mac(context->crypto, operation, key->secret);
    } else if (rv == CKR_OK) {
        rv = begin_digest(context, operation);
    }
    if (found && mechanism_is_single_part(found)) {
        operation->parts = IN_ONE;
    }
    if (rv != CKR_OK) {
        operation_end(operation);
    }
    return rv;
}

CK_RV operation_begin_message(const struct context *context, const struct operation *messages,
                              struct operation *operation)
{
    CK_RV rv = CKR_OK;

    operation->mechanism = messages->mechanism;
    operation->parameters = messages->parameters;
    operation->parameters.padding.label = operation->parameters.label;
    operation->key = messages->key ? key_share(messages->key) : NULL;
    if (messages->mac) {
        operation->mac = EVP_MAC_CTX_dup(messages->mac);
        rv = operation->mac ? CKR_OK : CKR_HOST_MEMORY;
    } else {
        rv = begin_digest(context, operation);
    }
    return rv;
}

CK_RV operation_begin_cipher(const struct context *context, const struct operation *messages,
                             bool encrypts, const struct value *parameter, const struct value *data,
                             struct cipher **cipher)
{
    const struct value key = {messages->message_key, messages->message_key_size};
    struct cipher_parameters parameters;
    CK_RV rv;

    if (data->size > MAX_DATA || (data->bytes == NULL && data->size)) {
        return CKR_ARGUMENTS_BAD;
    }
    rv = cipher_parameters_of_message(context->crypto, messages->mechanism->type, parameter->bytes,
                                      parameter->size, encrypts, &parameters);
    parameters.data = data->bytes;
    parameters.data_size = data->size;
    return rv == CKR_OK ?
               begin_cipher(context->crypto, messages, &parameters, key, encrypts, cipher) :
               rv;
}

/* Bytes of a digest, a signature, or of what is as long as the modulus. */
static size_t result_size(const struct operation *operation)
{
    const struct scheme_functions *const functions = functions_of(operation);
    const struct work work = work_of(&(struct context){NULL, NULL}, operation);

    if (operation->mac) {
        return operation->parameters.mac_size;
    }
    return functions ? functions->size(&work) : digest_of(operation->mechanism->digest)->size;
}

/* The most that is collected; more is an error at the end. */
static size_t most_collected(const struct operation *operation)
{
    const struct scheme_functions *const functions = functions_of(operation);

    return functions && functions->most ? functions->most : result_size(operation);
}

/* Have room for more bytes. */
static bool make_room(struct operation *operation, size_t size)
{
    const size_t needed = operation->collected_size + size;
    const size_t room = needed > MAX_RSA_BYTES ? 2 * needed : MAX_RSA_BYTES;
    uint8_t *larger;

    if (needed <= operation->collected_room) {
        return true;
    }
    larger = secret_allocate(room);
    if (larger == NULL) {
        return false;
    }
    if (operation->collected_size) {
        memcpy(larger, operation->collected, operation->collected_size);
    }
    secret_free(operation->collected);
    operation->collected = larger;
    operation->collected_room = room;
    return true;
}

static CK_RV collect(struct operation *operation, const uint8_t *input, size_t size)
{
    if (size > most_collected(operation) - operation->collected_size) {
        return CKR_DATA_LEN_RANGE;
    }
    if (!make_room(operation, size)) {
        return CKR_HOST_MEMORY;
    }
    if (size) {
        memcpy(operation->collected + operation->collected_size, input, size);
    }
    operation->collected_size += size;
    return CKR_OK;
}

CK_RV operation_update(struct operation *operation, const uint8_t *input, size_t size,
                       uint8_t *output, CK_ULONG *output_size)
{
    const bool asked = operation->cipher && output == NULL;

    if (operation->parts == IN_ONE) {
        return CKR_OPERATION_NOT_INITIALIZED;
    }
    if (!asked) {
        operation->parts = IN_PARTS;
    }
    if (operation->cipher) {
        return output_size ? cipher_update(operation->cipher, input, size, output, output_size) :
                             CKR_ARGUMENTS_BAD;
    }
    if (output_size) {
        *output_size = 0;
    }
    if (operation->mac) {
        return EVP_MAC_update(operation->mac, input, size) == 1 ? CKR_OK : CKR_FUNCTION_FAILED;
    }
    if (operation->digest) {
        return EVP_DigestUpdate(operation->digest, input, size) == 1 ? CKR_OK : CKR_FUNCTION_FAILED;
    }
    return collect(operation, input, size);
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
                      digest_finish(digest_of_mechanism(operation->mechanism->digest), copy, result);

    EVP_MD_CTX_free(copy);
    return done;
}

static struct value as_value(const struct text *text)
{
    return (struct value){text->bytes, text->size};
}

/* The same of a MAC. */
static bool finish_mac(const struct operation *operation, const uint8_t *input, size_t size,
                       uint8_t result[MAX_DIGEST])
{
    EVP_MAC_CTX *const copy = EVP_MAC_CTX_dup(operation->mac);
    size_t written = 0;
    const bool done = copy && EVP_MAC_update(copy, input, size) == 1 &&
                      EVP_MAC_final(copy, result, &written, MAX_DIGEST) == 1;

    EVP_MAC_CTX_free(copy);
    return done;
}

static CK_RV gather(const struct operation *operation, const uint8_t *input, size_t size,
                    struct text *text)
{
    const struct digest *const digest = digest_of_mechanism(operation->mechanism->digest);
    size_t head = 0;

    if (operation->mac) {
        text->bytes = text->digest;
        text->size = operation->parameters.mac_size;
        return finish_mac(operation, input, size, text->digest) ? CKR_OK : CKR_FUNCTION_FAILED;
    }
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

static CK_RV sign(const struct operation *operation, const struct work *work, struct value text,
                  uint8_t *signature)
{
    if (operation->mac) {
        memcpy(signature, text.bytes, text.size);
        return CKR_OK;
    }
    return scheme_of(work->mechanism)->sign(work, text, signature);
}

static CK_RV verify(const struct operation *operation, const struct work *work, struct value text,
                    struct value signature)
{
    if (operation->mac) {
        return signature.size != text.size ? CKR_SIGNATURE_LEN_RANGE :
               CRYPTO_memcmp(signature.bytes, text.bytes, text.size) == 0 ? CKR_OK :
                                                                            CKR_SIGNATURE_INVALID;
    }
    return scheme_of(work->mechanism)->verify(work, text, signature);
}

/* Decrypt to a buffer of the caller, which may be too small for this message. */
static CK_RV decrypt_to(const struct work *work, const struct text *text, uint8_t *output,
                        CK_ULONG *output_size)
{
    uint8_t *const message = secret_allocate(MAX_RSA_BYTES);
    size_t size = 0;
    CK_RV rv = message ? scheme_of(work->mechanism)->decrypt(work, as_value(text), message, &size) :
                         CKR_HOST_MEMORY;

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
    const struct work work = work_of(context, operation);
    struct text text;
    size_t most;
    CK_RV rv;

    if (operation->parts == (in_one ? IN_PARTS : IN_ONE)) {
        return in_one ? CKR_OPERATION_ACTIVE : CKR_OPERATION_NOT_INITIALIZED;
    }
    operation->parts = in_one ? IN_ONE : IN_PARTS;
    if (operation->cipher) {
        return in_one ? cipher_whole(operation->cipher, input, size, output, output_size) :
                        cipher_finish(operation->cipher, output, output_size);
    }
    most = result_size(operation);
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
        rv = sign(operation, &work, as_value(&text), output);
        break;
    case VERIFY:
        return verify(operation, &work, as_value(&text), (struct value){output, *output_size});
    case ENCRYPT:
        rv = scheme_of(operation->mechanism)->encrypt(&work, as_value(&text), output);
        break;
    case DECRYPT:
        return decrypt_to(&work, &text, output, output_size);
    default:
        memcpy(output, text.bytes, text.size);
    }
    if (rv == CKR_OK) {
        *output_size = most;
    }
    return rv;
}
