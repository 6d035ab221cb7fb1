#define _GNU_SOURCE

#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "debug.h"
#include "module.h"

/* The last character but one is the version: 1 has no tag. */
static const uint8_t magic[16] = "Coprime token 2", old_magic[16] = "Coprime token 1";

/* Magic, generation and instance are what tells one state of the file from another. */
enum { HEAD = sizeof magic + 8 + INSTANCE_BYTES, CHECK = 32 };

/* More is not a token's. */
enum { MAX_FILE = 256 << 20 };

/* How long another process may have the lock, and how often it is tried, in milliseconds. */
enum { LOCK_PATIENCE = 10000, LOCK_PAUSE = 5 };

/* Numbers, the lowest byte first, one after the other. `at` beyond `end` is an error that remains:
   nothing is then read or written. */
struct cursor {
    uint8_t *at, *end;
    bool failed;
};

static uint8_t *take(struct cursor *cursor, size_t count)
{
    uint8_t *const taken = cursor->at;

    if (cursor->failed || (size_t)(cursor->end - cursor->at) < count) {
        cursor->failed = true;
        return NULL;
    }
    cursor->at += count;
    return taken;
}

static void put_bytes(struct cursor *cursor, const void *bytes, size_t count)
{
    uint8_t *const to = take(cursor, count);

    if (to && count) {
        memcpy(to, bytes, count);
    }
}

static void get_bytes(struct cursor *cursor, void *bytes, size_t count)
{
    const uint8_t *const from = take(cursor, count);

    if (from) {
        memcpy(bytes, from, count);
    }
}

static void put_number(struct cursor *cursor, uint64_t number, size_t count)
{
    uint8_t *const to = take(cursor, count);

    for (size_t i = 0; to && i < count; ++i) {
        to[i] = (uint8_t)(number >> 8 * i);
    }
}

static uint64_t get_number(struct cursor *cursor, size_t count)
{
    const uint8_t *const from = take(cursor, count);
    uint64_t number = 0;

    for (size_t i = 0; from && i < count; ++i) {
        number |= (uint64_t)from[i] << 8 * i;
    }
    return number;
}

static uint32_t get_word(struct cursor *cursor)
{
    return (uint32_t)get_number(cursor, 4);
}

bool store_open(struct store *store, const char *folder)
{
    store->folder = strdup(folder);
    store->lock = -1;
    return store->folder != NULL;
}

void store_close(struct store *store)
{
    store_unlock(store);
    free(store->folder);
    store->folder = NULL;
}

/* The path of a file in the folder, or of the folder for an empty name. */
static bool path_of(const struct store *store, const char *name, char path[PATH_MAX])
{
    const int length =
        snprintf(path, PATH_MAX, "%s%s%s", store->folder, name[0] ? "/" : "", name);

    if (length < 0 || length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    return true;
}

/* Open a file of the folder; below 0 with errno. */
static int open_file(const struct store *store, const char *name, int flags)
{
    char path[PATH_MAX];

    if (!path_of(store, name, path)) {
        return -1;
    }
    return open(path, flags | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
}

/* Say what could not be done with a file, and why: errno. */
static void complain(const struct store *store, const char *name, const char *what)
{
    debug_say("%s/%s cannot be %s: %s", store->folder, name, what, strerror(errno));
}

static bool read_all(int file, uint8_t *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t got = read(file, bytes, count);

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        bytes += got;
        count -= (size_t)got;
    }
    return true;
}

static bool write_all(int file, const uint8_t *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t put = write(file, bytes, count);

        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        bytes += put;
        count -= (size_t)put;
    }
    return true;
}

/* The form in the file. */

static void put_pin(struct cursor *cursor, const struct pin_record *pin)
{
    put_number(cursor, pin->form, 4);
    put_number(cursor, pin->failures, 4);
    put_number(cursor, pin->derivation.log_n, 4);
    put_number(cursor, pin->derivation.r, 4);
    put_number(cursor, pin->derivation.p, 4);
    put_bytes(cursor, pin->derivation.salt, SALT);
    put_bytes(cursor, pin->sealed, sizeof pin->sealed);
}

