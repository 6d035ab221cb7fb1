#define _DEFAULT_SOURCE

#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t magic[16] = "Coprime token 1";

/* Magic, generation and instance are what tells one state of the file from another. */
enum { HEAD = sizeof magic + 8 + INSTANCE_BYTES, CHECK = 32 };

/* More is not a token's. */
enum { MAX_FILE = 256 << 20 };

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

/* Open a file of the folder; below 0 with errno. */
static int open_file(const struct store *store, const char *name, int flags)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s", store->folder, name);

    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, flags | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
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
    put_number(cursor, pin->present, 4);
    put_number(cursor, pin->failures, 4);
    put_number(cursor, pin->derivation.log_n, 4);
    put_number(cursor, pin->derivation.r, 4);
    put_number(cursor, pin->derivation.p, 4);
    put_bytes(cursor, pin->derivation.salt, SALT);
    put_bytes(cursor, pin->sealed, sizeof pin->sealed);
}

static void get_pin(struct cursor *cursor, struct pin_record *pin)
{
    pin->present = get_word(cursor);
    pin->failures = get_word(cursor);
    pin->derivation.log_n = get_word(cursor);
    pin->derivation.r = get_word(cursor);
    pin->derivation.p = get_word(cursor);
    get_bytes(cursor, pin->derivation.salt, SALT);
    get_bytes(cursor, pin->sealed, sizeof pin->sealed);
}

enum {
    PIN_BYTES = 5 * 4 + SALT + SEALED(SEAL_KEY),
    FIXED = HEAD + LABEL_BYTES + SERIAL_BYTES + 8 + 2 * PIN_BYTES + 4,
    RECORD_HEAD = 8 + 8 + 4 + 4,
};

static size_t image_size(const struct image *image)
{
    size_t size = FIXED + CHECK;

    for (uint32_t i = 0; i < image->count; ++i) {
        size += RECORD_HEAD + image->records[i].size;
    }
    return size;
}

static void put_image(struct cursor *cursor, const struct image *image)
{
    put_bytes(cursor, magic, sizeof magic);
    put_number(cursor, image->generation, 8);
    put_bytes(cursor, image->instance, INSTANCE_BYTES);
    put_bytes(cursor, image->label, LABEL_BYTES);
    put_bytes(cursor, image->serial, SERIAL_BYTES);
    put_number(cursor, image->next_id, 8);
    put_pin(cursor, &image->so);
    put_pin(cursor, &image->user);
    put_number(cursor, image->count, 4);
    for (uint32_t i = 0; i < image->count; ++i) {
        const struct record *const record = &image->records[i];

        put_number(cursor, record->id, 8);
        put_number(cursor, record->revision, 8);
        put_number(cursor, record->flags, 4);
        put_number(cursor, record->size, 4);
        put_bytes(cursor, record->bytes, record->size);
    }
}

