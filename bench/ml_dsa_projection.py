"""Projected cycles of ML-DSA on the two sides of `coprime/lattice`: no simulation.

    python -m bench.ml_dsa_projection

Both sides run their programs, each step after the one before; they share the sample buffer, whose
polynomials are filled and released in order, and semaphores. Steps of the arithmetic side are those
that are built, but for three (`PLANNED`). A message of the sponge takes what the sliced
sponge of eight slices was measured to take from one message to the next.
"""

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from coprime.lattice.arithmetic.large_steps import DRAIN, PREFETCH, SLOTS_OF
from coprime.lattice.arithmetic.steps import SLOTS as SMALL_SLOTS
from coprime.lattice.arithmetic.steps import StepType
from coprime.model.lattice.large_arithmetic import N
from coprime.model.lattice.ml_dsa import CHALLENGE_BLOCKS, SHORT_BLOCKS, UNIFORM_BLOCKS
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS, MlDsaSet

# --- Steps of the arithmetic side -----------------------------------------------------------------

SMALL = {
    "transform small": SMALL_SLOTS[StepType.TRANSFORM],
    "inverse small": SMALL_SLOTS[StepType.INVERSE],
    "last small": SMALL_SLOTS[StepType.LAST],
    "pair": SMALL_SLOTS[StepType.PAIR],
    "multiply small": SMALL_SLOTS[StepType.MULTIPLY],
    "unpack small": SMALL_SLOTS[StepType.UNPACK],
}
"""Modulo 3329: of c and s."""
PLANNED = {
    "low": (2 * N, "w - c s2 and the check of its low part, as one step"),
    "z": (2 * N, "y + c s1, checked and packed, as one step"),
    "hint": (2 * N, "both high parts of r and r + c t0, as one step"),
}
"""Steps that are not built: their slots, and what they do."""
SLOTS = {
    **{kind.name.lower(): slots for kind, slots in SLOTS_OF.items()},
    "unpack": N,
    "pack": N,
    "unpack wide": 2 * N,
    **SMALL,
    **{name: slots for name, (slots, _) in PLANNED.items()},
}
FETCH = 2


def step(kind: str) -> int:
    """Cycles of a step with its fetch."""
    return SLOTS[kind] + DRAIN + FETCH + PREFETCH * kind.startswith("unpack")


# --- Messages of the sponge side ------------------------------------------------------------------

PASS, PERMUTATION, FILL, FIRST = 10, 240, 168, 430
"""FIRST: from a message's start to its first sample."""
LEAVES = 200
"""The last block of samples leaves while the next message is computed."""


@dataclass(frozen=True)
class Message:
    """Bytes in, blocks out; `a_byte`: cycles of a byte that leaves."""

    rate: int
    absorbed: int
    blocks: int
    a_byte: float = 0.5

    @property
    def cycles(self) -> int:
        """From its start to the next one's."""
        taken = self.absorbed // self.rate + 1
        permutations = taken + self.blocks - 1
        moved = taken * FILL + self.blocks * self.rate * self.a_byte + (permutations + 1) * PASS
        return math.ceil(max(2 * PASS + permutations * PERMUTATION + 1, moved)) + 3


UNIFORM = Message(168, 34, UNIFORM_BLOCKS, 1)


def short(p: MlDsaSet) -> Message:
    """A short polynomial: two half bytes a byte."""
    return Message(136, 66, SHORT_BLOCKS[p.eta], 2)


def mask(p: MlDsaSet) -> Message:
    """A polynomial of y."""
    return Message(136, 66, math.ceil(32 * p.z_bits / 136), 1)


def ball(p: MlDsaSet) -> Message:
    """A challenge; its 256 numbers leave after its bytes."""
    return Message(136, p.challenge_bytes, CHALLENGE_BLOCKS, 4)


def digest(absorbed: int, length: int) -> Message:
    """Bytes of SHAKE256."""
    return Message(136, absorbed, math.ceil(length / 136))


# --- Two programs ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Do:
    """What a side does next: cycles; `sample`: of the buffer; a flag it waits for, or sets."""

    cycles: int = 0
    sample: bool = False  # sponge: fill one polynomial; arithmetic: needs the oldest one
    keep: bool = False  # arithmetic: the oldest one is needed again
    awaits: str = ""
    posts: str = ""
    forget: bool = False  # sponge: forget what is in the buffer


@dataclass
class Times:
    """Of both sides, and how long each has worked."""

    sponge: int = 0
    arithmetic: int = 0
    busy_sponge: int = 0
    busy_arithmetic: int = 0
    flags: dict[str, int] = field(default_factory=dict)