/* Whether the form is known, and the derivation within what crypto_derive takes. */
static bool get_pin(struct cursor *cursor, struct pin_record *pin)
{
    pin->form = get_word(cursor);
    pin->failures = get_word(cursor);
    pin->derivation.log_n = get_word(cursor);
    pin->derivation.r = get_word(cursor);
    pin->derivation.p = get_word(cursor);
    get_bytes(cursor, pin->derivation.salt, SALT);
    get_bytes(cursor, pin->sealed, sizeof pin->sealed);
    return !cursor->failed && pin->form <= TAGGED_PIN &&
           (pin->form == NO_PIN || crypto_can_derive(&pin->derivation));
}

enum {
    PIN_BYTES = 5 * 4 + SALT + SEALED(SEAL_KEY),
    FIXED = HEAD + LABEL_BYTES + SERIAL_BYTES + 8 + 2 * PIN_BYTES + 4,
    RECORD_HEAD = 8 + 8 + 4 + 4,
};

static void put_record(struct cursor *cursor, const struct record *record)
{
    put_number(cursor, record->id, 8);
    put_number(cursor, record->revision, 8);
    put_number(cursor, record->flags, 4);
    put_number(cursor, record->size, 4);
    put_bytes(cursor, record->bytes, record->size);
}

static size_t image_size(const struct image *image)
{
    size_t size = FIXED + (image->tagged ? TAG : 0) + CHECK;

    for (uint32_t i = 0; i < image->count; ++i) {
        size += RECORD_HEAD + image->records[i].size;
    }
    return size;
}

static void put_image(struct cursor *cursor, const struct image *image)
{
    put_bytes(cursor, image->tagged ? magic : old_magic, sizeof magic);
    put_number(cursor, image->generation, 8);
    put_bytes(cursor, image->instance, INSTANCE_BYTES);
    if (image->tagged) {
        put_bytes(cursor, image->tag, TAG);
    }
    put_bytes(cursor, image->label, LABEL_BYTES);
    put_bytes(cursor, image->serial, SERIAL_BYTES);
    put_number(cursor, image->next_id, 8);
    put_pin(cursor, &image->so);
    put_pin(cursor, &image->user);
    put_number(cursor, image->count, 4);
    for (uint32_t i = 0; i < image->count; ++i) {
        put_record(cursor, &image->records[i]);
    }
}

bool store_tag(const struct crypto *crypto, const struct image *image,
               const uint8_t master[SEAL_KEY], uint8_t tag[TAG])
{
    static const uint8_t purpose[] = "Coprime token: all records";
    const size_t size = image_size(image);
    uint8_t *const bytes = malloc(size);
    struct cursor cursor = {bytes, bytes ? bytes + size : NULL, false};
    struct pin_record so = image->so, user = image->user;
    uint8_t key[32];
    bool done = false;

    so.failures = user.failures = 0; /* they are counted without the master key */
    put_bytes(&cursor, image->instance, INSTANCE_BYTES);
    put_bytes(&cursor, image->label, LABEL_BYTES);
    put_bytes(&cursor, image->serial, SERIAL_BYTES);
    put_pin(&cursor, &so);
    put_pin(&cursor, &user);
    for (uint32_t i = 0; i < image->count; ++i) {
        if (!(image->records[i].flags & RECORD_GUEST)) {
            put_record(&cursor, &image->records[i]);
        }
    }
    if (bytes && !cursor.failed) {
        done = crypto_hmac_sha256(crypto, master, SEAL_KEY, purpose, sizeof purpose, key) &&
               crypto_hmac_sha256(crypto, key, sizeof key, bytes, (size_t)(cursor.at - bytes), tag);
        OPENSSL_cleanse(key, sizeof key);
    }
    free(bytes);
    return done;
}

static bool get_record(struct cursor *cursor, struct image *image)
{
    struct record record = {.id = get_number(cursor, 8)};
    const uint8_t *bytes;

    record.revision = get_number(cursor, 8);
    record.flags = get_word(cursor);
    record.size = get_word(cursor);
    bytes = take(cursor, record.size);
    if (bytes == NULL || record.id >= image->next_id ||
        record.flags > (RECORD_PRIVATE | RECORD_GUEST)) {
        return false;
    }
    record.bytes = malloc(record.size ? record.size : 1);
    if (record.bytes == NULL) {
        return false;
    }
    memcpy(record.bytes, bytes, record.size);
    if (!image_add(image, &record)) {
        free(record.bytes);
        return false;
    }
    return true;
}

