#define _DEFAULT_SOURCE

#include "secret.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "debug.h"

/* The length of the mapping is in front of the memory. */
enum { HEAD = 16 };

/* Bytes of stack that a call uses at most; threads may have no more than a few times as many. */
enum { STACK = 24 << 10 };

/* Say what the system has refused, and why: errno. */
static void tell_once(atomic_flag *told, const char *what)
{
    if (!atomic_flag_test_and_set(told)) {
        debug_say("%s: %s", what, strerror(errno));
    }
}

void *secret_allocate(size_t size)
{
    static atomic_flag told[3] = {ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole;
    uint8_t *pages;

    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    whole = (size + HEAD + page - 1) / page * page;
    pages = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        return NULL;
    }
    /* Each is the best that the system allows; keys remain usable where it refuses. */
    if (mlock(pages, whole)) {
        tell_once(&told[0], "keys may be written to swap (see `ulimit -l`): mlock");
    }
    if (madvise(pages, whole, MADV_DONTDUMP)) {
        tell_once(&told[1], "keys may be part of a core dump: MADV_DONTDUMP");
    }
    if (madvise(pages, whole, MADV_WIPEONFORK)) {
        tell_once(&told[2], "a child has the keys after a fork: MADV_WIPEONFORK");
    }
    *(size_t *)(void *)pages = whole;
    return pages + HEAD;
}

void secret_free(void *memory)
{
    uint8_t *pages;
    size_t whole;

    if (memory == NULL) {
        return;
    }
    pages = (uint8_t *)memory - HEAD;
    whole = *(size_t *)(void *)pages;
    OPENSSL_cleanse(pages, whole);
    (void)munmap(pages, whole);
}

__attribute__((noinline)) void secret_clear_stack(void)
{
    uint8_t stack[STACK];

    OPENSSL_cleanse(stack, sizeof stack);
}
