#include "blinding.h"

#include <string.h>

bool blinding_begin(struct blinding *blinding, const struct crypto *crypto,
                    const struct rsa_key *key, const uint8_t *ciphertext, uint8_t *blinded)
{
    memset(blinding, 0, sizeof *blinding);
    blinding->context = BN_CTX_secure_new_ex(crypto->context);
    blinding->modulus = BN_MONT_CTX_new();
    blinding->n = BN_dup(key->n);
    blinding->number = BN_bin2bn(ciphertext, (int)key->bytes, NULL);
    if (blinding->context == NULL || blinding->modulus == NULL || blinding->n == NULL ||
        blinding->number == NULL ||
        !BN_MONT_CTX_set(blinding->modulus, blinding->n, blinding->context)) {
        return false;
    }
    BN_set_flags(blinding->n, BN_FLG_CONSTTIME); /* the inverse of r is found in constant time */
    blinding->factor = BN_BLINDING_create_param(NULL, key->e, blinding->n, blinding->context,
                                                BN_mod_exp_mont, blinding->modulus);
    return blinding->factor &&
           BN_BLINDING_convert_ex(blinding->number, NULL, blinding->factor, blinding->context) &&
           BN_bn2binpad(blinding->number, blinded, (int)key->bytes) >= 0;
}

/* With the modulus in Montgomery's form, which is set above, libcrypto multiplies in constant time and
   leaves the length of the product as it is; so does BN_bn2binpad. */
bool blinding_undo(struct blinding *blinding, const struct rsa_key *key, const uint8_t *blinded,
                   uint8_t *result)
{
    return BN_bin2bn(blinded, (int)key->bytes, blinding->number) &&
           BN_BLINDING_invert_ex(blinding->number, NULL, blinding->factor, blinding->context) &&
           BN_bn2binpad(blinding->number, result, (int)key->bytes) >= 0;
}

void blinding_end(struct blinding *blinding)
{
    BN_BLINDING_free(blinding->factor);
    BN_clear_free(blinding->number);
    BN_free(blinding->n);
    BN_MONT_CTX_free(blinding->modulus);
    BN_CTX_free(blinding->context);
    memset(blinding, 0, sizeof *blinding);
}
