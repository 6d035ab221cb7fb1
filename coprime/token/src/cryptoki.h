/* PKCS #11 3.0 as the package libnss3-dev declares it: types, constants, prototypes; and what version 3.2
   has beside it that this module uses. */
#ifndef COPRIME_TOKEN_CRYPTOKI_H
#define COPRIME_TOKEN_CRYPTOKI_H

/* All else of the module is hidden. */
#pragma GCC visibility push(default)
#include <pkcs11.h>

/* Of version 3.2. */
extern CK_RV C_EncapsulateKey(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                              CK_OBJECT_HANDLE hPublicKey, CK_ATTRIBUTE_PTR pTemplate,
                              CK_ULONG ulAttributeCount, CK_BYTE_PTR pCiphertext,
                              CK_ULONG_PTR pulCiphertextLen, CK_OBJECT_HANDLE_PTR phKey);
extern CK_RV C_DecapsulateKey(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                              CK_OBJECT_HANDLE hPrivateKey, CK_ATTRIBUTE_PTR pTemplate,
                              CK_ULONG ulAttributeCount, CK_BYTE_PTR pCiphertext,
                              CK_ULONG ulCiphertextLen, CK_OBJECT_HANDLE_PTR phKey);
extern CK_RV C_VerifySignatureInit(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                                   CK_OBJECT_HANDLE hKey, CK_BYTE_PTR pSignature,
                                   CK_ULONG ulSignatureLen);
extern CK_RV C_VerifySignature(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pData, CK_ULONG ulDataLen);
extern CK_RV C_VerifySignatureUpdate(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pPart,
                                     CK_ULONG ulPartLen);
extern CK_RV C_VerifySignatureFinal(CK_SESSION_HANDLE hSession);
extern CK_RV C_GetSessionValidationFlags(CK_SESSION_HANDLE hSession, CK_ULONG type,
                                         CK_FLAGS *pFlags);
extern CK_RV C_AsyncComplete(CK_SESSION_HANDLE hSession, CK_UTF8CHAR_PTR pFunctionName,
                             CK_VOID_PTR pResult);
extern CK_RV C_AsyncGetID(CK_SESSION_HANDLE hSession, CK_UTF8CHAR_PTR pFunctionName,
                          CK_ULONG_PTR pulID);
extern CK_RV C_AsyncJoin(CK_SESSION_HANDLE hSession, CK_UTF8CHAR_PTR pFunctionName, CK_ULONG ulID,
                         CK_BYTE_PTR pData, CK_ULONG ulData);
extern CK_RV C_WrapKeyAuthenticated(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                                    CK_OBJECT_HANDLE hWrappingKey, CK_OBJECT_HANDLE hKey,
                                    CK_BYTE_PTR pAssociatedData, CK_ULONG ulAssociatedDataLen,
                                    CK_BYTE_PTR pWrappedKey, CK_ULONG_PTR pulWrappedKeyLen);
extern CK_RV C_UnwrapKeyAuthenticated(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                                      CK_OBJECT_HANDLE hUnwrappingKey, CK_BYTE_PTR pWrappedKey,
                                      CK_ULONG ulWrappedKeyLen, CK_ATTRIBUTE_PTR pTemplate,
                                      CK_ULONG ulAttributeCount, CK_BYTE_PTR pAssociatedData,
                                      CK_ULONG ulAssociatedDataLen, CK_OBJECT_HANDLE_PTR phKey);
#pragma GCC visibility pop

/* Of the standard, and not in the package. */
#ifndef CKA_UNIQUE_ID
#define CKA_UNIQUE_ID 0x4UL
#endif
#ifndef CKA_NAME_HASH_ALGORITHM
#define CKA_NAME_HASH_ALGORITHM 0x8CUL
#endif