static int compare_ids(const void *a, const void *b)
{
    const uint64_t left = ((const struct record *)a)->id, right = ((const struct record *)b)->id;

    return (left > right) - (left < right);
}

/* Whether ids increase. Files of the first version had them in any order: they are sorted. */
static bool order_records(struct image *image)
{
    if (!image->tagged && image->count) {
        qsort(image->records, image->count, sizeof *image->records, compare_ids);
    }
    for (uint32_t i = 1; i < image->count; ++i) {
        if (image->records[i].id <= image->records[i - 1].id) {
            return false;
        }
    }
    return true;
}

static bool get_image(struct cursor *cursor, struct image *image)
{
    uint8_t version[sizeof magic];
    uint32_t count;

    get_bytes(cursor, version, sizeof version);
    image->tagged = memcmp(version, magic, sizeof magic) == 0;
    if (!image->tagged && memcmp(version, old_magic, sizeof magic) != 0) {
        return false;
    }
    image->generation = get_number(cursor, 8);
    get_bytes(cursor, image->instance, INSTANCE_BYTES);
    if (image->tagged) {
        get_bytes(cursor, image->tag, TAG);
    }
    get_bytes(cursor, image->label, LABEL_BYTES);
    get_bytes(cursor, image->serial, SERIAL_BYTES);
    image->next_id = get_number(cursor, 8);
    if (!get_pin(cursor, &image->so) || !get_pin(cursor, &image->user)) {
        return false;
    }
    count = get_word(cursor);
    for (uint32_t i = 0; i < count; ++i) {
        if (!get_record(cursor, image)) {
            return false;
        }
    }
    return !cursor->failed && cursor->at == cursor->end && order_records(image);
}

static bool checksum(const struct crypto *crypto, const uint8_t *bytes, size_t size,
                     uint8_t check[CHECK])
{
    return crypto_digest(crypto, digest_of(CKM_SHA256), bytes, size, check);
}

/* The bytes of the open file; null with an error in `rv`. */
static uint8_t *load(const struct store *store, int file, size_t *size, CK_RV *rv)
{
    struct stat status;
    uint8_t *bytes = NULL;

    *rv = CKR_DEVICE_ERROR;
    if (fstat(file, &status)) {
        complain(store, "token", "read");
        return NULL;
    }
    *size = (size_t)status.st_size;
    if (!S_ISREG(status.st_mode) || *size < FIXED + CHECK || *size > MAX_FILE) {
        *rv = CKR_TOKEN_NOT_RECOGNIZED;
        return NULL;
    }
    bytes = malloc(*size);
    if (bytes == NULL) {
        *rv = CKR_HOST_MEMORY;
    } else if (!read_all(file, bytes, *size)) {
        complain(store, "token", "read");
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

CK_RV store_read(const struct store *store, const struct crypto *crypto, struct image *image)
{
    const int file = open_file(store, "token", O_RDONLY | O_NONBLOCK);
    uint8_t check[CHECK], *bytes;
    size_t size = 0;
    CK_RV rv;

    memset(image, 0, sizeof *image);
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        return CKR_OK;
    }
    if (file < 0) {
        complain(store, "token", "opened");
        return CKR_DEVICE_ERROR;
    }
    bytes = load(store, file, &size, &rv);
    if (bytes) {
        struct cursor cursor = {bytes, bytes + size - CHECK, false};

        rv = CKR_TOKEN_NOT_RECOGNIZED;
        if (checksum(crypto, bytes, size - CHECK, check) &&
            memcmp(check, bytes + size - CHECK, CHECK) == 0 && get_image(&cursor, image)) {
            image->initialized = true;
            rv = CKR_OK;
        }
        free(bytes);
    }
    (void)close(file);
    if (rv == CKR_TOKEN_NOT_RECOGNIZED) {
        debug_say("%s/token is damaged, or no token: see `coprime token check`", store->folder);
    }
    if (rv != CKR_OK) {
        image_free(image);
    }
    return rv;
}

bool store_is_current(const struct store *store, const struct image *image)
{
    const int file = open_file(store, "token", O_RDONLY | O_NONBLOCK);
    uint8_t found[HEAD], expected[HEAD];
    struct cursor cursor = {expected, expected + HEAD, false};
    bool same;

    if (file < 0) {
        return (errno == ENOENT || errno == ENOTDIR) && !image->initialized;
    }
    put_bytes(&cursor, image->tagged ? magic : old_magic, sizeof magic);
    put_number(&cursor, image->generation, 8);
    put_bytes(&cursor, image->instance, INSTANCE_BYTES);
    same = image->initialized && read_all(file, found, HEAD) && memcmp(found, expected, HEAD) == 0;
    (void)close(file);
    return same;
}

/* Bring a folder's entries to the disk. */
static bool sync_folder(const char *path)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = false;

    if (folder >= 0) {
        done = fsync(folder) == 0;
        (void)close(folder);
    }
    return done;
}

