/* A C library that tells no child from its parent, to be preloaded: each process has the number 1, as
   the first one of a namespace of processes has. With REFUSE_WIPE memory is never emptied in a child. */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

pid_t getpid(void)
{
    return 1;
}

int madvise(void *place, size_t length, int advice)
{
    int (*next)(void *, size_t, int);
    void *const found = dlsym(RTLD_NEXT, "madvise");

    if (advice == MADV_WIPEONFORK && getenv("REFUSE_WIPE")) {
        errno = EINVAL;
        return -1;
    }
    memcpy(&next, &found, sizeof next);
    return next(place, length, advice);
}
