#include "attributes.h"

#include <stdlib.h>
#include <string.h>

#include "secret.h"

enum { TYPE_BYTES = 8, LENGTH_BYTES = 4, HEAD = TYPE_BYTES + LENGTH_BYTES };

static uint64_t load(const uint8_t *from, size_t count)
{
    uint64_t number = 0;

    for (size_t i = 0; i < count; ++i) {
        number |= (uint64_t)from[i] << 8 * i;
    }
    return number;
}

static void save(uint8_t *to, uint64_t number, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        to[i] = (uint8_t)(number >> 8 * i);
    }
}

void attributes_free(struct attributes *list)
{
    if (list->secret) {
        secret_free(list->bytes);
    } else {
        free(list->bytes);
    }
    list->bytes = NULL;
    list->size = list->room = 0;
}

static bool make_room(struct attributes *list, size_t room)
{
    struct attributes larger = {.secret = list->secret, .size = list->size, .room = room};

    if (room <= list->room) {
        return true;
    }
    larger.bytes = larger.secret ? secret_allocate(room) : malloc(room);
    if (larger.bytes == NULL) {
        return false;
    }
    if (list->size) {
        memcpy(larger.bytes, list->bytes, list->size);
    }
    attributes_free(list);
    *list = larger;
    return true;
}

bool attributes_next(const struct attributes *list, size_t *place, CK_ATTRIBUTE_TYPE *type,
                     struct value *value)
{
    const uint8_t *head;

    if (*place >= list->size) {
        return false;
    }
    head = list->bytes + *place;
    *type = (CK_ATTRIBUTE_TYPE)load(head, TYPE_BYTES);
    value->size = (size_t)load(head + TYPE_BYTES, LENGTH_BYTES);
    value->bytes = head + HEAD;
    *place += HEAD + value->size;
    return true;
}

bool attributes_parse(struct attributes *list, const uint8_t *bytes, size_t size, bool secret)
{
    struct attributes made = {.secret = secret};
    size_t place = 0;

    while (place < size) {
        size_t length;

        if (size - place < HEAD) {
            return false;
        }
        length = (size_t)load(bytes + place + TYPE_BYTES, LENGTH_BYTES);
        if (size - place - HEAD < length) {
            return false;
        }
        place += HEAD + length;
    }
    if (!make_room(&made, size ? size : 1)) {
        return false;
    }
    memcpy(made.bytes, bytes, size);
    made.size = size;
    *list = made;
    return true;
}

bool attributes_copy(struct attributes *to, const struct attributes *from, bool secret)
{
    struct attributes made = {.secret = secret};

    if (!make_room(&made, from->size ? from->size : 1)) {
        return false;
    }
    if (from->size) {
        memcpy(made.bytes, from->bytes, from->size);
    }
    made.size = from->size;
    *to = made;
    return true;
}

static void take_out(struct attributes *list, CK_ATTRIBUTE_TYPE type)
{
    size_t place = 0, before = 0;
    CK_ATTRIBUTE_TYPE found;
    struct value value;

    while (attributes_next(list, &place, &found, &value)) {
        if (found == type) {
            memmove(list->bytes + before, list->bytes + place, list->size - place);
            list->size -= place - before;
            place = before;
        }
        before = place;
    }
}

bool attributes_set(struct attributes *list, CK_ATTRIBUTE_TYPE type, const void *bytes, size_t size)
{
    uint8_t *end;

    if (size > UINT32_MAX / 2 || !make_room(list, 2 * list->size + HEAD + size)) {
        return false;
    }
    take_out(list, type);
    end = list->bytes + list->size;
    save(end, type, TYPE_BYTES);
    save(end + TYPE_BYTES, size, LENGTH_BYTES);
    if (size) {
        memcpy(end + HEAD, bytes, size);
    }
    list->size += HEAD + size;
    return true;
}

bool attributes_set_bool(struct attributes *list, CK_ATTRIBUTE_TYPE type, bool value)
{
    const CK_BBOOL stored = value ? CK_TRUE : CK_FALSE;

    return attributes_set(list, type, &stored, sizeof stored);
}

bool attributes_set_ulong(struct attributes *list, CK_ATTRIBUTE_TYPE type, CK_ULONG value)
{
    return attributes_set(list, type, &value, sizeof value);
}

bool attributes_take(struct attributes *list, const struct attributes *from,
                     const CK_ATTRIBUTE_TYPE *types, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const struct value value = attributes_get(from, types[i]);

        if (!attributes_set(list, types[i], value.bytes, value.size)) {
            return false;
        }
    }
    return true;
}

struct value attributes_get(const struct attributes *list, CK_ATTRIBUTE_TYPE type)
{
    const struct value none = {NULL, 0};
    struct value value;
    CK_ATTRIBUTE_TYPE found;
    size_t place = 0;

    while (attributes_next(list, &place, &found, &value)) {
        if (found == type) {
            return value;
        }
    }
    return none;
}

bool attributes_bool(const struct attributes *list, CK_ATTRIBUTE_TYPE type, bool otherwise)
{
    const struct value value = attributes_get(list, type);

    return value.bytes && value.size == sizeof(CK_BBOOL) ? value.bytes[0] != CK_FALSE : otherwise;
}

CK_ULONG attributes_ulong(const struct attributes *list, CK_ATTRIBUTE_TYPE type, CK_ULONG otherwise)
{
    const struct value value = attributes_get(list, type);
    CK_ULONG number = otherwise;

    if (value.bytes && value.size == sizeof number) {
        memcpy(&number, value.bytes, sizeof number);
    }
    return number;
}