static bool get_record(struct cursor *cursor, struct image *image)
{
    struct record record = {.id = get_number(cursor, 8)};
    const uint8_t *bytes;

    record.revision = get_number(cursor, 8);
    record.flags = get_word(cursor);
    record.size = get_word(cursor);
    bytes = take(cursor, record.size);
    if (bytes == NULL) {
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

static bool get_image(struct cursor *cursor, struct image *image)
{
    uint32_t count;

    (void)take(cursor, sizeof magic);
    image->generation = get_number(cursor, 8);
    get_bytes(cursor, image->instance, INSTANCE_BYTES);
    get_bytes(cursor, image->label, LABEL_BYTES);
    get_bytes(cursor, image->serial, SERIAL_BYTES);
    image->next_id = get_number(cursor, 8);
    get_pin(cursor, &image->so);
    get_pin(cursor, &image->user);
    count = get_word(cursor);
    for (uint32_t i = 0; i < count; ++i) {
        if (!get_record(cursor, image)) {
            return false;
        }
    }
    return !cursor->failed && cursor->at == cursor->end;
}

static bool checksum(const struct crypto *crypto, const uint8_t *bytes, size_t size,
                     uint8_t check[CHECK])
{
    return crypto_digest(crypto, digest_of(CKM_SHA256), bytes, size, check);
}

CK_RV store_read(const struct store *store, const struct crypto *crypto, struct image *image)
{
    const int file = open_file(store, "token", O_RDONLY);
    struct stat status;
    uint8_t check[CHECK], *bytes = NULL;
    size_t size = 0;
    CK_RV rv = CKR_DEVICE_ERROR;

    memset(image, 0, sizeof *image);
    if (file < 0) {
        return errno == ENOENT || errno == ENOTDIR ? CKR_OK : CKR_DEVICE_ERROR;
    }
    if (fstat(file, &status) == 0) {
        size = (size_t)status.st_size;
        rv = CKR_TOKEN_NOT_RECOGNIZED;
    }
    if (rv == CKR_TOKEN_NOT_RECOGNIZED && size >= FIXED + CHECK && size <= MAX_FILE) {
        bytes = malloc(size);
        rv = bytes == NULL ? CKR_HOST_MEMORY : rv;
    }
    if (bytes) {
        struct cursor cursor = {bytes, bytes + size - CHECK, false};

        if (!read_all(file, bytes, size)) {
            rv = CKR_DEVICE_ERROR;
        } else if (memcmp(bytes, magic, sizeof magic) == 0 &&
                   checksum(crypto, bytes, size - CHECK, check) &&
                   memcmp(check, bytes + size - CHECK, CHECK) == 0 && get_image(&cursor, image)) {
            image->initialized = true;
            rv = CKR_OK;
        }
        free(bytes);
    }
    (void)close(file);
    if (rv != CKR_OK) {
        image_free(image);
    }
    return rv;
}

bool store_is_current(const struct store *store, const struct image *image)
{
    const int file = open_file(store, "token", O_RDONLY);
    uint8_t found[HEAD], expected[HEAD];
    struct cursor cursor = {expected, expected + HEAD, false};
    bool same;

    if (file < 0) {
        return errno == ENOENT && !image->initialized;
    }
    put_bytes(&cursor, magic, sizeof magic);
    put_number(&cursor, image->generation, 8);
    put_bytes(&cursor, image->instance, INSTANCE_BYTES);
    same = image->initialized && read_all(file, found, HEAD) && memcmp(found, expected, HEAD) == 0;
    (void)close(file);
    return same;
}

/* Make a folder and those above it. */
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
            (void)mkdir(copy, S_IRWXU);
            *place = '/';
        }
    }
    made = mkdir(copy, S_IRWXU) == 0 || errno == EEXIST;
    free(copy);
    return made;
}

CK_RV store_lock(struct store *store)
{
    if (!make_folder(store->folder)) {
        return CKR_TOKEN_WRITE_PROTECTED;
    }
    store->lock = open_file(store, "lock", O_RDWR | O_CREAT);
    if (store->lock < 0) {
        return CKR_TOKEN_WRITE_PROTECTED;
    }
    while (flock(store->lock, LOCK_EX)) {
        if (errno != EINTR) {
            store_unlock(store);
            return CKR_DEVICE_ERROR;
        }
    }
    return CKR_OK;
}

void store_unlock(struct store *store)
{
    if (store->lock >= 0) {
        (void)close(store->lock); /* which releases it */
        store->lock = -1;
    }
}

/* Rename the new file over the old one, and bring that to the disk. */
static bool replace(const struct store *store)
{
    const int folder = open(store->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = false;

    if (folder >= 0) {
        done = renameat(folder, "token.new", folder, "token") == 0;
        (void)fsync(folder);
        (void)close(folder);
    }
    return done;
}

CK_RV store_write(const struct store *store, const struct crypto *crypto, struct image *image)
{
    const size_t size = image_size(image);
    uint8_t *const bytes = malloc(size);
    struct cursor cursor = {bytes, bytes ? bytes + size - CHECK : NULL, false};
    bool written = false;
    int file;

    if (bytes == NULL) {
        return CKR_HOST_MEMORY;
    }
    ++image->generation;
    put_image(&cursor, image);
    if (!cursor.failed && checksum(crypto, bytes, size - CHECK, bytes + size - CHECK)) {
        file = open_file(store, "token.new", O_WRONLY | O_CREAT | O_TRUNC);
        if (file >= 0) {
            written = write_all(file, bytes, size) && fsync(file) == 0;
            written = close(file) == 0 && written;
        }
    }
    free(bytes);
    if (!written || !replace(store)) {
        return errno == ENOSPC ? CKR_DEVICE_MEMORY : CKR_DEVICE_ERROR;
    }
    return CKR_OK;
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
    for (uint32_t i = 0; i < image->count; ++i) {
        if (image->records[i].id == id) {
            return &image->records[i];
        }
    }
    return NULL;
}

bool image_add(struct image *image, const struct record *record)
{
    struct record *const more =
        realloc(image->records, ((size_t)image->count + 1) * sizeof *image->records);

    if (more == NULL) {
        return false;
    }
    image->records = more;
    image->records[image->count++] = *record;
    return true;
}

void image_remove(struct image *image, uint64_t id)
{
    struct record *const found = image_find(image, id);

    if (found) {
        free(found->bytes);
        *found = image->records[--image->count];
    }
}
