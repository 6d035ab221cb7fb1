/* Slots, tokens and mechanisms; PINs. */
#include <string.h>

#include <openssl/crypto.h>

#include "calls.h"
#include "module.h"
#include "policy.h"
#include "rsa_key.h"
#include "secret.h"
#include "session.h"
#include "text.h"

CK_RV C_GetSlotList(CK_BBOOL tokenPresent, CK_SLOT_ID_PTR pSlotList, CK_ULONG_PTR pulCount)
{
    CK_RV rv = module_enter();

    (void)tokenPresent; /* there is one in every slot */
    if (rv != CKR_OK) {
        return rv;
    }
    if (pulCount == NULL) {
        rv = CKR_ARGUMENTS_BAD;
    } else {
        if (pSlotList && *pulCount < module.count) {
            rv = CKR_BUFFER_TOO_SMALL;
        } else if (pSlotList) {
            for (unsigned i = 0; i < module.count; ++i) {
                pSlotList[i] = i;
            }
        }
        *pulCount = module.count;
    }
    module_leave();
    return rv;
}

/* Begin a call about a slot, with the module's lock. */
static CK_RV begin(CK_SLOT_ID slot, const void *result, struct token **token)
{
    const CK_RV rv = module_enter();

    if (rv != CKR_OK) {
        return rv;
    }
    *token = module_token(slot);
    if (*token == NULL || result == NULL) {
        module_leave();
        return *token ? CKR_ARGUMENTS_BAD : CKR_SLOT_ID_INVALID;
    }
    module_lock();
    return CKR_OK;
}

static CK_RV end(CK_RV rv)
{
    module_unlock();
    module_leave();
    return rv;
}

CK_RV C_GetSlotInfo(CK_SLOT_ID slotID, CK_SLOT_INFO_PTR pInfo)
{
    struct token *token;
    const CK_RV rv = begin(slotID, pInfo, &token);

    if (rv != CKR_OK) {
        return rv;
    }
    memset(pInfo, 0, sizeof *pInfo);
    text_pad(pInfo->slotDescription, sizeof pInfo->slotDescription, token->store.folder);
    text_pad(pInfo->manufacturerID, sizeof pInfo->manufacturerID, "Coprime");
    pInfo->flags = CKF_TOKEN_PRESENT | (device_is_simulated(token->device) ? 0 : CKF_HW_SLOT);
    return end(CKR_OK);
}

/* What the flags say of a PIN that was wrong several times. */
static CK_FLAGS pin_flags(uint32_t failures, CK_FLAGS low, CK_FLAGS last, CK_FLAGS locked)
{
    if (failures == 0) {
        return 0;
    }
    if (failures >= MAX_FAILURES) {
        return locked;
    }
    return failures == MAX_FAILURES - 1 ? low | last : low;
}

static void token_info(const struct token *token, CK_TOKEN_INFO *info)
{
    const struct image *const image = &token->image;
    const CK_ULONG sessions = session_count(token, false);

    memset(info, 0, sizeof *info);
    text_pad(info->label, sizeof info->label, "");
    text_pad(info->serialNumber, sizeof info->serialNumber, "");
    text_pad(info->manufacturerID, sizeof info->manufacturerID, "Coprime");
    text_pad(info->model, sizeof info->model,
             device_is_software(token->device) ? "Coprime software" : "Coprime");
    info->flags = CKF_RNG | CKF_LOGIN_REQUIRED;
    if (!store_is_writable(&token->store)) {
        info->flags |= CKF_WRITE_PROTECTED;
    }
    if (image->initialized) {
        memcpy(info->label, image->label, LABEL_BYTES);
        memcpy(info->serialNumber, image->serial, SERIAL_BYTES);
        info->flags |= CKF_TOKEN_INITIALIZED | (image->user.form != NO_PIN ? CKF_USER_PIN_INITIALIZED : 0);
        info->flags |= pin_flags(token_failures(token, USER), CKF_USER_PIN_COUNT_LOW, CKF_USER_PIN_FINAL_TRY,
                                 CKF_USER_PIN_LOCKED);
        info->flags |= pin_flags(token_failures(token, OFFICER), CKF_SO_PIN_COUNT_LOW, CKF_SO_PIN_FINAL_TRY,
                                 CKF_SO_PIN_LOCKED);
    }
    info->ulMaxSessionCount = CK_EFFECTIVELY_INFINITE;
    info->ulSessionCount = sessions;
    info->ulMaxRwSessionCount = CK_EFFECTIVELY_INFINITE;
    info->ulRwSessionCount = sessions - session_count(token, true);
    info->ulMaxPinLen = MAX_PIN;
    info->ulMinPinLen = MIN_PIN;
    info->ulTotalPublicMemory = info->ulFreePublicMemory = CK_UNAVAILABLE_INFORMATION;
    info->ulTotalPrivateMemory = info->ulFreePrivateMemory = CK_UNAVAILABLE_INFORMATION;
    info->hardwareVersion = info->firmwareVersion = (CK_VERSION){1, 0};
    text_pad(info->utcTime, sizeof info->utcTime, "");
}

CK_RV C_GetTokenInfo(CK_SLOT_ID slotID, CK_TOKEN_INFO_PTR pInfo)
{
    struct token *token;
    CK_RV rv = begin(slotID, pInfo, &token);

    if (rv != CKR_OK) {
        return rv;
    }
    rv = token_refresh(token);
    if (rv == CKR_OK) {
        token_info(token, pInfo);
    }
    return end(rv);
}

