/* An engine in hardware, through Linux UIO. Processes take turns: each locks the device's file while
   it uses the engine. */
#define _DEFAULT_SOURCE

#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>

#include "coprime_uio.h"

/* Milliseconds after which a command is given up. */
enum { TIMEOUT = 60000 };

static void *uio_open(const char *place, struct coprime *driver)
{
    struct coprime_uio *const uio = malloc(sizeof *uio);

    if (uio && (place == NULL || coprime_uio_open(uio, place, TIMEOUT, driver))) {
        free(uio);
        return NULL;
    }
    return uio;
}

static void uio_close(void *handle)
{
    coprime_uio_close(handle);
    free(handle);
}

static bool uio_lock(void *handle)
{
    const struct coprime_uio *const uio = handle;

    while (flock(uio->file, LOCK_EX)) {
        if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static void uio_unlock(void *handle)
{
    const struct coprime_uio *const uio = handle;

    (void)flock(uio->file, LOCK_UN);
}

const struct engine_kind uio_engine = {
    .name = "uio",
    .open = uio_open,
    .close = uio_close,
    .abandon = uio_close,
    .lock = uio_lock,
    .unlock = uio_unlock,
};
