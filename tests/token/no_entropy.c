/* A host without random bytes, to be preloaded: once the module has asked the system for the seed of an
   engine, and got known bytes, neither the system nor libcrypto gives it any more, but for the names of
   objects, CKA_UNIQUE_ID, of 16 bytes, which are counted. */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

enum { NAME_BYTES = 16 };

static atomic_bool seeded;
static atomic_uint names;

/* Whether an address is one of the module's. */
static bool in_module(const void *address)
{
    Dl_info where;

    return dladdr(address, &where) && where.dli_fname && strstr(where.dli_fname, "libcoprime");
}

int getentropy(void *bytes, size_t size)
{
    int (*next)(void *, size_t);
    void *const found = dlsym(RTLD_NEXT, "getentropy");

    if (seeded) {
        errno = ENOSYS;
        return -1;
    }
    if (in_module(__builtin_return_address(0))) {
        for (size_t i = 0; i < size; ++i) {
            ((unsigned char *)bytes)[i] = (unsigned char)(i + 7);
        }
        seeded = true;
        return 0;
    }
    memcpy(&next, &found, sizeof next);
    return next(bytes, size);
}

ssize_t getrandom(void *bytes, size_t size, unsigned flags)
{
    ssize_t (*next)(void *, size_t, unsigned);
    void *const found = dlsym(RTLD_NEXT, "getrandom");

    if (seeded) {
        errno = ENOSYS;
        return -1;
    }
    memcpy(&next, &found, sizeof next);
    return next(bytes, size, flags);
}

int RAND_bytes_ex(void *context, unsigned char *bytes, size_t size, unsigned strength)
{
    int (*next)(void *, unsigned char *, size_t, unsigned);
    void *const library = dlopen("libcrypto.so.3", RTLD_LAZY | RTLD_NOLOAD); /* the module's, as others' */
    void *const found = library ? dlsym(library, "RAND_bytes_ex") : NULL;

    if (seeded && size == NAME_BYTES) {
        memset(bytes, 0, size);
        bytes[0] = (unsigned char)++names;
        return 1;
    }
    if (seeded || found == NULL) {
        return 0;
    }
    memcpy(&next, &found, sizeof next);
    return next(context, bytes, size, strength);
}