CK_RV C_GetMechanismList(CK_SLOT_ID slotID, CK_MECHANISM_TYPE_PTR pMechanismList,
                         CK_ULONG_PTR pulCount)
{
    struct token *token;
    CK_RV rv = begin(slotID, pulCount, &token);
    CK_ULONG count = 0;

    if (rv != CKR_OK) {
        return rv;
    }
    while (mechanism_at(count)) {
        ++count;
    }
    if (pMechanismList && *pulCount < count) {
        rv = CKR_BUFFER_TOO_SMALL;
    } else if (pMechanismList) {
        for (CK_ULONG i = 0; i < count; ++i) {
            pMechanismList[i] = mechanism_at(i)->type;
        }
    }
    *pulCount = count;
    return end(rv);
}

CK_RV C_GetMechanismInfo(CK_SLOT_ID slotID, CK_MECHANISM_TYPE type, CK_MECHANISM_INFO_PTR pInfo)
{
    const struct mechanism *const mechanism = mechanism_find(type);
    struct token *token;
    const CK_RV rv = begin(slotID, pInfo, &token);

    if (rv != CKR_OK) {
        return rv;
    }
    if (mechanism) {
        *pInfo = mechanism->info;
        if (pInfo->ulMinKeySize == MIN_RSA_BITS && !policy_allows(ALLOW_WEAK_RSA)) {
            pInfo->ulMinKeySize = STRONG_RSA_BITS;
        }
    }
    return end(mechanism ? CKR_OK : CKR_MECHANISM_INVALID);
}

/* A PIN that the caller must give: there is no terminal to ask for it. */
static bool is_pin(const CK_UTF8CHAR *pin)
{
    return pin != NULL;
}

CK_RV C_InitToken(CK_SLOT_ID slotID, CK_UTF8CHAR_PTR pPin, CK_ULONG ulPinLen,
                  CK_UTF8CHAR_PTR pLabel)
{
    struct token *token;
    CK_RV rv = begin(slotID, pLabel, &token);

    if (rv != CKR_OK) {
        return rv;
    }
    if (!is_pin(pPin)) {
        rv = CKR_ARGUMENTS_BAD;
    } else if (session_count(token, false)) {
        rv = CKR_SESSION_EXISTS;
    } else {
        rv = token_initialize(token, pPin, ulPinLen, pLabel);
    }
    return end(rv);
}

CK_RV C_InitPIN(CK_SESSION_HANDLE hSession, CK_UTF8CHAR_PTR pPin, CK_ULONG ulPinLen)
{
    uint8_t *const master = secret_allocate(SEAL_KEY);
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv == CKR_OK) {
        module_lock();
        if (!is_pin(pPin)) {
            rv = CKR_ARGUMENTS_BAD;
        } else if (session->token->login != OFFICER) {
            rv = CKR_USER_NOT_LOGGED_IN;
        } else if (master == NULL) {
            rv = CKR_HOST_MEMORY;
        } else {
            memcpy(master, session->token->master, SEAL_KEY);
            rv = token_set_pin(session->token, USER, pPin, ulPinLen, master);
        }
        module_unlock();
        session_end(session);
    }
    secret_free(master);
    return rv;
}

CK_RV C_SetPIN(CK_SESSION_HANDLE hSession, CK_UTF8CHAR_PTR pOldPin, CK_ULONG ulOldLen,
               CK_UTF8CHAR_PTR pNewPin, CK_ULONG ulNewLen)
{
    uint8_t *const master = secret_allocate(SEAL_KEY);
    struct session *session;
    CK_RV rv = session_begin(hSession, &session);

    if (rv == CKR_OK) {
        enum login who;

        module_lock();
        who = session->token->login == OFFICER ? OFFICER : USER;
        if (!is_pin(pOldPin) || !is_pin(pNewPin)) {
            rv = CKR_ARGUMENTS_BAD;
        } else if (!session_writes(session)) {
            rv = CKR_SESSION_READ_ONLY;
        } else if (ulNewLen < MIN_PIN || ulNewLen > MAX_PIN) {
            rv = CKR_PIN_LEN_RANGE;
        } else {
            rv = master ? token_check_pin(session->token, who, pOldPin, ulOldLen, master) :
                          CKR_HOST_MEMORY;
        }
        if (rv == CKR_OK) {
            rv = token_set_pin(session->token, who, pNewPin, ulNewLen, master);
        }
        module_unlock();
        session_end(session);
    }
    secret_free(master);
    return rv;
}

/* Nothing ever happens in a slot; whoever waits does so until the module ends. */
CK_RV C_WaitForSlotEvent(CK_FLAGS flags, CK_SLOT_ID_PTR pSlot, CK_VOID_PTR pReserved)
{
    const CK_RV rv = module_enter();

    if (rv != CKR_OK) {
        return rv;
    }
    if (pSlot == NULL || pReserved) {
        module_leave();
        return CKR_ARGUMENTS_BAD;
    }
    if (!(flags & CKF_DONT_BLOCK)) {
        module_lock();
        module_await_end();
        module_unlock();
    }
    module_leave();
    return flags & CKF_DONT_BLOCK ? CKR_NO_EVENT : CKR_CRYPTOKI_NOT_INITIALIZED;
}
