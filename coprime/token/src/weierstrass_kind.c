#include "weierstrass_kind.h"

#include <openssl/objects.h>

#include "curve.h"
#include "curve_kind.h"

/* The curve is a parameter (RFC 5480). */
static bool identify(X509_PUBKEY *info, struct key *key)
{
    const int curve = OBJ_sn2nid(curve_key_of(key)->curve->name);

    return curve_identify(info, key, NID_X9_62_id_ecPublicKey, OBJ_nid2obj(curve));
}

const struct key_kind weierstrass_kind = {
    .type = CKK_EC,
    .rights = RIGHT_SIGN,
    .identify = identify,
    CURVE_KIND,
};
