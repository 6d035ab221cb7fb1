"""The frames of the serial link, for both of its ends: docs/serial.md has them as tables.

Framing and frame check sequence are those of PPP in HDLC-like framing (RFC 1662): FLAG ends a frame
and begins the next one, ESCAPE takes the meaning of the byte that follows, and the last four bytes
are FCS-32, which is CRC-32/ISO-HDLC, the least significant byte first.
"""

import enum

FLAG = 0x7E
ESCAPE = 0x7D
ESCAPED = 0x20  # the bit that is inverted in a byte after ESCAPE
FCS_BYTES = 4

REQUEST_HEADER = 4
"""Bytes before the words of a request: number; `SerialRequest`, FIXED and ADDRESS_HIGH; address."""
ANSWER_HEADER = 3
"""Bytes before the words of an answer: number; ANSWER, INTERRUPT and Status; words."""
BAUD = 115_200
"""Bits per second by default."""
MAX_WORDS = 64  # the longest burst: 256 bytes

FIXED = 1 << 3
"""In byte 1 of a request: all words are for one register, otherwise for consecutive ones."""
ADDRESS_HIGH = 0b11
"""In byte 1 of a request: bits 9 and 8 of the register's number, whose others are in byte 2."""
ANSWER = 1 << 7  # in byte 1 of an answer, and 0 in that of a request: an echo is no answer
INTERRUPT = 1 << 6  # in byte 1 of an answer: the accelerator's interrupt request


class SerialRequest(enum.IntEnum):
    """What is asked for: bits 6..4 of byte 1 of a request."""

    OPEN = 1
    """Begin a session: reset the accelerator, accept numbers after this one, return the word."""
    POLL = 2
    """Nothing but an answer, for its INTERRUPT."""
    READ = 3
    WRITE = 4


class Status(enum.IntEnum):
    """How a request ended: bits 1..0 of byte 1 of an answer."""

    DONE = 0
    REFUSED = 1
    """Done, but the accelerator refused at least one of the words."""
    CLOSED = 2
    """Not done: no session is open. The board has been reset, or the wire had a break."""
    UNEXPECTED = 3
    """Not done: the number is neither the last one, nor follows it."""
