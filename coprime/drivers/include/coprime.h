/* A driver for any Coprime accelerator, based on functions that the caller provides.

   It allocates no memory, has no global variables and needs no library: for bare metal and hosted
   systems. Put the folder with coprime_registers.h, which `coprime build` writes, on the include
   path.

   Numbers are arrays of 32-bit words, least significant word first. A number of n bits has
   COPRIME_WORDS(n) words. The bits of its highest word above n are 0.

   A `struct coprime` may be used by one caller at a time, and no other may be open on the same
   accelerator. Functions return COPRIME_ERROR_NONE (0), one of the hardware's codes unchanged
   (`enum coprime_error` in coprime_registers.h), or one of `enum coprime_driver_error`; all that use
   the hardware may return COPRIME_ERROR_DEVICE. A function that returns an error leaves its result
   unchanged, unless documented otherwise. */
#ifndef COPRIME_H
#define COPRIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coprime_registers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words of a number of `bits` bits. */
#define COPRIME_WORDS(bits) (((uint32_t)(bits) + 31u) / 32u)

/* Words of the widest digit that the DIGITS register can hold. */
#define COPRIME_DIGIT_WORDS 8u

/* Words of memory for the constants of a modulus, and of a private key with its modulus. `bits` is
   the modulus's length, `prime_bits` that of the longer prime. */
#define COPRIME_MODULUS_MEMORY(bits) COPRIME_WORDS(bits)
#define COPRIME_PRIVATE_MEMORY(bits, prime_bits) \
    (3u * COPRIME_WORDS(bits) + 2u * COPRIME_WORDS(prime_bits))

/* Errors detected by the driver; above the hardware's codes, which have 8 bits. */
enum coprime_driver_error {
    /* The registers are not those of a Coprime accelerator (a cluster has others). */
    COPRIME_ERROR_IDENTIFICATION = 256,
    /* `wait` has given up. The command may still be running: until it ends, all functions that use
       the hardware return COPRIME_ERROR_BUSY. */
    COPRIME_ERROR_TIMEOUT = 257,
    /* The memory for constants is too small. */
    COPRIME_ERROR_MEMORY = 258,
    /* The modulus is not the product of the primes, or qinv not the inverse of q modulo p. */
    COPRIME_ERROR_KEY = 259,
    /* A number does not fit the words or bytes that it is written to. */
    COPRIME_ERROR_SIZE = 260,
    /* The random source of a key's generation has failed, or repeats itself. */
    COPRIME_ERROR_RANDOM = 261,
    /* A key's generation has found no prime in as many numbers as the standard allows, which with a
       working random source does not happen. */
    COPRIME_ERROR_PRIME = 262,
    /* The device does not answer: its registers read as all ones. A result that was being read is
       cleared, or has been overwritten in part. */
    COPRIME_ERROR_DEVICE = 263,
    /* A key's generation was stopped by its caller. The driver never returns it by itself: it is for
       the function `yield` of struct coprime_generation. */
    COPRIME_ERROR_STOPPED = 264,
    /* The slot is not complete, or is not for reading. */
    COPRIME_ERROR_UNREADABLE = 265,
};

/* An accelerator. The caller sets the first six members, coprime_open the others. */
struct coprime {
    /* Passed to the functions. */
    void *context;
    /* Read and write the 32-bit register at a byte address, a multiple of 4 below 4096. Each call
       must perform one access of 32 bits, in the order of the calls. Where the device may be gone,
       reads return all ones from then on, and the functions COPRIME_ERROR_DEVICE. */
    uint32_t (*read)(void *context, uint32_t address);
    void (*write)(void *context, uint32_t address, uint32_t value);
    /* Return 0 when the interrupt has occurred, or may have, and another value to give up. It is
       called until the command has ended, so it may return 0 at once. Null: the driver polls the
       registers indefinitely, and keeps the irq pin inactive. */
    int (*wait)(void *context);
    /* Write or read `count` consecutive registers, 1 to 256, from a byte address on, in this order:
       for a bus with bursts, which move operands and results faster than single accesses. Null: the
       driver calls `read` and `write` for each word. */
    void (*write_block)(void *context, uint32_t address, const uint32_t *words, uint32_t count);
    void (*read_block)(void *context, uint32_t address, uint32_t *words, uint32_t count);

