#include "system.h"

#define UART (*(volatile uint32_t *)SYSTEM_UART)
/* 0 when the UART takes a byte. */
#define UART_FULL ((*(volatile uint32_t *)SYSTEM_UART_FULL) & 1u)

/* --- Output -------------------------------------------------------------------------------- */

void put(char character)
{
    while (UART_FULL)
        ;
    UART = (uint8_t)character;
}

void print(const char *text)
{
    while (*text)
        put(*text++);
}

void print_number(uint32_t number)
{
    char digits[11], *at = digits + sizeof digits - 1;
    *at = 0;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    print(at);
}

void print_cycles(const char *what, uint32_t cycles)
{
    print(what);
    print(": ");
    print_number(cycles);
    print(" cycles\n");
}

void print_call(const struct coprime *driver, const char *what, const char *engine, uint32_t cycles)
{
    print_cycles(what, cycles);
    print_cycles(engine, coprime_engine_cycles(driver));
}

void print_words(const uint32_t *words, uint32_t count)
{
    for (uint32_t i = 8 * count; i-- > 0;)
        put("0123456789abcdef"[words[i / 8] >> 4 * (i % 8) & 0xF]);
}

void print_bytes(const char *what, const uint8_t *bytes, uint32_t size)
{
    static const char digits[] = "0123456789abcdef";

    print(what);
    print(": ");
    for (uint32_t i = 0; i < size; ++i) {
        put(digits[bytes[i] >> 4]);
        put(digits[bytes[i] & 15u]);
    }
    print("\n");
}

void print_end(void)
{
    print("end\n");
    while (UART_FULL)
        ;
}

/* --- The processor ------------------------------------------------------------------------- */

/* Counted by the handler in start.S. */
volatile uint32_t interrupts;

struct wait waiting;

/* waitirq ends while a request is active, be it masked or not: one that comes just before it is not
   missed. */
int wait_interrupt(void *context)
{
    const uint32_t before = interrupts;
    (void)context;
    waiting.began = now();
    __asm__ volatile(".insn r 0x0b, 6, 3, x0, %0, x0" /* maskirq */
                     :
                     : "r"(~(1u << SYSTEM_INTERRUPT))
                     : "memory");
    while (interrupts == before) {
        uint32_t pending;
        /* waitirq */
        __asm__ volatile(".insn r 0x0b, 4, 4, %0, x0, x0" : "=r"(pending) : : "memory");
    }
    waiting.ended = now();
    return 0;
}

uint32_t read_register(void *context, uint32_t address)
{
    (void)context;
    return *(volatile uint32_t *)(SYSTEM_ACCELERATOR + address);
}

void write_register(void *context, uint32_t address, uint32_t value)
{
    (void)context;
    *(volatile uint32_t *)(SYSTEM_ACCELERATOR + address) = value;
}

#ifdef SYSTEM_COPY_ENGINE
/* BurstBridge's registers. A write of a count is answered when the copy is complete. */
static struct {
    uint32_t memory, accelerator, send, receive;
} volatile *const copy_engine = (void *)SYSTEM_COPY_ENGINE;

static void write_block(void *context, uint32_t address, const uint32_t *words, uint32_t count)
{
    (void)context;
    copy_engine->memory = (uint32_t)words;
    copy_engine->accelerator = address;
    __asm__ volatile("" : : : "memory"); /* the words are in the memory */
    copy_engine->send = count;
}

static void read_block(void *context, uint32_t address, uint32_t *words, uint32_t count)
{
    (void)context;
    copy_engine->memory = (uint32_t)words;
    copy_engine->accelerator = address;
    copy_engine->receive = count;
    __asm__ volatile("" : : : "memory"); /* other words are in the memory */
}
#endif

struct coprime accelerator_driver(void)
{
    return (struct coprime){
        .read = read_register,
        .write = write_register,
        .wait = wait_interrupt,
#ifdef SYSTEM_COPY_ENGINE
        .write_block = write_block,
        .read_block = read_block,
#endif
    };
}
