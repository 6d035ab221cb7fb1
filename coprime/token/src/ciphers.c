/* Digests, signatures and encryption: every kind of operation has the same calls. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "objects.h"
#include "operation.h"
#include "policy.h"
#include "rules.h"

/* What an operation with a key of two halves needs that to be, and all need their key to allow. */
static const struct {
    CK_OBJECT_CLASS class;
    CK_ATTRIBUTE_TYPE allowed;
} needs[OPERATIONS] = {
    [SIGN] = {CKO_PRIVATE_KEY, CKA_SIGN},
    [VERIFY] = {CKO_PUBLIC_KEY, CKA_VERIFY},
    [ENCRYPT] = {CKO_PUBLIC_KEY, CKA_ENCRYPT},
    [DECRYPT] = {CKO_PRIVATE_KEY, CKA_DECRYPT},
    [VERIFY_GIVEN] = {CKO_PUBLIC_KEY, CKA_VERIFY},
    [SIGN_MESSAGES] = {CKO_PRIVATE_KEY, CKA_SIGN},
    [VERIFY_MESSAGES] = {CKO_PUBLIC_KEY, CKA_VERIFY},
    [ENCRYPT_MESSAGES] = {CKO_PUBLIC_KEY, CKA_ENCRYPT},
    [DECRYPT_MESSAGES] = {CKO_PRIVATE_KEY, CKA_DECRYPT},
};

static struct context context_of(const struct session *session)
{
    return (struct context){session->token->crypto, session->token->device};
}

/* Whether this is a signature that would decrypt what is wrapped for a key that may only unwrap: the
   bare private operation. */
static bool is_decryption(enum operation_kind kind, const struct mechanism *mechanism,
                          const struct attributes *key)
{
    return (kind == SIGN || kind == SIGN_MESSAGES) && mechanism->scheme == RAW &&
           attributes_bool(key, CKA_UNWRAP, false) && !attributes_bool(key, CKA_DECRYPT, false) &&
           !policy_allows(ALLOW_REVEAL_WRAPPED);
}

/* Find the key of an operation: one of two halves is shared, and the bytes are the object's. With the
   module's lock. */
static CK_RV find_key(struct session *session, enum operation_kind kind, CK_OBJECT_HANDLE handle,
                      CK_MECHANISM_TYPE type, struct operation_key *key, bool *needs_login)
{
    const struct mechanism *const mechanism = mechanism_find(type);
    const bool is_secret = mechanism && mechanism_is_secret(mechanism);
    struct object *object;
    CK_RV rv;

    if (mechanism == NULL) {
        return CKR_MECHANISM_INVALID;
    }
    rv = objects_find_key(session, handle, is_secret ? CKO_SECRET_KEY : needs[kind].class,
                          needs[kind].allowed, type, &object);
    if (rv != CKR_OK) {
        return rv;
    }
    if (is_decryption(kind, mechanism, &object->attributes)) {
        return CKR_KEY_FUNCTION_NOT_PERMITTED;
    }
    *needs_login = attributes_bool(&object->attributes, CKA_ALWAYS_AUTHENTICATE, false);
    if (is_secret) {
        key->secret = attributes_get(&object->attributes, CKA_VALUE);
        return CKR_OK;
    }
    key->shared = object_key(session->token->crypto, object);
    return key->shared ? CKR_OK : CKR_KEY_TYPE_INCONSISTENT;
}

