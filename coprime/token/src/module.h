/* The module: the only object that outlives a call. */
#ifndef COPRIME_TOKEN_MODULE_H
#define COPRIME_TOKEN_MODULE_H

#include <pthread.h>
#include <stdbool.h>

#include "config.h"
#include "crypto.h"
#include "cryptoki.h"
#include "session.h"
#include "token.h"

struct module {
    bool touched; /* this process, or one it was forked from, has initialized it (process.h) */
    bool complete; /* the tokens are all there, also for a child */
    pthread_mutex_t lock; /* for all of the following, sessions and tokens; held for short times */
    pthread_cond_t changed; /* a call ended, or the module is ending */
    atomic_bool ending;
    unsigned calls; /* that are under way */
    struct crypto crypto;
    struct token *tokens; /* one for each slot */
    unsigned count;
    struct session *sessions;
    CK_SESSION_HANDLE last_session;
};

extern struct module module;

/* Begin and end a call: as long as one is under way, C_Finalize waits. CKR_CRYPTOKI_NOT_INITIALIZED
   in a process that has not initialized the module, which a child after fork has not. */
CK_RV module_enter(void);
void module_leave(void);

void module_lock(void);
void module_unlock(void);

/* The token of a slot; null if there is no such slot. */
struct token *module_token(CK_SLOT_ID slot);

#endif
