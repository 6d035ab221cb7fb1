#define _DEFAULT_SOURCE

#include "process.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

atomic_int *process_stage;

static void empty(void)
{
    atomic_store(process_stage, UNTOUCHED);
}

/* When the module is loaded: no thread is in it yet. */
__attribute__((constructor)) static void begin(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *const memory =
        mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        return;
    }
    process_stage = memory;
    if (madvise(memory, page, MADV_WIPEONFORK) && pthread_atfork(NULL, NULL, empty)) {
        (void)munmap(memory, page); /* rather than a child that takes itself for its parent */
        process_stage = NULL;
    }
}
