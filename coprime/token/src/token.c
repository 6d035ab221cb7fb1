#include "token.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "calls.h"
#include "debug.h"
#include "key_kinds.h"
#include "rules.h"
#include "secret.h"

/* scrypt for new PINs: 128 MB, some tenths of a second. */
enum { LOG_N = 17, BLOCK = 8, PARALLEL = 1 };

bool object_is_private(const struct object *object)
{
    return attributes_bool(&object->attributes, CKA_PRIVATE, true);
}

bool object_is_of_token(const struct object *object)
{
    return object->session == 0;
}

static void object_free(struct object *object)
{
    attributes_free(&object->attributes);
    key_release(object->key);
    free(object);
}

static struct object *object_new(struct token *token, CK_SESSION_HANDLE session)
{
    struct object *const object = calloc(1, sizeof *object);

    if (object) {
        object->handle = ++token->last_handle;
        object->session = session;
    }
    return object;
}

/* The end of the list: an object that is put there has the place in searches in which it was made. */
static struct object **end_of(struct token *token)
{
    struct object **end = &token->objects;

    while (*end) {
        end = &(*end)->next;
    }
    return end;
}

/* Remove the objects for which `ends` says so. */
static void remove_objects(struct token *token,
                           bool (*ends)(const struct object *object, const void *context),
                           const void *context)
{
    struct object **place = &token->objects;

    while (*place) {
        struct object *const object = *place;

        if (ends(object, context)) {
            *place = object->next;
            object_free(object);
        } else {
            place = &object->next;
        }
    }
}

/* Records. */

enum { BOUND = INSTANCE_BYTES + 8 + 8 + 4 };

static void put(uint8_t *to, uint64_t number, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        to[i] = (uint8_t)(number >> 8 * i);
    }
}

/* What a sealed record is bound to, so that none can be put in another's place. */
static void bind_record(const struct token *token, const struct record *record,
                        uint8_t bound[BOUND])
{
    memcpy(bound, token->image.instance, INSTANCE_BYTES);
    put(bound + INSTANCE_BYTES, record->id, 8);
    put(bound + INSTANCE_BYTES + 8, record->revision, 8);
    put(bound + INSTANCE_BYTES + 16, record->flags, 4);
}

/* Give a record the attributes as its bytes, in place of `old`, if that is not null. Without the
   master key it becomes a guest's. */
static CK_RV seal_record(const struct token *token, const struct record *old,
                         struct record *record, const struct attributes *list)
{
    const bool private = attributes_bool(list, CKA_PRIVATE, true);
    const size_t size = private ? SEALED(list->size) : list->size;
    uint8_t bound[BOUND];

    record->flags = (private ? RECORD_PRIVATE : 0u) | (token->master ? 0u : RECORD_GUEST);
    if (private && token->login != USER) {
        return CKR_USER_NOT_LOGGED_IN;
    }
    if (old && !token->master && !(old->flags & RECORD_GUEST)) {
        return CKR_USER_NOT_LOGGED_IN;
    }
    if (!image_has_room(&token->image, old, record->flags, size)) {
        debug_say("%s: the token has no room for another %zu bytes", token->store.folder, size);
        return CKR_DEVICE_MEMORY;
    }
    record->size = (uint32_t)size;
    record->bytes = malloc(size ? size : 1);
    if (record->bytes == NULL) {
        return CKR_HOST_MEMORY;
    }
    if (!private) {
        memcpy(record->bytes, list->bytes, list->size);
        return CKR_OK;
    }
    bind_record(token, record, bound);
    if (crypto_seal(token->crypto, token->master, bound, BOUND, list->bytes, list->size,
                    record->bytes)) {
        return CKR_OK;
    }
    free(record->bytes);
    record->bytes = NULL;
    return CKR_FUNCTION_FAILED;
}

/* Attributes that were not sealed: no secrets, and of a guest nothing that others rely on. */
static bool read_public_record(const struct record *record, struct attributes *list)
{
    CK_OBJECT_CLASS class;
    bool good;

    if (!attributes_parse(list, record->bytes, record->size, false)) {
        return false;
    }
    class = attributes_ulong(list, CKA_CLASS, UNAVAILABLE);
    good = rules_accept(list) && class != CKO_PRIVATE_KEY && class != CKO_SECRET_KEY &&
           !attributes_bool(list, CKA_PRIVATE, true);
    if (good && record->flags & RECORD_GUEST) {
        good = !attributes_bool(list, CKA_TRUSTED, false) &&
               (!attributes_bool(list, CKA_WRAP, false) ||
                attributes_set_bool(list, CKA_WRAP, false));
    }
    if (!good) {
        attributes_free(list);
    }
    return good;
}