    /* Properties of the accelerator, read-only for the caller. */
    uint32_t version;          /* The register VERSION. */
    uint32_t family;           /* Number of the family. */
    uint32_t commands;         /* Bit k is 1 if the engine implements the command with code k, 0 to 31. */
    uint32_t commands_high;    /* The same of the codes 32 to 63. */
    uint32_t slots;            /* Bit k is 1 if there is a slot k: see coprime_calls.h. 0: an engine of
                                  numbers, which the members from here to `paddings` describe; with
                                  slots they are 0, but for constant_time and checked. */
    uint32_t streams;          /* Which of the slots are streamed. */
    uint32_t max_bits;         /* The longest modulus and exponent. */
    uint32_t max_prime_bits;   /* The longest prime; 0: no COPRIME_COMMAND_RSA_PRIVATE. */
    uint32_t min_bits;         /* The minimum length of a modulus. */
    uint32_t digit_width;      /* Bits of a digit: 1 to 255. */
    uint32_t residue_width;    /* The greatest divisor of that, of 31 at most. */
    uint32_t headroom;         /* Bits of an operand beyond its length. */
    uint32_t radix_bits;       /* As DIGITS.RADIX. 0: even moduli are allowed. */
    uint32_t half_bits;        /* Bits below the second number of a pair; 0: no points of curves. */
    bool constant_time;        /* Private operations take the same cycles for every key. */
    bool blinds_scalars;       /* Random bits blind secret scalars of points. */
    bool fixed_modulus;        /* Only one modulus, which is built into the hardware. */
    bool equal_primes;         /* Both primes are loaded with the length of the longer one. */
    bool checked;              /* coprime_private checks its result with the public exponent. */
    uint32_t paddings;         /* In hardware: bit 0 PKCS #1 v1.5, bit 1 OAEP, bit 2 PSS. */
    uint32_t source;           /* Of random bytes: as CAPABILITIES.SOURCE. 1: coprime_seed seeds it;
                                  2: it seeds itself by noise. */

    /* Private to the driver. */
    uint32_t held;             /* Bit k is 1 if the engine has the operand with number k. */
    uint32_t loaded;           /* What is loaded. */
    uint32_t modulus_bits;     /* Length of the loaded modulus. */
    uint32_t modulus_residue;  /* Of the loaded modulus, where results are checked. */
    uint32_t parameter_set;    /* As it was selected. */
    uint32_t selected;         /* Slot that is selected, plus 1; 0: it is not known. */
    uint32_t kept, kept_bytes; /* Less than a word of a stream, until its next part. */
    uint32_t kept_slot;        /* Of that stream. */
};

/* A modulus with its constants.

   `bits` is its exact length: the position of its highest 1, plus 1 (coprime_bit_length). The
   constants are computed by coprime_modulus_constants, or in advance; they are specific to an
   engine's digit_width, headroom, radix_bits and min_bits. */
struct coprime_modulus {
    uint32_t bits;
    const uint32_t *value;
    /* R^2 mod M, as many words as the modulus. For a prime, R * R_p mod P. */
    const uint32_t *power;
    /* -M^-1 mod 2^digit_width; 0 if the modulus is even. */
    uint32_t inverse[COPRIME_DIGIT_WORDS];
};

/* A public key. All exponent_bits of the exponent are scanned: 1 or more. */
struct coprime_public_key {
    struct coprime_modulus modulus;
    const uint32_t *exponent;
    uint32_t exponent_bits;
};

/* A private key, with its public key.

   The numbers are those of RFC 8017. An engine without the Chinese Remainder Theorem
   (max_prime_bits is 0) uses d; others use p, q, dp, dq and qinv. Numbers that the engine does not
   use may be null, with lengths of 0. The public exponent may be null: then coprime_public cannot
   be used. */
struct coprime_private_key {
    struct coprime_public_key public_key;
    /* Private exponent, as many words as the modulus. */
    const uint32_t *d;
    /* The primes. */
    struct coprime_modulus p, q;
    /* d mod (p - 1), as many words as p; d mod (q - 1), as many words as q. */
    const uint32_t *dp, *dq;
    /* q^-1 mod p, as many words as p. */
    const uint32_t *qinv;
    /* qinv * q * R_p mod n and (1 - qinv * q) * R_q mod n, as many words as the modulus: constants.
       The second is null where the engine does not use it. */
    const uint32_t *crt_p, *crt_q;
};

/* Memory for constants: `count` words at `words`. */
struct coprime_memory {
    uint32_t *words;
    size_t count;
};

