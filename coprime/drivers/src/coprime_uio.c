#define _POSIX_C_SOURCE 200809L

#include "coprime_uio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW 4096u

static uint32_t read_register(void *context, uint32_t address)
{
    const struct coprime_uio *const uio = context;

    return uio->registers[address / 4];
}

static void write_register(void *context, uint32_t address, uint32_t value)
{
    const struct coprime_uio *const uio = context;

    uio->registers[address / 4] = value;
}

/* Unmask the interrupt, which the kernel masks when it occurs, and sleep until then. */
static int wait_interrupt(void *context)
{
    const struct coprime_uio *const uio = context;
    const int32_t unmask = 1;
    int32_t count;
    struct pollfd waiting = {.fd = uio->file, .events = POLLIN, .revents = 0};
    int ready;

    if (write(uio->file, &unmask, sizeof unmask) != (ssize_t)sizeof unmask) {
        return -1;
    }
    ready = poll(&waiting, 1, uio->timeout);
    if (ready < 0) {
        return errno == EINTR ? 0 : -1; /* after a signal, the driver checks, and waits again */
    }
    if (ready == 0) {
        return -1;
    }
    return read(uio->file, &count, sizeof count) == (ssize_t)sizeof count ? 0 : -1;
}

int coprime_uio_open(struct coprime_uio *uio, const char *path, int timeout,
                     struct coprime *driver)
{
    struct stat status;
    void *map;

    uio->registers = NULL;
    uio->timeout = timeout;
    uio->file = open(path, O_RDWR | O_SYNC | O_CLOEXEC);
    if (uio->file < 0) {
        return errno;
    }
    if (fstat(uio->file, &status) == 0 && S_ISREG(status.st_mode)) {
        coprime_uio_close(uio); /* an access beyond the end of a file would terminate the process */
        return ENODEV;
    }
    map = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, uio->file, 0);
    if (map == MAP_FAILED) {
        const int error = errno;

        coprime_uio_close(uio);
        return error;
    }
    uio->registers = map;
    driver->context = uio;
    driver->read = read_register;
    driver->write = write_register;
    driver->wait = wait_interrupt;
    driver->write_block = NULL;
    driver->read_block = NULL;
    return 0;
}

void coprime_uio_close(struct coprime_uio *uio)
{
    if (uio->registers) {
        (void)munmap((void *)uio->registers, WINDOW);
        uio->registers = NULL;
    }
    if (uio->file >= 0) {
        (void)close(uio->file);
        uio->file = -1;
    }
}
