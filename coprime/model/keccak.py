"""Keccak-f[1600], SHA-3 and SHAKE in integers, step by step.

Source: FIPS 202, "SHA-3 Standard: Permutation-Based Hash and Extendable-Output Functions" (2015):
the step mappings of section 3.2 with the offsets and constants computed as algorithms 2 and 5 do,
pad10*1 (algorithm 9), the sponge (algorithm 8) and the six functions of section 6 on whole bytes.

A state is 25 lanes of 64 bits; lane x + 5 y is A[x, y], in the order in which a block's bytes fill
them (section 3.1.2, appendix B.1).
"""

from dataclasses import dataclass

LANE_BITS = 64
LANES = 25
ROUNDS = 24
STATE_BYTES = LANES * LANE_BITS // 8
_MASK = (1 << LANE_BITS) - 1


@dataclass(frozen=True)
class Function:
    """A function of section 6.

    Attributes
    ----------
    rate_lanes (int): lanes that a block of the message is added to, 9 to 21
    suffix (int): the domain bits and the first 1 of pad10*1, the first bit the least significant
    digest_bytes (int): length of the digest; 0 where the caller chooses it
    """

    name: str
    rate_lanes: int
    suffix: int
    digest_bytes: int

    @property
    def rate_bytes(self) -> int:
        """Bytes of a block."""
        return self.rate_lanes * LANE_BITS // 8

    def blocks(self, length: int) -> int:
        """Blocks of a message of `length` bytes with its padding."""
        return length // self.rate_bytes + 1

    def output_blocks(self, length: int) -> int:
        """Blocks squeezed for an output of `length` bytes."""
        return -(-length // self.rate_bytes)


def _sha3(bits: int) -> Function:
    """The capacity is twice the digest's length; the domain bits are 01."""
    return Function(f"SHA3-{bits}", (1600 - 2 * bits) // LANE_BITS, 0b110, bits // 8)


def _shake(bits: int) -> Function:
    """The capacity is twice the security strength; the domain bits are 1111."""
    return Function(f"SHAKE{bits}", (1600 - 2 * bits) // LANE_BITS, 0b11111, 0)


FUNCTIONS = (*map(_sha3, (224, 256, 384, 512)), *map(_shake, (128, 256)))
"""The functions for messages of bytes; a function's number is its place."""
LARGEST_RATE = max(function.rate_lanes for function in FUNCTIONS)
"""In lanes: that of SHAKE128."""


def _rotation_offsets() -> tuple[int, ...]:
    """Algorithm 2: how far rho rotates each lane, modulo 64."""
    offsets = [0] * LANES
    x, y = 1, 0
    for t in range(24):
        offsets[x + 5 * y] = (t + 1) * (t + 2) // 2 % LANE_BITS
        x, y = y, (2 * x + 3 * y) % 5
    return tuple(offsets)


ROTATIONS = _rotation_offsets()


def moved(lane: int) -> int:
    """Pi, algorithm 3: where a lane moves to."""
    x, y = lane % 5, lane // 5
    return y + 5 * ((2 * x + 3 * y) % 5)


CONSTANT_BITS = tuple((1 << j) - 1 for j in range(7))
"""The bits of a round constant that may be 1."""
FEEDBACK = (0, 4, 5, 6)
"""Bits of algorithm 5's sequence whose sum is the one after the next 8: that of x^8+x^6+x^5+x^4+1.
"""


def constant_sequence(count: int) -> list[int]:
    """The first `count` bits rc(t) of algorithm 5; round i has those from 7 i on."""
    bits = [1, 0, 0, 0, 0, 0, 0, 0]
    while len(bits) < count:
        bits.append(sum(bits[tap - 8] for tap in FEEDBACK) % 2)
    return bits[:count]


def _round_constants() -> tuple[int, ...]:
    bits = constant_sequence(7 * ROUNDS)
    return tuple(
        sum(bit << place for bit, place in zip(bits[7 * i :], CONSTANT_BITS, strict=False))
        for i in range(ROUNDS)
    )


ROUND_CONSTANTS = _round_constants()


def _rotate(lane: int, places: int) -> int:
    return (lane << places | lane >> LANE_BITS - places) & _MASK


def theta(state: list[int]) -> list[int]:
    """Algorithm 1: add to each bit the parities of two columns."""
    parities = [
        state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20] for x in range(5)
    ]
    sums = [parities[x - 1] ^ _rotate(parities[(x + 1) % 5], 1) for x in range(5)]
    return [lane ^ sums[place % 5] for place, lane in enumerate(state)]


def rho(state: list[int]) -> list[int]:
    """Algorithm 2: rotate each lane."""
    return [_rotate(lane, places) for lane, places in zip(state, ROTATIONS, strict=True)]


def pi(state: list[int]) -> list[int]:
    """Algorithm 3: rearrange the lanes."""
    found = [0] * LANES
    for place, lane in enumerate(state):
        found[moved(place)] = lane
    return found


def chi(state: list[int]) -> list[int]:
    """Algorithm 4: add to each bit a product of two others of its row."""
    return [
        lane ^ ~state[place // 5 * 5 + (place + 1) % 5] & state[place // 5 * 5 + (place + 2) % 5]
        for place, lane in enumerate(state)
    ]


def iota(state: list[int], number: int) -> list[int]:
    """Algorithm 6: add the constant of round `number` to lane 0."""
    return [state[0] ^ ROUND_CONSTANTS[number], *state[1:]]


def permute(state: list[int]) -> list[int]:
    """Keccak-f[1600], algorithm 7: 24 rounds."""
    for number in range(ROUNDS):
        state = iota(chi(pi(rho(theta(state)))), number)
    return state


def padded(function: Function, message: bytes) -> bytes:
    """The message with domain bits and pad10*1: whole blocks."""
    rate = function.rate_bytes
    block = bytearray(message + bytes([function.suffix]))
    block += bytes(-len(block) % rate)
    block[-1] |= 0x80
    return bytes(block)


def add_block(state: list[int], block: bytes) -> list[int]:
    """The state with a block added to its first lanes."""
    lanes = [int.from_bytes(block[k : k + 8], "little") for k in range(0, len(block), 8)]
    return [
        lane ^ added for lane, added in zip(state, lanes + [0] * (LANES - len(lanes)), strict=True)
    ]


def digest(function: Function, message: bytes, length: int | None = None) -> bytes:
    """The function of a message: `digest_bytes`, or `length` bytes of SHAKE (algorithm 8)."""
    rate = function.rate_bytes
    data = padded(function, message)
    state = [0] * LANES
    for place in range(0, len(data), rate):
        state = permute(add_block(state, data[place : place + rate]))
    wanted = function.digest_bytes if length is None else length
    output = b""
    while len(output) < wanted:
        if output:
            state = permute(state)
        output += b"".join(lane.to_bytes(8, "little") for lane in state[: function.rate_lanes])
    return output[:wanted]
