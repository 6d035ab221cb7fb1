/* The module: the only object that outlives a call. */
#ifndef COPRIME_TOKEN_MODULE_H
#define COPRIME_TOKEN_MODULE_H

#include <stdbool.h>

#include "crypto.h"
#include "cryptoki.h"
#include "token.h"

/* With the module's lock. */
struct module {
    bool touched; /* this process, or one it was forked from, has initialized it (process.h) */
    bool complete; /* the tokens are all there, also for a child */
    struct crypto crypto;
    struct token *tokens; /* one for each slot */
    unsigned count;
};

extern struct module module;

/* The token of a slot; null if there is no such slot. */
struct token *module_token(CK_SLOT_ID slot);

#endif
