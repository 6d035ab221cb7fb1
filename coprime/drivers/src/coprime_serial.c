/* For termios beyond 38400 baud, and flock. */
#define _DEFAULT_SOURCE

#include "coprime_serial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* The frames: docs/serial.md. */
enum {
    FLAG = 0x7E,
    ESCAPE = 0x7D,
    ESCAPED = 0x20,
    HEADER = 4,
    ANSWER_HEADER = 3,
    FCS = 4,
    FIXED = 1 << 3,
    ANSWER = 1 << 7,
    INTERRUPT = 1 << 6,
    STATUS = 3,
    DONE = 0,
};

enum request { OPEN = 1, POLL = 2, READ = 3, WRITE = 4 };

/* Milliseconds that an answer may take beyond the time on the wire. Each repetition waits twice as
   long. */
#ifndef COPRIME_SERIAL_PATIENCE
#define COPRIME_SERIAL_PATIENCE 1000
#endif

enum {
    ATTEMPTS = 4,
    OVERHEAD = 40, /* bytes of a request and its answer besides the words, at most */
    FIRST_POLL = 1,
    LAST_POLL = 20, /* milliseconds from one to the next */
    LONGEST_REQUEST = HEADER + 4 * (int)COPRIME_SERIAL_WORDS + FCS,
};

static const struct {
    uint32_t baud;
    speed_t speed;
} speeds[] = {
    {9600, B9600},
    {19200, B19200},
    {38400, B38400},
#ifdef B57600
    {57600, B57600},
#endif
#ifdef B115200
    {115200, B115200},
#endif
#ifdef B230400
    {230400, B230400},
#endif
#ifdef B460800
    {460800, B460800},
#endif
#ifdef B500000
    {500000, B500000},
#endif
#ifdef B921600
    {921600, B921600},
#endif
#ifdef B1000000
    {1000000, B1000000},
#endif
#ifdef B1500000
    {1500000, B1500000},
#endif
#ifdef B2000000
    {2000000, B2000000},
#endif
#ifdef B3000000
    {3000000, B3000000},
#endif
};

static int64_t now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Overwrite bytes that were secret, so that the compiler does not leave it out. */
static void clear(uint8_t *bytes, uint32_t size)
{
    volatile uint8_t *const hidden = bytes;

    for (uint32_t i = 0; i < size; ++i) {
        hidden[i] = 0;
    }
}

/* Add a byte to FCS-32, which begins and ends inverted. */
static uint32_t add_to_crc(uint32_t crc, uint8_t byte)
{
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) {
        crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1u)));
    }
    return crc;
}

static uint32_t crc_of(const uint8_t *bytes, uint32_t size)
{
    uint32_t crc = 0xFFFFFFFFu;

    for (uint32_t i = 0; i < size; ++i) {
        crc = add_to_crc(crc, bytes[i]);
    }
    return ~crc;
}

static void put_word(uint8_t *bytes, uint32_t word)
{
    for (int i = 0; i < 4; ++i) {
        bytes[i] = (uint8_t)(word >> 8 * i & 0xFFu);
    }
}