/* Numbers of version 3.2. */
#ifndef CKK_ML_KEM
#define CKK_ML_KEM 0x49UL
#endif
#ifndef CKK_ML_DSA
#define CKK_ML_DSA 0x4aUL
#endif
#ifndef CKA_PARAMETER_SET
#define CKA_PARAMETER_SET 0x61dUL
#endif
#ifndef CKA_ENCAPSULATE_TEMPLATE
#define CKA_ENCAPSULATE_TEMPLATE 0x62aUL
#endif
#ifndef CKA_DECAPSULATE_TEMPLATE
#define CKA_DECAPSULATE_TEMPLATE 0x62bUL
#endif
#ifndef CKA_ENCAPSULATE
#define CKA_ENCAPSULATE 0x633UL
#endif
#ifndef CKA_DECAPSULATE
#define CKA_DECAPSULATE 0x634UL
#endif
#ifndef CKA_SEED
#define CKA_SEED 0x637UL
#endif
#ifndef CKF_ENCAPSULATE
#define CKF_ENCAPSULATE 0x10000000UL
#endif
#ifndef CKF_DECAPSULATE
#define CKF_DECAPSULATE 0x20000000UL
#endif
#ifndef CKM_ML_KEM_KEY_PAIR_GEN
#define CKM_ML_KEM_KEY_PAIR_GEN 0xfUL
#endif
#ifndef CKM_ML_KEM
#define CKM_ML_KEM 0x17UL
#endif
#ifndef CKM_ML_DSA_KEY_PAIR_GEN
#define CKM_ML_DSA_KEY_PAIR_GEN 0x1cUL
#endif
#ifndef CKM_ML_DSA
#define CKM_ML_DSA 0x1dUL
#endif
#ifndef CKM_HASH_ML_DSA
#define CKM_HASH_ML_DSA 0x1fUL
#endif
#ifndef CKM_HASH_ML_DSA_SHA224
#define CKM_HASH_ML_DSA_SHA224 0x23UL
#endif
#ifndef CKM_HASH_ML_DSA_SHA256
#define CKM_HASH_ML_DSA_SHA256 0x24UL
#endif
#ifndef CKM_HASH_ML_DSA_SHA384
#define CKM_HASH_ML_DSA_SHA384 0x25UL
#endif
#ifndef CKM_HASH_ML_DSA_SHA512
#define CKM_HASH_ML_DSA_SHA512 0x26UL
#endif
#ifndef CKM_HASH_ML_DSA_SHA3_224
#define CKM_HASH_ML_DSA_SHA3_224 0x27UL
#endif
#ifndef CKM_HASH_ML_DSA_SHA3_256
#define CKM_HASH_ML_DSA_SHA3_256 0x28UL
#endif
#ifndef CKM_HASH_ML_DSA_SHA3_384
#define CKM_HASH_ML_DSA_SHA3_384 0x29UL
#endif
#ifndef CKM_HASH_ML_DSA_SHA3_512
#define CKM_HASH_ML_DSA_SHA3_512 0x2aUL
#endif
#ifndef CKM_HASH_ML_DSA_SHAKE128
#define CKM_HASH_ML_DSA_SHAKE128 0x2bUL
#endif
#ifndef CKM_HASH_ML_DSA_SHAKE256
#define CKM_HASH_ML_DSA_SHAKE256 0x2cUL
#endif
#ifndef CKP_ML_KEM_512
#define CKP_ML_KEM_512 0x1UL
#endif
#ifndef CKP_ML_KEM_768
#define CKP_ML_KEM_768 0x2UL
#endif
#ifndef CKP_ML_KEM_1024
#define CKP_ML_KEM_1024 0x3UL
#endif
#ifndef CKP_ML_DSA_44
#define CKP_ML_DSA_44 0x1UL
#endif
#ifndef CKP_ML_DSA_65
#define CKP_ML_DSA_65 0x2UL
#endif
#ifndef CKP_ML_DSA_87
#define CKP_ML_DSA_87 0x3UL
#endif
#ifndef CKH_HEDGE_PREFERRED
#define CKH_HEDGE_PREFERRED 0x0UL
#endif
#ifndef CKH_HEDGE_REQUIRED
#define CKH_HEDGE_REQUIRED 0x1UL
#endif
#ifndef CKH_DETERMINISTIC_REQUIRED
#define CKH_DETERMINISTIC_REQUIRED 0x2UL
#endif
#ifndef CKR_PARAMETER_SET_NOT_SUPPORTED
#define CKR_PARAMETER_SET_NOT_SUPPORTED 0x209UL
#endif

/* CK_SIGN_ADDITIONAL_CONTEXT, and CK_HASH_SIGN_ADDITIONAL_CONTEXT. */
struct sign_context {
    CK_ULONG hedge;
    CK_BYTE_PTR context;
    CK_ULONG context_size;
};

struct hash_sign_context {
    struct sign_context sign;
    CK_MECHANISM_TYPE hash;
};

/* The length of an attribute that cannot be shown. */
#define UNAVAILABLE CK_UNAVAILABLE_INFORMATION

#endif
