#include "coprime_calls.h"
#include "coprime_engine.h"

/* Refusals in a row, because the engine is not ready, until a stream is given up. */
#ifndef COPRIME_PATIENCE
#define COPRIME_PATIENCE 65536u
#endif

/* Words that are moved at once, where there are functions for blocks. */
#define BLOCK_WORDS 32u

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool is_streamed(const struct coprime *driver, uint32_t slot)
{
    return slot < 32 && driver->streams >> slot & 1;
}

/* Prepare for accesses to slots while no command runs. */
static int prepare_slots(struct coprime *driver)
{
    int error;

    if (driver->slots == 0) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    error = coprime_prepare(driver);
    if (!error && read(driver, COPRIME_PARAMETER_SET) != driver->parameter_set) {
        error = COPRIME_ERROR_DEVICE; /* it has been reset */
    }
    return error;
}

/* Whether a word was refused because the engine has not taken or given it yet. If so the refusal is
   cleared, and *left is the number of bytes that are still to be moved. */
static bool is_late(const struct coprime *driver, uint32_t *left)
{
    if (coprime_flagged(driver) != COPRIME_ERROR_NOT_READY) {
        return false;
    }
    *left = read(driver, COPRIME_SLOT_LENGTH);
    write(driver, COPRIME_ERROR, 0);
    return true;
}

/* Announce `size` bytes of a slot, and whether more follow: again, until the engine has taken what
   came before. */
static int announce(struct coprime *driver, uint32_t slot, uint32_t size, bool more)
{
    const uint32_t flag = more ? COPRIME_SLOT_LENGTH_MORE_MASK : 0;
    uint32_t left;

    for (uint32_t times = 0; times < COPRIME_PATIENCE; ++times) {
        const bool busy = (read(driver, COPRIME_STATUS) & COPRIME_STATUS_BUSY_MASK) != 0;

        if (driver->selected != slot + 1) {
            write(driver, COPRIME_SLOT, slot);
            driver->selected = slot + 1;
        }
        write(driver, COPRIME_SLOT_LENGTH, size | flag);
        if (!busy || !is_late(driver, &left)) {
            return coprime_flagged(driver);
        }
        driver->selected = 0;
    }
    return COPRIME_ERROR_TIMEOUT;
}

/* Word `place` of the bytes that are kept from the part before, and those of this one; 0 after
   them. */
static uint32_t word_of(const struct coprime *driver, const uint8_t *bytes, uint32_t size,
                        uint32_t place)
{
    uint32_t word = 0;

    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t index = 4 * place + i;
        const uint32_t own = index - driver->kept_bytes;

        if (index < driver->kept_bytes) {
            word |= driver->kept & (uint32_t)0xFF << 8 * index;
        } else if (own < size) {
            word |= (uint32_t)bytes[own] << 8 * i;
        }
    }
    return word;
}

/* Write words from `place` up to `end`. */
static void write_words(const struct coprime *driver, const uint8_t *bytes, uint32_t size,
                        uint32_t place, uint32_t end)
{
    uint32_t words[BLOCK_WORDS];

    while (place < end) {
        const uint32_t count = driver->write_block ? least(end - place, BLOCK_WORDS) : 1;

        for (uint32_t i = 0; i < count; ++i) {
            words[i] = word_of(driver, bytes, size, place + i);
        }
        if (driver->write_block) {
            driver->write_block(driver->context, COPRIME_DATA_WINDOW, words, count);
        } else {
            write(driver, COPRIME_DATA_WINDOW, words[0]);
        }
        place += count;
    }
    coprime_clear(words, BLOCK_WORDS);
}

/* Load a slot, or a part of a stream: the bytes that are kept, and of these as many as are whole
   words if more follow, else all. What remains is kept. */