/* The attributes of a record; false if it cannot be seen, or is damaged. */
static bool unseal_record(const struct token *token, const struct record *record,
                          struct attributes *list)
{
    uint8_t bound[BOUND], *plain;
    bool done;

    if (!(record->flags & RECORD_PRIVATE)) {
        return read_public_record(record, list);
    }
    if (token->login != USER || record->size < SEALED(0)) {
        return false;
    }
    plain = secret_allocate(record->size);
    if (plain == NULL) {
        return false;
    }
    bind_record(token, record, bound);
    done = crypto_unseal(token->crypto, token->master, bound, BOUND, record->bytes, record->size,
                         plain) &&
           attributes_parse(list, plain, record->size - SEALED(0), true);
    secret_free(plain);
    if (done && !rules_accept(list)) {
        attributes_free(list);
        done = false;
    }
    return done;
}

/* Objects as the image says. */

static bool is_outdated(const struct object *object, const void *context)
{
    const struct image *const image = context;
    const struct record *record;

    if (!object_is_of_token(object)) {
        return false;
    }
    record = image_find(image, object->id);
    return record == NULL || object->outdated || record->revision != object->revision;
}

static struct object *object_of_record(struct token *token, uint64_t id)
{
    for (struct object *object = token->objects; object; object = object->next) {
        if (object_is_of_token(object) && object->id == id) {
            return object;
        }
    }
    return NULL;
}

static void set_object(struct token *token, struct object *object, const struct record *record,
                       const struct attributes *list)
{
    object->attributes = *list;
    object->version = ++token->last_version;
    object->id = record->id;
    object->revision = record->revision;
    object->outdated = false;
    object->guest = record->flags & RECORD_GUEST;
}

/* Whether attributes are those of the same object, perhaps changed: an older file that was put back may
   give a number again. */
