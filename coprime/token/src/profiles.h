/* The profiles of PKCS #11 that the token conforms to, as objects that clients find. */
#ifndef COPRIME_TOKEN_PROFILES_H
#define COPRIME_TOKEN_PROFILES_H

#include "token.h"

/* Add an object of the class CKO_PROFILE for each; false without memory. */
bool profiles_add(struct token *token);

#endif
