/* A kind of keys of two halves: what the rest of the module has to know of it, in one record. */
#ifndef COPRIME_TOKEN_KEY_KIND_H
#define COPRIME_TOKEN_KEY_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/x509.h>

#include "attributes.h"
#include "cancel.h"
#include "crypto.h"
#include "cryptoki.h"
#include "device.h"
#include "key.h"

/* The attributes that only keys of some kinds have, of one half. */
struct key_attributes {
    const CK_ATTRIBUTE_TYPE *types;
    size_t count;
};

/* What keys of a kind may do by default, and ever. */
enum key_right { RIGHT_ENCRYPT = 1, RIGHT_SIGN = 2, RIGHT_DERIVE = 4, RIGHT_ENCAPSULATE = 8 };

/* With what a pair is generated. */
struct maker {
    const struct crypto *crypto;
    struct device *device;
    bool on_device; /* an engine generates, if it can */
    const struct cancel *cancel;
};

struct key_kind {
    CK_KEY_TYPE type;
    struct key_attributes public_half, private_half;
    CK_ATTRIBUTE_TYPE secret; /* that shows the private key */
    CK_ATTRIBUTE_TYPE common; /* that is the same in both halves of a pair, and of no other one;
                                 UNAVAILABLE: there is none */
    CK_ATTRIBUTE_TYPE reads; /* the right by which the private key's user reads what is wrapped */
    bool signing_decrypts; /* a signature is the same operation as a decryption */
    unsigned rights; /* members of `enum key_right` */

    /* Whether a stored list has the numbers of a key. */
    bool (*is_complete)(const struct attributes *list, bool is_private);

    /* The key of an object; null without memory, or if its numbers are not there, are out of bounds, or
       do not fit each other: nothing that comes from a file is trusted. */
    struct key *(*make)(const struct crypto *crypto, const struct attributes *attributes,
                        bool is_private);

    /* Check the numbers of a key that was given, find those that are missing, and set them all.
       CKR_TEMPLATE_INCOMPLETE, CKR_ATTRIBUTE_VALUE_INVALID, CKR_KEY_SIZE_RANGE,
       CKR_CURVE_NOT_SUPPORTED, CKR_PARAMETER_SET_NOT_SUPPORTED. */
    CK_RV (*complete)(const struct crypto *crypto, struct attributes *attributes, bool is_private);

    /* Whether the pair that two templates ask for can be generated, and generate it: set the numbers of
       both halves. Errors as above; generating ends with the reason why it is cancelled. */
    CK_RV (*check_pair)(const struct attributes halves[2]);
    CK_RV (*generate)(const struct maker *maker, struct attributes halves[2]);

    /* Set a SubjectPublicKeyInfo. */
    bool (*identify)(X509_PUBKEY *info, struct key *key);

    /* A private key as PKCS #8, null if that fails; and the numbers of one.
       CKR_WRAPPED_KEY_INVALID if it is none of the type that the attributes have. */
    PKCS8_PRIV_KEY_INFO *(*encode)(const struct crypto *crypto, const struct attributes *attributes);
    CK_RV (*decode)(const struct crypto *crypto, const PKCS8_PRIV_KEY_INFO *info,
                    struct attributes *attributes);
};

#endif
