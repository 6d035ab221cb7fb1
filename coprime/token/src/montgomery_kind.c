#include "montgomery_kind.h"

#include <openssl/objects.h>

#include "curve.h"
#include "curve_kind.h"

/* The curve is the algorithm (RFC 8410). */
static bool identify(X509_PUBKEY *info, struct key *key)
{
    const int curve = OBJ_sn2nid(curve_key_of(key)->curve->name);

    return curve_identify(info, key, curve, NULL);
}

const struct key_kind montgomery_kind = {
    .type = CKK_EC_MONTGOMERY,
    .rights = RIGHT_DERIVE,
    .identify = identify,
    CURVE_KIND,
};
