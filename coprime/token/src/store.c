#define _GNU_SOURCE

#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "debug.h"
#include "lock.h"

/* More is not a token's. */
enum { MAX_FILE = 256 << 20 };

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
    if (!S_ISREG(status.st_mode) || *size < IMAGE_HEAD || *size > MAX_FILE) {
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
    uint8_t *bytes;
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
        rv = image_decode(crypto, bytes, size, image) ? CKR_OK : CKR_TOKEN_NOT_RECOGNIZED;
        free(bytes);
    }
    (void)close(file);
    if (rv == CKR_TOKEN_NOT_RECOGNIZED) {
        debug_say("%s/token is damaged, or no token: see `coprime token check`", store->folder);
    }
    return rv;
}

bool store_is_current(const struct store *store, const struct image *image)
{
    const int file = open_file(store, "token", O_RDONLY | O_NONBLOCK);
    uint8_t found[CHECK];
    bool same;

    if (file < 0) {
        return (errno == ENOENT || errno == ENOTDIR) && !image->initialized;
    }
    same = image->initialized && lseek(file, -CHECK, SEEK_END) >= 0 &&
           read_all(file, found, CHECK) && memcmp(found, image->check, CHECK) == 0;
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
static int open_lock(const void *context)
{
    const struct store *const store = context;
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

CK_RV store_lock(struct store *store)
{
    CK_RV rv = CKR_OK;

    if (!make_folder(store->folder) || !store_is_writable(store)) {
        complain(store, ".", "written");
        return CKR_TOKEN_WRITE_PROTECTED;
    }
    store->lock = lock_take(open_lock, store, &rv);
    if (rv != CKR_OK) {
        complain(store, "lock", "locked");
    }
    return rv;
}

void store_unlock(struct store *store)
{
    if (store->lock >= 0) {
        lock_release(store->lock);
        store->lock = -1;
    }
}

/* Write and flush a file. One that is too long for a limit of the process is an error as any other:
   the signal that comes with it would end the program. */
static bool write_whole(int file, const uint8_t *bytes, size_t size)
{
    const struct timespec none = {0, 0};
    sigset_t limit, before, pending;
    bool written;
    int error;

    (void)sigemptyset(&limit);
    (void)sigaddset(&limit, SIGXFSZ);
    (void)sigpending(&pending);
    (void)pthread_sigmask(SIG_BLOCK, &limit, &before);
    written = write_all(file, bytes, size) && fsync(file) == 0;
    error = errno;
    if (!written && !sigismember(&pending, SIGXFSZ)) {
        (void)sigtimedwait(&limit, NULL, &none);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return written;
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
    written = hand_over(file, owner) && write_whole(file, bytes, size);
    error = errno;
    if (close(file) && written) {
        return false;
    }
    errno = error;
    return written;
}

/* Write token.new, and rename it over another file. errno if that fails; then nothing of it stays. */
static bool put(const struct store *store, int folder, const char *name, const struct owner *owner,
                const uint8_t *bytes, size_t size)
{
    int error;

    if (unlinkat(folder, "token.new", 0) && errno != ENOENT) { /* of somebody who was stopped */
        return false;
    }
    if (write_new(store, "token.new", owner, bytes, size) &&
        renameat(folder, "token.new", folder, name) == 0 && fsync(folder) == 0) {
        return true;
    }
    error = errno;
    (void)unlinkat(folder, "token.new", 0);
    errno = error;
    return false;
}

/* Keep the generation before as token.old. */
static void keep_old(const struct store *store, int folder)
{
    (void)unlinkat(folder, "token.kept", 0);
    if (linkat(folder, "token", folder, "token.kept", 0) == 0) {
        (void)renameat(folder, "token.kept", folder, "token.old");
    } else if (errno != ENOENT) {
        complain(store, "token.old", "kept");
    }
}

/* Make token.old a second copy of the new file, or leave none where there is no room for it. */
static void drop_old(const struct store *store, int folder, const struct owner *owner,
                     const uint8_t *bytes, size_t size)
{
    if (!put(store, folder, "token.old", owner, bytes, size)) {
        complain(store, "token.old", "written");
        if (unlinkat(folder, "token.old", 0) && errno != ENOENT) {
            complain(store, "token.old", "removed");
        }
    }
}

/* Write the bytes of a whole file. errno if that fails. */
static bool write_file(const struct store *store, const uint8_t *bytes, size_t size, bool removes)
{
    const int folder = open(store->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct owner owner;
    bool done = false;
    int error;

    if (folder < 0) {
        return false;
    }
    if (find_owner(store, &owner)) {
        if (!removes) {
            keep_old(store, folder);
        }
        done = put(store, folder, "token", &owner, bytes, size);
    }
    error = errno;
    if (done && removes) {
        drop_old(store, folder, &owner, bytes, size);
    }
    (void)close(folder);
    errno = error;
    return done;
}

CK_RV store_write(const struct store *store, const struct crypto *crypto, struct image *image,
                  bool removes)
{
    uint8_t *bytes;
    size_t size;
    CK_RV rv = CKR_OK;

    ++image->generation;
    bytes = image_encode(crypto, image, &size);
    if (bytes == NULL) {
        return CKR_HOST_MEMORY;
    }
    if (write_file(store, bytes, size, removes)) {
        memcpy(image->check, bytes + size - CHECK, CHECK);
    } else {
        rv = errno == ENOSPC || errno == EDQUOT ? CKR_DEVICE_MEMORY : CKR_DEVICE_ERROR;
        complain(store, "token", "written");
    }
    free(bytes);
    return rv;
}
