/* Cryptographic operations of a session, from Init to Final. */
#ifndef COPRIME_TOKEN_OPERATION_H
#define COPRIME_TOKEN_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

#include "cipher.h"
#include "crypto.h"
#include "cryptoki.h"
#include "device.h"
#include "key.h"
#include "mechanism.h"
#include "work.h"

/* Those of messages take one message after the other, and end when they are told to. VERIFY_GIVEN has
   its signature from the beginning. */
enum operation_kind {
    SIGN, VERIFY, ENCRYPT, DECRYPT, DIGEST, VERIFY_GIVEN, SIGN_MESSAGES, VERIFY_MESSAGES,
    ENCRYPT_MESSAGES, DECRYPT_MESSAGES, OPERATIONS
};

/* How the input comes: the first call decides, also one that only asks for a length. */
enum operation_parts { UNDECIDED, IN_ONE, IN_PARTS };

struct operation {
    const struct mechanism *mechanism; /* null: none is under way */
    struct parameters parameters;
    struct key *key; /* of RSA, or on a curve; null for a secret key */
    enum operation_parts parts;
    bool asks_each_time; /* the key asks for the PIN, */
    bool needs_login; /* and it has not been given yet */
    uint64_t begun; /* greater for an operation that was begun later */
    EVP_MD_CTX *digest;
    struct cipher *cipher; /* of messages: of the one that is under way in parts */
    EVP_MAC_CTX *mac;
    uint8_t *message_key; /* of messages that are enciphered, in secret memory; or null */
    size_t message_key_size;
    uint8_t *signature; /* of VERIFY_GIVEN; or null */
    CK_ULONG signature_size;
    /* What was given in parts, of what is neither hashed nor enciphered as it comes. */
    uint8_t *collected;
    size_t collected_size, collected_room;
};

/* The key of an operation: one of two halves, which is shared; or the bytes of a secret key. */
struct operation_key {
    struct key *shared;
    struct value secret;
};

/* Begin. The shared key is taken over, also after an error. A digest needs none. */
CK_RV operation_begin(const struct context *context, struct operation *operation,
                      enum operation_kind kind, const CK_MECHANISM *mechanism,
                      const struct operation_key *key);
void operation_end(struct operation *operation);

/* An operation on one message, as one that goes on for many has been begun; the caller ends it. */
CK_RV operation_begin_message(const struct context *context, const struct operation *messages,
                              struct operation *operation);

/* Begin a cipher on one message of many that are enciphered, with its own parameter and the data that is
   authenticated beside it; cipher_end is the caller's. */
CK_RV operation_begin_cipher(const struct context *context, const struct operation *messages,
                             bool encrypts, const struct value *parameter, const struct value *data,
                             struct cipher **cipher);

/* More input. A cipher gives output, for which `*output_size` is the room, and becomes the length;
   a null `output` asks for the length only. CKR_BUFFER_TOO_SMALL as in operation_finish. All else
   gives nothing before its end. */
CK_RV operation_update(struct operation *operation, const uint8_t *input, size_t size,
                       uint8_t *output, CK_ULONG *output_size);

/* The result of all input; `in_one` if the whole input is given here. `*output_size` is the room, and
   becomes the length; a null `output` asks for the length only. With CKR_BUFFER_TOO_SMALL, and after a
   question for the length, the operation goes on; otherwise the caller ends it. For VERIFY `output` is
   the signature, which is read.

   CKR_OPERATION_ACTIVE if parts were given before; CKR_OPERATION_NOT_INITIALIZED, also of
   operation_update, if a call had the whole input: there is no operation in parts then. */
CK_RV operation_finish(const struct context *context, struct operation *operation,
                       enum operation_kind kind, bool in_one, const uint8_t *input, size_t size,
                       uint8_t *output, CK_ULONG *output_size);

#endif
