"""A serial link: registers through a UART, in frames that are checked and can be repeated."""