static bool is_same_object(const struct object *object, const struct attributes *list)
{
    const struct value a = attributes_get(&object->attributes, CKA_UNIQUE_ID);
    const struct value b = attributes_get(list, CKA_UNIQUE_ID);

    return a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

/* Mark the records that objects show, and read those again that have changed. */
static void update_objects(struct token *token, bool *shown)
{
    for (struct object *object = token->objects; object; object = object->next) {
        const struct record *const record =
            object_is_of_token(object) ? image_find(&token->image, object->id) : NULL;
        struct attributes list;

        if (record == NULL) {
            continue;
        }
        if (is_outdated(object, &token->image) && unseal_record(token, record, &list)) {
            if (is_same_object(object, &list)) {
                attributes_free(&object->attributes);
                key_release(object->key);
                object->key = NULL;
                set_object(token, object, record, &list);
            } else {
                attributes_free(&list);
            }
        }
        shown[record - token->image.records] = !is_outdated(object, &token->image);
    }
}

/* Remove the objects whose records are gone or changed, and add those that can be seen now. One
   that was changed keeps its handle. */
static void follow_image(struct token *token)
{
    bool *const shown = calloc(token->image.count + 1, sizeof *shown);
    struct object **end;

    if (shown == NULL) {
        return;
    }
    update_objects(token, shown);
    remove_objects(token, is_outdated, &token->image);
    end = end_of(token);
    for (uint32_t i = 0; i < token->image.count; ++i) {
        const struct record *const record = &token->image.records[i];
        struct attributes list;
        struct object *object;

        if (shown[i] || !unseal_record(token, record, &list)) {
            continue;
        }
        object = object_new(token, 0);
        if (object == NULL) {
            attributes_free(&list);
            break;
        }
        set_object(token, object, record, &list);
        *end = object;
        end = &object->next;
    }
    free(shown);
}

static bool is_of_token(const struct object *object, const void *context)
{
    (void)context;
    return object_is_of_token(object);
}

static bool is_private(const struct object *object, const void *context)
{
    (void)context;
    return object_is_private(object);
}

/* End the operations that wait for an engine with a private key. */
static void revoke_keys(struct token *token)
{
    for (struct object *object = token->objects; object; object = object->next) {
        if (object->key && object_is_private(object)) {
            atomic_store(&object->key->revoked, true);
        }
    }
}

void token_log_out(struct token *token)
{
    if (token->login == NOBODY) {
        return;
    }
    token->login = NOBODY;
    secret_free(token->master);
    token->master = NULL;
    revoke_keys(token);
    remove_objects(token, is_private, NULL);
    token->events->logged_out(token);
    device_wake(token->device);
}

/* Whether the records are those that were written with the master key. A file of the first version
   has no tag, and its PINs another form than those of all others, so that none can be made of such. */
static bool is_authentic(const struct token *token, const struct image *image,
                         const struct pin_record *pin, const uint8_t *master)
{
    uint8_t tag[TAG];

    if (image->tagged ? image_tag(token->crypto, image, master, tag) &&
                            CRYPTO_memcmp(tag, image->tag, TAG) == 0 :
                        pin->form == OLD_PIN) {
        return true;
    }
    debug_say("%s/token was changed by somebody without a PIN: see `coprime token check`",
              token->store.folder);
    return false;
}

/* Mark the objects whose records differ in another image: in a file that was put back, and changed
   since, the same number and revision may stand for something else. */
static void compare_records(struct token *token, const struct image *image)
{
    for (struct object *object = token->objects; object; object = object->next) {
        const struct record *old, *new;

        if (!object_is_of_token(object)) {
            continue;
        }
        old = image_find(&token->image, object->id);
        new = image_find(image, object->id);
        if (old == NULL || new == NULL || old->flags != new->flags || old->size != new->size ||
            memcmp(old->bytes, new->bytes, old->size) != 0) {
            object->outdated = true;
        }
    }
}

/* Take the place of the image: another process may have made the token anew. */
static void adopt(struct token *token, struct image *image)
{
    if (memcmp(token->image.instance, image->instance, INSTANCE_BYTES) != 0) {
        token_log_out(token);
        remove_objects(token, is_of_token, NULL);
        memset(token->unwritten_failures, 0, sizeof token->unwritten_failures);
    }
    compare_records(token, image);
    image_free(&token->image);
    token->image = *image;
    follow_image(token);
}

/* Read the file. Who is logged in sees only what is authentic, and is logged out otherwise. */
static CK_RV reload(struct token *token)
{
    struct image image;
    CK_RV rv = store_read(&token->store, token->crypto, &image);
    if (rv == CKR_OK && token->login != NOBODY &&
        memcmp(token->image.instance, image.instance, INSTANCE_BYTES) == 0 &&
        !is_authentic(token, &image, token->login == USER ? &image.user : &image.so,
                      token->master)) {
        image_free(&image);
        token_log_out(token);
        rv = CKR_TOKEN_NOT_RECOGNIZED;
    }
    if (rv == CKR_OK) {
        adopt(token, &image);
    }
    return rv;
}

CK_RV token_refresh(struct token *token)
{
    return store_is_current(&token->store, &token->image) ? CKR_OK : reload(token);
}

void token_close(struct token *token)
{
    token_log_out(token);
    while (token->objects) {
        struct object *const object = token->objects;

        token->objects = object->next;
        object_free(object);
    }
    image_free(&token->image);
    store_close(&token->store);
    device_free(token->device);
    token->device = NULL;
}

/* Changes: between these two the image may be changed. */

static CK_RV begin_change(struct token *token)
{
    CK_RV rv = store_lock(&token->store);

    if (rv == CKR_OK) {
        rv = token_refresh(token);
        if (rv != CKR_OK) {
            store_unlock(&token->store);
        }
    }
    return rv;
}

/* What a change does to what was there: only REMOVES takes something away, or replaces it. */
enum effect { ADDS, REMOVES };

/* Write the image, or with an error go back to that of the file. With the master key the records are
   authenticated anew; a guest's change leaves the tag as it is. */
static CK_RV end_change(struct token *token, CK_RV rv, const uint8_t *master, enum effect effect)
{
    if (rv == CKR_OK && master) {
        token->image.tagged = true;
        rv = image_tag(token->crypto, &token->image, master, token->image.tag) ? CKR_OK :
                                                                                 CKR_HOST_MEMORY;
    }
    if (rv == CKR_OK) {
        rv = store_write(&token->store, token->crypto, &token->image, effect == REMOVES);
    }
    if (rv == CKR_OK) {
        follow_image(token);
    } else {
        memset(token->image.check, 0, CHECK); /* what cannot be read now is read next time */
        (void)reload(token);
    }
    store_unlock(&token->store);
    return rv;
}

/* PINs. */

static struct pin_record *pin_of(struct token *token, enum login who)
{
    return who == OFFICER ? &token->image.so : &token->image.user;
}

/* What a PIN's record is bound to. */
struct pin_bound {
    uint8_t bytes[INSTANCE_BYTES + 2];
    size_t size;
};

static struct pin_bound bind_pin(const uint8_t instance[INSTANCE_BYTES], enum login who,
                                 enum pin_form form)
{
    struct pin_bound bound = {.size = INSTANCE_BYTES + (form == OLD_PIN ? 1 : 2)};

    memcpy(bound.bytes, instance, INSTANCE_BYTES);
    bound.bytes[INSTANCE_BYTES] = (uint8_t)who;
    bound.bytes[INSTANCE_BYTES + 1] = (uint8_t)form;
    return bound;
}

/* The key that a PIN gives, in secret memory. This takes some tenths of a second, without the lock. */
static uint8_t *derive(struct token *token, const struct derivation *derivation,
                       const uint8_t *pin, size_t size)
{
    uint8_t *key = secret_allocate(SEAL_KEY);

    module_unlock();
    if (key && !crypto_derive(token->crypto, derivation, pin, size, key)) {
        secret_free(key);
        key = NULL;
    }
    module_lock();
    return key;
}

/* A new derivation, and its key. */
static uint8_t *derive_anew(struct token *token, struct derivation *derivation, const uint8_t *pin,
                            size_t size)
{
    derivation->log_n = LOG_N;
    derivation->r = BLOCK;
    derivation->p = PARALLEL;
    if (!crypto_random(token->crypto, derivation->salt, SALT)) {
        return NULL;
    }
    return derive(token, derivation, pin, size);
}

static bool seal_pin(const struct crypto *crypto, struct image *image, enum login who,
                     const struct derivation *derivation, const uint8_t *key,
                     const uint8_t *master)
{
    const struct pin_bound bound = bind_pin(image->instance, who, TAGGED_PIN);
    struct pin_record *const pin = who == OFFICER ? &image->so : &image->user;

    pin->form = TAGGED_PIN;
    pin->failures = 0;
    pin->derivation = *derivation;
    return crypto_seal(crypto, key, bound.bytes, bound.size, master, SEAL_KEY, pin->sealed);
}

static CK_RV check_length(size_t size)
{
    if (size >= MIN_PIN && size < ADVISED_PIN) {
        debug_say("a PIN of %zu bytes can be found by whoever reads the file: 8 or more are advised",
                  size);
    }
    return size < MIN_PIN || size > MAX_PIN ? CKR_PIN_LEN_RANGE : CKR_OK;
}

uint32_t token_failures(const struct token *token, enum login who)
{
    const struct pin_record *const pin = who == OFFICER ? &token->image.so : &token->image.user;
    const uint32_t unwritten = token->unwritten_failures[who];

    return pin->failures < MAX_FAILURES ? pin->failures + unwritten : MAX_FAILURES;
}

/* Look whether the PIN may be tried. */
static CK_RV check_present(struct token *token, enum login who)
{
    if (pin_of(token, who)->form == NO_PIN) {
        return CKR_USER_PIN_NOT_INITIALIZED;
    }
    return token_failures(token, who) >= MAX_FAILURES ? CKR_PIN_LOCKED : CKR_OK;
}

/* The master key with the key of a PIN. */
static CK_RV open_master(struct token *token, enum login who, const struct derivation *derivation,
                         const uint8_t *key, uint8_t *master)
{
    const struct pin_record *const pin = pin_of(token, who);
    const struct pin_bound bound = bind_pin(token->image.instance, who, (enum pin_form)pin->form);
    const CK_RV rv = check_present(token, who);

    if (rv != CKR_OK) {
        return rv;
    }
    if (memcmp(&pin->derivation, derivation, sizeof *derivation) != 0) {
        return CKR_FUNCTION_CANCELED; /* it was changed at this moment */
    }
    if (!crypto_unseal(token->crypto, key, bound.bytes, bound.size, pin->sealed,
                       sizeof pin->sealed, master)) {
        return CKR_PIN_INCORRECT;
    }
    return is_authentic(token, &token->image, pin, master) ? CKR_OK : CKR_TOKEN_NOT_RECOGNIZED;
}

/* Write how often a PIN was wrong; with the master key, also the form that files have now. False if
   that cannot be written. */
static bool write_trial(struct token *token, enum login who, const struct derivation *derivation,
                        const uint8_t *key, const uint8_t *master)
{
    struct pin_record *const pin = pin_of(token, who);
    CK_RV rv = CKR_OK;

    if (master && pin->failures == 0 && pin->form == TAGGED_PIN) {
        store_unlock(&token->store);
        return true;
    }
    pin->failures = master ? 0 : token_failures(token, who) + 1;
    if (master && pin->form == OLD_PIN &&
        !seal_pin(token->crypto, &token->image, who, derivation, key, master)) {
        rv = CKR_FUNCTION_FAILED;
    }
    return end_change(token, rv, master, ADDS) == CKR_OK;
}

/* Try the key of a PIN, and count the failure: in the file, or in this process if that cannot be
   written. Whether it opens is decided while no other process can write, so that there are never more
   trials than are counted. */
static CK_RV try_key(struct token *token, enum login who, const struct derivation *derivation,
                     const uint8_t *key, uint8_t *master)
{
    CK_RV rv = begin_change(token);
    const bool writable = rv != CKR_TOKEN_WRITE_PROTECTED;
    bool written = false;

    if (rv != CKR_OK && writable) {
        return rv;
    }
    rv = open_master(token, who, derivation, key, master);
    if (rv != CKR_OK && rv != CKR_PIN_INCORRECT) {
        store_unlock(&token->store);
        return rv == CKR_FUNCTION_CANCELED ? CKR_PIN_INCORRECT : rv;
    }
    debug_say("slot %lu: %s PIN is %s", token->slot, who == OFFICER ? "the officer's" : "the user's",
              rv == CKR_OK ? "right" : "wrong");
    if (writable) {
        written = write_trial(token, who, derivation, key, rv == CKR_OK ? master : NULL);
    }
    if (written || rv == CKR_OK) {
        token->unwritten_failures[who] = 0;
    } else {
        ++token->unwritten_failures[who];
    }
    return rv;
}

CK_RV token_check_pin(struct token *token, enum login who, const uint8_t *pin, size_t size,
                      uint8_t master[SEAL_KEY])
{
    struct derivation derivation;
    uint8_t *key;
    CK_RV rv = token_refresh(token);

    if (rv == CKR_OK) {
        rv = check_present(token, who);
    }
    if (rv != CKR_OK) {
        return rv;
    }
    if (size > MAX_PIN) {
        return CKR_PIN_INCORRECT;
    }
    derivation = pin_of(token, who)->derivation;
    key = derive(token, &derivation, pin, size);
    rv = key ? try_key(token, who, &derivation, key, master) : CKR_HOST_MEMORY;
    secret_free(key);
    return rv;
}

CK_RV token_set_pin(struct token *token, enum login who, const uint8_t *pin, size_t size,
                    const uint8_t master[SEAL_KEY])
{
    struct derivation derivation;
    uint8_t *key, instance[INSTANCE_BYTES];
    CK_RV rv = check_length(size);

    if (rv != CKR_OK) {
        return rv;
    }
    memcpy(instance, token->image.instance, INSTANCE_BYTES);
    key = derive_anew(token, &derivation, pin, size);
    if (key == NULL) {
        return CKR_HOST_MEMORY;
    }
    rv = begin_change(token);
    if (rv == CKR_OK) {
        if (memcmp(instance, token->image.instance, INSTANCE_BYTES) != 0) {
            rv = CKR_DEVICE_REMOVED; /* another token by now */
        } else if (!is_authentic(token, &token->image, pin_of(token, OFFICER), master)) {
            rv = CKR_TOKEN_NOT_RECOGNIZED;
        } else if (!seal_pin(token->crypto, &token->image, who, &derivation, key, master)) {
            rv = CKR_FUNCTION_FAILED;
        }
        rv = end_change(token, rv, master, REMOVES);
    }
    if (rv == CKR_OK) {
        token->unwritten_failures[who] = 0;
    }
    secret_free(key);
    return rv;
}

/* An empty token, with the officer's PIN over a new master key, which is given. */
static bool make_image(const struct token *token, const struct derivation *derivation,
                       const uint8_t *key, const uint8_t *label, uint8_t *master,
                       struct image *image)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t serial[SERIAL_BYTES / 2];

    memset(image, 0, sizeof *image);
    image->initialized = true;
    image->generation = token->image.generation;
    image->next_id = 1;
    memcpy(image->label, label, LABEL_BYTES);
    if (!crypto_random(token->crypto, master, SEAL_KEY) ||
        !crypto_random(token->crypto, image->instance, INSTANCE_BYTES) ||
        !crypto_random(token->crypto, serial, sizeof serial)) {
        return false;
    }
    for (size_t i = 0; i < SERIAL_BYTES; ++i) {
        image->serial[i] = (uint8_t)digits[serial[i / 2] >> (i % 2 ? 0 : 4) & 15];
    }
    return seal_pin(token->crypto, image, OFFICER, derivation, key, master);
}