static CK_RV init(CK_SESSION_HANDLE handle, enum operation_kind kind,
                  const CK_MECHANISM *mechanism, CK_OBJECT_HANDLE object)
{
    static atomic_uint_fast64_t begun;
    struct operation *operation;
    struct session *session;
    struct context context;
    struct operation_key key = {NULL, {NULL, 0}};
    bool needs_login = false;
    CK_RV rv = session_begin(handle, &session);

    if (rv != CKR_OK) {
        return rv;
    }
    operation = &session->operations[kind];
    context = context_of(session);
    if (mechanism == NULL) { /* of version 3.0: ends what is under way, if anything is */
        operation_end(operation);
    } else if (operation->mechanism) {
        rv = CKR_OPERATION_ACTIVE;
    } else {
        module_lock();
        if (kind != DIGEST) {
            rv = find_key(session, kind, object, mechanism->mechanism, &key, &needs_login);
        }
        if (rv == CKR_OK) {
            rv = operation_begin(&context, operation, kind, mechanism, &key);
        }
        if (rv == CKR_OK) {
            operation->asks_each_time = operation->needs_login = needs_login;
            operation->begun = atomic_fetch_add(&begun, 1) + 1;
        }
        module_unlock();
    }
    session_end(session);
    return rv;
}

/* Begin a call that goes on with an operation; after an error no session_end follows. */
static CK_RV go_on(CK_SESSION_HANDLE handle, enum operation_kind kind, struct session **session,
                   struct operation **operation)
{
    const CK_RV rv = session_begin(handle, session);

    if (rv != CKR_OK) {
        return rv;
    }
    *operation = &(*session)->operations[kind];
    if ((*operation)->mechanism == NULL) {
        session_end(*session);
        return CKR_OPERATION_NOT_INITIALIZED;
    }
    return CKR_OK;
}

static CK_RV update(CK_SESSION_HANDLE handle, enum operation_kind kind, const CK_BYTE *input,
                    CK_ULONG size, CK_BYTE *output, CK_ULONG *output_size)
{
    struct operation *operation;
    struct session *session;
    CK_RV rv = go_on(handle, kind, &session, &operation);

    if (rv != CKR_OK) {
        return rv;
    }
    if (input == NULL && size) {
        rv = CKR_ARGUMENTS_BAD;
    } else {
        rv = operation_update(operation, input, size, output, output_size);
    }
    if (rv != CKR_OK && rv != CKR_BUFFER_TOO_SMALL) {
        operation_end(operation);
    }
    session_end(session);
    return rv;
}

/* C_Sign and the like, or C_SignFinal and the like. */
static CK_RV finish(CK_SESSION_HANDLE handle, enum operation_kind kind, bool in_one,
                    const CK_BYTE *input, CK_ULONG size, CK_BYTE *output, CK_ULONG *output_size)
{
    struct operation *operation;
    struct session *session;
    struct context context;
    bool goes_on = false;
    CK_RV rv = go_on(handle, kind, &session, &operation);

    if (rv != CKR_OK) {
        return rv;
    }
    context = context_of(session);
    if (kind == VERIFY_GIVEN) {
        kind = VERIFY;
        output = operation->signature;
        output_size = &operation->signature_size;
    }
    if ((input == NULL && size) || output_size == NULL || (kind == VERIFY && output == NULL)) {
        rv = CKR_ARGUMENTS_BAD;
    } else {
        rv = operation_finish(&context, operation, kind, in_one, input, size, output, output_size);
        goes_on = rv == CKR_BUFFER_TOO_SMALL || (rv == CKR_OK && output == NULL);
    }
    if (!goes_on) {
        operation_end(operation);
    }
    session_end(session);
    return rv;
}

CK_RV C_DigestInit(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism)
{
    return init(hSession, DIGEST, pMechanism, CK_INVALID_HANDLE);
}

CK_RV C_Digest(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pData, CK_ULONG ulDataLen,
               CK_BYTE_PTR pDigest, CK_ULONG_PTR pulDigestLen)
{
    return finish(hSession, DIGEST, true, pData, ulDataLen, pDigest, pulDigestLen);
}

CK_RV C_DigestUpdate(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pPart, CK_ULONG ulPartLen)
{
    return update(hSession, DIGEST, pPart, ulPartLen, NULL, NULL);
}

/* Whether a key may be hashed with a mechanism: a secret key that shows its value. The digest of a
   hidden one would tell of it, and of a long key of HMAC it is the key that HMAC uses. */
