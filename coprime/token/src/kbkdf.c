#include "kbkdf.h"

#include <string.h>

#include <openssl/crypto.h>

#include "aes.h"

/* Reading. */

/* The format of a number: a counter, or the length of the result. */
static bool read_format(const CK_PRF_DATA_PARAM *given, size_t place, struct kbkdf *kbkdf)
{
    CK_SP800_108_COUNTER_FORMAT counter = {0};
    CK_SP800_108_DKM_LENGTH_FORMAT length = {0};
    const bool is_length = given->type == CK_SP800_108_DKM_LENGTH;
    CK_ULONG bits;

    if (given->pValue == NULL ||
        given->ulValueLen != (is_length ? sizeof length : sizeof counter)) {
        return false;
    }
    memcpy(is_length ? (void *)&length : (void *)&counter, given->pValue, given->ulValueLen);
    bits = is_length ? length.ulWidthInBits : counter.ulWidthInBits;
    kbkdf->fields[place].width = bits / 8;
    kbkdf->fields[place].little_endian = is_length ? length.bLittleEndian : counter.bLittleEndian;
    kbkdf->fields[place].of_blocks =
        length.dkmLengthMethod == CK_SP800_108_DKM_LENGTH_SUM_OF_SEGMENTS;
    return bits >= 8 && bits <= (is_length ? 64 : 32) && bits % 8 == 0 &&
           (!is_length || kbkdf->fields[place].of_blocks ||
            length.dkmLengthMethod == CK_SP800_108_DKM_LENGTH_SUM_OF_KEYS);
}

/* In counter mode the iteration variable is a counter, else the block before; only there is another
   counter. */
static bool read_field(const CK_PRF_DATA_PARAM *given, size_t place, struct kbkdf *kbkdf)
{
    const bool counts = kbkdf->mode == CKM_SP800_108_COUNTER_KDF;

    kbkdf->fields[place].type = given->type;
    switch (given->type) {
    case CK_SP800_108_ITERATION_VARIABLE:
        return counts ? read_format(given, place, kbkdf) : given->ulValueLen == 0;
    case CK_SP800_108_COUNTER:
        return !counts && read_format(given, place, kbkdf);
    case CK_SP800_108_DKM_LENGTH:
        return read_format(given, place, kbkdf);
    case CK_SP800_108_BYTE_ARRAY:
        kbkdf->fields[place].bytes = (struct value){given->pValue, given->ulValueLen};
        return given->ulValueLen <= MAX_FIELD && (given->pValue || given->ulValueLen == 0);
    default:
        return false;
    }
}

static size_t count_of(const struct kbkdf *kbkdf, CK_PRF_DATA_TYPE type)
{
    size_t count = 0;

    for (size_t i = 0; i < kbkdf->count; ++i) {
        count += kbkdf->fields[i].type == type;
    }
    return count;
}

CK_RV kbkdf_read(const CK_MECHANISM *given, struct kbkdf *kbkdf)
{
    CK_SP800_108_FEEDBACK_KDF_PARAMS found = {0};
    CK_SP800_108_KDF_PARAMS plain;
    const bool feeds_back = given->mechanism == CKM_SP800_108_FEEDBACK_KDF;
    bool right;

    if (given->pParameter == NULL ||
        given->ulParameterLen != (feeds_back ? sizeof found : sizeof plain)) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    if (feeds_back) {
        memcpy(&found, given->pParameter, sizeof found);
    } else {
        memcpy(&plain, given->pParameter, sizeof plain);
        found.prfType = plain.prfType;
        found.ulNumberOfDataParams = plain.ulNumberOfDataParams;
        found.pDataParams = plain.pDataParams;
        found.ulAdditionalDerivedKeys = plain.ulAdditionalDerivedKeys;
    }
    memset(kbkdf, 0, sizeof *kbkdf);
    kbkdf->mode = given->mechanism;
    kbkdf->prf = mechanism_find(found.prfType);
    kbkdf->start = (struct value){found.pIV, found.ulIVLen};
    right = kbkdf->prf && mechanism_is_prf(kbkdf->prf) && found.pDataParams &&
            found.ulNumberOfDataParams <= MAX_FIELDS && found.ulAdditionalDerivedKeys == 0 &&
            found.ulIVLen <= MAX_FIELD && (found.pIV || found.ulIVLen == 0);
    for (; right && kbkdf->count < found.ulNumberOfDataParams; ++kbkdf->count) {
        CK_PRF_DATA_PARAM field;

        memcpy(&field, &found.pDataParams[kbkdf->count], sizeof field);
        right = read_field(&field, kbkdf->count, kbkdf);
    }
    return right && count_of(kbkdf, CK_SP800_108_ITERATION_VARIABLE) == 1 &&
                   count_of(kbkdf, CK_SP800_108_COUNTER) <= 1 &&
                   count_of(kbkdf, CK_SP800_108_DKM_LENGTH) <= 1 ?
               CKR_OK :
               CKR_MECHANISM_PARAM_INVALID;
}

/* Deriving. */

/* What a block is made of: the iteration variable, if it is no counter; the counter; bits of the result. */
struct block {
    struct value variable;
    uint64_t counter, key_bits, block_bits;
};