CK_RV token_initialize(struct token *token, const uint8_t *pin, size_t size, const uint8_t *label)
{
    uint8_t *const master = secret_allocate(SEAL_KEY), *key = NULL;
    struct derivation derivation;
    uint8_t instance[INSTANCE_BYTES];
    struct image image;
    CK_RV rv = master ? token_refresh(token) : CKR_HOST_MEMORY;

    if (rv == CKR_OK && token->image.initialized) {
        rv = token_check_pin(token, OFFICER, pin, size, master);
    } else if (rv == CKR_OK) {
        rv = check_length(size);
    }
    if (rv == CKR_OK) {
        memcpy(instance, token->image.instance, INSTANCE_BYTES);
        key = derive_anew(token, &derivation, pin, size);
        rv = key ? CKR_OK : CKR_HOST_MEMORY;
    }
    if (rv != CKR_OK) {
        secret_free(master);
        return rv;
    }
    rv = begin_change(token);
    if (rv == CKR_OK) {
        if (memcmp(instance, token->image.instance, INSTANCE_BYTES) != 0) {
            rv = CKR_DEVICE_REMOVED;
        } else if (!make_image(token, &derivation, key, label, master, &image)) {
            rv = CKR_FUNCTION_FAILED;
        } else {
            adopt(token, &image);
        }
        rv = end_change(token, rv, master, REMOVES);
    }
    secret_free(key);
    secret_free(master);
    return rv;
}