static bool is_digestible(const struct attributes *key, CK_MECHANISM_TYPE mechanism)
{
    return attributes_ulong(key, CKA_CLASS, CKO_DATA) == CKO_SECRET_KEY &&
           !rules_hides(key, CKA_VALUE) && objects_allow(key, mechanism);
}

CK_RV C_DigestKey(CK_SESSION_HANDLE hSession, CK_OBJECT_HANDLE hKey)
{
    struct operation *operation;
    struct session *session;
    const struct object *object;
    CK_RV rv = go_on(hSession, DIGEST, &session, &operation);

    if (rv != CKR_OK) {
        return rv;
    }
    module_lock();
    object = objects_find(session, hKey);
    if (object == NULL) {
        rv = CKR_KEY_HANDLE_INVALID;
    } else if (!is_digestible(&object->attributes, operation->mechanism->type)) {
        rv = CKR_KEY_INDIGESTIBLE;
    } else {
        const struct value value = attributes_get(&object->attributes, CKA_VALUE);

        rv = operation_update(operation, value.bytes, value.size, NULL, NULL);
    }
    module_unlock();
    if (rv != CKR_OK) {
        operation_end(operation);
    }
    session_end(session);
    return rv;
}

CK_RV C_DigestFinal(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pDigest, CK_ULONG_PTR pulDigestLen)
{
    return finish(hSession, DIGEST, false, NULL, 0, pDigest, pulDigestLen);
}

CK_RV C_SignInit(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism, CK_OBJECT_HANDLE hKey)
{
    return init(hSession, SIGN, pMechanism, hKey);
}

CK_RV C_Sign(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pData, CK_ULONG ulDataLen,
             CK_BYTE_PTR pSignature, CK_ULONG_PTR pulSignatureLen)
{
    return finish(hSession, SIGN, true, pData, ulDataLen, pSignature, pulSignatureLen);
}

CK_RV C_SignUpdate(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pPart, CK_ULONG ulPartLen)
{
    return update(hSession, SIGN, pPart, ulPartLen, NULL, NULL);
}

CK_RV C_SignFinal(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pSignature, CK_ULONG_PTR pulSignatureLen)
{
    return finish(hSession, SIGN, false, NULL, 0, pSignature, pulSignatureLen);
}

CK_RV C_VerifyInit(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism, CK_OBJECT_HANDLE hKey)
{
    return init(hSession, VERIFY, pMechanism, hKey);
}

CK_RV C_Verify(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pData, CK_ULONG ulDataLen,
               CK_BYTE_PTR pSignature, CK_ULONG ulSignatureLen)
{
    return finish(hSession, VERIFY, true, pData, ulDataLen, pSignature, &ulSignatureLen);
}

CK_RV C_VerifyUpdate(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pPart, CK_ULONG ulPartLen)
{
    return update(hSession, VERIFY, pPart, ulPartLen, NULL, NULL);
}

CK_RV C_VerifyFinal(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pSignature, CK_ULONG ulSignatureLen)
{
    return finish(hSession, VERIFY, false, NULL, 0, pSignature, &ulSignatureLen);
}

/* Verifying with the signature first (version 3.2). */

/* The longest signature that is kept; all of ours are shorter. */
enum { MAX_SIGNATURE = 1 << 13 };

/* Keep the signature of an operation that was begun. */
static CK_RV keep_signature(CK_SESSION_HANDLE handle, const CK_BYTE *signature, CK_ULONG size)
{
    struct operation *operation;
    struct session *session;
    CK_RV rv = go_on(handle, VERIFY_GIVEN, &session, &operation);

    if (rv != CKR_OK) {
        return rv;
    }
    operation->signature = malloc(size ? size : 1);
    operation->signature_size = size;
    if (operation->signature == NULL) {
        operation_end(operation);
        rv = CKR_HOST_MEMORY;
    } else if (size) {
        memcpy(operation->signature, signature, size);
    }
    session_end(session);
    return rv;
}

