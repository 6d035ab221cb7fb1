/* coprime_uio.c on a kernel of our own: the file is one end of a socket, the registers are memory.

   Linked with --wrap for open, mmap and munmap. Ends with the number of the line that is wrong. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include "coprime_uio.h"

#define CHECK(condition)       \
    do {                       \
        if (!(condition)) {    \
            return __LINE__;   \
        }                      \
    } while (0)

int __wrap_open(const char *path, int flags, ...);
void *__wrap_mmap(void *start, size_t size, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *start, size_t size);

static uint32_t registers[1024];
static int ends[2];
static int mapped;

int __wrap_open(const char *path, int flags, ...)
{
    (void)flags;
    if (strcmp(path, "plain") == 0) {
        FILE *const plain = tmpfile();

        return plain == NULL ? -1 : dup(fileno(plain));
    }
    if (strcmp(path, "/dev/uio7") != 0) {
        errno = ENOENT;
        return -1;
    }
    return ends[0];
}

void *__wrap_mmap(void *start, size_t size, int protection, int flags, int file, off_t offset)
{
    (void)start;
    (void)protection;
    (void)flags;
    (void)offset;
    if (mapped < 0 || file != ends[0] || size != sizeof registers) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    ++mapped;
    return registers;
}

int __wrap_munmap(void *start, size_t size)
{
    --mapped;
    return start == registers && size == sizeof registers ? 0 : -1;
}

int main(void)
{
    struct coprime_uio uio;
    struct coprime driver = {0};
    const int32_t count = 41;
    int32_t got[4];

    CHECK(coprime_uio_open(&uio, "/dev/uio8", 10, &driver) == ENOENT);
    coprime_uio_close(&uio);
    CHECK(coprime_uio_open(&uio, "plain", 10, &driver) == ENODEV && uio.file < 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    mapped = -1;
    CHECK(coprime_uio_open(&uio, "/dev/uio7", 10, &driver) == EINVAL);
    CHECK(write(ends[0], got, 4) < 0 && errno == EBADF);
    close(ends[1]);

    mapped = 0;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(coprime_uio_open(&uio, "/dev/uio7", 10, &driver) == 0);
    CHECK(mapped == 1 && driver.context == &uio);
    driver.write(driver.context, 0xFFC, 0x01234567);
    CHECK(registers[1023] == 0x01234567 && registers[1022] == 0);
    registers[0x84 / 4] = 0x89ABCDEF;
    CHECK(driver.read(driver.context, 0x84) == 0x89ABCDEF);

    /* An interrupt: unmasked once, and its count is consumed. */
    CHECK(write(ends[1], &count, 4) == 4);
    CHECK(driver.wait(driver.context) == 0);
    CHECK(read(ends[1], got, sizeof got) == 4 && got[0] == 1);
    CHECK(driver.wait(driver.context) != 0); /* none comes */
    CHECK(read(ends[1], got, sizeof got) == 4 && got[0] == 1);

    /* With the driver on top: the registers say that nothing is there. */
    registers[0x40 / 4] = 0;
    CHECK(coprime_open(&driver) == COPRIME_ERROR_IDENTIFICATION);

    coprime_uio_close(&uio);
    CHECK(mapped == 0);
    coprime_uio_close(&uio);
    CHECK(mapped == 0);
    CHECK(read(ends[1], got, sizeof got) == 0); /* the other end is closed */
    return 0;
}
