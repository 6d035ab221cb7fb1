/* CKA_PUBLIC_KEY_INFO: the SubjectPublicKeyInfo of X.509 of a key, or of a private key's public half. */
#ifndef COPRIME_TOKEN_PUBLIC_INFO_H
#define COPRIME_TOKEN_PUBLIC_INFO_H

#include "attributes.h"
#include "crypto.h"
#include "cryptoki.h"
#include "key_kind.h"

/* Set the attribute of a key whose numbers are there. CKR_ATTRIBUTE_VALUE_INVALID if it has another
   value already, which somebody gave. */
CK_RV public_info_set(const struct crypto *crypto, const struct key_kind *kind,
                      struct attributes *attributes);

/* Whether the one that was given with a certificate of X.509 is that of its key; an empty one, or none,
   is. CKR_ATTRIBUTE_VALUE_INVALID. */
CK_RV public_info_check_certificate(const struct attributes *attributes);

#endif
