/* Calls of engines of byte strings, such as hashes: an accelerator whose `slots` are not 0.

   A slot is a byte string inside the accelerator. A call takes slots and gives slots. A slot is
   complete once it is loaded, or once a call has given it, until a call uses it up, it is loaded
   again, or the parameter set changes: so an output can be the next call's input without leaving the
   accelerator. A slot may be streamed: of any length, it is taken, or given, while the call runs.

   The header that `coprime build` writes beside coprime_registers.h, such as coprime_shake.h, has
   the numbers of slots, calls and parameter sets, and the slots' lengths. These functions have the
   rules of coprime.h: no allocation, no global variable, no library. Time and memory accesses do not
   depend on the bytes that are moved. */
#ifndef COPRIME_CALLS_H
#define COPRIME_CALLS_H

#include "coprime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A slot that a call is given: `size` bytes. With other bytes than the slot has, the call is not
   started; a streamed slot takes any number below 2^31. */
struct coprime_slot_input {
    uint32_t slot;
    const uint8_t *bytes;
    uint32_t size;
};

/* A slot that is read after a call: there is room for `size` bytes. Afterwards that is what has been
   read. Of a streamed slot, `size` bytes are read. */
struct coprime_slot_output {
    uint32_t slot;
    uint8_t *bytes;
    uint32_t size;
};

/* Select the parameter set of all calls; no slot is complete afterwards. It is 0 after coprime_open.
   Errors: COPRIME_ERROR_ADDRESS if there is no such set; COPRIME_ERROR_BUSY;
   COPRIME_ERROR_UNSUPPORTED if the accelerator has no slots. */
int coprime_parameter_set(struct coprime *driver, uint32_t number);

/* Make a call: load the inputs, start it, feed its streams and read those that it gives, all in the
   order of the arrays, wait for its end, and read its other outputs.

   Inputs that are not named must be complete already, or drawn by the accelerator; a streamed input
   must be named, once. Outputs that are not named stay in their slots; a streamed one must be named,
   once, and read whole. After an error the outputs are 0 as far as they were read.

   Errors: COPRIME_ERROR_UNSUPPORTED if there is no such call; COPRIME_ERROR_ADDRESS if there is no
   such slot; COPRIME_ERROR_SLOT_LENGTH if an input's size is not the slot's, or the slot is no input;
   COPRIME_ERROR_OPERAND_MISSING if an input is not complete; COPRIME_ERROR_SIZE if there is no room
   for an output; COPRIME_ERROR_UNREADABLE if an output is not complete or not for reading;
   COPRIME_ERROR_NOT_READY if a stream belongs to no input or output of the call;
   COPRIME_ERROR_BUSY, COPRIME_ERROR_TIMEOUT; those of the call itself, such as COPRIME_ERROR_FAULT;
   COPRIME_ERROR_DEVICE also if the accelerator has been reset since the parameter set was selected,
   which is noticed unless that is 0. */
int coprime_call(struct coprime *driver, uint32_t call, const struct coprime_slot_input *inputs,
                 uint32_t input_count, struct coprime_slot_output *outputs, uint32_t output_count);

/* The same in steps, for messages that are not in memory as a whole: coprime_load_slot for each
   input that is not streamed; coprime_call_start; coprime_call_update for parts of a stream, of any
   size, coprime_call_finish for its last part, which may be empty; coprime_call_read for the parts of
   an output stream; coprime_call_end; coprime_read_slot. A call that was started is led to its
   end, or given up by coprime_wipe. Errors: as coprime_call.

   A part of an output that another one follows has a multiple of 4 bytes. A stream of which the
   accelerator refuses a word COPRIME_PATIENCE times, 65,536 by default, each after 1,023 cycles, is
   given up with COPRIME_ERROR_TIMEOUT. */
int coprime_load_slot(struct coprime *driver, uint32_t slot, const uint8_t *bytes, uint32_t size);
int coprime_call_start(struct coprime *driver, uint32_t call);
int coprime_call_update(struct coprime *driver, uint32_t slot, const uint8_t *bytes, uint32_t size);
int coprime_call_finish(struct coprime *driver, uint32_t slot, const uint8_t *bytes, uint32_t size);
int coprime_call_read(struct coprime *driver, uint32_t slot, uint8_t *bytes, uint32_t size);
int coprime_call_end(struct coprime *driver);

/* Read a slot that is complete and for reading: *size is the room, and then the number of bytes.
   COPRIME_ERROR_FAULT if a word has changed in the accelerator's memory: then everything in it was
   wiped. */
int coprime_read_slot(struct coprime *driver, uint32_t slot, uint8_t *bytes, uint32_t *size);

/* The slots that are complete: bit k is slot k's. */
uint32_t coprime_complete_slots(const struct coprime *driver);

#ifdef __cplusplus
}
#endif

#endif
