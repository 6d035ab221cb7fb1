/* What coprime.c has for the driver's other sources, not for its users: the accelerator's registers,
   and what software computes of a modulus. */
#ifndef COPRIME_ENGINE_H
#define COPRIME_ENGINE_H

#include "coprime.h"

/* What a read gives if the device does not answer: no register shows it in which errors are. */
#define NO_ANSWER UINT32_MAX

static inline uint32_t read(const struct coprime *driver, uint32_t address)
{
    return driver->read(driver->context, address);
}

static inline void write(const struct coprime *driver, uint32_t address, uint32_t value)
{
    driver->write(driver->context, address, value);
}

static inline bool knows(const struct coprime *driver, enum coprime_command command)
{
    return driver->commands >> command & 1;
}

/* 1 if the highest word has no bits above the length. */
static inline bool fits(const uint32_t *number, uint32_t bits)
{
    return bits % 32 == 0 || number[bits / 32] >> bits % 32 == 0;
}

/* The length that is written to the hardware. */
static inline uint32_t told(const struct coprime *driver, uint32_t bits)
{
    return bits > driver->min_bits ? bits : driver->min_bits;
}

/* log2 of R for a modulus of this length, as written to the hardware. */
static inline uint32_t radix_exponent(const struct coprime *driver, uint32_t length)
{
    const uint32_t radix = driver->radix_bits;

    if (radix == 0 || length == 0) {
        return 0;
    }
    return (length + driver->headroom + radix - 1) / radix * radix;
}

/* The accelerator's error: of the command, otherwise of a refused access. */
int coprime_flagged(const struct coprime *driver);

/* Clear errors, and notice a reset of the hardware, after which nothing is loaded. */
int coprime_prepare(struct coprime *driver);

/* Write a register that starts a command. */
void coprime_begin(const struct coprime *driver, uint32_t address, uint32_t value);

/* Wait until the command has ended, and return its error. */
int coprime_await(struct coprime *driver);

/* Both. */
int coprime_execute(struct coprime *driver, uint32_t address, uint32_t value);

/* Load an operand, if the engine has it: `count` words, with zeros above them. */
int coprime_load(const struct coprime *driver, enum coprime_operand operand, const uint32_t *words,
                 uint32_t count, uint32_t length);

/* Write a word of the input buffer; read one of the result. */
void coprime_put_word(const struct coprime *driver, uint32_t place, uint32_t word);
uint32_t coprime_get_word(const struct coprime *driver, uint32_t place);

/* Residues modulo 2^V - 1, where V is the residue_width: 0 to 2^V - 1, of which the greatest is 0,
   too. The time is the same for every number. */
uint32_t coprime_residue(const struct coprime *driver, uint32_t number);
uint32_t coprime_residue_of(const struct coprime *driver, const uint32_t *number, uint32_t count);

/* inverse = -modulus^-1 mod 2^width, of COPRIME_DIGIT_WORDS words; 0 for an even modulus. */
void coprime_negative_inverse(uint32_t *inverse, uint32_t width, const uint32_t *modulus,
                              uint32_t count);

/* number = 2^exponent mod modulus, for a modulus of exactly `bits` bits. The exponent is public. */
void coprime_power_of_two(uint32_t *number, uint32_t exponent, const uint32_t *modulus,
                          uint32_t bits);

/* number = 2^times * number mod modulus, for a number below it where `sign` is 0; where that is 1 the
   modulus is still to be added. `times` is public. */
void coprime_double_often(uint32_t *number, uint32_t sign, uint32_t times, const uint32_t *modulus,
                          uint32_t count);

#endif
