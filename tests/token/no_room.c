/* A disk that has no room for a second copy of a token's file, to be preloaded. */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    int (*next)(int, const char *, int, const char *);
    void *const found = dlsym(RTLD_NEXT, "renameat");

    if (strcmp(from, "token.new") == 0 && strcmp(to, "token.old") == 0) {
        errno = ENOSPC;
        return -1;
    }
    memcpy(&next, &found, sizeof next);
    return next(from_folder, from, to_folder, to);
}