/* Make a folder and those above it; errno if that fails. */
static bool make_folder(const char *path)
{
    char *const copy = strdup(path);
    bool made = false;

    if (copy == NULL) {
        return false;
    }
    for (char *place = copy + 1; *place; ++place) {
        if (*place == '/') {
            *place = '\0';
            if (mkdir(copy, S_IRWXU) == 0) {
                made = true;
            }
            *place = '/';
        }
    }
    made = mkdir(copy, S_IRWXU) == 0 || made;
    if (made) { /* the folder above has a new entry: which one is not worth finding out */
        for (char *slash = strrchr(copy, '/'); slash && slash != copy; slash = strrchr(copy, '/')) {
            *slash = '\0';
            (void)sync_folder(copy);
        }
    }
    free(copy);
    return faccessat(AT_FDCWD, path, F_OK, 0) == 0;
}

bool store_is_writable(const struct store *store)
{
    char path[PATH_MAX];

    if (!path_of(store, "", path)) {
        return false;
    }
    while (faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) && errno == ENOENT) {
        char *const slash = strrchr(path, '/'); /* the one above it would get it */

        if (slash == NULL || slash == path) {
            break;
        }
        *slash = '\0';
    }
    return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0;
}

/* Owner, group and mode of the files of a token: those of the one that is there. The first one is
   the folder's owner's and group's, and the group may use it where the folder is handed on to its
   group: mode g+ws. */
struct owner {
    uid_t user;
    gid_t group;
    mode_t mode;
};

static bool find_owner(const struct store *store, struct owner *owner)
{
    char path[PATH_MAX];
    struct stat status;

    if (path_of(store, "token", path) && lstat(path, &status) == 0) {
        *owner = (struct owner){status.st_uid, status.st_gid, status.st_mode & 0666};
        return true;
    }
    if (path_of(store, "", path) && stat(path, &status) == 0) {
        const bool shared = (status.st_mode & S_ISGID) && (status.st_mode & S_IWGRP);

        *owner = (struct owner){status.st_uid, status.st_gid, shared ? 0660 : 0600};
        return true;
    }
    return false;
}

/* Give a file what others have to keep. Who is neither the owner nor root can give the group only:
   such a one has got at the token by its group, and so can its owner. */
static bool hand_over(int file, const struct owner *owner)
{
    struct stat status;

    if (fstat(file, &status)) {
        return false;
    }
    if (status.st_uid != owner->user && fchown(file, owner->user, owner->group) && errno != EPERM) {
        return false;
    }
    if (fstat(file, &status) ||
        (status.st_gid != owner->group && fchown(file, (uid_t)-1, owner->group) && errno != EPERM)) {
        return false;
    }
    if (fstat(file, &status)) {
        return false;
    }
    return fchmod(file, status.st_gid == owner->group ? owner->mode : S_IRUSR | S_IWUSR) == 0;
}