static int load(struct coprime *driver, uint32_t slot, const uint8_t *bytes, uint32_t size,
                bool more)
{
    const uint32_t total = driver->kept_bytes + size;
    const uint32_t moved = more ? total - total % 4 : total;
    uint32_t place = 0, left = moved, times = 0, rest = 0;
    int error = COPRIME_ERROR_NONE;

    if (size > COPRIME_SLOT_LENGTH_BYTES_MASK - 3) {
        return COPRIME_ERROR_SIZE;
    }
    if (moved || !more) {
        error = announce(driver, slot, moved, more);
        while (!error && left) {
            write_words(driver, bytes, size, place, (moved + 3) / 4);
            if (!is_late(driver, &left)) {
                error = coprime_flagged(driver);
                break;
            }
            times = (moved - left) / 4 == place ? times + 1 : 0;
            place = (moved - left) / 4;
            error = times < COPRIME_PATIENCE ? COPRIME_ERROR_NONE : COPRIME_ERROR_TIMEOUT;
        }
    }
    if (more) {
        rest = word_of(driver, bytes, size, moved / 4);
    }
    driver->kept = rest;
    driver->kept_bytes = more ? total % 4 : 0;
    return error;
}

/* Read `size` bytes that were announced, or of a slot that was selected. A stream's word may be late;
   one of a slot that is complete is not given if it has changed since it was written. */
static int unload(const struct coprime *driver, uint8_t *bytes, uint32_t size, bool streamed)
{
    uint32_t words[BLOCK_WORDS], done = 0, left = 0, times = 0;
    int error = COPRIME_ERROR_NONE;

    while (!error && done < size) {
        const uint32_t start = done;

        while (done < size) {
            const uint32_t rest = (size - done + 3) / 4;
            const uint32_t count = driver->read_block ? least(rest, BLOCK_WORDS) : 1;

            if (driver->read_block) {
                driver->read_block(driver->context, COPRIME_DATA_WINDOW, words, count);
            } else {
                words[0] = read(driver, COPRIME_DATA_WINDOW);
            }
            for (uint32_t i = 0; i < 4 * count && done < size; ++i) {
                bytes[done++] = (uint8_t)(words[i / 4] >> 8 * (i % 4) & 0xFFu);
            }
        }
        if (is_late(driver, &left)) {
            done = size - left;
            times = done == start ? times + 1 : 0;
            error = times < COPRIME_PATIENCE ? COPRIME_ERROR_NONE : COPRIME_ERROR_TIMEOUT;
            error = streamed ? error : COPRIME_ERROR_FAULT;
        } else {
            error = coprime_flagged(driver);
        }
    }
    coprime_clear(words, BLOCK_WORDS);
    for (uint32_t i = 0; error && i < size; ++i) {
        bytes[i] = 0;
    }
    return error;
}

/* Public functions. */

int coprime_parameter_set(struct coprime *driver, uint32_t number)
{
    int error;

    if (driver->slots == 0) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    error = coprime_prepare(driver);
    if (error) {
        return error;
    }
    if (number > COPRIME_PARAMETER_SET_NUMBER_MASK) {
        return COPRIME_ERROR_ADDRESS;
    }
    write(driver, COPRIME_PARAMETER_SET, number);
    error = coprime_flagged(driver);
    if (!error) {
        driver->parameter_set = number;
    }
    return error;
}

int coprime_load_slot(struct coprime *driver, uint32_t slot, const uint8_t *bytes, uint32_t size)
{
    const int error = prepare_slots(driver);

    if (error) {
        return error;
    }
    if (slot >= 32 || !(driver->slots >> slot & 1)) {
        return COPRIME_ERROR_ADDRESS;
    }
    driver->selected = driver->kept = driver->kept_bytes = 0;
    return load(driver, slot, bytes, size, false);
}

int coprime_read_slot(struct coprime *driver, uint32_t slot, uint8_t *bytes, uint32_t *size)
{
    uint32_t left;
    int error = prepare_slots(driver);

    if (error) {
        return error;
    }
    if (slot >= 32 || !(driver->slots >> slot & 1)) {
        return COPRIME_ERROR_ADDRESS;
    }
    driver->selected = 0;
    write(driver, COPRIME_SLOT, slot);
    left = read(driver, COPRIME_SLOT_LENGTH);
    error = coprime_flagged(driver);
    if (!error && left == 0) {
        error = COPRIME_ERROR_UNREADABLE;
    }
    if (!error && left > *size) {
        error = COPRIME_ERROR_SIZE;
    }
    if (!error) {
        error = unload(driver, bytes, left, false);
        *size = left;
        if (error == COPRIME_ERROR_FAULT) {
            (void)coprime_wipe(driver);
        }
    }
    return error;
}

