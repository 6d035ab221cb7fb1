#include "cipher_parameters.h"

#include <string.h>

#include "aes.h"

/* The bits of a nonce that is drawn: fewer would soon be the same (SP 800-38D, 8.2.2). */
enum { MIN_DRAWN_BITS = 96, CHACHA_NONCE = 12, POLY1305_TAG = 16 };

/* Copy a parameter of the caller's, which need not be aligned. */
static bool copy(void *found, size_t size, const void *given, CK_ULONG given_size)
{
    if (given == NULL || given_size != size) {
        return false;
    }
    memcpy(found, given, size);
    return true;
}

/* What all modes with a tag have in common: a nonce of some lengths, a tag, data beside the text. */
static CK_RV set(struct cipher_parameters *cipher, const uint8_t *iv, CK_ULONG iv_size,
                 const uint8_t *data, CK_ULONG data_size, CK_ULONG tag_size)
{
    if (iv == NULL || data_size > MAX_DATA || (data_size && data == NULL)) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    memcpy(cipher->iv, iv, iv_size);
    cipher->iv_size = iv_size;
    cipher->tag_size = tag_size;
    cipher->data = data;
    cipher->data_size = data_size;
    return CKR_OK;
}

/* GCM: the tag is 32 to 128 bits long; 96 or more should be taken. */
static bool is_gcm(CK_ULONG iv_size, CK_ULONG tag_bits)
{
    return iv_size > 0 && iv_size <= MAX_IV && tag_bits >= 32 && tag_bits <= 8 * MAX_TAG &&
           tag_bits % 8 == 0;
}

/* CCM (SP 800-38C, A.1): the length of the text fits the bytes that the nonce leaves for it. */
static bool is_ccm(CK_ULONG iv_size, CK_ULONG tag_size, CK_ULONG text_size)
{
    return iv_size >= 7 && iv_size <= 13 && tag_size >= 4 && tag_size <= MAX_TAG &&
           tag_size % 2 == 0 && text_size <= 1u << 30 &&
           (iv_size <= 11 || text_size < 1u << 8 * (15 - iv_size));
}

static CK_RV read_gcm(const CK_MECHANISM *given, struct cipher_parameters *cipher)
{
    CK_GCM_PARAMS found;

    if (!copy(&found, sizeof found, given->pParameter, given->ulParameterLen) ||
        !is_gcm(found.ulIvLen, found.ulTagBits)) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    return set(cipher, found.pIv, found.ulIvLen, found.pAAD, found.ulAADLen, found.ulTagBits / 8);
}

static CK_RV read_ccm(const CK_MECHANISM *given, struct cipher_parameters *cipher)
{
    CK_CCM_PARAMS found;

    if (!copy(&found, sizeof found, given->pParameter, given->ulParameterLen) ||
        !is_ccm(found.ulNonceLen, found.ulMACLen, found.ulDataLen)) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    cipher->text_size = found.ulDataLen;
    return set(cipher, found.pNonce, found.ulNonceLen, found.pAAD, found.ulAADLen, found.ulMACLen);
}

/* ChaCha20-Poly1305 with the nonce of RFC 8439; a shorter one belongs to another construction. */
static CK_RV read_chacha(const CK_MECHANISM *given, struct cipher_parameters *cipher)
{
    CK_SALSA20_CHACHA20_POLY1305_PARAMS found;

    if (!copy(&found, sizeof found, given->pParameter, given->ulParameterLen) ||
        found.ulNonceLen != CHACHA_NONCE) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    return set(cipher, found.pNonce, found.ulNonceLen, found.pAAD, found.ulAADLen, POLY1305_TAG);
}

/* Blocks until a counter of so many bits overflows, of which the greatest number stands for more. */
static uint64_t blocks_left(const CK_BYTE *block, CK_ULONG bits)
{
    uint64_t low = 0, mask;

    for (size_t i = AES_BLOCK - sizeof low; i < AES_BLOCK; ++i) {
        low = low << 8 | block[i];
    }
    if (bits >= 64) { /* 2^64 blocks are more than anybody gives */
        return UINT64_MAX;
    }
    mask = ((uint64_t)1 << bits) - 1;
    return mask - (low & mask) + 1;
}

/* The parameters of CTR. libcrypto counts in all of the block; nothing is given beyond the counter. */
static CK_RV read_counter(const CK_MECHANISM *given, struct cipher_parameters *cipher)
{
    CK_AES_CTR_PARAMS found;

    if (!copy(&found, sizeof found, given->pParameter, given->ulParameterLen) ||
        found.ulCounterBits == 0 || found.ulCounterBits > 8 * AES_BLOCK) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    memcpy(cipher->iv, found.cb, AES_BLOCK);
    cipher->blocks = blocks_left(found.cb, found.ulCounterBits);
    cipher->iv_size = AES_BLOCK;
    return CKR_OK;
}

