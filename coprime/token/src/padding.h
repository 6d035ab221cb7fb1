/* The paddings of RFC 8017, for digests of any kind. All strings are as long as the modulus. */
#ifndef COPRIME_TOKEN_PADDING_H
#define COPRIME_TOKEN_PADDING_H

#include "crypto.h"
#include "rsa_key.h"

/* What OAEP and PSS need; `label` is that of OAEP, `salt` the length of PSS's salt. */
struct padding {
    const struct digest *digest, *mgf;
    size_t salt;
    const uint8_t *label;
    size_t label_size;
};

/* A string that is too long or a key that is too short for the padding: false in all of these,
   which fail for nothing else but libcrypto without memory or random numbers. */

/* EMSA-PKCS1-v1_5 of a DigestInfo, or of any other string. */
bool pad_pkcs1_signature(size_t bytes, const uint8_t *text, size_t size, uint8_t *padded);
/* EME-PKCS1-v1_5. */
bool pad_pkcs1(const struct crypto *crypto, size_t bytes, const uint8_t *text, size_t size,
               uint8_t *padded);
bool pad_oaep(const struct crypto *crypto, const struct padding *padding, size_t bytes,
              const uint8_t *text, size_t size, uint8_t *padded);
/* EMSA-PSS of a digest, for a modulus of `bits` bits. */
bool pad_pss(const struct crypto *crypto, const struct padding *padding, uint32_t bits,
             const uint8_t *digest, uint8_t *padded);

/* Verify; the padded string is public. */
bool check_pss(const struct crypto *crypto, const struct padding *padding, uint32_t bits,
               const uint8_t *digest, const uint8_t *padded);

/* Decrypt; `text` has room for as many bytes as the modulus. The time depends on nothing but the
   lengths of modulus and label, apart from the copying of the message and whether it is one. */

/* Always gives a message: of a wrong padding another one that follows from key and ciphertext
   (implicit rejection). False only without memory. */
bool unpad_pkcs1(const struct crypto *crypto, const struct rsa_key *key, const uint8_t *ciphertext,
                 const uint8_t *padded, uint8_t *text, size_t *size);
bool unpad_oaep(const struct crypto *crypto, const struct padding *padding, size_t bytes,
                uint8_t *padded, uint8_t *text, size_t *size);

#endif
