/* Sessions: each has its own lock, as a caller may use one from two threads in spite of the
   standard, and at most one operation of each kind. */
#ifndef COPRIME_TOKEN_SESSION_H
#define COPRIME_TOKEN_SESSION_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "cryptoki.h"
#include "operation.h"
#include "token.h"

struct session {
    struct session *next;
    CK_SESSION_HANDLE handle;
    struct token *token;
    CK_FLAGS flags;
    /* With the module's lock; what lasts long looks at the first two without it. */
    atomic_bool closed; /* it is freed when its last user is done */
    atomic_bool dropped; /* somebody logged out while it was used: its operations with keys end */
    unsigned users;
    /* The rest belongs to whoever holds the session's lock. */
    pthread_mutex_t lock;
    struct operation operations[OPERATIONS];
    CK_OBJECT_HANDLE *found; /* of a search; null if none is under way */
    CK_ULONG found_count, found_next;
};

/* Begin a call with a session, and end it: between them its lock is held, but not the module's. */
CK_RV session_begin(CK_SESSION_HANDLE handle, struct session **session);
void session_end(struct session *session);

/* Whether the session may write objects of the token. */
bool session_writes(const struct session *session);

/* Both with the module's lock. Closing the last session of a token logs out; whether it did. */
struct session *session_open(struct token *token, CK_FLAGS flags);
bool session_close(struct session *session);
struct session *session_find(CK_SESSION_HANDLE handle);

/* Number of sessions of a token: all, or those that only read. With the module's lock. */
CK_ULONG session_count(const struct token *token, bool only_readers);

/* Close those of a token, or all if that is null; whether that logged out. With the module's lock. */
bool session_close_all(const struct token *token);

/* Forget the parent's sessions in a child. */
void session_forget_all(void);

/* What tokens tell sessions, and ask them. */
extern const struct token_events session_events;

#endif
