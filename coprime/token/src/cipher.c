#include "cipher.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "aes.h"
#include "secret.h"

/* The longest text that comes in parts and is decrypted at the end. */
enum { MAX_COLLECTED = 1 << 24 };

struct cipher {
    EVP_CIPHER_CTX *context;
    bool encrypts, padded;
    bool at_once; /* CCM: libcrypto takes all of the text in one call, */
    size_t text_size; /* and knows its length before */
    size_t block; /* bytes that the mode takes at once; 1 of a stream */
    uint64_t blocks; /* that may be taken in all; 0: any number */
    size_t tag_size; /* 0: there is no tag */
    uint8_t *tag; /* the caller's; null: it is behind the text */
    size_t entered; /* bytes of input, in parts */
    uint8_t *collected; /* of a text that is kept until its end; its room is a power of two */
    size_t room;
};

/* Whether nothing is given before the end. */
static bool collects(const struct cipher *cipher)
{
    return cipher->at_once || (cipher->tag_size && !cipher->encrypts);
}

/* Bytes of a tag behind the input, and behind the output. */
static size_t tag_in(const struct cipher *cipher)
{
    return cipher->encrypts || cipher->tag ? 0 : cipher->tag_size;
}

static size_t tag_out(const struct cipher *cipher)
{
    return cipher->encrypts && cipher->tag == NULL ? cipher->tag_size : 0;
}

/* A text of the wrong length. */
static CK_RV wrong_size(const struct cipher *cipher)
{
    return cipher->encrypts ? CKR_DATA_LEN_RANGE : CKR_ENCRYPTED_DATA_LEN_RANGE;
}

void cipher_end(struct cipher *cipher)
{
    if (cipher) {
        EVP_CIPHER_CTX_free(cipher->context);
        secret_free(cipher->collected);
        free(cipher);
    }
}

struct cipher *cipher_begin(const struct crypto *crypto, CK_MECHANISM_TYPE type,
                            const uint8_t *key, size_t key_size,
                            const struct cipher_parameters *parameters, bool encrypts)
{
    struct cipher *const cipher = calloc(1, sizeof *cipher);
    int written = 0;
    bool done;

    if (cipher == NULL) {
        return NULL;
    }
    cipher->encrypts = encrypts;
    cipher->padded = type == CKM_AES_CBC_PAD;
    cipher->at_once = type == CKM_AES_CCM;
    cipher->text_size = parameters->text_size;
    cipher->block = type == CKM_AES_CTR || parameters->tag_size ? 1 : AES_BLOCK;
    cipher->blocks = parameters->blocks;
    cipher->tag_size = parameters->tag_size;
    cipher->tag = parameters->tag;
    cipher->context = aes_begin(crypto, type, key, key_size, parameters->iv, parameters->iv_size,
                                parameters->tag_size, encrypts);
    done = cipher->context && EVP_CIPHER_CTX_set_padding(cipher->context, cipher->padded) == 1;
    if (done && cipher->at_once) {
        done = EVP_CipherUpdate(cipher->context, NULL, &written, NULL, (int)cipher->text_size) == 1;
    }
    if (done && parameters->data_size) {
        done = EVP_CipherUpdate(cipher->context, NULL, &written, parameters->data,
                                (int)parameters->data_size) == 1;
    }
    if (!done) {
        cipher_end(cipher);
        return NULL;
    }
    return cipher;
}

/* Bytes that more input gives: whole blocks, of which a decryption with padding keeps the last one
   back. */
static size_t gives(const struct cipher *cipher, size_t size)
{
    const size_t keeps = cipher->padded && !cipher->encrypts ? 1 : 0, before = cipher->entered;
    const size_t all = before + size;

    return (all > keeps ? (all - keeps) / cipher->block * cipher->block : 0) -
           (before > keeps ? (before - keeps) / cipher->block * cipher->block : 0);
}

/* Whether so many bytes in all are beyond the counter. */
static bool is_beyond(const struct cipher *cipher, size_t size)
{
    return cipher->blocks && (size + AES_BLOCK - 1) / AES_BLOCK > cipher->blocks;
}