def scheduled(sponge: Sequence[Do], arithmetic: Sequence[Do], room: int) -> Times:
    """Runs both programs. Raises ValueError if each waits for the other one."""
    now = Times()
    pending = [deque(sponge), deque(arithmetic)]
    full: deque[int] = deque()  # when each polynomial of the buffer was complete
    released: deque[int] = deque([0] * room)

    def of_sponge(do: Do) -> bool:
        if do.awaits and do.awaits not in now.flags:
            return False
        start = max(now.sponge, now.flags.get(do.awaits, 0))
        if do.forget:
            while full:
                full.popleft()
                released.append(start)
        end = start + do.cycles
        if do.sample:
            if not released:
                return False
            free = released.popleft()
            end = max(end, free + do.cycles - FIRST)
            full.append(end + LEAVES)
        now.busy_sponge += do.cycles
        now.sponge = end
        if do.posts:
            now.flags[do.posts] = end + LEAVES
        return True

    def of_arithmetic(do: Do) -> bool:
        if (do.awaits and do.awaits not in now.flags) or (do.sample and not full):
            return False
        start = max(now.arithmetic, now.flags.get(do.awaits, 0), full[0] if do.sample else 0)
        now.arithmetic = start + do.cycles
        now.busy_arithmetic += do.cycles
        if do.sample and not do.keep:
            full.popleft()
            released.append(now.arithmetic)
        if do.posts:
            now.flags[do.posts] = now.arithmetic
        return True

    sides = (of_sponge, of_arithmetic)
    while any(pending):
        moved = False
        # The side that is behind moves first, so that polynomials are released in time's order.
        order = (0, 1) if now.sponge <= now.arithmetic else (1, 0)
        for side in order:
            if pending[side] and sides[side](pending[side][0]):
                pending[side].popleft()
                moved = True
                break
        if not moved:
            raise ValueError(f"both sides wait: {list(pending[0])[:1]}, {list(pending[1])[:1]}")
    return now


# --- Programs -------------------------------------------------------------------------------------


def samples(message: Message, count: int) -> Iterator[Do]:
    """So many polynomials."""
    return (Do(message.cycles, sample=True) for _ in range(count))


def steps(*kinds: str) -> Iterator[Do]:
    """Steps that need no sample."""
    return (Do(step(kind)) for kind in kinds)


def key_pair(p: MlDsaSet) -> tuple[list[Do], list[Do]]:
    """s1, then for each row a row of A and s2's element; tr last."""
    sponge = [Do(digest(34, 128).cycles + FIRST), *samples(short(p), p.columns)]
    arithmetic: list[Do] = []
    for _ in range(p.columns):
        arithmetic += [
            Do(step("pack"), sample=True, keep=True),
            Do(step("transform"), sample=True),
        ]
    for row in range(p.k):
        sponge += [*samples(UNIFORM, p.columns), *samples(short(p), 1)]
        arithmetic += [Do(step("multiply"), sample=True) for _ in range(p.columns)]
        arithmetic += [
            *steps("inverse", "last"),
            Do(step("pack"), sample=True, keep=True),  # s2
            Do(step("sum"), sample=True),
            Do(step("pack"), posts=f"t{row}"),  # t1
            Do(step("pack")),  # t0
        ]
    sponge.append(Do(digest(p.pk_bytes, 64).cycles + FIRST, awaits=f"t{p.k - 1}"))
    return sponge, arithmetic


