/* Keys on curves as this module computes with them: made of attributes, or made anew. */
#ifndef COPRIME_TOKEN_CURVE_KEY_H
#define COPRIME_TOKEN_CURVE_KEY_H

#include <openssl/ec.h>
#include <openssl/evp.h>

#include "crypto.h"
#include "curve.h"
#include "key.h"

/* The secret half, in secret memory. */
struct curve_secret {
    uint8_t bytes[MAX_CURVE_BYTES]; /* CKA_VALUE: as many as the curve has */
    /* Of ECDSA and ECDH the private key d; of EdDSA the scalar a modulo n. */
    uint32_t scalar[MAX_CURVE_WORDS];
    uint8_t prefix[MAX_CURVE_BYTES]; /* of EdDSA: the second half of the key's hash */
};

struct curve_key {
    struct key base;
    const struct curve *curve;
    /* As libcrypto has the public key: on a Weierstrass curve the group and a point. An EVP_PKEY of type
       EC is not taken there: where the application has loaded an engine for PKCS #11, that would lead
       back to this module. */
    EC_GROUP *group;
    EC_POINT *public_point;
    EVP_PKEY *public;
    uint8_t point[MAX_POINT]; /* CKA_EC_POINT without its OCTET STRING; no point is compressed */
    size_t point_size;
    struct curve_secret *secret; /* null in a public key */
};

/* A key that is one on a curve. */
static inline struct curve_key *curve_key_of(struct key *key)
{
    return (struct curve_key *)key;
}

/* A key from an object's attributes: as key_new. The public half of a private key is always computed
   from it: two signatures of EdDSA with different public keys would reveal the private one. */
struct key *curve_key_new(const struct crypto *crypto, const struct attributes *attributes,
                          bool is_private);

/* Check a key that was given, and set its numbers, but for CKA_EC_PARAMS, in their one form: the point is on its curve, and
   belongs to the private key; that is from 1 to n - 1, or any string of its length on Edwards and
   Montgomery curves. CKR_TEMPLATE_INCOMPLETE, CKR_ATTRIBUTE_VALUE_INVALID; CKR_CURVE_NOT_SUPPORTED. */
CK_RV curve_complete(const struct crypto *crypto, struct attributes *attributes, bool is_private);

/* A private key as libcrypto has it, and its numbers as attributes: CKA_EC_PARAMS and CKA_VALUE. Null,
   or CKR_WRAPPED_KEY_INVALID, if it is none of this type. */
EVP_PKEY *curve_to_libcrypto(const struct crypto *crypto, const struct attributes *attributes);
CK_RV curve_from_libcrypto(const EVP_PKEY *key, struct attributes *attributes);

/* Generate a key pair: CKA_VALUE and CKA_EC_POINT in secret memory. */
CK_RV curve_generate(const struct crypto *crypto, const struct curve *curve,
                     struct attributes *numbers);

/* The public key with these bytes, which may be compressed and have an OCTET STRING around them; null
   unless it is a point of the curve that keys may have. */
struct curve_key *curve_key_public(const struct crypto *crypto, const struct curve *curve,
                                   struct value point);

#endif