void token_log_in(struct token *token, enum login who, uint8_t *master)
{
    token->master = master;
    token->login = who;
    follow_image(token);
}

/* Objects. */

struct object *token_find_object(struct token *token, CK_OBJECT_HANDLE handle)
{
    for (struct object *object = token->objects; object; object = object->next) {
        if (object->handle == handle) {
            return object;
        }
    }
    return NULL;
}

static void free_lists(struct attributes *lists, unsigned count)
{
    for (unsigned i = 0; i < count; ++i) {
        attributes_free(&lists[i]);
    }
}

/* Add one object of the token to the image. */
static CK_RV add_record(struct token *token, const struct attributes *list, uint64_t *id)
{
    struct record record = {.id = token->image.next_id, .revision = 1};
    const CK_RV rv = record.id == UINT64_MAX ? CKR_DEVICE_MEMORY /* no other would be greater */ :
                                               seal_record(token, NULL, &record, list);

    if (rv != CKR_OK) {
        return rv;
    }
    if (!image_add(&token->image, &record)) {
        free(record.bytes);
        return CKR_HOST_MEMORY;
    }
    *id = token->image.next_id++;
    return CKR_OK;
}

static CK_RV add_session_object(struct token *token, CK_SESSION_HANDLE session,
                                struct attributes *list, CK_OBJECT_HANDLE *handle)
{
    struct object *const object = object_new(token, session);