CK_RV C_VerifySignatureInit(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                            CK_OBJECT_HANDLE hKey, CK_BYTE_PTR pSignature, CK_ULONG ulSignatureLen)
{
    CK_RV rv = CKR_OK;

    if (pMechanism && pSignature == NULL) {
        rv = CKR_ARGUMENTS_BAD;
    } else if (pMechanism && ulSignatureLen > MAX_SIGNATURE) {
        rv = CKR_SIGNATURE_LEN_RANGE;
    }
    if (rv == CKR_OK) {
        rv = init(hSession, VERIFY_GIVEN, pMechanism, hKey);
    }
    return rv == CKR_OK && pMechanism ? keep_signature(hSession, pSignature, ulSignatureLen) : rv;
}

CK_RV C_VerifySignature(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pData, CK_ULONG ulDataLen)
{
    return finish(hSession, VERIFY_GIVEN, true, pData, ulDataLen, NULL, NULL);
}

CK_RV C_VerifySignatureUpdate(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pPart, CK_ULONG ulPartLen)
{
    return update(hSession, VERIFY_GIVEN, pPart, ulPartLen, NULL, NULL);
}

CK_RV C_VerifySignatureFinal(CK_SESSION_HANDLE hSession)
{
    return finish(hSession, VERIFY_GIVEN, false, NULL, 0, NULL, NULL);
}

CK_RV C_EncryptInit(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism, CK_OBJECT_HANDLE hKey)
{
    return init(hSession, ENCRYPT, pMechanism, hKey);
}

CK_RV C_Encrypt(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pData, CK_ULONG ulDataLen,
                CK_BYTE_PTR pEncryptedData, CK_ULONG_PTR pulEncryptedDataLen)
{
    return finish(hSession, ENCRYPT, true, pData, ulDataLen, pEncryptedData, pulEncryptedDataLen);
}

CK_RV C_EncryptUpdate(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pPart, CK_ULONG ulPartLen,
                      CK_BYTE_PTR pEncryptedPart, CK_ULONG_PTR pulEncryptedPartLen)
{
    return update(hSession, ENCRYPT, pPart, ulPartLen, pEncryptedPart, pulEncryptedPartLen);
}

CK_RV C_EncryptFinal(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pLastEncryptedPart,
                     CK_ULONG_PTR pulLastEncryptedPartLen)
{
    return finish(hSession, ENCRYPT, false, NULL, 0, pLastEncryptedPart, pulLastEncryptedPartLen);
}

CK_RV C_DecryptInit(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism, CK_OBJECT_HANDLE hKey)
{
    return init(hSession, DECRYPT, pMechanism, hKey);
}

CK_RV C_Decrypt(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pEncryptedData, CK_ULONG ulEncryptedDataLen,
                CK_BYTE_PTR pData, CK_ULONG_PTR pulDataLen)
{
    return finish(hSession, DECRYPT, true, pEncryptedData, ulEncryptedDataLen, pData, pulDataLen);
}

CK_RV C_DecryptUpdate(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pEncryptedPart,
                      CK_ULONG ulEncryptedPartLen, CK_BYTE_PTR pPart, CK_ULONG_PTR pulPartLen)
{
    return update(hSession, DECRYPT, pEncryptedPart, ulEncryptedPartLen, pPart, pulPartLen);
}

CK_RV C_DecryptFinal(CK_SESSION_HANDLE hSession, CK_BYTE_PTR pLastPart,
                     CK_ULONG_PTR pulLastPartLen)
{
    return finish(hSession, DECRYPT, false, NULL, 0, pLastPart, pulLastPartLen);
}

/* Messages, one after the other, with one key (version 3.0). */

/* Sign or verify one of them: its own parameter is null, as no mechanism of ours has any. A key that
   asks for the PIN each time is asked for it for each message. */