def signature(p: MlDsaSet, verdicts: Sequence[str], ahead: bool) -> tuple[list[Do], list[Do]]:
    """Iterations that end with r0, z or "", accepted. mu is given.

    `ahead`: while c s2 is computed the sponge samples the next y, which is forgotten if r0 passes.
    """
    sponge = [Do(digest(128, 64).cycles + FIRST)]
    arithmetic: list[Do] = []
    for _ in range(p.columns + p.k):
        arithmetic += steps("unpack small", "transform small")
    w1_bytes = 32 * p.w1_bits * p.k
    begun = 0  # polynomials of this y that are sampled already
    room = 4
    for number, verdict in enumerate(verdicts):
        sponge += samples(mask(p), p.columns - begun)
        begun = 0
        arithmetic += [Do(step("transform"), sample=True) for _ in range(p.columns)]
        for row in range(p.k):
            sponge += samples(UNIFORM, p.columns)
            arithmetic += [Do(step("multiply"), sample=True) for _ in range(p.columns)]
            arithmetic += [
                *steps("inverse", "last"),
                Do(step("pack"), posts=f"w{number}" if row == p.k - 1 else ""),
            ]
        # All but the last block of w1 is absorbed as its rows come.
        early = 136 * ((64 + w1_bytes) // 136 - 1)
        sponge += [
            Do(digest(64 + w1_bytes - early, 64).cycles + FIRST, awaits=f"w{number}"),
            *samples(ball(p), 1),
        ]
        arithmetic += [Do(step("transform small"), sample=True), *steps("pair")]
        for row in range(p.k):
            last = row == p.k - 1
            arithmetic += [
                *steps("multiply small", "inverse small", "last small"),
                Do(step("low"), posts=f"r{number}" if last else ""),
            ]
        if ahead:
            begun = min(p.columns, room)
            sponge += samples(mask(p), begun)
        if verdict == "r0":
            if not ahead:
                sponge.append(Do(awaits=f"r{number}"))
            continue
        begun = 0
        sponge += [Do(awaits=f"r{number}", forget=ahead), *samples(mask(p), p.columns)]
        for column in range(p.columns):
            last = column == p.columns - 1
            arithmetic += [
                *steps("multiply small", "inverse small", "last small"),
                Do(step("z"), sample=True, posts=f"z{number}" if last else ""),
            ]
        if verdict == "z":
            sponge.append(Do(awaits=f"z{number}"))
            continue
        sponge += [Do(awaits=f"z{number}"), *samples(ball(p), 1)]
        arithmetic.append(Do(step("transform"), sample=True))
        for _ in range(p.k):
            arithmetic += steps(
                "unpack", "transform", "multiply", "inverse", "last", "pack", "hint"
            )
    return sponge, arithmetic


def verification(p: MlDsaSet) -> tuple[list[Do], list[Do]]:
    """c, then z from bytes, then row by row."""
    sponge = list(samples(ball(p), 1))
    sponge += [Do(digest(p.pk_bytes, 64).cycles)]
    arithmetic = [Do(step("transform"), sample=True)]
    for _ in range(p.columns):
        arithmetic += steps("unpack wide", "transform")
    for row in range(p.k):
        sponge += samples(UNIFORM, p.columns)
        arithmetic += [Do(step("multiply"), sample=True) for _ in range(p.columns)]
        arithmetic += [
            *steps("unpack", "transform", "multiply", "inverse", "last"),
            Do(step("pack"), posts=f"w{row}"),
        ]
    early = 136 * ((64 + 32 * p.w1_bits * p.k) // 136 - 1)
    w1 = digest(64 + 32 * p.w1_bits * p.k - early, p.challenge_bytes)
    sponge.append(Do(w1.cycles + FIRST, awaits=f"w{p.k - 1}"))
    return sponge, arithmetic


# --- Figures --------------------------------------------------------------------------------------


def cycles(programs: tuple[list[Do], list[Do]], room: int) -> int:
    """Of the side that ends last."""
    found = scheduled(*programs, room)
    return max(found.sponge, found.arithmetic)


def chances(p: MlDsaSet) -> tuple[float, float]:
    """That r0, and then z, is not rejected (Dilithium, round 3 submission, section 3.4)."""
    return (
        math.exp(-256 * p.beta * p.k / p.gamma2),
        math.exp(-256 * p.beta * p.columns / p.gamma1),
    )


def mean(p: MlDsaSet, room: int, ahead: bool) -> dict[str, float]:
    """Cycles of a signature: the least, of a rejected iteration of each kind, and the mean."""
    least = cycles(
        signature(
            p,
            [
                "",
            ],
            ahead,
        ),
        room,
    )
    # After a rejected iteration, so that what overlaps is counted.
    of_r0 = cycles(signature(p, ["r0", "r0", ""], ahead), room) - cycles(
        signature(p, ["r0", ""], ahead), room
    )
    of_z = cycles(signature(p, ["r0", "z", ""], ahead), room) - cycles(
        signature(p, ["r0", ""], ahead), room
    )
    a, b = chances(p)
    rejected_r0, rejected_z = (1 - a) / (a * b), a * (1 - b) / (a * b)
    return {
        "least": least,
        "r0": of_r0,
        "z": of_z,
        "mean": least + rejected_r0 * of_r0 + rejected_z * of_z,
    }


LIMITS = {
    "ML-DSA-44": (36_800, 232_000, 48_700),
    "ML-DSA-65": (62_800, 416_000, 71_500),
    "ML-DSA-87": (106_000, 530_000, 114_200),
}


def main() -> None:
    """Print the table."""
    print(f"{'':28}{'key pair':>10}{'least':>10}{'r0':>9}{'z':>9}{'mean':>10}{'verify':>9}")
    for p in ML_DSA_SETS:
        pair, signing, check = LIMITS[p.name]
        print(f"{p.name + ', limit':28}{pair:>10,}{'':28}{signing:>10,}{check:>9,}")
        for room in (4, 8):
            for ahead in (False, True):
                found = mean(p, room, ahead)
                name = f"  {room} buffered{', y ahead' if ahead else ''}"
                row = [cycles(key_pair(p), room), *(round(one) for one in found.values())]
                row.append(cycles(verification(p), room))
                print(
                    f"{name:28}"
                    + "".join(
                        f"{one:>{w},}" for one, w in zip(row, (10, 10, 9, 9, 10, 9), strict=True)
                    )
                )
        for name, programs in (("key pair", key_pair(p)), ("verify", verification(p))):
            used = scheduled(*programs, 4)
            total = max(used.sponge, used.arithmetic)
            parts = used.busy_sponge / total, used.busy_arithmetic / total
            print(f"  {name}: sponge {parts[0]:.0%}, arithmetic {parts[1]:.0%}")


if __name__ == "__main__":
    main()
