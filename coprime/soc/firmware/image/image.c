/* A firmware image that secure boot starts: it says so on the UART, and ends the run. It is linked to
   the address at which it lies, behind its header. */
#include <stdint.h>

#define UART (*(volatile uint32_t *)SYSTEM_UART)
#define UART_FULL ((*(volatile uint32_t *)SYSTEM_UART_FULL) & 1u)

__attribute__((section(".start"), used, noreturn)) void start(void)
{
    static const char text[] = "the image runs\nend\n";

    for (const char *at = text; *at; ++at) {
        while (UART_FULL)
            ;
        UART = (uint8_t)*at;
    }
    while (UART_FULL)
        ;
    for (;;)
        __asm__ volatile("ebreak"); /* ends the run */
}
