/* Opening and closing sessions, logging in and out. */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "debug.h"
#include "module.h"
#include "secret.h"
#include "session.h"

/* Read the token for a new session. One that only reads opens even where there is no token to be
   read, and what is asked of it then gives the reason: libp11, which OpenSSL's engine uses, waits
   for ever after an error of C_OpenSession. */
static CK_RV read_token(struct token *token, CK_FLAGS flags)
{
    CK_RV rv = token_refresh(token);

    if (rv == CKR_OK && !token->image.initialized) {
        debug_say("%s: there is no token", token->store.folder);
        rv = CKR_TOKEN_NOT_RECOGNIZED;
    }
    return flags & CKF_RW_SESSION ? rv : CKR_OK;
}

CK_RV C_OpenSession(CK_SLOT_ID slotID, CK_FLAGS flags, CK_VOID_PTR pApplication, CK_NOTIFY Notify,
                    CK_SESSION_HANDLE_PTR phSession)
{
    struct token *token;
    struct session *session;
    CK_RV rv = module_enter();

    (void)pApplication;
    (void)Notify;
    if (rv != CKR_OK) {
        return rv;
    }
    module_lock();
    token = module_token(slotID);
    if (token == NULL) {
        rv = CKR_SLOT_ID_INVALID;
    } else if (phSession == NULL) {
        rv = CKR_ARGUMENTS_BAD;
    } else if (!(flags & CKF_SERIAL_SESSION)) {
        rv = CKR_SESSION_PARALLEL_NOT_SUPPORTED;
    } else {
        rv = read_token(token, flags);
    }
    if (rv == CKR_OK && !(flags & CKF_RW_SESSION) && token->login == OFFICER) {
        rv = CKR_SESSION_READ_WRITE_SO_EXISTS;
    }
    if (rv == CKR_OK) {
        session = session_open(token, flags);
        rv = session ? CKR_OK : CKR_HOST_MEMORY;
        *phSession = session ? session->handle : CK_INVALID_HANDLE;
    }
    module_unlock();
    module_leave();
    return rv;
}

/* After somebody has logged out, the engines forget the keys; this waits for what they do. */
static void forget_keys(struct token *token, bool logged_out)
{
    if (logged_out) {
        device_forget(token->device);
    }
}

CK_RV C_CloseSession(CK_SESSION_HANDLE hSession)
{
    struct session *session;
    struct token *token = NULL;
    bool logged_out = false;
    const CK_RV rv = module_enter();

    if (rv != CKR_OK) {
        return rv;
    }
    module_lock();
    session = session_find(hSession);
    if (session) {
        token = session->token;
        logged_out = session_close(session);
    }
    module_unlock();
    if (token) {
        forget_keys(token, logged_out);
    }
    module_leave();
    return token ? CKR_OK : CKR_SESSION_HANDLE_INVALID;
}

CK_RV C_CloseAllSessions(CK_SLOT_ID slotID)
{
    struct token *token;
    bool logged_out = false;
    const CK_RV rv = module_enter();

    if (rv != CKR_OK) {
        return rv;
    }
    module_lock();
    token = module_token(slotID);
    logged_out = token && session_close_all(token);
    module_unlock();
    if (token) {
        forget_keys(token, logged_out);
    }
    module_leave();
    return token ? CKR_OK : CKR_SLOT_ID_INVALID;
}

static CK_STATE state_of(const struct session *session)
{
    const bool writes = session_writes(session);

    switch (session->token->login) {
    case USER:
        return writes ? CKS_RW_USER_FUNCTIONS : CKS_RO_USER_FUNCTIONS;
    case OFFICER:
        return CKS_RW_SO_FUNCTIONS;
    default:
        return writes ? CKS_RW_PUBLIC_SESSION : CKS_RO_PUBLIC_SESSION;
    }
}

CK_RV C_GetSessionInfo(CK_SESSION_HANDLE hSession, CK_SESSION_INFO_PTR pInfo)
{
    struct session *session;
    const CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    if (pInfo) {
        module_lock();
        pInfo->slotID = session->token->slot;
        pInfo->state = state_of(session);
        pInfo->flags = session->flags & (CKF_RW_SESSION | CKF_SERIAL_SESSION);
        pInfo->ulDeviceError = 0;
        module_unlock();
    }
    session_end(session);
    return pInfo ? CKR_OK : CKR_ARGUMENTS_BAD;
}

/* The PIN once more, for one operation: of those that need it, the one that was begun last. */
static CK_RV log_in_for_operation(struct session *session, const CK_UTF8CHAR *pin, CK_ULONG size)
{
    struct operation *last = NULL;
    uint8_t master[SEAL_KEY];
    CK_RV rv;

    for (int i = 0; i < OPERATIONS; ++i) {
        struct operation *const operation = &session->operations[i];

        if (operation->needs_login && (last == NULL || operation->begun > last->begun)) {
            last = operation;
        }
    }
    if (last == NULL) {
        return CKR_OPERATION_NOT_INITIALIZED;
    }
    rv = token_check_pin(session->token, USER, pin, size, master);
    OPENSSL_cleanse(master, sizeof master);
    if (rv == CKR_OK) {
        last->needs_login = false;
    }
    return rv;
}

