#include "key.h"

void key_begin(struct key *key, CK_KEY_TYPE type, void (*destroy)(struct key *key))
{
    static atomic_uint_fast64_t made;

    key->type = type;
    atomic_init(&key->references, 1);
    atomic_init(&key->revoked, false);
    key->number = atomic_fetch_add(&made, 1) + 1;
    key->destroy = destroy;
}

struct key *key_share(struct key *key)
{
    atomic_fetch_add(&key->references, 1);
    return key;
}

void key_release(struct key *key)
{
    if (key && atomic_fetch_sub(&key->references, 1) == 1) {
        key->destroy(key);
    }
}