/* Identify the accelerator, and read its properties.

   This clears the marks of operands and slots that are loaded. An engine with slots clears itself
   after a reset, which is waited for. Errors: COPRIME_ERROR_IDENTIFICATION; COPRIME_ERROR_BUSY if a
   command is running. */
int coprime_open(struct coprime *driver);

/* Compute the constants of a modulus; `bits` and `value` must be set.

   The engine computes them, and is wiped: what was loaded is gone. Software computes R mod M, by as
   many doublings as the engine's numbers have bits beyond the modulus's length, and an inverse
   modulo a digit. They occupy COPRIME_MODULUS_MEMORY(bits) words at the front of `memory`, which is
   reduced to the rest. They must stay there as long as the modulus is loaded from them. The time of
   software is the same for every modulus of a length. Errors: COPRIME_ERROR_MODULUS_SHORT if `bits`
   is over the exact length, COPRIME_ERROR_KEY_EXCESS if it is below; COPRIME_ERROR_MODULUS_ZERO,
   _EVEN; COPRIME_ERROR_LENGTH_OVER; COPRIME_ERROR_MEMORY; COPRIME_ERROR_BUSY,
   COPRIME_ERROR_TIMEOUT; COPRIME_ERROR_UNSUPPORTED if the engine lacks MODMUL. */
int coprime_modulus_constants(struct coprime *driver, struct coprime_modulus *modulus,
                              struct coprime_memory *memory);

/* Compute the constants of a private key; all its numbers must be set.

   The engine computes them, and is wiped, as with coprime_modulus_constants. For an engine without
   the Chinese Remainder Theorem, these are those of the modulus. For others they need
   COPRIME_PRIVATE_MEMORY words, and those of the primes are secret. Time and memory accesses of
   software are the same for every key of these lengths, and there is no multiplication, provided
   that the compiler does not turn masks into branches; so are the engine's commands. After an error
   the memory is overwritten with zeros, and all of it left. Errors: as coprime_modulus_constants,
   of the modulus or a prime; COPRIME_ERROR_MODULUS_EVEN of a prime; COPRIME_ERROR_KEY;
   COPRIME_ERROR_OPERAND_MISSING if a number is null. */
int coprime_private_constants(struct coprime *driver, struct coprime_private_key *key,
                              struct coprime_memory *memory);

/* Load a modulus, for coprime_modmul and coprime_modexp, in place of what was loaded. Errors:
   COPRIME_ERROR_LENGTH_OVER, COPRIME_ERROR_BUSY, and COPRIME_ERROR_KEY_EXCESS if the value is
   longer than `bits`; COPRIME_ERROR_UNSUPPORTED if the engine has slots. An invalid modulus (0, even,
   too short) is detected by the command. */
int coprime_load_modulus(struct coprime *driver, const struct coprime_modulus *modulus);

/* result = x * y mod m with the last loaded modulus, which may be part of a key.

   Numbers have as many words as the modulus; result may alias one of the others. Ranges: x, y < m.
   Errors: COPRIME_ERROR_OPERAND_MISSING if none was loaded, or if the hardware has been reset
   since; COPRIME_ERROR_OPERAND_RANGE; COPRIME_ERROR_TIMEOUT; COPRIME_ERROR_BUSY;
   COPRIME_ERROR_MODULUS_ZERO, _EVEN, _SHORT; COPRIME_ERROR_UNSUPPORTED. */
int coprime_modmul(struct coprime *driver, const uint32_t *x, const uint32_t *y, uint32_t *result);

/* result = x ^ e mod m with the last loaded modulus, which may be part of a key.

   The exponent has exponent_bits bits, all of which are scanned. It replaces a public exponent, and
   a private one without the Chinese Remainder Theorem: such a key must be loaded again afterwards.
   Errors: as coprime_modmul; COPRIME_ERROR_EXPONENT_LENGTH if exponent_bits is 0;
   COPRIME_ERROR_LENGTH_OVER; COPRIME_ERROR_KEY_EXCESS if the exponent is longer. */
int coprime_modexp(struct coprime *driver, const uint32_t *x, const uint32_t *exponent,
                   uint32_t exponent_bits, uint32_t *result);

/* A number that an operation is given. Exponents have `bits` bits, of which all are scanned; all
   others have as many words as the modulus, and `bits` is ignored. */
struct coprime_input {
    const uint32_t *words;
    uint32_t bits;
};

