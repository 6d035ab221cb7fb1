/* An engine on a board at a serial port, which is this process's as long as it is open. */
#define _DEFAULT_SOURCE

#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "coprime_serial.h"

/* Milliseconds after which a command is given up, and bits per second if nothing is said. */
enum { TIMEOUT = 60000, BAUD = 115200 };

/* `place` is PATH or PATH,BAUD. */
static void *serial_open(const char *place, struct coprime *driver)
{
    struct coprime_serial *const serial = malloc(sizeof *serial);
    char *const path = place ? strdup(place) : NULL;
    char *const comma = path ? strrchr(path, ',') : NULL;
    unsigned long baud = BAUD;
    bool opened = false;

    if (comma) {
        *comma = '\0';
        baud = strtoul(comma + 1, NULL, 10);
    }
    if (serial && path && baud <= UINT32_MAX) {
        opened = !coprime_serial_open(serial, path, (uint32_t)baud, TIMEOUT, driver);
    }
    free(path);
    if (!opened) {
        free(serial);
        return NULL;
    }
    return serial;
}

static void serial_close(void *handle)
{
    coprime_serial_close(handle);
    free(handle);
}

/* Words that wait are the parent's to send. */
static void serial_abandon(void *handle)
{
    struct coprime_serial *const serial = handle;

    coprime_clear(serial->waiting, COPRIME_SERIAL_WORDS);
    serial->count = 0;
    serial_close(serial);
}

const struct engine_kind serial_engine = {
    .name = "serial",
    .waits_by_accesses = true,
    .open = serial_open,
    .close = serial_close,
    .abandon = serial_abandon,
};
