/* What keys on curves of every form have in common as objects of a token: members of struct key_kind. */
#ifndef COPRIME_TOKEN_CURVE_KIND_H
#define COPRIME_TOKEN_CURVE_KIND_H

#include "curve_key.h"
#include "key_kind.h"

/* How many of the attributes the halves have. */
enum { CURVE_OF_PUBLIC = 2, CURVE_OF_PRIVATE = 3 };

extern const CK_ATTRIBUTE_TYPE curve_numbers[CURVE_OF_PRIVATE];

bool curve_is_complete(const struct attributes *list, bool is_private);
CK_RV curve_check_pair(const struct attributes halves[2]);
CK_RV curve_generate_pair(const struct maker *maker, struct attributes halves[2]);
PKCS8_PRIV_KEY_INFO *curve_encode(const struct crypto *crypto, const struct attributes *attributes);
CK_RV curve_decode(const struct crypto *crypto, const PKCS8_PRIV_KEY_INFO *info,
                   struct attributes *attributes);

/* Set a SubjectPublicKeyInfo with libcrypto's number of the algorithm, and its parameters or null. */
bool curve_identify(X509_PUBKEY *info, struct key *key, int algorithm, ASN1_OBJECT *parameters);

/* All but type, rights and `identify`. */
#define CURVE_KIND \
    .public_half = {curve_numbers, CURVE_OF_PUBLIC}, \
    .private_half = {curve_numbers, CURVE_OF_PRIVATE}, .secret = CKA_VALUE, .common = CKA_EC_POINT, \
    .reads = CKA_DERIVE, .is_complete = curve_is_complete, .make = curve_key_new, \
    .complete = curve_complete, .check_pair = curve_check_pair, .generate = curve_generate_pair, \
    .encode = curve_encode, .decode = curve_decode

#endif