/* Open the file that writers lock; one that is there needs to be readable only. */
static int open_lock(const struct store *store)
{
    struct owner owner;
    int file = open_file(store, "lock", O_RDONLY);

    if (file >= 0 || errno != ENOENT) {
        return file;
    }
    file = open_file(store, "lock", O_RDONLY | O_CREAT | O_EXCL);
    if (file < 0) {
        return errno == EEXIST ? open_file(store, "lock", O_RDONLY) : file;
    }
    if (!find_owner(store, &owner) || !hand_over(file, &owner)) {
        complain(store, "lock", "handed over");
    }
    return file;
}

/* The lock that this process has or waits for, which a child after fork must not have: flock belongs
   to the open file, which both would share, and a child would keep it for as long as it lives. */
enum { MAX_LOCKS = 64 };

static pthread_mutex_t locks_guard = PTHREAD_MUTEX_INITIALIZER;
static int locks[MAX_LOCKS];
static unsigned lock_count;
static pthread_once_t locks_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    (void)pthread_mutex_lock(&locks_guard);
}

static void after_fork(void)
{
    (void)pthread_mutex_unlock(&locks_guard);
}

static void after_fork_in_child(void)
{
    while (lock_count) {
        (void)close(locks[--lock_count]);
    }
    (void)pthread_mutex_unlock(&locks_guard);
}

static void watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* Open the lock's file, and remember it for a fork. */
static int begin_lock(const struct store *store)
{
    int file = -1;

    (void)pthread_once(&locks_once, watch_forks);
    (void)pthread_mutex_lock(&locks_guard);
    if (lock_count < MAX_LOCKS) {
        file = open_lock(store);
        if (file >= 0) {
            locks[lock_count++] = file;
        }
    } else {
        errno = EMFILE;
    }
    (void)pthread_mutex_unlock(&locks_guard);
    return file;
}

static void end_lock(int file)
{
    (void)pthread_mutex_lock(&locks_guard);
    for (unsigned i = 0; i < lock_count; ++i) {
        if (locks[i] == file) {
            locks[i] = locks[--lock_count];
            (void)flock(file, LOCK_UN); /* a child may have the same open file */
            (void)close(file);
            break;
        }
    }
    (void)pthread_mutex_unlock(&locks_guard);
}

/* Wait for the lock, without the module's. CKR_CANT_LOCK after a time. */
static CK_RV await_lock(const struct store *store, int file)
{
    const struct timespec pause = {0, LOCK_PAUSE * 1000000L};
    struct timespec now;
    int64_t end;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    end = now.tv_sec * (int64_t)1000 + now.tv_nsec / 1000000 + LOCK_PATIENCE;
    while (flock(file, LOCK_EX | LOCK_NB)) {
        if (errno != EINTR && errno != EWOULDBLOCK) {
            complain(store, "lock", "locked");
            return CKR_DEVICE_ERROR;
        }
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec * (int64_t)1000 + now.tv_nsec / 1000000 > end) {
            debug_say("%s/lock: another process has it for %d s", store->folder,
                      LOCK_PATIENCE / 1000);
            return CKR_CANT_LOCK;
        }
        module_unlock();
        (void)nanosleep(&pause, NULL);
        module_lock();
    }
    return CKR_OK;
}

CK_RV store_lock(struct store *store)
{
    CK_RV rv;
    int file;

    if (!make_folder(store->folder) || !store_is_writable(store)) {
        complain(store, ".", "written");
        return CKR_TOKEN_WRITE_PROTECTED;
    }
    file = begin_lock(store);
    if (file < 0) {
        complain(store, "lock", "opened");
        return CKR_TOKEN_WRITE_PROTECTED;
    }
    rv = await_lock(store, file);
    if (rv == CKR_OK) {
        store->lock = file;
    } else {
        end_lock(file);
    }
    return rv;
}

void store_unlock(struct store *store)
{
    if (store->lock >= 0) {
        end_lock(store->lock);
        store->lock = -1;
    }
}

/* Write a file that is not there, as the owner's. */
static bool write_new(const struct store *store, const char *name, const struct owner *owner,
                      const uint8_t *bytes, size_t size)
{
    const int file = open_file(store, name, O_WRONLY | O_CREAT | O_EXCL);
    bool written;
    int error;

    if (file < 0) {
        return false;
    }
    written = hand_over(file, owner) && write_all(file, bytes, size) && fsync(file) == 0;
    error = errno;
    if (close(file) && written) {
        return false;
    }
    errno = error;
    return written;
}