int coprime_call_start(struct coprime *driver, uint32_t call)
{
    const uint32_t known = call < 32 ? driver->commands >> call : driver->commands_high >> call % 32;
    const int error = prepare_slots(driver);

    if (error) {
        return error;
    }
    if (call >= 64 || !(known & 1)) {
        return COPRIME_ERROR_UNSUPPORTED;
    }
    driver->selected = driver->kept = driver->kept_bytes = 0;
    coprime_begin(driver, COPRIME_COMMAND, call);
    return COPRIME_ERROR_NONE;
}

int coprime_call_update(struct coprime *driver, uint32_t slot, const uint8_t *bytes, uint32_t size)
{
    if (!is_streamed(driver, slot) || (driver->kept_bytes && driver->kept_slot != slot)) {
        return COPRIME_ERROR_NOT_READY;
    }
    driver->kept_slot = slot;
    return load(driver, slot, bytes, size, true);
}

int coprime_call_finish(struct coprime *driver, uint32_t slot, const uint8_t *bytes, uint32_t size)
{
    if (!is_streamed(driver, slot) || (driver->kept_bytes && driver->kept_slot != slot)) {
        return COPRIME_ERROR_NOT_READY;
    }
    return load(driver, slot, bytes, size, false);
}

int coprime_call_read(struct coprime *driver, uint32_t slot, uint8_t *bytes, uint32_t size)
{
    int error;

    if (!is_streamed(driver, slot)) {
        return COPRIME_ERROR_NOT_READY;
    }
    if (size == 0) {
        return COPRIME_ERROR_NONE;
    }
    error = size > COPRIME_SLOT_LENGTH_BYTES_MASK ? COPRIME_ERROR_SIZE
                                                  : announce(driver, slot, size, false);
    return error ? error : unload(driver, bytes, size, true);
}

int coprime_call_end(struct coprime *driver)
{
    return coprime_await(driver);
}

/* Feed the streams of a call that runs, and read those that it gives. */
static int move_streams(struct coprime *driver, const struct coprime_slot_input *inputs,
                        uint32_t input_count, const struct coprime_slot_output *outputs,
                        uint32_t output_count)
{
    int error = COPRIME_ERROR_NONE;

    for (uint32_t i = 0; i < input_count && !error; ++i) {
        if (is_streamed(driver, inputs[i].slot)) {
            error = coprime_call_finish(driver, inputs[i].slot, inputs[i].bytes, inputs[i].size);
        }
    }
    for (uint32_t i = 0; i < output_count && !error; ++i) {
        if (is_streamed(driver, outputs[i].slot)) {
            error = coprime_call_read(driver, outputs[i].slot, outputs[i].bytes, outputs[i].size);
        }
    }
    return error;
}

int coprime_call(struct coprime *driver, uint32_t call, const struct coprime_slot_input *inputs,
                 uint32_t input_count, struct coprime_slot_output *outputs, uint32_t output_count)
{
    int error = prepare_slots(driver);

    for (uint32_t i = 0; i < input_count && !error; ++i) {
        if (!is_streamed(driver, inputs[i].slot)) {
            error = coprime_load_slot(driver, inputs[i].slot, inputs[i].bytes, inputs[i].size);
        }
    }
    if (!error) {
        error = coprime_call_start(driver, call);
    }
    if (!error) {
        error = move_streams(driver, inputs, input_count, outputs, output_count);
    }
    if (!error) {
        error = coprime_call_end(driver);
    }
    for (uint32_t i = 0; i < output_count && !error; ++i) {
        if (!is_streamed(driver, outputs[i].slot)) {
            error =
                coprime_read_slot(driver, outputs[i].slot, outputs[i].bytes, &outputs[i].size);
        }
    }
    for (uint32_t i = 0; error && i < output_count; ++i) {
        for (uint32_t k = 0; k < outputs[i].size; ++k) {
            outputs[i].bytes[k] = 0;
        }
    }
    return error;
}

uint32_t coprime_complete_slots(const struct coprime *driver)
{
    return driver->slots ? read(driver, COPRIME_COMPLETE) & COPRIME_COMPLETE_SLOTS_MASK : 0;
}
