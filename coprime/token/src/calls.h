/* The module's lock, and the calls that are under way. */
#ifndef COPRIME_TOKEN_CALLS_H
#define COPRIME_TOKEN_CALLS_H

#include <stdbool.h>

#include "cryptoki.h"

/* Whether this process has initialized the module. */
bool module_is_open(void);

/* Begin and end a call: as long as one is under way, C_Finalize waits. CKR_CRYPTOKI_NOT_INITIALIZED
   in a process that has not initialized the module, which a child after fork has not. */
CK_RV module_enter(void);
void module_leave(void);

/* The lock of all sessions and tokens; it is held for short times. */
void module_lock(void);
void module_unlock(void);

/* Whether C_Finalize has begun; asked also without the lock. */
bool module_is_ending(void);

/* C_Finalize's, with the lock: no call begins any more, false if that is so already; wait until none is
   under way; from then on the module may be opened again. */
bool module_begin_end(void);
void module_await_calls(void);
void module_finish_end(void);

/* Wait until the module ends. With the lock. */
void module_await_end(void);

/* Forget the parent's calls in a child, and its lock, which a thread that is not there may hold. */
void module_forget_calls(void);

#endif
