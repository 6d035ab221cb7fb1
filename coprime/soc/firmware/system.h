/* The system around the processor: its UART, its cycle counter, the accelerator and its interrupt. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <stdint.h>

#include "coprime.h"

/* Send to the UART. print_cycles prints a line that the host reads; print_end prints the last line,
   and waits until it is sent. */
void put(char character);
void print(const char *text);
void print_number(uint32_t number);
void print_cycles(const char *what, uint32_t cycles);
/* Two lines: the cycles of a call from its inputs in memory to its outputs, and those of its engine. */
void print_call(const struct coprime *driver, const char *what, const char *engine, uint32_t cycles);
void print_words(const uint32_t *words, uint32_t count); /* in hexadecimal digits, all of them */
void print_bytes(const char *what, const uint8_t *bytes, uint32_t size); /* a line, the same way */
void print_end(void);

/* Clock cycles since the start, modulo 2^32: 43 seconds at 100 MHz. */
static inline uint32_t now(void)
{
    uint32_t cycles;
    __asm__ volatile(".insn i 0x73, 2, %0, x0, -1024" : "=r"(cycles) : : "memory"); /* rdcycle */
    return cycles;
}

/* The three functions that the driver is given; they ignore the context. wait_interrupt sleeps until
   the accelerator's interrupt has come. */
uint32_t read_register(void *context, uint32_t address);
void write_register(void *context, uint32_t address, uint32_t value);
int wait_interrupt(void *context);

/* A driver with these functions, and with bursts where the system has a copy engine; to be opened. */
struct coprime accelerator_driver(void);

/* Interrupts so far, and when the last wait for one began and ended. */
extern volatile uint32_t interrupts;
struct wait {
    uint32_t began, ended;
};
extern struct wait waiting;

#endif
