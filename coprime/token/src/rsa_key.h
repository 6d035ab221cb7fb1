/* RSA keys as this module computes with them: made of attributes, or made anew. */
#ifndef COPRIME_TOKEN_RSA_KEY_H
#define COPRIME_TOKEN_RSA_KEY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <openssl/bn.h>
#include <openssl/evp.h>

#include "attributes.h"
#include "cancel.h"
#include "coprime.h"
#include "crypto.h"
#include "cryptoki.h"
#include "key.h"

/* Lengths of moduli in bits. */
enum { MIN_RSA_BITS = 512, STRONG_RSA_BITS = 1024, MAX_RSA_BITS = 4096 };
enum { MAX_RSA_BYTES = MAX_RSA_BITS / 8 };

/* The numbers of RFC 8017, in the order of their attributes in PKCS #11. */
enum rsa_number { RSA_N, RSA_E, RSA_D, RSA_P, RSA_Q, RSA_DP, RSA_DQ, RSA_QINV, RSA_NUMBERS };

/* Their names in PKCS #11, and in libcrypto. */
extern const CK_ATTRIBUTE_TYPE rsa_attributes[RSA_NUMBERS];
extern const char *const rsa_parameters[RSA_NUMBERS];

/* What the device needs of a private key, in secret memory. */
struct rsa_private {
    struct coprime_private_key key; /* with the constants, once `prepared` */
    struct coprime_memory memory; /* for the constants */
    bool prepared;
    uint8_t digest_of_d[32]; /* for implicit rejection */
    uint32_t words[]; /* the numbers, then the constants */
};

/* A key; `lock` is for `secret->prepared` and what it says is there. */
struct rsa_key {
    struct key base;
    uint32_t bits;
    size_t bytes; /* of the modulus */
    BIGNUM *n, *e;
    struct rsa_private *secret; /* null in a public key */
    pthread_mutex_t lock;
};

/* A key from an object's attributes: as key_new. */
struct key *rsa_key_new(const struct crypto *crypto, const struct attributes *attributes,
                        bool is_private);

/* A key that is one of RSA. */
static inline struct rsa_key *rsa_key_of(struct key *key)
{
    return (struct rsa_key *)key;
}

/* result = input^e mod n, both `bytes` long; false if the input is not below the modulus. */
bool rsa_public(const struct rsa_key *key, const uint8_t *input, uint8_t *result);

/* result = input^d mod n by libcrypto, for the device `software`; false without memory. */
bool rsa_private_in_software(const struct rsa_key *key, const uint8_t *input, uint8_t *result);

/* Whether the input is below the modulus. The time is the same for every input. */
bool rsa_is_below_modulus(const struct rsa_key *key, const uint8_t *input);

/* Generate a key pair in software: all its numbers, in `numbers` in secret memory. Ends with the
   reason why it is cancelled. */
CK_RV rsa_generate(const struct crypto *crypto, uint32_t bits, const uint8_t *e, size_t e_size,
                   const struct cancel *cancel, struct attributes *numbers);

/* Set the numbers of a key of libcrypto as attributes; false if it lacks one, or without memory. */
bool rsa_set_numbers(const EVP_PKEY *key, struct attributes *attributes);

/* Check the numbers of a public key, a modulus and an exponent that can be, and are allowed, and set
   CKA_MODULUS_BITS. Fewer than 1024 bits, and exponents below 65537, are not unless the configuration
   says so. CKR_TEMPLATE_INCOMPLETE, CKR_ATTRIBUTE_VALUE_INVALID, CKR_KEY_SIZE_RANGE. */
CK_RV rsa_complete_public(struct attributes *attributes);

/* Check the numbers of a private key, find those that are missing from n, d and e or from p, q and
   e, and set them all. CKR_TEMPLATE_INCOMPLETE, CKR_ATTRIBUTE_VALUE_INVALID, CKR_KEY_SIZE_RANGE. */
CK_RV rsa_complete_private(const struct crypto *crypto, struct attributes *attributes);

#endif
