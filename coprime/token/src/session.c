#include "session.h"

#include <stdlib.h>

#include "calls.h"
#include "secret.h"

static struct session *sessions;
static CK_SESSION_HANDLE last_handle;

struct session *session_find(CK_SESSION_HANDLE handle)
{
    for (struct session *session = sessions; session; session = session->next) {
        if (session->handle == handle) {
            return session;
        }
    }
    return NULL;
}

struct session *session_open(struct token *token, CK_FLAGS flags)
{
    struct session *const session = calloc(1, sizeof *session);

    if (session == NULL) {
        return NULL;
    }
    if (pthread_mutex_init(&session->lock, NULL)) {
        free(session);
        return NULL;
    }
    session->token = token;
    session->flags = flags;
    session->handle = ++last_handle;
    session->next = sessions;
    sessions = session;
    return session;
}

static void end_operations(struct session *session, bool only_with_keys)
{
    for (int i = 0; i < OPERATIONS; ++i) {
        const struct operation *const operation = &session->operations[i];

        if (!only_with_keys || operation->key || operation->cipher || operation->mac) {
            operation_end(&session->operations[i]);
        }
    }
}

static void free_session(struct session *session)
{
    end_operations(session, false);
    free(session->found);
    (void)pthread_mutex_destroy(&session->lock);
    free(session);
}

CK_ULONG session_count(const struct token *token, bool only_readers)
{
    CK_ULONG count = 0;

    for (const struct session *session = sessions; session; session = session->next) {
        count += session->token == token && !(only_readers && session_writes(session));
    }
    return count;
}

bool session_close(struct session *session)
{
    struct token *const token = session->token;
    struct session **place = &sessions;
    bool last;

    while (*place != session) {
        place = &(*place)->next;
    }
    *place = session->next;
    token_end_session(token, session->handle);
    last = session_count(token, false) == 0 && token->login != NOBODY;
    if (last) {
        token_log_out(token);
    }
    session->closed = true;
    if (session->users == 0) {
        free_session(session);
    } else {
        device_wake(token->device); /* what goes on in it ends */
    }
    return last;
}

bool session_close_all(const struct token *token)
{
    bool logged_out = false;

    for (struct session *session = sessions, *next; session; session = next) {
        next = session->next;
        if (token == NULL || session->token == token) {
            logged_out = session_close(session) || logged_out;
        }
    }
    return logged_out;
}

void session_forget_all(void)
{
    sessions = NULL;
}

/* Somebody logs out: a call that is under way ends its operations with keys when it is done. */
static void drop_keys(const struct token *token)
{
    for (struct session *session = sessions; session; session = session->next) {
        if (session->token != token) {
            continue;
        }
        if (pthread_mutex_trylock(&session->lock) == 0) {
            end_operations(session, true);
            (void)pthread_mutex_unlock(&session->lock);
        } else {
            session->dropped = true;
        }
    }
}

static bool has_session(CK_SESSION_HANDLE handle)
{
    return session_find(handle) != NULL;
}

const struct token_events session_events = {drop_keys, has_session};

bool session_writes(const struct session *session)
{
    return session->flags & CKF_RW_SESSION;
}

CK_RV session_begin(CK_SESSION_HANDLE handle, struct session **session)
{
    CK_RV rv = module_enter();

    if (rv != CKR_OK) {
        return rv;
    }
    module_lock();
    *session = session_find(handle);
    if (*session) {
        ++(*session)->users;
    }
    module_unlock();
    if (*session == NULL) {
        module_leave();
        return CKR_SESSION_HANDLE_INVALID;
    }
    (void)pthread_mutex_lock(&(*session)->lock);
    module_lock();
    rv = (*session)->closed ? CKR_SESSION_CLOSED : CKR_OK;
    module_unlock();
    if (rv != CKR_OK) {
        session_end(*session);
    }
    return rv;
}

void session_end(struct session *session)
{
    struct device *const device = session->token->device;
    bool dropped;

    module_lock();
    dropped = session->dropped;
    if (dropped) {
        end_operations(session, true);
        session->dropped = false;
    }
    (void)pthread_mutex_unlock(&session->lock);
    if (--session->users == 0 && session->closed) {
        free_session(session);
    }
    module_unlock();
    if (dropped) {
        device_forget(device); /* this call may have loaded a key after the others were forgotten */
    }
    module_leave();
    secret_clear_stack();
}
