/* An accelerator in a Linux system, through the kernel's userspace I/O (UIO).

   The device tree gives the accelerator to the driver `generic-uio`, which makes it /dev/uio0 or
   so: a memory map of its registers, and a file that counts interrupts. */
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

/* Map the registers behind `path`, and set the caller's part of `driver`: coprime_open comes next.

   `uio` must stay where it is until coprime_uio_close. `timeout` is how many milliseconds a command
   may take; below 0: without end. Gives 0, or the errno of what failed, ENODEV for a plain
   file: then nothing stays open.

   An access that the accelerator refuses cannot be caught: the kernel ends the process. The driver
   makes none. */
int coprime_uio_open(struct coprime_uio *uio, const char *path, int timeout,
                     struct coprime *driver);

/* Unmap the registers and close the file; closing twice is allowed. */
void coprime_uio_close(struct coprime_uio *uio);

#ifdef __cplusplus
}
#endif

#endif