static CK_RV message(CK_SESSION_HANDLE handle, enum operation_kind kind, CK_ULONG parameter_size,
                     const CK_BYTE *input, CK_ULONG size, CK_BYTE *output, CK_ULONG *output_size)
{
    struct operation *messages;
    struct operation operation = {0};
    struct session *session;
    struct context context;
    CK_RV rv = go_on(handle, kind, &session, &messages);

    if (rv != CKR_OK) {
        return rv;
    }
    context = context_of(session);
    if ((input == NULL && size) || output_size == NULL || parameter_size ||
               (kind == VERIFY_MESSAGES && output == NULL)) {
        rv = CKR_ARGUMENTS_BAD;
    } else {
        rv = operation_begin_message(&context, messages, &operation);
        operation.needs_login = messages->needs_login;
        if (rv == CKR_OK) {
            rv = operation_finish(&context, &operation, kind == SIGN_MESSAGES ? SIGN : VERIFY, true,
                                  input, size, output, output_size);
        }
        operation_end(&operation);
        if (output && rv != CKR_BUFFER_TOO_SMALL) { /* one login serves one message */
            messages->needs_login = messages->asks_each_time;
        }
    }
    session_end(session);
    return rv;
}

/* End messages of a kind. */
static CK_RV end_messages(CK_SESSION_HANDLE handle, enum operation_kind kind)
{
    struct operation *messages;
    struct session *session;
    const CK_RV rv = go_on(handle, kind, &session, &messages);

    if (rv == CKR_OK) {
        operation_end(messages);
        session_end(session);
    }
    return rv;
}

CK_RV C_MessageSignInit(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                        CK_OBJECT_HANDLE hKey)
{
    return init(hSession, SIGN_MESSAGES, pMechanism, hKey);
}

CK_RV C_SignMessage(CK_SESSION_HANDLE hSession, CK_VOID_PTR pParameter, CK_ULONG ulParameterLen,
                    CK_BYTE_PTR pData, CK_ULONG ulDataLen, CK_BYTE_PTR pSignature,
                    CK_ULONG_PTR pulSignatureLen)
{
    (void)pParameter;
    return message(hSession, SIGN_MESSAGES, ulParameterLen, pData, ulDataLen, pSignature,
                   pulSignatureLen);
}

CK_RV C_MessageSignFinal(CK_SESSION_HANDLE hSession)
{
    return end_messages(hSession, SIGN_MESSAGES);
}

CK_RV C_MessageVerifyInit(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                          CK_OBJECT_HANDLE hKey)
{
    return init(hSession, VERIFY_MESSAGES, pMechanism, hKey);
}

CK_RV C_VerifyMessage(CK_SESSION_HANDLE hSession, CK_VOID_PTR pParameter, CK_ULONG ulParameterLen,
                      CK_BYTE_PTR pData, CK_ULONG ulDataLen, CK_BYTE_PTR pSignature,
                      CK_ULONG ulSignatureLen)
{
    (void)pParameter;
    return message(hSession, VERIFY_MESSAGES, ulParameterLen, pData, ulDataLen, pSignature,
                   &ulSignatureLen);
}

CK_RV C_MessageVerifyFinal(CK_SESSION_HANDLE hSession)
{
    return end_messages(hSession, VERIFY_MESSAGES);
}

/* Messages that are enciphered: each has a nonce, a tag apart from the text, and data beside it, in one
   call or in parts. */

/* What a call has of a message. */
struct message {
    struct value parameter, data, text;
    CK_BYTE *output;
    CK_ULONG *output_size;
};

/* Begin a call with a message: none may be under way, in parts. */
static CK_RV begin_cipher(CK_SESSION_HANDLE handle, enum operation_kind kind,
                          const struct message *message, struct session **session,
                          struct operation **messages, struct cipher **cipher)
{
    struct context context;
    CK_RV rv = go_on(handle, kind, session, messages);

