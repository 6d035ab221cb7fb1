#include "schemes.h"

#include "ecdsa.h"
#include "eddsa.h"
#include "ml_dsa_kind.h"
#include "rsa_operation.h"

static const struct scheme_functions *const schemes[SCHEMES] = {
    [RAW] = &rsa_functions,     [PKCS1] = &rsa_functions,   [OAEP] = &rsa_functions,
    [PSS] = &rsa_functions,     [ECDSA] = &ecdsa_functions, [EDDSA] = &eddsa_functions,
    [ML_DSA] = &ml_dsa_functions, [HASH_ML_DSA] = &ml_dsa_functions,
};

const struct scheme_functions *scheme_of(const struct mechanism *mechanism)
{
    return schemes[mechanism->scheme];
}
