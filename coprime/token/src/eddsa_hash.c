#include "eddsa_hash.h"

#include <string.h>

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

bool eddsa_is_448(const struct curve *curve)
{
    return curve->bits == 448;
}

bool eddsa_hash(const struct crypto *crypto, const struct curve *curve, const struct value *parts,
                unsigned count, uint8_t *result, size_t size)
{
    EVP_MD *const md = EVP_MD_fetch(crypto->context, eddsa_is_448(curve) ? "SHAKE256" : "SHA512", NULL);
    EVP_MD_CTX *const context = EVP_MD_CTX_new();
    bool done = md && context && EVP_DigestInit_ex2(context, md, NULL) == 1;

    for (unsigned i = 0; i < count; ++i) {
        done = done && (parts[i].size == 0 ||
                        EVP_DigestUpdate(context, parts[i].bytes, parts[i].size) == 1);
    }
    done = done && (eddsa_is_448(curve) ? EVP_DigestFinalXOF(context, result, size) == 1 :
                                    EVP_DigestFinal_ex(context, result, NULL) == 1);
    EVP_MD_CTX_free(context);
    EVP_MD_free(md);
    return done;
}

bool eddsa_reduce(const struct crypto *crypto, const struct curve *curve, const uint8_t *bytes,
                  size_t size, uint32_t *words)
{
    BN_CTX *const context = BN_CTX_secure_new_ex(crypto->context);
    BIGNUM *const n = curve_number(curve, curve->engine->n), *const number = BN_secure_new();
    bool done = context && n && number && BN_lebin2bn(bytes, (int)size, number);

    if (done) {
        BN_set_flags(number, BN_FLG_CONSTTIME);
        done = BN_mod(number, number, n, context) && curve_words(curve, number, words);
    }
    BN_free(n);
    BN_clear_free(number);
    BN_CTX_free(context);
    return done;
}

bool eddsa_expand(const struct crypto *crypto, const struct curve *curve, const uint8_t *bytes,
                  uint32_t *scalar, uint8_t *prefix)
{
    const struct value private = {bytes, curve->bytes};
    const size_t top = (curve->bits - 1) / 8; /* the byte of the highest bit, 254 or 447 */
    uint8_t hashed[EDDSA_MAX_HASH];
    bool done = eddsa_hash(crypto, curve, &private, 1, hashed, curve->signature);

    if (done) {
        memcpy(prefix, hashed + curve->bytes, curve->bytes);
        hashed[0] &= eddsa_is_448(curve) ? 0xfc : 0xf8; /* a multiple of the cofactor */
        hashed[top] = (uint8_t)((hashed[top] & ((1u << (curve->bits - 1) % 8) - 1)) |
                                1u << (curve->bits - 1) % 8);
        done = eddsa_reduce(crypto, curve, hashed, top + 1, scalar);
    }
    OPENSSL_cleanse(hashed, sizeof hashed);
    return done;
}