    if (rv != CKR_OK) {
        return rv;
    }
    context = context_of(*session);
    rv = (*messages)->cipher ? CKR_OPERATION_ACTIVE :
                               operation_begin_cipher(&context, *messages, kind == ENCRYPT_MESSAGES,
                                                      &message->parameter, &message->data, cipher);
    if (rv != CKR_OK) {
        session_end(*session);
    }
    return rv;
}

static bool has_text(const struct message *message)
{
    return message->output_size && (message->text.bytes || message->text.size == 0);
}

static CK_RV encipher(CK_SESSION_HANDLE handle, enum operation_kind kind,
                      const struct message *message)
{
    struct operation *messages;
    struct session *session;
    struct cipher *cipher;
    CK_RV rv;

    if (!has_text(message)) {
        return CKR_ARGUMENTS_BAD;
    }
    rv = begin_cipher(handle, kind, message, &session, &messages, &cipher);
    if (rv == CKR_OK) {
        rv = cipher_last(cipher, message->text.bytes, message->text.size, message->output,
                         message->output_size);
        cipher_end(cipher);
        session_end(session);
    }
    return rv;
}

static CK_RV encipher_begin(CK_SESSION_HANDLE handle, enum operation_kind kind,
                            const struct message *message)
{
    struct operation *messages;
    struct session *session;
    struct cipher *cipher;
    const CK_RV rv = begin_cipher(handle, kind, message, &session, &messages, &cipher);

    if (rv == CKR_OK) {
        messages->cipher = cipher;
        session_end(session);
    }
    return rv;
}

/* A part; after the last one, or an error, the message has ended. The tag is where this call has it. */
static CK_RV encipher_next(CK_SESSION_HANDLE handle, enum operation_kind kind,
                           const struct message *message, bool is_last)
{
    struct cipher_parameters parameters;
    struct operation *messages;
    struct session *session;
    CK_RV rv = go_on(handle, kind, &session, &messages);

    if (rv != CKR_OK) {
        return rv;
    }
    if (messages->cipher == NULL) {
        session_end(session);
        return CKR_OPERATION_NOT_INITIALIZED;
    }
    rv = has_text(message) ?
             cipher_parameters_of_message(session->token->crypto, messages->mechanism->type,
                                          message->parameter.bytes, message->parameter.size, false,
                                          &parameters) :
             CKR_ARGUMENTS_BAD;
    if (rv == CKR_OK) {
        cipher_set_tag(messages->cipher, parameters.tag);
        rv = (is_last ? cipher_last : cipher_update)(messages->cipher, message->text.bytes,
                                                     message->text.size, message->output,
                                                     message->output_size);
    }
    if (rv == CKR_OK ? is_last && message->output : rv != CKR_BUFFER_TOO_SMALL) {
        cipher_end(messages->cipher);
        messages->cipher = NULL;
    }
    session_end(session);
    return rv;
}

CK_RV C_MessageEncryptInit(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                           CK_OBJECT_HANDLE hKey)
{
    return init(hSession, ENCRYPT_MESSAGES, pMechanism, hKey);
}

CK_RV C_EncryptMessage(CK_SESSION_HANDLE hSession, CK_VOID_PTR pParameter, CK_ULONG ulParameterLen,
                       CK_BYTE_PTR pAssociatedData, CK_ULONG ulAssociatedDataLen,
                       CK_BYTE_PTR pPlaintext, CK_ULONG ulPlaintextLen, CK_BYTE_PTR pCiphertext,
                       CK_ULONG_PTR pulCiphertextLen)
{
    return encipher(hSession, ENCRYPT_MESSAGES,
                    &(struct message){{pParameter, ulParameterLen},
                                      {pAssociatedData, ulAssociatedDataLen},
                                      {pPlaintext, ulPlaintextLen},
                                      pCiphertext,
                                      pulCiphertextLen});
}