    if (object == NULL) {
        return CKR_HOST_MEMORY;
    }
    object->attributes = *list;
    memset(list, 0, sizeof *list);
    *end_of(token) = object;
    *handle = object->handle;
    return CKR_OK;
}

bool token_add_fixed(struct token *token, struct attributes *list)
{
    CK_OBJECT_HANDLE handle;
    const bool added = add_session_object(token, FIXED, list, &handle) == CKR_OK;

    attributes_free(list);
    return added;
}

/* Give an object a name that no other one has: a random number in hexadecimal. */
static bool set_unique_id(const struct crypto *crypto, struct attributes *attributes)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t number[16];
    char text[2 * sizeof number];

    if (!crypto_random(crypto, number, sizeof number)) {
        return false;
    }
    for (size_t i = 0; i < sizeof number; ++i) {
        text[2 * i] = digits[number[i] >> 4];
        text[2 * i + 1] = digits[number[i] & 15];
    }
    return attributes_set(attributes, CKA_UNIQUE_ID, text, sizeof text);
}

CK_RV token_add_objects(struct token *token, CK_SESSION_HANDLE session, struct attributes *lists,
                        unsigned count, CK_OBJECT_HANDLE *handles)
{
    uint64_t ids[2] = {0, 0};
    bool any = false;
    CK_RV rv = CKR_OK;

    for (unsigned i = 0; i < count; ++i) {
        handles[i] = 0;
        any = any || attributes_bool(&lists[i], CKA_TOKEN, false);
    }
    if (count > sizeof ids / sizeof *ids) {
        rv = CKR_GENERAL_ERROR;
    }
    for (unsigned i = 0; i < count && rv == CKR_OK; ++i) {
        rv = set_unique_id(token->crypto, &lists[i]) ? CKR_OK : CKR_HOST_MEMORY;
    }
    if (rv == CKR_OK && any) {
        rv = begin_change(token);
        for (unsigned i = 0; rv == CKR_OK && i < count; ++i) {
            if (attributes_bool(&lists[i], CKA_TOKEN, false)) {
                rv = add_record(token, &lists[i], &ids[i]);
            }
        }
        if (token->store.lock >= 0) {
            rv = end_change(token, rv, token->master, ADDS);
        }
        if (rv == CKR_OK && !token->events->has_session(session)) {
            rv = CKR_SESSION_CLOSED; /* while another process wrote */
        }
    }
    for (unsigned i = 0; rv == CKR_OK && i < count; ++i) {
        if (ids[i]) {
            const struct object *const object = object_of_record(token, ids[i]);

            handles[i] = object ? object->handle : 0;
            rv = object ? CKR_OK : CKR_HOST_MEMORY;
        } else {
            rv = add_session_object(token, session, &lists[i], &handles[i]);
        }
    }
    free_lists(lists, count);
    return rv;
}