/* Any operation that is given numbers, with the last loaded modulus: `inputs` in the order of the
   command's formula, from left to right, but for the modulus. Several exponents are scanned
   together, as long as the longest; each may have as many bits as the engine's longest modulus
   divided by their number. Time and memory accesses of software are the same for all exponents of
   their lengths. Errors: as coprime_modexp; COPRIME_ERROR_UNSUPPORTED if the engine lacks it, or if
   it is not given numbers. */
int coprime_operate(struct coprime *driver, enum coprime_command command,
                    const struct coprime_input *inputs, uint32_t *result);

/* Load a public key, in place of what was loaded. Errors: as coprime_load_modulus and, of the
   exponent, coprime_modexp. */
int coprime_load_public(struct coprime *driver, const struct coprime_public_key *key);

/* result = x ^ e mod n with the last loaded public key, by coprime_load_public or as part of a
   private key. Errors: as coprime_modmul. */
int coprime_public(struct coprime *driver, const uint32_t *x, uint32_t *result);

/* Load a private key, and its public exponent where the engine has memory for both, in place of
   what was loaded. The accelerator keeps the key, which cannot be read back: the caller's copy and
   constants may then be wiped. Errors: as coprime_load_public; and COPRIME_ERROR_OPERAND_MISSING if
   a number that the engine needs is null. */
int coprime_load_private(struct coprime *driver, const struct coprime_private_key *key);

/* result = x ^ d mod n with the last loaded private key. Errors: as coprime_modmul.

   A hardware fault in one half of the computation can reveal the primes: if that is a risk, compare
   coprime_public of the result with x before releasing the result. An accelerator that is `checked`
   does this in hardware, with the key's public exponent: if the result is wrong, it returns
   COPRIME_ERROR_FAULT and wipes everything that was loaded. The driver returns it, too, and clears
   the result, if that is not what was checked: a bit has changed as x or the result was moved, and
   nothing is wiped. A checked accelerator also consumes what coprime_modmul,
   coprime_modexp and coprime_public need, which must be loaded again for these. */
int coprime_private(struct coprime *driver, const uint32_t *x, uint32_t *result);

/* Bytes of a SHA-256 digest, and of the longest salt. */
#define COPRIME_DIGEST_BYTES 32u

/* Settings for padding in hardware. A digest is always that of SHA-256, COPRIME_DIGEST_BYTES long.
   Members that are not for the selected scheme and operation are ignored. */
struct coprime_padding {
    enum coprime_scheme scheme;
    /* Signing: the input is the message, which the hardware hashes; otherwise it is the digest. */
    bool hash;
    /* PKCS1_SIGNATURE, signing: the identifier of SHA-256 precedes the digest. Without it the input
       may be anything that fits. */
    bool digest_info;
    /* PSS: bytes of the salt, 0 to COPRIME_DIGEST_BYTES. */
    uint32_t salt_length;
    /* PSS, signing: the salt. Null: random bytes of the hardware. */
    const uint8_t *salt;
    /* PKCS1, private: the digest of d in as many bytes as the modulus. Secret: the message that a
       wrong padding decrypts to is derived from it. */
    const uint8_t *secret;
    /* OAEP: the digest of the label. Null: the label is empty. */
    const uint8_t *label;
    /* Signatures, public: the digest of the message. */
    const uint8_t *digest;
};

/* The two operations with the last loaded key, as coprime_public and coprime_private, with padding
   in hardware: public encrypts or verifies, private decrypts or signs.

   Input and output are octet strings. A ciphertext or a signature has as many bytes as the modulus;
   `output` has room for as many, and may alias the input. *output_size is the number of bytes
   written, 0 for a verification. Encrypting, and signing with a random salt, wait for the
   hardware's random bytes.

   A wrong padding of PKCS1 yields another message, and no error. Errors: as coprime_public and
   coprime_private; COPRIME_ERROR_PADDING if the padding is wrong, or the signature;
   COPRIME_ERROR_INPUT_CLIPPED if the input is too long for the padding; COPRIME_ERROR_SIZE if a
   ciphertext or a signature is not as long as the modulus, a digest has a wrong length, or a salt
   is too long; COPRIME_ERROR_PADDING_LENGTH if the modulus is too short; COPRIME_ERROR_UNSUPPORTED
   if the hardware lacks the scheme or the operation; COPRIME_ERROR_OPERAND_MISSING also if a needed
   `secret` or `digest` is null. */
int coprime_padded_public(struct coprime *driver, const struct coprime_padding *padding,
                          const uint8_t *input, uint32_t input_size, uint8_t *output,
                          uint32_t *output_size);
