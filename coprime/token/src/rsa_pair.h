/* Generating key pairs of RSA. */
#ifndef COPRIME_TOKEN_RSA_PAIR_H
#define COPRIME_TOKEN_RSA_PAIR_H

#include "attributes.h"
#include "cancel.h"
#include "token.h"

/* Whether the keys that a public template asks for are generated: also short ones, and small exponents,
   if that is allowed. CKR_TEMPLATE_INCOMPLETE, CKR_KEY_SIZE_RANGE, CKR_ATTRIBUTE_VALUE_INVALID. */
CK_RV rsa_pair_check(const struct attributes *public);

/* Generate them, on the device or in software: their numbers, in secret memory. */
CK_RV rsa_pair_generate(const struct token *token, const struct attributes *public,
                        const struct cancel *cancel, struct attributes *numbers);

#endif