/* Give the pseudorandom function a number of a field's width; false if it does not fit. */
static bool put_number(EVP_MAC_CTX *prf, uint64_t number, size_t width, bool little_endian)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < width; ++i) {
        bytes[little_endian ? i : width - 1 - i] = (uint8_t)(number >> 8 * i);
    }
    return (width == sizeof bytes || number >> 8 * width == 0) &&
           EVP_MAC_update(prf, bytes, width) == 1;
}

/* Give it all fields; or only those that no iteration changes. */
static bool put_fields(EVP_MAC_CTX *prf, const struct kbkdf *kbkdf, const struct block *block,
                       bool all)
{
    bool put = true;

    for (size_t i = 0; put && i < kbkdf->count; ++i) {
        const size_t width = kbkdf->fields[i].width;
        const bool little_endian = kbkdf->fields[i].little_endian;

        switch (kbkdf->fields[i].type) {
        case CK_SP800_108_BYTE_ARRAY:
            put = EVP_MAC_update(prf, kbkdf->fields[i].bytes.bytes, kbkdf->fields[i].bytes.size) == 1;
            break;
        case CK_SP800_108_DKM_LENGTH:
            put = put_number(prf, kbkdf->fields[i].of_blocks ? block->block_bits : block->key_bits,
                             width, little_endian);
            break;
        default:
            if (all && width) {
                put = put_number(prf, block->counter, width, little_endian);
            } else if (all) {
                put = EVP_MAC_update(prf, block->variable.bytes, block->variable.size) == 1;
            }
        }
    }
    return put;
}

/* output = the function of these fields, or of a string if there is one. */
static bool apply(EVP_MAC_CTX *keyed, const struct kbkdf *kbkdf, const struct block *block,
                  bool all, const struct value *string, uint8_t output[MAX_DIGEST])
{
    EVP_MAC_CTX *const prf = EVP_MAC_CTX_dup(keyed);
    size_t written = 0;
    const bool done = prf &&
                      (string ? EVP_MAC_update(prf, string->bytes, string->size) == 1 :
                                put_fields(prf, kbkdf, block, all)) &&
                      EVP_MAC_final(prf, output, &written, MAX_DIGEST) == 1;

    EVP_MAC_CTX_free(prf);
    return done;
}

/* The blocks of the result, each by the step of SP 800-108r1's 4.1, 4.2 or 4.3. */
static bool make_blocks(EVP_MAC_CTX *keyed, const struct kbkdf *kbkdf, size_t size_of_block,
                        uint8_t *result, size_t size)
{
    const size_t count = (size + size_of_block - 1) / size_of_block;
    uint8_t made[MAX_DIGEST], first[MAX_DIGEST]; /* K(i); A(i) of the double pipeline */
    const struct value before = {first, size_of_block};
    struct block block = {kbkdf->start, 1, 8 * size, 8 * count * size_of_block};
    bool done = true;

    for (; done && size; ++block.counter) {
        const size_t part = size < size_of_block ? size : size_of_block;

        if (kbkdf->mode == CKM_SP800_108_DOUBLE_PIPELINE_KDF) {
            done = apply(keyed, kbkdf, &block, false, block.counter > 1 ? &before : NULL, first);
            block.variable = before;
        }
        done = done && apply(keyed, kbkdf, &block, true, NULL, made);
        if (kbkdf->mode == CKM_SP800_108_FEEDBACK_KDF) {
            block.variable = (struct value){made, size_of_block};
        }
        if (done) {
            memcpy(result, made, part);
        }
        result += part;
        size -= part;
    }
    OPENSSL_cleanse(made, sizeof made);
    OPENSSL_cleanse(first, sizeof first);
    return done;
}

/* Whether the last counter, and the length, fit their fields. */
static bool fits(const struct kbkdf *kbkdf, size_t size_of_block, size_t size)
{
    const uint64_t count = (size + size_of_block - 1) / size_of_block;
    bool fit = true;

    for (size_t i = 0; i < kbkdf->count; ++i) {
        const size_t width = kbkdf->fields[i].width;
        const uint64_t greatest =
            kbkdf->fields[i].type != CK_SP800_108_DKM_LENGTH ? count :
            kbkdf->fields[i].of_blocks                       ? 8 * count * size_of_block :
                                                               8 * (uint64_t)size;

        fit = fit && (width == 0 || width >= sizeof greatest || greatest >> 8 * width == 0);
    }
    return fit;
}

CK_RV kbkdf_derive(const struct crypto *crypto, const struct kbkdf *kbkdf, struct value key,
                   uint8_t *result, size_t size)
{
    const bool is_cmac = kbkdf->prf->scheme == CMAC;
    const struct digest *const digest = digest_of(kbkdf->prf->digest);
    const size_t size_of_block = is_cmac ? AES_BLOCK : digest->size;
    EVP_MAC_CTX *keyed;
    bool done;

    if ((is_cmac ? !aes_has_size(key.size) : key.size == 0 || key.size > MAX_MAC_KEY) ||
        !fits(kbkdf, size_of_block, size)) {
        return CKR_KEY_SIZE_RANGE;
    }
    keyed = is_cmac ? crypto_begin_cmac(crypto, key.bytes, key.size) :
                      crypto_begin_hmac(crypto, digest, key.bytes, key.size);
    done = keyed && make_blocks(keyed, kbkdf, size_of_block, result, size);
    EVP_MAC_CTX_free(keyed);
    return done ? CKR_OK : CKR_FUNCTION_FAILED;
}
