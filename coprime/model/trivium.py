"""Trivium, a stream cipher of three shift registers, bit by bit.

Source: De Canniere, Preneel, "Trivium specifications" (eSTREAM, 2005); ISO/IEC 29192-3. Bits are
counted from 0 here: s_1 of the specification is bit 0 of the state.
"""

KEY_BITS = 80
SEED_BYTES = 2 * KEY_BITS // 8
"""Of key and vector."""
STATE_BITS = 288
BLANK_STEPS = 4 * STATE_BITS
"""Steps of which no output is used."""
STARTS = (0, 93, 177)
"""Of the three registers in the state. Each moves up by a bit in a step."""
TAPS = ((65, 90, 91, 92, 170), (161, 174, 175, 176, 263), (242, 285, 286, 287, 68))
"""Of the bit that leaves a register for the next one: the first, the fourth and the last bit are
added to the product of the second and the third; the output has the first and the fourth."""
ONES = (285, 286, 287)
"""Bits of the state that begin as 1; those after key and vector begin as 0."""


def start(key: int, vector: int) -> list[int]:
    """The state before the blank steps, of numbers of 80 bits, whose bit k is bit k + 1 there."""
    state = [0] * STATE_BITS
    for k in range(KEY_BITS):
        state[STARTS[0] + k] = key >> k & 1
        state[STARTS[1] + k] = vector >> k & 1
    for place in ONES:
        state[place] = 1
    return state


def step(state: list[int]) -> tuple[list[int], int]:
    """The next state, and a bit of output."""
    leaving, output = [], 0
    for first, second, third, fourth, fifth in TAPS:
        output ^= state[first] ^ state[fourth]
        product = state[second] & state[third]
        leaving.append(state[first] ^ product ^ state[fourth] ^ state[fifth])
    found = [0, *state[:-1]]
    for place, begin in enumerate(STARTS):
        found[begin] = leaving[place - 1]
    return found, output


def keystream(key: int, vector: int, count: int) -> list[int]:
    """The first `count` bits of output after the blank steps."""
    state = start(key, vector)
    for _ in range(BLANK_STEPS):
        state, _ = step(state)
    found = []
    for _ in range(count):
        state, bit = step(state)
        found.append(bit)
    return found