/* Keep the generation before as token.old, and rename the new file over the other. */
static bool replace(const struct store *store)
{
    const int folder = open(store->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = false;
    int error;

    if (folder < 0) {
        return false;
    }
    (void)unlinkat(folder, "token.kept", 0);
    if (linkat(folder, "token", folder, "token.kept", 0) == 0) {
        (void)renameat(folder, "token.kept", folder, "token.old");
    } else if (errno != ENOENT) {
        complain(store, "token.old", "kept");
    }
    done = renameat(folder, "token.new", folder, "token") == 0 && fsync(folder) == 0;
    error = errno;
    (void)close(folder);
    errno = error;
    return done;
}

/* Write the bytes of a whole file. errno if that fails. */
static bool write_file(const struct store *store, const uint8_t *bytes, size_t size)
{
    char path[PATH_MAX];
    struct owner owner;

    if (!path_of(store, "token.new", path) || !find_owner(store, &owner) ||
        (unlink(path) && errno != ENOENT)) { /* of somebody who was stopped */
        return false;
    }
    return write_new(store, "token.new", &owner, bytes, size) && replace(store);
}

CK_RV store_write(const struct store *store, const struct crypto *crypto, struct image *image)
{
    const size_t size = image_size(image);
    uint8_t *const bytes = malloc(size);
    struct cursor cursor = {bytes, bytes ? bytes + size - CHECK : NULL, false};
    CK_RV rv = CKR_FUNCTION_FAILED;

    if (bytes == NULL) {
        return CKR_HOST_MEMORY;
    }
    ++image->generation;
    put_image(&cursor, image);
    if (!cursor.failed && checksum(crypto, bytes, size - CHECK, bytes + size - CHECK)) {
        rv = CKR_OK;
        if (!write_file(store, bytes, size)) {
            rv = errno == ENOSPC || errno == EDQUOT ? CKR_DEVICE_MEMORY : CKR_DEVICE_ERROR;
            complain(store, "token", "written");
        }
    }
    free(bytes);
    return rv;
}

void image_free(struct image *image)
{
    for (uint32_t i = 0; i < image->count; ++i) {
        free(image->records[i].bytes);
    }
    free(image->records);
    memset(image, 0, sizeof *image);
}

struct record *image_find(const struct image *image, uint64_t id)
{
    const struct record wanted = {.id = id};

    return image->count ? bsearch(&wanted, image->records, image->count, sizeof wanted, compare_ids) :
                          NULL;
}

bool image_add(struct image *image, const struct record *record)
{
    if (image->count == image->room) {
        const uint32_t room = image->room ? 2 * image->room : 16;
        struct record *const more = realloc(image->records, room * sizeof *more);

        if (more == NULL) {
            return false;
        }
        image->records = more;
        image->room = room;
    }
    image->records[image->count++] = *record;
    return true;
}

void image_remove(struct image *image, uint64_t id)
{
    struct record *const found = image_find(image, id);

    if (found) {
        free(found->bytes);
        --image->count;
        memmove(found, found + 1,
                (size_t)(image->records + image->count - found) * sizeof *found);
    }
}

bool image_has_room(const struct image *image, const struct record *old, uint32_t flags,
                    size_t size)
{
    uint32_t count = 1, guests = flags & RECORD_GUEST ? 1 : 0;
    size_t sizes = size, guest_sizes = guests ? size : 0;

    for (uint32_t i = 0; i < image->count; ++i) {
        const struct record *const record = &image->records[i];

        if (record == old) {
            continue;
        }
        ++count;
        sizes += record->size;
        if (record->flags & RECORD_GUEST) {
            ++guests;
            guest_sizes += record->size;
        }
    }
    if (old && size <= old->size && flags == old->flags) {
        return true; /* less than before, whatever there was */
    }
    return count <= MAX_RECORDS && sizes <= MAX_RECORDS_SIZE &&
           (!(flags & RECORD_GUEST) ||
            (guests <= MAX_GUEST_RECORDS && guest_sizes <= MAX_GUEST_RECORDS_SIZE));
}
