/* CKA_CHECK_VALUE: three bytes by which a key or a certificate is recognized. */
#ifndef COPRIME_TOKEN_CHECK_VALUE_H
#define COPRIME_TOKEN_CHECK_VALUE_H

#include "attributes.h"
#include "crypto.h"

/* Whether the one that was given belongs to the value: for AES the beginning of an encrypted block of
   zeros, for all else that of the value's SHA-1 (PKCS #11 3.0, 4.6.3 and 4.10.2). An empty one, or
   none, is right. CKR_ATTRIBUTE_VALUE_INVALID. */
CK_RV check_value_test(const struct crypto *crypto, const struct attributes *attributes);

#endif
