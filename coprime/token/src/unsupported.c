/* The functions of the standard that this module does not have. */
#include "cryptoki.h"

#define UNSUPPORTED(name, ...) \
    CK_RV name(__VA_ARGS__) \
    { \
        return CKR_FUNCTION_NOT_SUPPORTED; \
    }

#pragma GCC diagnostic ignored "-Wunused-parameter"

typedef CK_SESSION_HANDLE session;
typedef CK_MECHANISM_PTR mechanism;
typedef CK_OBJECT_HANDLE object;
typedef CK_BYTE_PTR bytes;
typedef CK_ULONG length;
typedef CK_ULONG_PTR lengths;
typedef CK_VOID_PTR parameter;

UNSUPPORTED(C_GetOperationState, session s, bytes b, lengths n)
UNSUPPORTED(C_SetOperationState, session s, bytes b, length n, object k, object a)
UNSUPPORTED(C_SignRecoverInit, session s, mechanism m, object k)
UNSUPPORTED(C_SignRecover, session s, bytes b, length n, bytes to, lengths m)
UNSUPPORTED(C_VerifyRecoverInit, session s, mechanism m, object k)
UNSUPPORTED(C_VerifyRecover, session s, bytes b, length n, bytes to, lengths m)
UNSUPPORTED(C_DigestEncryptUpdate, session s, bytes b, length n, bytes to, lengths m)
UNSUPPORTED(C_DecryptDigestUpdate, session s, bytes b, length n, bytes to, lengths m)
UNSUPPORTED(C_SignEncryptUpdate, session s, bytes b, length n, bytes to, lengths m)
UNSUPPORTED(C_DecryptVerifyUpdate, session s, bytes b, length n, bytes to, lengths m)

UNSUPPORTED(C_SignMessageBegin, session s, parameter p, length n)
UNSUPPORTED(C_SignMessageNext, session s, parameter p, length n, bytes b, length c, bytes to,
            lengths d)
UNSUPPORTED(C_VerifyMessageBegin, session s, parameter p, length n)
UNSUPPORTED(C_VerifyMessageNext, session s, parameter p, length n, bytes b, length c, bytes g,
            length d)

/* Of version 3.2: nothing is validated, no call goes on after it has returned, and no mechanism of ours
   authenticates what is wrapped together with other data. */
UNSUPPORTED(C_GetSessionValidationFlags, session s, length t, CK_FLAGS *f)
UNSUPPORTED(C_AsyncComplete, session s, CK_UTF8CHAR_PTR n, parameter r)
UNSUPPORTED(C_AsyncGetID, session s, CK_UTF8CHAR_PTR n, lengths i)
UNSUPPORTED(C_AsyncJoin, session s, CK_UTF8CHAR_PTR n, length i, bytes b, length c)
UNSUPPORTED(C_WrapKeyAuthenticated, session s, mechanism m, object w, object k, bytes a, length n,
            bytes to, lengths d)
UNSUPPORTED(C_UnwrapKeyAuthenticated, session s, mechanism m, object w, bytes b, length n,
            CK_ATTRIBUTE_PTR t, length c, bytes a, length d, CK_OBJECT_HANDLE_PTR k)

/* Nothing runs beside its call here, as the standard has it since version 2.0. */
CK_RV C_GetFunctionStatus(CK_SESSION_HANDLE hSession)
{
    return CKR_FUNCTION_NOT_PARALLEL;
}

CK_RV C_CancelFunction(CK_SESSION_HANDLE hSession)
{
    return CKR_FUNCTION_NOT_PARALLEL;
}
