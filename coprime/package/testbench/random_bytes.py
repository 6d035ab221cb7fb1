"""The random bytes of a testbench: those of a 32-bit xorshift generator, as random.v.j2 has it."""

from collections.abc import Callable

SEED = 2463534242


def random_bytes(seed: int = SEED) -> Callable[[int], bytes]:
    """The bytes of the testbench's generator, from its seed on."""
    state = seed

    def draw(count: int) -> bytes:
        nonlocal state
        found = bytearray()
        for _ in range(count):
            found.append(state & 0xFF)
            state ^= state << 13 & 0xFFFFFFFF
            state ^= state >> 17
            state ^= state << 5 & 0xFFFFFFFF
        return bytes(found)

    return draw
