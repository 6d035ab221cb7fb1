/* Hashes at a serial port: hash PATH BAUD BYTES prints SHA3-256 of so many bytes 0, 1, 2 ...

   With the functions of docs/byte-strings.md. */
#include <stdio.h>
#include <stdlib.h>

#include "coprime_calls.h"
#include "coprime_serial.h"

int sha3_256(struct coprime *driver, const uint8_t *message, uint32_t size, uint8_t digest[32]);

int main(int count, char **words)
{
    static uint8_t message[10000];
    struct coprime_serial serial;
    struct coprime driver = {0};
    uint8_t digest[32];
    uint32_t size;
    int error;

    if (count != 4) {
        return 2;
    }
    size = (uint32_t)strtoul(words[3], NULL, 10);
    for (uint32_t i = 0; i < sizeof message; ++i) {
        message[i] = (uint8_t)(i & 0xFFu);
    }
    error = coprime_serial_open(&serial, words[1], (uint32_t)strtoul(words[2], NULL, 10), 10000,
                                &driver);
    if (error) {
        return 3;
    }
    error = coprime_open(&driver);
    error = error ? error : sha3_256(&driver, message, size, digest);
    if (error) {
        printf("%s\n", coprime_error_text(error));
    }
    for (size_t i = 0; !error && i < sizeof digest; ++i) {
        printf("%02x", digest[i]);
    }
    coprime_serial_close(&serial);
    return error != 0;
}