CK_RV token_replace_object(struct token *token, struct object *object, struct attributes *list)
{
    const CK_OBJECT_HANDLE handle = object->handle;
    const uint64_t version = object->version;
    struct record *record, changed;
    CK_RV rv;

    if (!object_is_of_token(object)) {
        attributes_free(&object->attributes);
        object->attributes = *list;
        return CKR_OK;
    }
    rv = begin_change(token);
    if (rv == CKR_OK) {
        object = token_find_object(token, handle);
        if (object == NULL) {
            rv = CKR_OBJECT_HANDLE_INVALID; /* another process was faster */
        } else if (object->version != version) {
            rv = CKR_FUNCTION_CANCELED;
        } else {
            record = image_find(&token->image, object->id);
            changed = *record;
            ++changed.revision;
            rv = seal_record(token, record, &changed, list);
            if (rv == CKR_OK) {
                free(record->bytes);
                *record = changed;
            }
        }
        rv = end_change(token, rv, token->master, REMOVES);
    }
    attributes_free(list);
    return rv;
}

static bool is_object(const struct object *object, const void *context)
{
    return object == context;
}

CK_RV token_destroy_object(struct token *token, struct object *object)
{
    const CK_OBJECT_HANDLE handle = object->handle;
    CK_RV rv;

    if (!object_is_of_token(object)) {
        remove_objects(token, is_object, object);
        return CKR_OK;
    }
    rv = begin_change(token);
    if (rv == CKR_OK) {
        object = token_find_object(token, handle);
        if (object == NULL) {
            rv = CKR_OBJECT_HANDLE_INVALID;
        } else if (!token->master && !object->guest) {
            rv = CKR_USER_NOT_LOGGED_IN;
        } else {
            image_remove(&token->image, object->id);
        }
        rv = end_change(token, rv, token->master, REMOVES);
    }
    return rv;
}

static bool is_of_session(const struct object *object, const void *context)
{
    return object->session == *(const CK_SESSION_HANDLE *)context;
}

void token_end_session(struct token *token, CK_SESSION_HANDLE session)
{
    remove_objects(token, is_of_session, &session);
}

struct key *object_key(const struct crypto *crypto, struct object *object)
{
    if (object->key == NULL) {
        object->key = key_new(crypto, &object->attributes);
    }
    return object->key ? key_share(object->key) : NULL;
}
