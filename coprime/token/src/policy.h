/* What the configuration allows that is refused otherwise. */
#ifndef COPRIME_TOKEN_POLICY_H
#define COPRIME_TOKEN_POLICY_H

#include <stdbool.h>

enum allowance {
    ALLOW_WEAK_RSA = 1, /* keys of fewer than 1024 bits, and public exponents below 65537 */
    /* A key that decrypts wraps sensitive keys, and one that does not may unwrap keys that are not
       sensitive: whoever may use it reads what it wraps. A key is wrapped without its rules. */
    ALLOW_REVEAL_WRAPPED = 2,
};

/* Members of `enum allowance`, set once, before there is a key. */
void policy_set(unsigned allowed);
bool policy_allows(enum allowance allowance);

#endif
