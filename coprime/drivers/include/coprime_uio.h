/* An accelerator in a Linux system, through the kernel's userspace I/O (UIO).

   The device tree assigns the accelerator to the driver `generic-uio`, which provides /dev/uioN: a
   memory map of its registers, and a file that counts interrupts. */
#ifndef COPRIME_UIO_H
#define COPRIME_UIO_H

#include "coprime.h"

#ifdef __cplusplus
extern "C" {
#endif

struct coprime_uio {
    volatile uint32_t *registers;
    int file;
    int timeout;
};

/* Map the registers of `path`, and set the caller's members of `driver`; then call coprime_open.

   `uio` must not move until coprime_uio_close. `timeout` is the maximum time of a command in
   milliseconds; below 0: no limit. Returns 0, or the errno of the failure, ENODEV for a plain file;
   in that case nothing stays open.

   An access that the accelerator refuses cannot be caught: the kernel terminates the process. The
   driver performs no such access. */
int coprime_uio_open(struct coprime_uio *uio, const char *path, int timeout,
                     struct coprime *driver);

/* Unmap the registers and close the file; closing twice is allowed. */
void coprime_uio_close(struct coprime_uio *uio);

#ifdef __cplusplus
}
#endif

#endif