int coprime_padded_private(struct coprime *driver, const struct coprime_padding *padding,
                           const uint8_t *input, uint32_t input_size, uint8_t *output,
                           uint32_t *output_size);

/* Bytes of seed material that are enough for a random source in the hardware, and the most. */
#define COPRIME_SEED_BYTES 48u
#define COPRIME_SEED_MOST_BYTES 192u

/* Whether the random source in the hardware has no seed, or soon needs another one: commands that
   take random bytes wait without one. False if there is no source, or if it takes no seed. Ask before
   each such command, or every 32,768 * 128 bytes. */
bool coprime_needs_seed(const struct coprime *driver);

/* Seed the random source in the hardware with COPRIME_SEED_BYTES to COPRIME_SEED_MOST_BYTES, a
   multiple of 4, from a cryptographic random number generator: 32 bytes of entropy, 16 of a nonce,
   and what else is to be mixed in. It is mixed with what the source was seeded with before. A command
   may be running. Errors: COPRIME_ERROR_SIZE; COPRIME_ERROR_UNSUPPORTED if there is no source, or none
   that takes a seed; COPRIME_ERROR_RANDOM if its test has failed. */
int coprime_seed(struct coprime *driver, const uint8_t *material, uint32_t size);

/* Whether a test of the random source in the hardware has failed: commands that take random bytes then
   end with COPRIME_ERROR_SOURCE, until coprime_restart_source. False if there is no source. */
bool coprime_source_failed(const struct coprime *driver);

/* The random source in the hardware forgets everything, and tests itself again; a test mode ends.
   Errors: COPRIME_ERROR_UNSUPPORTED if there is no source. */
int coprime_restart_source(struct coprime *driver);

/* Words of coprime_next_samples, with 32 raw samples each. */
#define COPRIME_SAMPLE_WORDS 32u

/* Raw samples of a noise source in the hardware, to measure its entropy. coprime_begin_samples begins
   the test mode, with the first samples after the start of the noise source; coprime_next_samples
   waits for the next 1,024, which came one after the other, and begins to collect others. A word's
   first sample is its most significant bit. In the test mode the source gives no byte, and commands
   that take some wait; coprime_restart_source ends it. Errors: COPRIME_ERROR_UNSUPPORTED without a
   noise source; COPRIME_ERROR_RANDOM if no samples come, or outside the test mode. */
int coprime_begin_samples(struct coprime *driver);
int coprime_next_samples(struct coprime *driver, uint32_t samples[COPRIME_SAMPLE_WORDS]);

/* Whether a command waits for random bytes: STATUS.RANDOM, with slots WAITING.RANDOM. With `wait` that gives up, or in another
   function, coprime_wipe then ends the command. */
bool coprime_waits(const struct coprime *driver);

/* Overwrite the accelerator's memory: keys, input and output, slots. A command that waits for random
   bytes is given up; with slots, any call that is busy. Errors: COPRIME_ERROR_BUSY, COPRIME_ERROR_TIMEOUT. */
int coprime_wipe(struct coprime *driver);

/* Clock cycles for which the engine worked on the last command, and those of them in which a
   product entered a multiplier; modulo 2^32. */
uint32_t coprime_engine_cycles(const struct coprime *driver);
uint32_t coprime_engine_products(const struct coprime *driver);

/* Length in bits of a number of `count` words: the position of its highest 1, plus 1; 0 for 0. */
uint32_t coprime_bit_length(const uint32_t *words, size_t count);

/* Convert `size` bytes, most significant first, to a number of `count` words (OS2IP of RFC 8017).
   Error: COPRIME_ERROR_SIZE if it does not fit; `words` then holds its low part. The time is the
   same for every number of a size. */
int coprime_from_bytes(uint32_t *words, size_t count, const uint8_t *bytes, size_t size);

/* Convert a number of `count` words to `size` bytes, most significant first (I2OSP of RFC 8017).
   Error: COPRIME_ERROR_SIZE if it does not fit; `bytes` then holds its low part. The time is the
   same for every number of a size. */
int coprime_to_bytes(uint8_t *bytes, size_t size, const uint32_t *words, size_t count);

/* Overwrite memory with zeros, even if the compiler sees no later use of it. */
void coprime_clear(uint32_t *words, size_t count);

/* Description of an error code in English; never null. */
const char *coprime_error_text(int code);

#ifdef __cplusplus
}
#endif

#endif
