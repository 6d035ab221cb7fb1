"""What sponges and the hash unit do in each cycle, in integers; and closed forms of it."""

import hashlib
from dataclasses import dataclass

from coprime.model.keccak import LANE_BITS, LARGEST_RATE, ROUNDS, Function

from .sponge import block_words
from .sponge_padding import BUS_BITS, BUS_BYTES


@dataclass(frozen=True)
class SpongeCycles:
    """Cycles of a sponge of so many slices a cycle, if no stream waits.

    With `masked` it has two shares.
    """

    slices: int
    masked: bool = False

    @property
    def one_pass(self) -> int:
        """A round, or the first block's pass."""
        return 1 if self.slices == LANE_BITS else LANE_BITS // self.slices + 2 + self.masked

    @property
    def permutation(self) -> int:
        """Keccak-f[1600]: from a block's pass to the next one's."""
        return ROUNDS * self.one_pass

    @property
    def bus_bits(self) -> int:
        """Bits of a message that enter, and of an output that leave, in a cycle."""
        return min(self.slices, BUS_BITS)

    def transfer(self, lanes: int) -> int:
        """So many lanes of a block enter from the padding, or leave to the bus."""
        return lanes * LANE_BITS // self.bus_bits

    def hash(self, function: Function, length: int, output: int) -> int:
        """From the cycle in which an idle hash unit takes a command to the one in which the last
        word of its output is valid: a message and an output of so many bytes, at least 0 and 1."""
        filled = 1 + self.transfer(LARGEST_RATE)
        # Of the next block one word of 32 bits already waits with sponges of 64.
        refilled = self.one_pass + self.transfer(LARGEST_RATE) - (self.slices > BUS_BITS)
        absorbed = (function.blocks(length) - 1) * max(self.permutation, refilled)
        blocks = function.output_blocks(output)
        emptied = self.one_pass + self.transfer(function.rate_lanes)
        squeezed = (blocks - 1) * max(self.permutation, emptied)
        rest = output - (blocks - 1) * function.rate_bytes
        last = self.one_pass + -(-8 * rest // self.bus_bits)
        return filled + absorbed + self.permutation + squeezed + last


class SpongeTwin:
    """A sponge's handshakes, cycle by cycle.

    Attributes
    ----------
    filled, drained (int): words of the block that were taken
    wiping (bool)
    computes (bool): as the port, in the last cycle
    steady (bool): the last cycle has changed nothing but the place in a permutation
    """

    def __init__(self, slices: int, blocks: int, *, masked: bool = False):
        self.parallel = slices == LANE_BITS
        self.steps = SpongeCycles(slices, masked).one_pass
        self.words = block_words(slices)
        self.shared = blocks == 1
        self.wipes = 2 if self.parallel else blocks + 1
        self.round = -1  # -1: the pass before the first round
        self.step = self.wiped = self.filled = self.drained = 0
        self.ended = self.add = self.capture = self.clear = False
        self.full = self.ends = self.held = self.reserved = self.drains = False
        self.wiping, self.computes, self.steady = True, False, False

    @property
    def counts(self) -> bool:
        """The next cycle is one of a round in which nothing else can happen than that words enter
        and leave."""
        return 0 <= self.round < ROUNDS - 1

    def count(self) -> None:
        """Such a cycle, in which none does."""
        self.step = (self.step + 1) % self.steps
        self.round += self.step == 0

    @property
    def _open(self) -> bool:
        return not (self.full or self.wiping or (self.shared and (self.held or self.ended)))

    @property
    def ready(self) -> bool:
        """A word of the message can be taken."""
        return self._open and (self.parallel or not (self.reserved or self.drains))

    @property
    def valid(self) -> bool:
        """There is a word of output."""
        turn = self.parallel or (self.drains and not self.reserved)
        return self.held and not self.wiping and turn

    def tick(
        self,
        *,
        offered: bool,
        entering: bool,
        last: bool,
        leaving: bool,
        release: bool,
        wanted: bool,
        more: bool,
        wipe: bool,
    ) -> None:
        """A cycle: whether a word is offered, and enters, and its message ends with it; whether
        one leaves, and is its block's last; and the other inputs of SpongeSignature."""
        wiping = self.wiping
        needs_block = not wiping and (
            self.round < 0 or (self.round == ROUNDS - 1 and not self.ended)
        )
        needs_room = not wiping and self.round == ROUNDS - 1 and self.ended
        room = wanted and not self.held
        may_begin = not (needs_block and not self.full) and not (needs_room and not room)
        first = self.step == 0
        begins = first and may_begin
        self.computes = (begins or not first) and not wiping
        waits = first and needs_block
        captures = begins and needs_room
        kind = (needs_block, needs_room or wiping, wiping or (needs_room and not more))
        add, capture, clear = kind if self.parallel else (self.add, self.capture, self.clear)
        finishes = begins if self.parallel else self.step == self.steps - 1

        if first:
            reserve = begins and (kind[0] or kind[1])
        else:
            reserve = not finishes and (add or capture)
        turn = not offered if waits else not self.valid or leaving
        drains = self.held and (not self._open or turn)
        moves = entering or leaving or wiping or wipe or ((begins or not first) and not self.counts)
        self.steady = not moves and (reserve, drains) == (self.reserved, self.drains)

        if begins and needs_block:
            self.ended = self.ends
        if begins and not self.parallel:
            self.add, self.capture, self.clear = kind
        if finishes:
            self._finish(clear)
            self.add = self.capture = self.clear = False
        if not self.parallel:
            self.step = 0 if finishes else self.step + (begins or not first)
        self._move(entering, last, leaving, release)
        self.full &= not (begins and needs_block)
        self.held |= captures
        self.reserved, self.drains = reserve, drains
        if wiping:
            self.full = self.held = False
            self.filled = self.drained = 0
        if wipe:
            self.wiping, self.wiped = True, 0

    def _finish(self, clear: bool) -> None:
        """The last cycle of a pass."""
        if clear:
            self.round, self.ended = -1, False
            self.wiped += self.wiping
            if self.wiped == self.wipes:
                self.wiping, self.wiped = False, 0
        else:
            self.round = 0 if self.round in (-1, ROUNDS - 1) else self.round + 1

    def _move(self, entering: bool, last: bool, leaving: bool, release: bool) -> None:
        """Words enter and leave."""
        if entering:
            self.filled += 1
            if self.filled == self.words:
                self.filled, self.full, self.ends = 0, True, last
        if leaving:
            self.drained += 1
            if release:
                self.drained, self.held = 0, False


_SHAKES = {"SHAKE128": hashlib.shake_128, "SHAKE256": hashlib.shake_256}


@dataclass
class HashCommand:
    """A function, the length of its output in bytes, and what was taken of its message."""

    function: Function
    length: int
    message: bytes = b""

    def output(self) -> bytes:
        """What hashlib says."""
        name, message = self.function.name, self.message
        if name in _SHAKES:
            return _SHAKES[name](message).digest(self.length)
        return hashlib.new(name.lower().replace("-", "_"), message).digest()[: self.length]


@dataclass(frozen=True)
class BusWord:
    """A word on the bus, as BUS_WORD."""

    data: int
    bytes: int
    last: bool

    @property
    def value(self) -> int:
        """All fields as one number."""
        return self.data | self.bytes << BUS_BITS | self.last << BUS_BITS + 3


def bus_words(message: bytes) -> list[BusWord]:
    """A message as words on the bus."""
    starts = range(0, max(1, len(message)), BUS_BYTES)
    parts = [message[k : k + BUS_BYTES] for k in starts]
    return [
        BusWord(int.from_bytes(part, "little"), len(part), k == len(parts) - 1)
        for k, part in enumerate(parts)
    ]


@dataclass(frozen=True)
class Handshakes:
    """Outputs of a hash unit in a cycle; `output` is None where it is not valid."""

    command_ready: bool
    message_ready: bool
    output: BusWord | None
    wiping: bool


class HashUnitTwin:
    """What a HashUnit does, cycle by cycle: outputs too, by hashlib.

    Attributes
    ----------
    word (BusWord or None): the output's, as it is offered
    steady (bool): as a sponge's
    """

    def __init__(self, slices: int, blocks: int, *, masked: bool = False):
        self.slices = slices
        self.sponge = SpongeTwin(slices, blocks, masked=masked)
        self.part_bytes = max(8, min(slices, BUS_BITS)) // 8
        self.per_lane = LANE_BITS // slices
        self.steady = False
        self.entering: HashCommand | None = None
        self.computed: HashCommand | None = None
        self._forget()

    def _forget(self) -> None:
        self.entering = self.computed = None
        self.begun, self.phase, self.second = 0, "MESSAGE", False
        self.digest: bytes | None = None  # of the output that is squeezed
        self.sent = self.slot = 0
        self.half = False
        self.word: BusWord | None = None

    def tick(
        self,
        command: HashCommand | None = None,
        message: BusWord | None = None,
        *,
        ready: bool = True,
        wipe: bool = False,
    ) -> Handshakes:
        """A cycle with what is offered, and whether the output's word is taken."""
        sponge = self.sponge
        wiping = sponge.wiping
        command_ready = self.entering is None and not wiping
        before = self.word, self.slot, self.half, self.second
        word = None if wiping else self.word
        loads = self.computed is not None and self.digest is None
        computing, entering = self.computed, self.entering
        leaving, release, more, wanted = self._squeeze(ready)
        offered, entered, last, message_ready, done = self._absorb(message, computing is not None)
        sponge.tick(
            offered=offered,
            entering=entered,
            last=last,
            leaving=leaving,
            release=release,
            wanted=wanted,
            more=more,
            wipe=wipe,
        )
        begins = command_ready and command is not None
        changes = begins or loads or done or message_ready or wiping
        after = self.word, self.slot, self.half, self.second
        self.steady = sponge.steady and not changes and before == after
        if begins and command is not None:
            self.entering = HashCommand(command.function, command.length)
        if loads and computing is not None:
            self.digest, self.rate = computing.output(), computing.function.rate_bytes
            self.sent = 0
            self.computed = None
        if done:
            self.entering, self.computed = None, entering
        if wiping:
            self._forget()
        return Handshakes(command_ready, message_ready, word, wiping)

    def _squeeze(self, ready: bool) -> tuple[bool, bool, bool, bool]:
        """Whether a word leaves the sponge, and is the block's last; whether another block follows
        the next one, and this one is wanted."""
        free = self.word is None or ready
        if free:
            self.word = None
        if self.digest is None:
            return False, True, False, False
        bits = min(self.slices, BUS_BITS)
        step = max(1, bits // 8)
        left = len(self.digest) - self.sent
        whole = self.slices >= 8 or bool(self.slot % 2)
        ends = whole and left <= step
        consumes = ends or self.half or self.slices <= BUS_BITS
        drained = self.sponge.drained
        release = ends or drained + 1 == 8 * self.rate // self.slices
        more, moves = left > self.rate, self.sponge.valid and free
        if moves:
            self.half = not consumes and self.slices > BUS_BITS
            before = self.slot * bits // 8
            self.slot += 1
            filled = self.slot * bits == BUS_BITS
            if ends or filled:
                count = before + left if ends else BUS_BYTES
                place = self.sent - before
                part = self.digest[place : place + count]
                self.word = BusWord(int.from_bytes(part, "little"), count, ends)
                self.slot = 0
            if whole:
                self.sent += step
            if ends:
                self.digest = None
        return moves and consumes, release, more, True

    def _absorb(
        self, message: BusWord | None, computing: bool
    ) -> tuple[bool, bool, bool, bool, bool]:
        """Whether a word is offered to the sponge, and enters, and its message may end with it;
        whether the bus's word is taken, and the message's last block complete."""
        if self.entering is None:
            self.begun, self.phase = 0, "MESSAGE"
            return False, False, False, False, False
        sponge, size = self.sponge, self.part_bytes
        lane, place = divmod(sponge.filled, self.per_lane)
        joins = self.slices > BUS_BITS
        halves = self.slices < 8
        inside = lane < self.entering.function.rate_lanes
        takes_message = inside and self.phase == "MESSAGE"
        starts = inside and self.phase == "PAD"
        ends = message is not None and message.last and message.bytes <= self.begun + size
        count = message.bytes - self.begun if message is not None and ends else size
        pads = starts or self.phase == "ZEROS" or (takes_message and ends and count < size)
        final = self.second if joins else place >= self.per_lane - 1 - halves
        completes = pads and final and lane == LARGEST_RATE - 1
        offers = (not takes_message or message is not None) and not (completes and computing)
        offered = offers and (self.second or not joins)
        entered = offered and sponge.ready
        if joins:
            take = entered or (offers and not self.second and not sponge.wiping)
            self.second ^= take
        else:
            take = entered and (not halves or place % 2 == 1)
        message_ready = take and takes_message and (ends or self.begun + size == BUS_BYTES)
        if take and takes_message and message is not None:
            held = (message.data >> 8 * self.begun).to_bytes(BUS_BYTES, "little")[:count]
            self.entering.message += held
            self.begun = 0 if ends else (self.begun + size) % BUS_BYTES
            if ends:
                self.phase = "PAD" if count == size else "ZEROS"
        elif take and starts:
            self.phase = "ZEROS"
        done = take and completes
        if done:
            self.begun, self.phase = 0, "MESSAGE"
        return offered, entered, pads, message_ready, done
