/* The token of a slot: who is logged in, and the objects that this process sees.

   All functions need the module's lock, unless told otherwise. */
#ifndef COPRIME_TOKEN_TOKEN_H
#define COPRIME_TOKEN_TOKEN_H

#include "attributes.h"
#include "crypto.h"
#include "cryptoki.h"
#include "device.h"
#include "key.h"
#include "store.h"

/* Lengths of PINs in bytes; a token may have a shorter one of an earlier version. */
enum { MIN_PIN = 6, ADVISED_PIN = 8, MAX_PIN = 255 };

enum login { NOBODY, USER, OFFICER };

/* In place of a session: the module itself has the object, in no file. */
#define FIXED (~(CK_SESSION_HANDLE)0)

/* An object that can be seen: private ones are there only while the user is logged in. */
struct object {
    struct object *next;
    CK_OBJECT_HANDLE handle;
    CK_SESSION_HANDLE session; /* whose session it belongs to; 0: the token; or FIXED */
    uint64_t id, revision; /* of its record, if it belongs to the token */
    bool outdated; /* its record is another one now */
    uint64_t version; /* of its attributes: no others in this process had it */
    bool guest; /* written without a PIN: it is not trusted, and does not wrap */
    struct attributes attributes;
    struct key *key; /* made when it is first used */
};

struct token;

/* Who has sessions of a token. With the module's lock. */
struct token_events {
    void (*logged_out)(const struct token *token); /* their operations with keys end */
    bool (*has_session)(CK_SESSION_HANDLE handle);
};

struct token {
    CK_SLOT_ID slot;
    struct crypto *crypto;
    const struct token_events *events;
    struct device *device;
    bool device_generates; /* its keys; otherwise libcrypto does */
    struct store store;
    struct image image;
    struct object *objects;
    CK_OBJECT_HANDLE last_handle;
    uint64_t last_version;
    enum login login;
    uint8_t *master; /* secret memory; null if nobody is logged in */
    /* Wrong PINs that could not be written, by who should have logged in: beyond those of the file. */
    uint32_t unwritten_failures[3];
};

/* Bring the token up to date with what other processes wrote. CKR_OK also without a file. */
CK_RV token_refresh(struct token *token);

/* Forget everything: at the end, or (without the lock's meaning anything) after a fork. */
void token_close(struct token *token);

/* Make the token anew, with a label of LABEL_BYTES. Both release and take the module's lock while
   they derive the key. */
CK_RV token_initialize(struct token *token, const uint8_t *pin, size_t size, const uint8_t *label);
/* Whether this is the PIN, and the file is what was written with it; gives the master key.
   CKR_PIN_INCORRECT, CKR_PIN_LOCKED, CKR_USER_PIN_NOT_INITIALIZED; CKR_TOKEN_NOT_RECOGNIZED if the
   PIN is right, and somebody without it has changed the file. Where the file cannot be written, for
   whatever reason, wrong PINs are counted in this process, and the right one is taken. */
CK_RV token_check_pin(struct token *token, enum login who, const uint8_t *pin, size_t size,
                      uint8_t master[SEAL_KEY]);
/* How often somebody's PIN was wrong in a row; it is locked from MAX_FAILURES on. */
uint32_t token_failures(const struct token *token, enum login who);
/* Set somebody's PIN, over the master key that is given. */
CK_RV token_set_pin(struct token *token, enum login who, const uint8_t *pin, size_t size,
                    const uint8_t master[SEAL_KEY]);

/* Log in with the master key, in secret memory, which is taken over. */
void token_log_in(struct token *token, enum login who, uint8_t *master);
/* Private objects disappear. The device still has its keys: device_forget, without the lock. */
void token_log_out(struct token *token);

/* Objects. Those of `count` lists that belong to the token are written at once: all or none. The
   lists are taken over, also after an error. `session` is whose objects they become otherwise.
   CKR_DEVICE_MEMORY beyond the store's limits; CKR_USER_NOT_LOGGED_IN for changing what was written
   by somebody who was logged in. */
CK_RV token_add_objects(struct token *token, CK_SESSION_HANDLE session, struct attributes *lists,
                        unsigned count, CK_OBJECT_HANDLE *handles);
/* Replace an object's attributes, which are taken over. CKR_FUNCTION_CANCELED if somebody else has
   changed them since they were seen: the new ones follow from old ones that are none any more. */
CK_RV token_replace_object(struct token *token, struct object *object, struct attributes *list);
CK_RV token_destroy_object(struct token *token, struct object *object);
void token_end_session(struct token *token, CK_SESSION_HANDLE session);
/* Add an object that is there as long as the module runs. Its list, which says that it is not private
   and cannot be changed, copied or destroyed, is taken over. False without memory. */
bool token_add_fixed(struct token *token, struct attributes *list);

struct object *token_find_object(struct token *token, CK_OBJECT_HANDLE handle);
bool object_is_private(const struct object *object);
bool object_is_of_token(const struct object *object);

/* The key of an object, shared: the caller releases it. Null if it has none. */
struct key *object_key(const struct crypto *crypto, struct object *object);

#endif
