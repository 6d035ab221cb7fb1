/* C_Initialize, C_Finalize and what is asked without a slot. */
#define _DEFAULT_SOURCE

#include "module.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/err.h>

#include "calls.h"
#include "config.h"
#include "debug.h"
#include "lock.h"
#include "policy.h"
#include "process.h"
#include "profiles.h"
#include "session.h"
#include "text.h"

struct module module;

struct token *module_token(CK_SLOT_ID slot)
{
    return slot < module.count ? &module.tokens[slot] : NULL;
}

static bool add_slot(void *context, const struct slot *slot)
{
    struct token *const more = realloc(module.tokens, (module.count + 1) * sizeof *more);
    struct token *token;

    (void)context;
    if (more == NULL) {
        return false;
    }
    module.tokens = more;
    token = &more[module.count];
    memset(token, 0, sizeof *token);
    token->slot = module.count;
    token->crypto = &module.crypto;
    token->events = &session_events;
    if (!store_open(&token->store, slot->folder)) {
        return false;
    }
    ++module.count;
    debug_say("slot %lu: folder %s, device %s", token->slot, slot->folder, slot->device);
    token->device = device_new(slot->device);
    if (token->device == NULL || !profiles_add(token)) {
        return false;
    }
    token->device_generates =
        !device_is_software(token->device) &&
        (slot->keygen == ON_DEVICE || slot->keygen == DRAWN ||
         (slot->keygen == BY_KIND && !device_is_simulated(token->device)));
    if (slot->keygen == DRAWN) {
        device_let_draw(token->device);
    }
    return true;
}

static void close_slots(void)
{
    module.complete = false;
    for (unsigned i = 0; i < module.count; ++i) {
        token_close(&module.tokens[i]);
    }
    free(module.tokens);
    module.tokens = NULL;
    module.count = 0;
}

/* Forget the parent's state in a child. Its secret memory is empty here, and its locks may be held
   by threads that are not there: none is waited for, and none is destroyed. Only the engines are
   closed, as a simulation holds keys. libcrypto's part is left, with its locks, and made anew: it
   knows a child by its number alone, and its random numbers would be the parent's. */
static void forget_parent(void)
{
    for (unsigned i = 0; module.complete && i < module.count; ++i) {
        device_abandon(module.tokens[i].device);
    }
    lock_abandon();
    module.complete = false;
    module.tokens = NULL;
    module.count = 0;
    session_forget_all();
    module_forget_calls();
    memset(&module.crypto, 0, sizeof module.crypto);
}

/* libcrypto's part is kept until the process ends: C_Finalize may be called when libcrypto has
   ended already. */
static CK_RV open_all(void)
{
    unsigned allowed;

    if (module.crypto.context == NULL && !crypto_open(&module.crypto)) {
        return CKR_FUNCTION_FAILED;
    }
    if (!config_read(add_slot, NULL, &allowed)) {
        close_slots();
        return CKR_FUNCTION_FAILED;
    }
    policy_set(allowed);
    module.complete = true;
    return CKR_OK;
}

static CK_RV check_arguments(const CK_C_INITIALIZE_ARGS *arguments)
{
    int functions = 0;

    if (arguments == NULL) {
        return CKR_OK;
    }
    functions += arguments->CreateMutex != NULL;
    functions += arguments->DestroyMutex != NULL;
    functions += arguments->LockMutex != NULL;
    functions += arguments->UnlockMutex != NULL;
    /* In the package's header pReserved has this name, and its own is beyond the standard's end. */
    if (arguments->LibraryParameters || (functions != 0 && functions != 4)) {
        return CKR_ARGUMENTS_BAD;
    }
    /* Locks are always those of the system: with the caller's own alone no thread would be safe. */
    return functions && !(arguments->flags & CKF_OS_LOCKING_OK) ? CKR_CANT_LOCK : CKR_OK;
}

/* Begin to open the module, unless another thread has done so, or is about to: then this ends when
   that has. Gives the stage before. */
static int begin_opening(void)
{
    int stage = atomic_load(process_stage);

    do {
        while (stage == OPENING) {
            (void)usleep(1000);
            stage = atomic_load(process_stage);
        }
    } while (stage != OPEN && !atomic_compare_exchange_weak(process_stage, &stage, OPENING));
    return stage;
}

CK_RV C_Initialize(CK_VOID_PTR pInitArgs)
{
    CK_RV rv = check_arguments(pInitArgs);
    int stage;

    if (rv == CKR_OK && process_stage == NULL) {
        rv = CKR_HOST_MEMORY;
    }
    if (rv != CKR_OK) {
        return rv;
    }
    stage = begin_opening();
    if (stage == OPEN) {
        return CKR_CRYPTOKI_ALREADY_INITIALIZED;
    }
    if (stage == UNTOUCHED && module.touched) {
        debug_say("forked: the parent's state is forgotten");
        forget_parent();
    }
    module.touched = true;
    (void)ERR_set_mark();
    rv = open_all();
    (void)ERR_pop_to_mark();
    debug_say("C_Initialize: %u slots, error %#lx", module.count, rv);
    atomic_store(process_stage, rv == CKR_OK ? OPEN : CLOSED);
    return rv;
}

CK_RV C_Finalize(CK_VOID_PTR pReserved)
{
    if (pReserved) {
        return CKR_ARGUMENTS_BAD;
    }
    if (!module_is_open()) {
        return CKR_CRYPTOKI_NOT_INITIALIZED;
    }
    module_lock();
    if (!module_begin_end()) {
        module_unlock();
        return CKR_CRYPTOKI_NOT_INITIALIZED;
    }
    for (unsigned i = 0; i < module.count; ++i) {
        device_stop(module.tokens[i].device);
    }
    module_await_calls();
    (void)session_close_all(NULL);
    close_slots();
    module_finish_end();
    module_unlock();
    return CKR_OK;
}

CK_RV C_GetInfo(CK_INFO_PTR pInfo)
{
    const CK_RV rv = module_enter();

    if (rv != CKR_OK) {
        return rv;
    }
    if (pInfo) {
        memset(pInfo, 0, sizeof *pInfo);
        pInfo->cryptokiVersion = (CK_VERSION){3, 2};
        text_pad(pInfo->manufacturerID, sizeof pInfo->manufacturerID, "Coprime");
        text_pad(pInfo->libraryDescription, sizeof pInfo->libraryDescription,
                 "Keys on Coprime's accelerators");
        pInfo->libraryVersion = (CK_VERSION){1, 0};
    }
    module_leave();
    return pInfo ? CKR_OK : CKR_ARGUMENTS_BAD;
}