/* Keep a part of a text. */
static CK_RV collect(struct cipher *cipher, const uint8_t *input, size_t size)
{
    size_t room = cipher->room ? cipher->room : 4096;
    uint8_t *larger;

    if (size > MAX_COLLECTED - cipher->entered) {
        return wrong_size(cipher);
    }
    while (room < cipher->entered + size) {
        room *= 2;
    }
    if (room != cipher->room) {
        larger = secret_allocate(room);
        if (larger == NULL) {
            return CKR_HOST_MEMORY;
        }
        if (cipher->entered) {
            memcpy(larger, cipher->collected, cipher->entered);
        }
        secret_free(cipher->collected);
        cipher->collected = larger;
        cipher->room = room;
    }
    if (size) {
        memcpy(cipher->collected + cipher->entered, input, size);
    }
    cipher->entered += size;
    return CKR_OK;
}

/* Encrypt or decrypt a part, in memory of ours: the caller's output may be its input, or overlap it,
   and bytes that wait for a whole block would be written over others that have not been read. */
static CK_RV transform(struct cipher *cipher, const uint8_t *input, size_t size, uint8_t *output,
                       size_t wanted)
{
    uint8_t *const text = secret_allocate(size + AES_BLOCK);
    int written = 0;
    CK_RV rv = text ? CKR_OK : CKR_HOST_MEMORY;

    if (rv == CKR_OK && (EVP_CipherUpdate(cipher->context, text, &written, input, (int)size) != 1 ||
                         (size_t)written != wanted)) {
        rv = CKR_FUNCTION_FAILED;
    }
    if (rv == CKR_OK) {
        if (wanted) {
            memcpy(output, text, wanted);
        }
        cipher->entered += size;
    }
    secret_free(text);
    return rv;
}

CK_RV cipher_update(struct cipher *cipher, const uint8_t *input, size_t size, uint8_t *output,
                    CK_ULONG *output_size)
{
    const size_t wanted = collects(cipher) ? 0 : gives(cipher, size);

    if (size > INT_MAX / 2) {
        return CKR_ARGUMENTS_BAD;
    }
    if (is_beyond(cipher, cipher->entered + size)) {
        return wrong_size(cipher);
    }
    if (output == NULL || *output_size < wanted) {
        const bool asked = output == NULL;

        *output_size = wanted;
        return asked ? CKR_OK : CKR_BUFFER_TOO_SMALL;
    }
    *output_size = wanted;
    return collects(cipher) ? collect(cipher, input, size) :
                              transform(cipher, input, size, output, wanted);
}

/* The rest of the text, of a copy of the cipher, in memory that has room for it, a block and a tag. */
static CK_RV finish(const struct cipher *cipher, const uint8_t *input, size_t size, uint8_t *text,
                    size_t *text_size)
{
    static const uint8_t nothing[1]; /* libcrypto takes null for the end */
    const uint8_t *const from = input ? input : nothing;
    const size_t length = size - tag_in(cipher);
    const uint8_t *const tag = cipher->tag ? cipher->tag : from + length;
    const bool compares = cipher->tag_size && !cipher->encrypts;
    EVP_CIPHER_CTX *const copy = EVP_CIPHER_CTX_new();
    int first = 0, last = 0;
    CK_RV rv = CKR_ENCRYPTED_DATA_INVALID;

    if (copy == NULL || EVP_CIPHER_CTX_copy(copy, cipher->context) != 1) {
        rv = CKR_HOST_MEMORY;
    } else if ((!compares || EVP_CIPHER_CTX_ctrl(copy, EVP_CTRL_AEAD_SET_TAG,
                                                 (int)cipher->tag_size, (void *)tag) == 1) &&
               EVP_CipherUpdate(copy, text, &first, from, (int)length) == 1 &&
               EVP_CipherFinal_ex(copy, text + first, &last) == 1) {
        *text_size = (size_t)first + (size_t)last;
        rv = CKR_OK;
    }
    if (rv == CKR_OK && cipher->tag_size && cipher->encrypts) {
        rv = EVP_CIPHER_CTX_ctrl(copy, EVP_CTRL_AEAD_GET_TAG, (int)cipher->tag_size,
                                 cipher->tag ? cipher->tag : text + *text_size) == 1 ?
                 CKR_OK :
                 CKR_FUNCTION_FAILED;
        *text_size += tag_out(cipher);
    }
    EVP_CIPHER_CTX_free(copy);
    return rv;
}

