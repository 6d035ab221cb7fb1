/* An accelerator on a board at a serial port, through its bridge from UART to AXI4-Lite. POSIX.

   Frames are checked by a CRC, and repeated with the same number until they are answered; the board
   executes each once. */
#ifndef COPRIME_SERIAL_H
#define COPRIME_SERIAL_H

#include "coprime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words of the longest burst. */
#define COPRIME_SERIAL_WORDS 64u

/* Bytes of an answer with that many words. */
#define COPRIME_SERIAL_ANSWER (3u + 4u * COPRIME_SERIAL_WORDS + 4u)

/* Private to the driver. */
struct coprime_serial {
    int file;
    int timeout;
    uint32_t baud;
    uint8_t number; /* Of the last request. */
    bool failed;    /* No session is open. */
    /* Words that wait to be written: to one register, or from one on. */
    bool fixed;
    uint32_t address, count;
    uint32_t waiting[COPRIME_SERIAL_WORDS];
    /* Words of the result that have been read ahead. */
    uint32_t ahead_address, ahead_next, ahead_end;
    uint32_t ahead[COPRIME_SERIAL_WORDS];
    /* The frame that is being received. */
    bool escaping, spoilt;
    uint32_t received;
    uint8_t frame[COPRIME_SERIAL_ANSWER];
};

/* Open the board at `path`, and set the caller's members of `driver`; then call coprime_open.

   `serial` must not move until coprime_serial_close. `baud` is the bits per second that the board's
   bridge was made for. `timeout` is the maximum time of a command in milliseconds; below 0: no
   limit. The accelerator is reset. Returns 0, or the errno of the failure: ETIMEDOUT if no board
   answers, EBUSY if another program uses the port, EINVAL if the port cannot have that baud; in
   that case nothing stays open.

   If the board does not answer any more, has been reset, or refuses an access, the functions of the
   driver return COPRIME_ERROR_DEVICE or COPRIME_ERROR_TIMEOUT from then on, until
   coprime_serial_restart. */
int coprime_serial_open(struct coprime_serial *serial, const char *path, uint32_t baud, int timeout,
                        struct coprime *driver);

/* Begin anew after an error: the accelerator is reset, and what was loaded is gone. Returns 0, or
   ETIMEDOUT if no board answers. */
int coprime_serial_restart(struct coprime_serial *serial);

/* Close the port; closing twice is allowed. */
void coprime_serial_close(struct coprime_serial *serial);

#ifdef __cplusplus
}
#endif

#endif