CK_RV C_EncryptMessageBegin(CK_SESSION_HANDLE hSession, CK_VOID_PTR pParameter,
                            CK_ULONG ulParameterLen, CK_BYTE_PTR pAssociatedData,
                            CK_ULONG ulAssociatedDataLen)
{
    return encipher_begin(hSession, ENCRYPT_MESSAGES,
                          &(struct message){.parameter = {pParameter, ulParameterLen},
                                            .data = {pAssociatedData, ulAssociatedDataLen}});
}

CK_RV C_EncryptMessageNext(CK_SESSION_HANDLE hSession, CK_VOID_PTR pParameter,
                           CK_ULONG ulParameterLen, CK_BYTE_PTR pPlaintextPart,
                           CK_ULONG ulPlaintextPartLen, CK_BYTE_PTR pCiphertextPart,
                           CK_ULONG_PTR pulCiphertextPartLen, CK_FLAGS flags)
{
    return encipher_next(hSession, ENCRYPT_MESSAGES,
                         &(struct message){.parameter = {pParameter, ulParameterLen},
                                           .text = {pPlaintextPart, ulPlaintextPartLen},
                                           .output = pCiphertextPart,
                                           .output_size = pulCiphertextPartLen},
                         flags & CKF_END_OF_MESSAGE);
}

CK_RV C_MessageEncryptFinal(CK_SESSION_HANDLE hSession)
{
    return end_messages(hSession, ENCRYPT_MESSAGES);
}

CK_RV C_MessageDecryptInit(CK_SESSION_HANDLE hSession, CK_MECHANISM_PTR pMechanism,
                           CK_OBJECT_HANDLE hKey)
{
    return init(hSession, DECRYPT_MESSAGES, pMechanism, hKey);
}

CK_RV C_DecryptMessage(CK_SESSION_HANDLE hSession, CK_VOID_PTR pParameter, CK_ULONG ulParameterLen,
                       CK_BYTE_PTR pAssociatedData, CK_ULONG ulAssociatedDataLen,
                       CK_BYTE_PTR pCiphertext, CK_ULONG ulCiphertextLen, CK_BYTE_PTR pPlaintext,
                       CK_ULONG_PTR pulPlaintextLen)
{
    return encipher(hSession, DECRYPT_MESSAGES,
                    &(struct message){{pParameter, ulParameterLen},
                                      {pAssociatedData, ulAssociatedDataLen},
                                      {pCiphertext, ulCiphertextLen},
                                      pPlaintext,
                                      pulPlaintextLen});
}

CK_RV C_DecryptMessageBegin(CK_SESSION_HANDLE hSession, CK_VOID_PTR pParameter,
                            CK_ULONG ulParameterLen, CK_BYTE_PTR pAssociatedData,
                            CK_ULONG ulAssociatedDataLen)
{
    return encipher_begin(hSession, DECRYPT_MESSAGES,
                          &(struct message){.parameter = {pParameter, ulParameterLen},
                                            .data = {pAssociatedData, ulAssociatedDataLen}});
}

CK_RV C_DecryptMessageNext(CK_SESSION_HANDLE hSession, CK_VOID_PTR pParameter,
                           CK_ULONG ulParameterLen, CK_BYTE_PTR pCiphertextPart,
                           CK_ULONG ulCiphertextPartLen, CK_BYTE_PTR pPlaintextPart,
                           CK_ULONG_PTR pulPlaintextPartLen, CK_FLAGS flags)
{
    return encipher_next(hSession, DECRYPT_MESSAGES,
                         &(struct message){.parameter = {pParameter, ulParameterLen},
                                           .text = {pCiphertextPart, ulCiphertextPartLen},
                                           .output = pPlaintextPart,
                                           .output_size = pulPlaintextPartLen},
                         flags & CKF_END_OF_MESSAGE);
}

CK_RV C_MessageDecryptFinal(CK_SESSION_HANDLE hSession)
{
    return end_messages(hSession, DECRYPT_MESSAGES);
}