static uint32_t get_word(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/* Wait until the file is ready; false at the end of the time, and if the port has failed. */
static bool ready(const struct coprime_serial *serial, short events, int64_t end)
{
    struct pollfd waiting = {.fd = serial->file, .events = events, .revents = 0};
    int64_t left;

    while ((left = end - now()) >= 0) {
        const int found = poll(&waiting, 1, (int)left + 1);

        if (found > 0) {
            return (waiting.revents & events) != 0;
        }
        if (found == 0 || errno != EINTR) {
            return false;
        }
    }
    return false;
}

static bool send_bytes(const struct coprime_serial *serial, const uint8_t *bytes, uint32_t size,
                       int64_t end)
{
    while (size > 0) {
        const ssize_t count = write(serial->file, bytes, size);

        if (count > 0) {
            bytes += count;
            size -= (uint32_t)count;
        } else if (count < 0 && errno == EAGAIN) {
            if (!ready(serial, POLLOUT, end)) {
                return false;
            }
        } else if (count < 0 && errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* Send bytes as a frame: with their checksum, escapes and flags. */
static bool send_frame(const struct coprime_serial *serial, const uint8_t *body, uint32_t size,
                       int64_t end)
{
    uint8_t escaped[2 * LONGEST_REQUEST + 2], fcs[FCS];
    uint32_t count = 0;
    bool sent;

    put_word(fcs, crc_of(body, size));
    escaped[count++] = FLAG;
    for (uint32_t i = 0; i < size + FCS; ++i) {
        const uint8_t byte = i < size ? body[i] : fcs[i - size];

        if (byte == FLAG || byte == ESCAPE) {
            escaped[count++] = ESCAPE;
            escaped[count++] = byte ^ ESCAPED;
        } else {
            escaped[count++] = byte;
        }
    }
    escaped[count++] = FLAG;
    sent = send_bytes(serial, escaped, count, end);
    clear(escaped, sizeof escaped);
    return sent;
}

/* Take a received byte; true if it completes an answer, which is then in `frame`. */
static bool take_byte(struct coprime_serial *serial, uint8_t byte)
{
    const uint8_t *const frame = serial->frame;
    uint32_t size;
    bool whole;

    if (byte == ESCAPE && !serial->escaping) {
        serial->escaping = true;
        return false;
    }
    if (byte != FLAG) {
        if (serial->received < sizeof serial->frame) {
            serial->frame[serial->received++] = serial->escaping ? byte ^ ESCAPED : byte;
        } else {
            serial->spoilt = true;
        }
        serial->escaping = false;
        return false;
    }
    size = serial->received;
    whole = !serial->spoilt && !serial->escaping && size >= ANSWER_HEADER + FCS;
    serial->escaping = serial->spoilt = false;
    serial->received = 0;
    return whole && frame[1] & ANSWER && size == ANSWER_HEADER + 4u * frame[2] + FCS &&
           crc_of(frame, size - FCS) == get_word(frame + size - FCS);
}

/* Receive an answer with this number; if `word` is not null, the one that returns it. */
static bool receive(struct coprime_serial *serial, uint8_t number, const uint8_t *word, int64_t end)
{
    while (ready(serial, POLLIN, end)) {
        uint8_t byte;
        ssize_t count;

        /* One by one: what follows the answer is for the next call. */
        while ((count = read(serial->file, &byte, 1)) > 0) {
            if (take_byte(serial, byte) && serial->frame[0] == number &&
                (!word || (serial->frame[2] == 1 && get_word(serial->frame + ANSWER_HEADER) ==
                                                        get_word(word)))) {
                return true;
            }
        }
        if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
            return false; /* the port has gone */
        }
    }
    return false;
}

/* Send a request until its answer comes, which is then in `frame`; false if none comes. */
static bool ask(struct coprime_serial *serial, uint8_t *body, uint32_t size, uint32_t answer_words)
{
    /* A byte has ten bits, and every one might be escaped. */
    const int64_t on_wire =
        (int64_t)(size + 4 * answer_words + OVERHEAD) * 2 * 10 * 1000 / serial->baud + 1;
    const bool opens = body[1] >> 4 == OPEN;

    for (int attempt = 0; attempt < ATTEMPTS; ++attempt) {
        const int64_t end = now() + on_wire + ((int64_t)COPRIME_SERIAL_PATIENCE << attempt);

        if (attempt > 0 && opens) {
            (void)tcsendbreak(serial->file, 0);
        }
        if (!send_frame(serial, body, size, end)) {
            return false;
        }
        if (receive(serial, body[0], opens ? body + HEADER : NULL, end)) {
            return true;
        }
    }
    return false;
}

/* Have a request executed, once. `count` words are written from `words`, or are read. */
static bool request(struct coprime_serial *serial, enum request kind, bool fixed, uint32_t address,
                    const uint32_t *words, uint32_t count)
{
    const uint32_t read_words = kind == READ ? count : 0, written = words ? count : 0;
    uint8_t body[LONGEST_REQUEST];
    bool done;

    if (serial->failed) {
        return false;
    }
    body[0] = ++serial->number;
    body[1] = (uint8_t)((uint32_t)kind << 4 | (fixed ? FIXED : 0) | address >> 10);
    body[2] = (uint8_t)(address >> 2 & 0xFFu);
    body[3] = (uint8_t)count;
    for (uint32_t i = 0; i < written; ++i) {
        put_word(body + HEADER + 4 * i, words[i]);
    }
    done = ask(serial, body, HEADER + 4 * written, read_words) &&
           (serial->frame[1] & STATUS) == DONE && serial->frame[2] == read_words;
    clear(body, sizeof body);
    serial->failed = !done;
    return done;
}

/* Write the words that wait. */
static void flush(struct coprime_serial *serial)
{
    if (serial->count > 0) {
        (void)request(serial, WRITE, serial->fixed, serial->address, serial->waiting,
                      serial->count);
        coprime_clear(serial->waiting, serial->count);
        serial->count = 0;
    }
}

static void forget_ahead(struct coprime_serial *serial)
{
    coprime_clear(serial->ahead, serial->ahead_end);
    serial->ahead_next = serial->ahead_end = 0;
}

/* A word waits if it belongs to the burst of those that wait already. */
static void write_register(void *context, uint32_t address, uint32_t value)
{
    struct coprime_serial *const serial = context;

    forget_ahead(serial);
    if (serial->count == 1 && address == serial->address) {
        serial->fixed = true;
    }
    if (serial->count == COPRIME_SERIAL_WORDS ||
        address != serial->address + (serial->fixed ? 0 : 4 * serial->count)) {
        flush(serial);
    }
    if (serial->count == 0) {
        serial->address = address;
        serial->fixed = false;
    }
    serial->waiting[serial->count++] = value;
}

static bool read_words(struct coprime_serial *serial, uint32_t address, uint32_t count,
                       uint32_t *words)
{
    if (!request(serial, READ, false, address, NULL, count)) {
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        words[i] = get_word(serial->frame + ANSWER_HEADER + 4 * i);
    }
    clear(serial->frame, sizeof serial->frame);
    return true;
}

/* How many words to read from an address: those of the result come together. */
static uint32_t words_ahead(struct coprime_serial *serial, uint32_t address)
{
    uint32_t bytes, place = (address - COPRIME_OUTPUT_WINDOW) / 4, words;

    if (address < COPRIME_OUTPUT_WINDOW || place >= COPRIME_OUTPUT_WINDOW_WORDS ||
        !read_words(serial, COPRIME_OUTPUT_LENGTH, 1, &bytes)) {
        return 1;
    }
    words = COPRIME_WORDS(8 * bytes);
    if (words > COPRIME_OUTPUT_WINDOW_WORDS) {
        words = COPRIME_OUTPUT_WINDOW_WORDS;
    }
    words = words > place ? words - place : 1;
    return words < COPRIME_SERIAL_WORDS ? words : COPRIME_SERIAL_WORDS;
}

/* All ones if the board does not answer. */
static uint32_t read_register(void *context, uint32_t address)
{
    struct coprime_serial *const serial = context;
    uint32_t count;

    flush(serial);
    if (serial->ahead_next == serial->ahead_end ||
        address != serial->ahead_address + 4 * serial->ahead_next) {
        forget_ahead(serial);
        count = words_ahead(serial, address);
        if (!read_words(serial, address, count, serial->ahead)) {
            return UINT32_MAX;
        }
        serial->ahead_address = address;
        serial->ahead_end = count;
    }
    return serial->ahead[serial->ahead_next++];
}

/* A request for each 64 words; all ones if the board does not answer. */
static void read_block(void *context, uint32_t address, uint32_t *words, uint32_t count)
{
    struct coprime_serial *const serial = context;

    flush(serial);
    forget_ahead(serial);
    for (uint32_t place = 0; place < count; place += COPRIME_SERIAL_WORDS) {
        const uint32_t rest = count - place;
        const uint32_t block = rest < COPRIME_SERIAL_WORDS ? rest : COPRIME_SERIAL_WORDS;

        if (!read_words(serial, address + 4 * place, block, words + place)) {
            for (uint32_t i = 0; i < block; ++i) {
                words[place + i] = UINT32_MAX;
            }
        }
    }
}

static int wait_interrupt(void *context)
{
    struct coprime_serial *const serial = context;
    const int64_t end = now() + serial->timeout;
    int pause = FIRST_POLL;

    flush(serial);
    forget_ahead(serial);
    while (request(serial, POLL, false, 0, NULL, 0)) {
        const struct timespec time = {.tv_sec = 0, .tv_nsec = pause * 1000000L};

        if (serial->frame[1] & INTERRUPT) {
            return 0;
        }
        if (serial->timeout >= 0 && now() >= end) {
            return -1;
        }
        (void)nanosleep(&time, NULL);
        pause = pause < LAST_POLL / 2 ? 2 * pause : LAST_POLL;
    }
    return -1;
}

/* 8N1 without any processing. */
static int configure(int file, uint32_t baud)
{
    struct termios settings;

    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; ++i) {
        if (speeds[i].baud != baud) {
            continue;
        }
        if (tcgetattr(file, &settings)) {
            return errno;
        }
        settings.c_iflag = IGNBRK;
        settings.c_oflag = 0;
        settings.c_lflag = 0;
        settings.c_cflag = CS8 | CREAD | CLOCAL;
        settings.c_cc[VMIN] = 1;
        settings.c_cc[VTIME] = 0;
        if (cfsetispeed(&settings, speeds[i].speed) || cfsetospeed(&settings, speeds[i].speed) ||
            tcsetattr(file, TCSANOW, &settings) || tcflush(file, TCIFLUSH)) {
            return errno;
        }
        return 0;
    }
    return EINVAL;
}

int coprime_serial_restart(struct coprime_serial *serial)
{
    struct timespec time;
    uint8_t body[HEADER + 4];

    (void)clock_gettime(CLOCK_REALTIME, &time);
    coprime_clear(serial->waiting, COPRIME_SERIAL_WORDS);
    coprime_clear(serial->ahead, COPRIME_SERIAL_WORDS);
    serial->count = serial->ahead_next = serial->ahead_end = 0;
    serial->number = (uint8_t)((unsigned long)time.tv_nsec >> 8);
    /* A number and a word that no late answer has. */
    body[0] = serial->number;
    body[1] = OPEN << 4;
    body[2] = 0;
    body[3] = 1;
    put_word(body + HEADER, (uint32_t)time.tv_nsec ^ (uint32_t)time.tv_sec << 20 ^
                                (uint32_t)getpid() << 10);
    serial->failed = !ask(serial, body, sizeof body, 1);
    return serial->failed ? ETIMEDOUT : 0;
}

int coprime_serial_open(struct coprime_serial *serial, const char *path, uint32_t baud, int timeout,
                        struct coprime *driver)
{
    int error;

    *serial = (struct coprime_serial){.baud = baud, .timeout = timeout};
    serial->file = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (serial->file < 0) {
        return errno;
    }
    if (flock(serial->file, LOCK_EX | LOCK_NB)) {
        error = EBUSY;
    } else {
        error = configure(serial->file, baud);
    }
    if (!error) {
        error = coprime_serial_restart(serial);
    }
    if (error) {
        coprime_serial_close(serial);
        return error;
    }
    driver->context = serial;
    driver->read = read_register;
    driver->write = write_register;
    driver->wait = wait_interrupt;
    driver->write_block = NULL;
    driver->read_block = read_block;
    return 0;
}

void coprime_serial_close(struct coprime_serial *serial)
{
    if (serial->file >= 0) {
        flush(serial);
        forget_ahead(serial);
        clear(serial->frame, sizeof serial->frame);
        (void)close(serial->file);
        serial->file = -1;
    }
}
