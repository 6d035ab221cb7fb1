/* The lists of functions, for every version of the standard that callers ask for. */
#include <string.h>

#include "cryptoki.h"

/* All functions of the standard, in its order. */
static CK_FUNCTION_LIST_3_0 functions = {
    {3, 0},
#define CK_PKCS11_3_0 1
#define CK_PKCS11_FUNCTION_INFO(name) name,
#include <pkcs11f.h>
#undef CK_PKCS11_FUNCTION_INFO
};

/* Version 3.2, whose functions follow those of 3.0. */
static struct {
    CK_FUNCTION_LIST_3_0 functions;
    __typeof__(&C_EncapsulateKey) encapsulate;
    __typeof__(&C_DecapsulateKey) decapsulate;
    __typeof__(&C_VerifySignatureInit) verify_init;
    __typeof__(&C_VerifySignature) verify;
    __typeof__(&C_VerifySignatureUpdate) verify_update;
    __typeof__(&C_VerifySignatureFinal) verify_final;
    __typeof__(&C_GetSessionValidationFlags) validation_flags;
    __typeof__(&C_AsyncComplete) async_complete;
    __typeof__(&C_AsyncGetID) async_get_id;
    __typeof__(&C_AsyncJoin) async_join;
    __typeof__(&C_WrapKeyAuthenticated) wrap;
    __typeof__(&C_UnwrapKeyAuthenticated) unwrap;
} new_functions = {
    {
        {3, 2},
#define CK_PKCS11_3_0 1
#define CK_PKCS11_FUNCTION_INFO(name) name,
#include <pkcs11f.h>
#undef CK_PKCS11_FUNCTION_INFO
    },
    C_EncapsulateKey,
    C_DecapsulateKey,
    C_VerifySignatureInit,
    C_VerifySignature,
    C_VerifySignatureUpdate,
    C_VerifySignatureFinal,
    C_GetSessionValidationFlags,
    C_AsyncComplete,
    C_AsyncGetID,
    C_AsyncJoin,
    C_WrapKeyAuthenticated,
    C_UnwrapKeyAuthenticated,
};

#define CK_PKCS11_2_0_ONLY 1
static CK_FUNCTION_LIST old_functions = {
    {2, 40},
#define CK_PKCS11_FUNCTION_INFO(name) name,
#include <pkcs11f.h>
#undef CK_PKCS11_FUNCTION_INFO
};

static CK_UTF8CHAR interface_name[] = "PKCS 11";

static CK_INTERFACE interfaces[] = {
    {interface_name, &new_functions, 0},
    {interface_name, &functions, 0},
    {interface_name, &old_functions, 0},
};

enum { INTERFACES = sizeof interfaces / sizeof *interfaces };

CK_RV C_GetFunctionList(CK_FUNCTION_LIST_PTR_PTR ppFunctionList)
{
    if (ppFunctionList == NULL) {
        return CKR_ARGUMENTS_BAD;
    }
    *ppFunctionList = &old_functions;
    return CKR_OK;
}

CK_RV C_GetInterfaceList(CK_INTERFACE_PTR interfaces_out, CK_ULONG_PTR pulCount)
{
    CK_RV rv = CKR_OK;

    if (pulCount == NULL) {
        return CKR_ARGUMENTS_BAD;
    }
    if (interfaces_out && *pulCount < INTERFACES) {
        rv = CKR_BUFFER_TOO_SMALL;
    } else if (interfaces_out) {
        memcpy(interfaces_out, interfaces, sizeof interfaces);
    }
    *pulCount = INTERFACES;
    return rv;
}

CK_RV C_GetInterface(CK_UTF8CHAR_PTR pInterfaceName, CK_VERSION_PTR pVersion,
                     CK_INTERFACE_PTR_PTR ppInterface, CK_FLAGS flags)
{
    if (ppInterface == NULL) {
        return CKR_ARGUMENTS_BAD;
    }
    for (int i = 0; i < INTERFACES; ++i) {
        const CK_VERSION *const version = interfaces[i].pFunctionList;

        if ((pInterfaceName == NULL ||
             strcmp((const char *)pInterfaceName, (const char *)interface_name) == 0) &&
            (pVersion == NULL ||
             (pVersion->major == version->major && pVersion->minor == version->minor)) &&
            (flags & ~interfaces[i].flags) == 0) {
            *ppInterface = &interfaces[i];
            return CKR_OK;
        }
    }
    return CKR_FUNCTION_FAILED;
}
