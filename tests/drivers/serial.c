/* Decrypts at a serial port, once or several times.

   serial PATH BAUD TIMES, and a line of numbers in hexadecimal: n e p q dp dq qinv x. Prints each
   result, or the error: "error CODE". After an error it begins anew. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coprime_serial.h"

enum { BITS = 2048, WORDS = COPRIME_WORDS(BITS), NUMBERS = 8 };

static uint32_t numbers[NUMBERS][WORDS];
static uint32_t constants[COPRIME_PRIVATE_MEMORY(BITS, BITS)];

static void read_number(uint32_t *number)
{
    char text[2 * 4 * WORDS + 3];
    uint8_t bytes[4 * WORDS];
    uint32_t size;

    if (scanf("%513s", text) != 1 || strlen(text) % 2 != 0) {
        exit(2);
    }
    size = (uint32_t)strlen(text) / 2;
    for (uint32_t i = 0; i < size; ++i) {
        unsigned byte;

        if (sscanf(text + 2 * i, "%2x", &byte) != 1) {
            exit(2);
        }
        bytes[i] = (uint8_t)byte;
    }
    if (coprime_from_bytes(number, WORDS, bytes, size)) {
        exit(2);
    }
}

static int decrypt(struct coprime *driver, uint32_t *result)
{
    struct coprime_memory memory = {constants, sizeof constants / sizeof *constants};
    struct coprime_private_key key = {0};
    int error;

    key.public_key.modulus.value = numbers[0];
    key.public_key.modulus.bits = coprime_bit_length(numbers[0], WORDS);
    key.public_key.exponent = numbers[1];
    key.public_key.exponent_bits = coprime_bit_length(numbers[1], WORDS);
    key.p.value = numbers[2];
    key.p.bits = coprime_bit_length(numbers[2], WORDS);
    key.q.value = numbers[3];
    key.q.bits = coprime_bit_length(numbers[3], WORDS);
    key.dp = numbers[4];
    key.dq = numbers[5];
    key.qinv = numbers[6];
    error = coprime_open(driver);
    if (!error) {
        error = coprime_private_constants(driver, &key, &memory);
    }
    if (!error) {
        error = coprime_load_private(driver, &key);
    }
    return error ? error : coprime_private(driver, numbers[7], result);
}

int main(int argc, char **argv)
{
    struct coprime_serial serial;
    struct coprime driver;
    int error;

    if (argc != 4) {
        return 2;
    }
    for (int i = 0; i < NUMBERS; ++i) {
        read_number(numbers[i]);
    }
    error = coprime_serial_open(&serial, argv[1], (uint32_t)atol(argv[2]), 600000, &driver);
    if (error) {
        fprintf(stderr, "%s: %s\n", argv[1], strerror(error));
        return 1;
    }
    for (int times = atoi(argv[3]); times > 0; --times) {
        uint32_t result[WORDS] = {0};

        error = decrypt(&driver, result);
        if (error) {
            printf("error %d\n", error);
            error = coprime_serial_restart(&serial);
            if (error) {
                fprintf(stderr, "%s: %s\n", argv[1], strerror(error));
                break;
            }
        } else {
            for (int i = WORDS; i-- > 0;) {
                printf("%08lx", (unsigned long)result[i]);
            }
            printf("\n");
        }
        (void)fflush(stdout);
    }
    coprime_serial_close(&serial);
    coprime_serial_close(&serial);
    return error != 0;
}