CK_RV cipher_parameters_read(const CK_MECHANISM *given, struct cipher_parameters *cipher)
{
    switch (given->mechanism) {
    case CKM_AES_GCM:
        return read_gcm(given, cipher);
    case CKM_AES_CCM:
        return read_ccm(given, cipher);
    case CKM_CHACHA20_POLY1305:
        return read_chacha(given, cipher);
    case CKM_AES_CTR:
        return read_counter(given, cipher);
    case CKM_AES_CBC:
    case CKM_AES_CBC_PAD:
        cipher->iv_size = AES_BLOCK;
        return copy(cipher->iv, AES_BLOCK, given->pParameter, given->ulParameterLen) ?
                   CKR_OK :
                   CKR_MECHANISM_PARAM_INVALID;
    default: /* another initial value is not taken */
        return given->ulParameterLen ? CKR_MECHANISM_PARAM_INVALID : CKR_OK;
    }
}

/* Messages. */

/* Draw what of a nonce is not fixed. A counter would begin anew with each operation of the same key, and
   is refused. */
static CK_RV draw(const struct crypto *crypto, uint8_t *nonce, CK_ULONG size, CK_ULONG fixed_bits,
                  CK_GENERATOR_FUNCTION generator)
{
    switch (generator) {
    case CKG_NO_GENERATE:
        return CKR_OK;
    case CKG_GENERATE:
    case CKG_GENERATE_RANDOM:
        if (nonce == NULL || fixed_bits % 8 || fixed_bits + MIN_DRAWN_BITS > 8 * size) {
            return CKR_MECHANISM_PARAM_INVALID;
        }
        return crypto_random(crypto, nonce + fixed_bits / 8, size - fixed_bits / 8) ?
                   CKR_OK :
                   CKR_FUNCTION_FAILED;
    default:
        return CKR_MECHANISM_PARAM_INVALID;
    }
}

CK_RV cipher_parameters_of_message(const struct crypto *crypto, CK_MECHANISM_TYPE type,
                                   const void *given, CK_ULONG size, bool drawn,
                                   struct cipher_parameters *cipher)
{
    CK_GCM_MESSAGE_PARAMS gcm = {0};
    CK_CCM_MESSAGE_PARAMS ccm = {0};
    CK_SALSA20_CHACHA20_POLY1305_MSG_PARAMS chacha = {0};
    CK_ULONG iv_size, tag_size, fixed = 0;
    CK_GENERATOR_FUNCTION generator = CKG_NO_GENERATE;
    uint8_t *iv;
    CK_RV rv = CKR_OK;
    bool valid;

    memset(cipher, 0, sizeof *cipher);
    switch (type) {
    case CKM_AES_GCM:
        valid = copy(&gcm, sizeof gcm, given, size) && is_gcm(gcm.ulIvLen, gcm.ulTagBits);
        iv = gcm.pIv;
        iv_size = gcm.ulIvLen;
        fixed = gcm.ulIvFixedBits;
        generator = gcm.ivGenerator;
        tag_size = gcm.ulTagBits / 8;
        cipher->tag = gcm.pTag;
        break;
    case CKM_AES_CCM:
        valid = copy(&ccm, sizeof ccm, given, size) &&
                is_ccm(ccm.ulNonceLen, ccm.ulMACLen, ccm.ulDataLen);
        iv = ccm.pNonce;
        iv_size = ccm.ulNonceLen;
        fixed = ccm.ulNonceFixedBits;
        generator = ccm.nonceGenerator;
        tag_size = ccm.ulMACLen;
        cipher->tag = ccm.pMAC;
        cipher->text_size = ccm.ulDataLen;
        break;
    default:
        valid = copy(&chacha, sizeof chacha, given, size) && chacha.ulNonceLen == CHACHA_NONCE;
        iv = chacha.pNonce;
        iv_size = chacha.ulNonceLen;
        tag_size = POLY1305_TAG;
        cipher->tag = chacha.pTag;
    }
    if (!valid || cipher->tag == NULL || fixed > 8 * iv_size) {
        return CKR_MECHANISM_PARAM_INVALID;
    }
    if (drawn) {
        rv = draw(crypto, iv, iv_size, fixed, generator);
    }
    return rv == CKR_OK ? set(cipher, iv, iv_size, NULL, 0, tag_size) : rv;
}
