"""The host's end of the serial link's frames, whose format is in docs/serial.md."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from coprime.bus.serial.protocol import (
    ADDRESS_HIGH,
    ANSWER,
    ANSWER_HEADER,
    ESCAPE,
    ESCAPED,
    FCS_BYTES,
    FIXED,
    FLAG,
    INTERRUPT,
    SerialRequest,
    Status,
)

_SPECIAL = (FLAG, ESCAPE)
# Longer than any answer with all bytes escaped; anything longer is not an answer.
_LONGEST = 1024


@dataclass(frozen=True)
class Answer:
    """An answer of the board.

    Parameters
    ----------
    number : that of the request, 0 to 255
    interrupt : the accelerator requested an interrupt
    words : those that were read, or the one sent with OPEN
    """

    number: int
    status: Status
    interrupt: bool
    words: tuple[int, ...]


def encode_request(
    number: int,
    request: SerialRequest,
    address: int = 0,
    count: int = 0,
    words: Sequence[int] = (),
    *,
    fixed: bool = False,
) -> bytes:
    """Make a frame, with flags around it.

    Parameters
    ----------
    number : 0 to 255
    address : byte address of the first register, a multiple of 4 in 0..4092
    count : number of words to read or to write, 0 to 64
    words : those to write, `count` of them; none to read
    fixed : all are for the register at `address`, otherwise for consecutive ones
    """
    register = address // 4
    second = request << 4 | (FIXED if fixed else 0) | register >> 8 & ADDRESS_HIGH
    body = bytes([number, second, register & 0xFF, count])
    body += b"".join(word.to_bytes(4, "little") for word in words)
    body += zlib.crc32(body).to_bytes(FCS_BYTES, "little")
    escaped = bytearray([FLAG])
    for byte in body:
        escaped += bytes([ESCAPE, byte ^ ESCAPED] if byte in _SPECIAL else [byte])
    escaped.append(FLAG)
    return bytes(escaped)


class FrameParser:
    """Finds answers in received bytes, and drops everything else."""

    def __init__(self) -> None:
        self._frame = bytearray()

    def feed(self, data: bytes) -> list[Answer]:
        """Take the next bytes, and return the answers that they complete."""
        found = []
        for byte in data:
            if byte != FLAG:
                self._frame.append(byte)
                if len(self._frame) > _LONGEST:
                    del self._frame[: _LONGEST // 2]
            elif self._frame:
                answer = _decode(self._frame)
                if answer is not None:
                    found.append(answer)
                self._frame.clear()
        return found


def _decode(escaped: bytes | bytearray) -> Answer | None:
    """Read the bytes between two flags; None if they are not an answer."""
    body = bytearray()
    escaping = False
    for byte in escaped:
        if byte == ESCAPE and not escaping:
            escaping = True
            continue
        body.append(byte ^ ESCAPED if escaping else byte)
        escaping = False
    if escaping or len(body) < ANSWER_HEADER + FCS_BYTES:
        return None
    content, end = body[:-FCS_BYTES], body[-FCS_BYTES:]
    number, second, count = content[:ANSWER_HEADER]
    if (
        zlib.crc32(content) != int.from_bytes(end, "little")
        or not second & ANSWER
        or len(content) != ANSWER_HEADER + 4 * count
    ):
        return None
    words = tuple(
        int.from_bytes(content[at : at + 4], "little")
        for at in range(ANSWER_HEADER, len(content), 4)
    )
    return Answer(number, Status(second & 0b11), bool(second & INTERRUPT), words)