/* Whether so many bytes of input can be all of it. */
static CK_RV check_size(const struct cipher *cipher, size_t size)
{
    const bool padded = cipher->padded && cipher->encrypts;

    if (size > INT_MAX / 2 || is_beyond(cipher, size) || (!padded && size % cipher->block) ||
        size < tag_in(cipher) ||
        (cipher->at_once && size != cipher->text_size + tag_in(cipher))) {
        return wrong_size(cipher);
    }
    return CKR_OK;
}

/* The longest result of so much input. */
static size_t most(const struct cipher *cipher, size_t size)
{
    if (cipher->padded && cipher->encrypts) {
        return (size / AES_BLOCK + 1) * AES_BLOCK;
    }
    return size + tag_out(cipher) - tag_in(cipher);
}

/* Make the rest of the text in memory of ours, and give it if there is room. */
static CK_RV give(const struct cipher *cipher, const uint8_t *input, size_t size, uint8_t *output,
                  CK_ULONG *output_size)
{
    uint8_t *const text = secret_allocate(size + 2 * AES_BLOCK);
    size_t text_size = 0;
    CK_RV rv = text ? finish(cipher, input, size, text, &text_size) : CKR_HOST_MEMORY;

    if (rv == CKR_OK) {
        rv = *output_size < text_size ? CKR_BUFFER_TOO_SMALL : CKR_OK;
        *output_size = text_size;
    }
    if (rv == CKR_OK && text_size) {
        memcpy(output, text, text_size);
    }
    secret_free(text);
    return rv;
}

CK_RV cipher_whole(const struct cipher *cipher, const uint8_t *input, size_t size, uint8_t *output,
                   CK_ULONG *output_size)
{
    const CK_RV rv = check_size(cipher, size);

    if (rv != CKR_OK) {
        return rv;
    }
    if (output == NULL) {
        *output_size = most(cipher, size);
        return CKR_OK;
    }
    return give(cipher, input, size, output, output_size);
}

CK_RV cipher_finish(const struct cipher *cipher, uint8_t *output, CK_ULONG *output_size)
{
    const bool all = collects(cipher);
    const CK_RV rv = check_size(cipher, cipher->entered);

    if (output == NULL) { /* more parts may follow */
        *output_size = all ? cipher->entered + tag_out(cipher) :
                       cipher->padded ? AES_BLOCK :
                                        cipher->tag_size;
        return CKR_OK;
    }
    if (rv != CKR_OK) {
        return rv == CKR_ENCRYPTED_DATA_LEN_RANGE && cipher->padded ? CKR_ENCRYPTED_DATA_INVALID :
                                                                      rv;
    }
    return give(cipher, all ? cipher->collected : NULL, all ? cipher->entered : 0, output,
                output_size);
}

void cipher_set_tag(struct cipher *cipher, uint8_t *tag)
{
    cipher->tag = tag;
}

CK_RV cipher_last(struct cipher *cipher, const uint8_t *input, size_t size, uint8_t *output,
                  CK_ULONG *output_size)
{
    const bool all = collects(cipher) && cipher->entered;
    const size_t whole = all ? cipher->entered + size : size;
    CK_RV rv = check_size(cipher, whole);

    if (rv == CKR_OK && output && *output_size < whole) {
        *output_size = whole;
        return CKR_BUFFER_TOO_SMALL;
    }
    if (rv == CKR_OK && output == NULL) {
        *output_size = whole;
        return CKR_OK;
    }
    if (rv != CKR_OK || !all) {
        return rv == CKR_OK ? give(cipher, input, size, output, output_size) : rv;
    }
    rv = collect(cipher, input, size);
    return rv == CKR_OK ? give(cipher, cipher->collected, whole, output, output_size) : rv;
}