/* Check the PIN, which releases the lock, and log in if everything is still as before. */
static CK_RV log_in_to_token(struct session *session, enum login who, const CK_UTF8CHAR *pin,
                             CK_ULONG size)
{
    struct token *const token = session->token;
    uint8_t *const master = secret_allocate(SEAL_KEY);
    CK_RV rv = master ? token_check_pin(token, who, pin, size, master) : CKR_HOST_MEMORY;

    if (rv == CKR_OK && session->closed) {
        rv = CKR_SESSION_CLOSED; /* nobody would be there to log out */
    } else if (rv == CKR_OK && token->login != NOBODY) { /* another thread was faster */
        rv = token->login == who ? CKR_USER_ALREADY_LOGGED_IN : CKR_USER_ANOTHER_ALREADY_LOGGED_IN;
    } else if (rv == CKR_OK && who == OFFICER && session_count(token, true)) {
        rv = CKR_SESSION_READ_ONLY_EXISTS;
    }
    if (rv == CKR_OK) {
        token_log_in(token, who, master);
    } else {
        secret_free(master);
    }
    return rv;
}

static CK_RV log_in(struct session *session, CK_USER_TYPE type, const CK_UTF8CHAR *pin,
                    CK_ULONG size)
{
    struct token *const token = session->token;
    const enum login who = type == CKU_SO ? OFFICER : USER;
    CK_RV rv;

    if (pin == NULL) {
        return CKR_ARGUMENTS_BAD; /* nobody can be asked for it here */
    }
    if (type == CKU_CONTEXT_SPECIFIC) {
        return log_in_for_operation(session, pin, size);
    }
    if (type != CKU_SO && type != CKU_USER) {
        return CKR_USER_TYPE_INVALID;
    }
    if (token->login != NOBODY) {
        return token->login == who ? CKR_USER_ALREADY_LOGGED_IN :
                                     CKR_USER_ANOTHER_ALREADY_LOGGED_IN;
    }
    if (who == OFFICER && session_count(token, true)) {
        return CKR_SESSION_READ_ONLY_EXISTS;
    }
    rv = log_in_to_token(session, who, pin, size);
    /* nginx knows errors by their numbers alone: libp11's for this one is that of a client's
       mistake, which it does not log. */
    return rv == CKR_USER_PIN_NOT_INITIALIZED && !token->image.initialized ?
               CKR_TOKEN_NOT_RECOGNIZED :
               rv;
}

CK_RV C_Login(CK_SESSION_HANDLE hSession, CK_USER_TYPE userType, CK_UTF8CHAR_PTR pPin,
              CK_ULONG ulPinLen)
{
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    module_lock();
    rv = log_in(session, userType, pPin, ulPinLen);
    module_unlock();
    session_end(session);
    return rv;
}

CK_RV C_LoginUser(CK_SESSION_HANDLE hSession, CK_USER_TYPE userType, CK_UTF8CHAR_PTR pPin,
                  CK_ULONG ulPinLen, CK_UTF8CHAR_PTR pUsername, CK_ULONG ulUsernameLen)
{
    (void)pUsername; /* users have no names here */
    if (ulUsernameLen) {
        return CKR_ARGUMENTS_BAD;
    }
    return C_Login(hSession, userType, pPin, ulPinLen);
}

/* Without the session's lock: a call that has it may last long, and ends by this one. */
CK_RV C_Logout(CK_SESSION_HANDLE hSession)
{
    struct session *session;
    struct token *token = NULL;
    CK_RV rv = module_enter();

    if (rv != CKR_OK) {
        return rv;
    }
    module_lock();
    session = session_find(hSession);
    if (session == NULL) {
        rv = CKR_SESSION_HANDLE_INVALID;
    } else {
        token = session->token;
        rv = token->login == NOBODY ? CKR_USER_NOT_LOGGED_IN : CKR_OK;
        token_log_out(token);
    }
    module_unlock();
    if (token) {
        forget_keys(token, rv == CKR_OK);
    }
    module_leave();
    secret_clear_stack();
    return rv;
}

CK_RV C_SessionCancel(CK_SESSION_HANDLE hSession, CK_FLAGS flags)
{
    static const CK_FLAGS kinds[OPERATIONS] = {
        [SIGN] = CKF_SIGN,       [VERIFY] = CKF_VERIFY, [ENCRYPT] = CKF_ENCRYPT,
        [DECRYPT] = CKF_DECRYPT, [DIGEST] = CKF_DIGEST, [VERIFY_GIVEN] = CKF_VERIFY,
        [SIGN_MESSAGES] = CKF_MESSAGE_SIGN, [VERIFY_MESSAGES] = CKF_MESSAGE_VERIFY,
        [ENCRYPT_MESSAGES] = CKF_MESSAGE_ENCRYPT, [DECRYPT_MESSAGES] = CKF_MESSAGE_DECRYPT,
    };
    struct session *session;
    const CK_RV rv = session_begin(hSession, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    for (int i = 0; i < OPERATIONS; ++i) {
        if (flags & kinds[i]) {
            operation_end(&session->operations[i]);
        }
    }
    if (flags & CKF_FIND_OBJECTS) {
        free(session->found);
        session->found = NULL;
    }
    session_end(session);
    return rv;
}
