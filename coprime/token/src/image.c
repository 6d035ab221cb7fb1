#include "image.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

/* The last character but one is the version: 1 has no tag. */
static const uint8_t magic[16] = "Coprime token 2", old_magic[16] = "Coprime token 1";

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
    FIXED = IMAGE_HEAD + LABEL_BYTES + SERIAL_BYTES + 8 + 2 * PIN_BYTES + 4,
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

bool image_tag(const struct crypto *crypto, const struct image *image,
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

bool image_decode(const struct crypto *crypto, uint8_t *bytes, size_t size, struct image *image)
{
    struct cursor cursor = {bytes, bytes + size - CHECK, false};
    uint8_t check[CHECK];

    memset(image, 0, sizeof *image);
    if (size < FIXED + CHECK || !checksum(crypto, bytes, size - CHECK, check) ||
        memcmp(check, bytes + size - CHECK, CHECK) != 0 || !get_image(&cursor, image)) {
        image_free(image);
        return false;
    }
    image->initialized = true;
    memcpy(image->check, check, CHECK);
    return true;
}

uint8_t *image_encode(const struct crypto *crypto, const struct image *image, size_t *size)
{
    uint8_t *const bytes = malloc(*size = image_size(image));
    struct cursor cursor = {bytes, bytes ? bytes + *size - CHECK : NULL, false};

    if (bytes == NULL) {
        return NULL;
    }
    put_image(&cursor, image);
    if (cursor.failed || !checksum(crypto, bytes, *size - CHECK, bytes + *size - CHECK)) {
        free(bytes);
        return NULL;
    }
    return bytes;
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
