"""What the sponge side does, cycle by cycle, in integers: the prediction of its cycles.

Outputs of the hash unit are those of hashlib.
"""

from dataclasses import dataclass, replace

from coprime.cells.keccak.sponge_padding import BUS_BYTES
from coprime.cells.keccak.twin import BusWord, HashCommand, HashUnitTwin
from coprime.lattice.memory.twins import Pair, Sample, SampleBufferTwin
from coprime.model.lattice.sampling import Q

from .instructions import (
    DRAWN_WORDS,
    REPEATS,
    AssembledProgram,
    Destination,
    Instruction,
    InstructionKind,
    Over,
    Tail,
    output_words,
)
from .large_sampler_twin import CLEARING, LargeSamplerTwin
from .number_pair_sampler_twin import NumberPairSamplerTwin


@dataclass(frozen=True)
class SpongeEvents:
    """Outputs of a cycle.

    Attributes
    ----------
    done, waits, post, take, wiping : as ports of SpongeSideSignature
    drew : the random byte was taken
    wrote : address and word of a write to the byte memory
    sampled : a pair, or a number, that was taken by the sample buffer
    streamed : the stream's word was taken
    computes : as the port
    """

    done: bool = False
    waits: bool = False
    post: bool = False
    take: bool = False
    wiping: bool = False
    drew: bool = False
    wrote: tuple[int, int] | None = None
    sampled: Sample | None = None
    streamed: bool = False
    computes: bool = False


@dataclass(frozen=True)
class _State:
    """Where the program is."""

    counter: int = 0
    row: int = 0
    column: int = 0
    nonce: int = 0


@dataclass
class _Target:
    """A destination in the router's queue."""

    destination: Destination
    address: int
    repeats: int
    resume: _State


@dataclass
class _Routed:
    """What the router does in a cycle."""

    takes: bool = False  # the hash unit's word
    copies: bool = False  # what is absorbed
    equal: bool | None = None  # of words that were compared
    failed: _Target | None = None
    steady: bool = False  # nothing has changed
    waits: bool = False
    drew: bool = False
    wrote: tuple[int, int] | None = None
    sampled: Sample | None = None


_STEPS = 4
"""Cycles of a UniformSampler until three bytes begin with a word again."""


def _binomial(bits: int, eta: int) -> int:
    ones = (1 << eta) - 1
    return (bits & ones).bit_count() - (bits >> eta & ones).bit_count()


class _Sampler:
    """A Sampler.

    Attributes
    ----------
    steady (bool): the last cycle has changed nothing
    """

    def __init__(self) -> None:
        self.steady = False
        self.index = self.phase = self.before = self.even = 0
        self.odd_next = self.complete = self.used_up = False
        self.held: BusWord | None = None
        self.pair: Pair | None = None

    def tick(
        self, destination: Destination, offered: BusWord | None, buffer: SampleBufferTwin
    ) -> tuple[bool, Pair | None, bool | None]:
        """Whether the word is taken, a pair that leaves, and at the end whether the bytes have
        sufficed."""
        uniform = destination is Destination.UNIFORM
        self.steady = False
        if self.used_up and self.pair is None:
            return False, None, not uniform or self.complete
        leaving, self.pair = self.pair, None
        completes = self.complete or (leaving is not None and buffer.at_last and uniform)
        free = buffer.room or self.complete
        if leaving is not None:
            buffer.take(leaving)
            self.complete |= buffer.at_last
        if self.held is None:
            takes = free and not self.used_up
            if takes:
                self.held = offered
            self.steady = leaving is None and self.held is None
            return takes, leaving, None

        byte = self.held.data >> 8 * self.index & 255
        number = self.before | (byte & 15) << 8 if self.phase == 1 else self.before >> 4 | byte << 4
        found = self.phase != 0 and (number < Q or not uniform)
        pair: Pair | None = None
        if destination is Destination.BINOMIAL_2:
            found, pair = True, (_binomial(byte, 2), _binomial(byte >> 4, 2))
        elif found and not uniform:
            pair = _binomial(number, 3), _binomial(number >> 6, 3)
        elif found and self.odd_next:
            pair = self.even, number
        if not completes:
            self.pair = pair
        if found and not self.odd_next:
            self.even = number
        self.odd_next ^= found
        empties = completes or self.index == BUS_BYTES - 1
        self.index = (self.index + 1) % BUS_BYTES
        self.phase = (self.phase + 1) % 3
        self.before = byte
        if not empties:
            return False, leaving, None
        self.used_up = self.held.last
        takes = free and not self.used_up
        self.held = offered if takes else None
        return takes, leaving, None


class _UniformSampler:
    """A UniformSampler.

    Attributes
    ----------
    steady (bool): the last cycle has changed nothing
    """

    def __init__(self) -> None:
        self.steady = False
        self.step = 0
        self.left = b""  # bytes of the words that were taken
        self.window: bytes | None = None
        self.even: int | None = None
        self.ended = self.used_up = self.complete = False
        self.pair: Pair | None = None

    def tick(
        self, _: Destination, offered: BusWord | None, buffer: SampleBufferTwin
    ) -> tuple[bool, Pair | None, bool | None]:
        """As of _Sampler."""
        self.steady = False
        if self.used_up and self.window is None and self.pair is None:
            return False, None, self.complete
        leaving, self.pair = self.pair, None
        at_last = leaving is not None and buffer.at_last
        completes = self.complete or at_last
        at_rest = self.step == _STEPS - 1
        ready = not (self.used_up or self.ended) and (completes or (buffer.room and not at_rest))
        word = offered if ready else None
        moves = not (self.used_up or completes) and (word is not None or (at_rest and buffer.room))
        if leaving is not None:
            buffer.take(leaving)
        self.complete |= at_last
        window, self.window = self.window, None
        if window is not None:
            pair = self._pair(window)
            if not completes:
                self.pair = pair
        if word is not None and not completes:
            self.left += word.data.to_bytes(BUS_BYTES, "little")
        if moves:
            self.window, self.left = self.left[:3], self.left[3:]
            self.step = (self.step + 1) % _STEPS
        self.used_up |= (moves and at_rest and self.ended) or (
            completes and (self.ended or (word is not None and word.last))
        )
        self.ended |= word is not None and word.last
        self.steady = (
            leaving is None and window is None and word is None and not moves and not self.used_up
        )
        return ready, leaving, None

    def _pair(self, window: bytes) -> Pair | None:
        """What the candidates make, with the one that is left."""
        bits = int.from_bytes(window, "little")
        found = [x for x in (bits & 4095, bits >> 12) if x < Q]
        if self.even is not None:
            found.insert(0, self.even)
        self.even = found.pop() if len(found) % 2 else None
        return (found[0], found[1]) if found else None


_AnySampler = _Sampler | _UniformSampler | LargeSamplerTwin | NumberPairSamplerTwin


class _Router:
    """An OutputRouter."""

    def __init__(self, *, samples_pairs: bool) -> None:
        self.samples_pairs = samples_pairs
        self.first: _Target | None = None
        self.second: _Target | None = None
        self.sampler: _AnySampler = _Sampler()
        self.drawn: list[int] = []
        self.left = DRAWN_WORDS
        self.is_second = False

    @property
    def idle(self) -> bool:
        return self.first is None and self.second is None

    @property
    def ready(self) -> bool:
        return self.second is None

    def tick(
        self,
        word: BusWord | None,
        absorbed: BusWord | None,
        random: int | None,
        memory: list[int],
        buffer: SampleBufferTwin,
    ) -> _Routed:
        """A cycle, but for the next destination."""
        first = self.first
        if first is None:
            if self.second is not None:
                self.first, self.second = self.second, None
                self.sampler = self._sampler_of(self.first.destination)
                return _Routed()
            return _Routed(steady=True)
        if first.destination is Destination.DRAWN:
            if len(self.drawn) < BUS_BYTES:
                if random is not None:
                    self.drawn.append(random)
                waits = random is None
                return _Routed(waits=waits, drew=not waits, steady=waits)
            wrote, moves = self._write(first, int.from_bytes(self.drawn, "little"))
            if moves:
                self.drawn = []
                self.left -= 1
                if not self.left:
                    self.first, self.left = None, DRAWN_WORDS
            return _Routed(wrote=wrote)
        if first.destination is Destination.BYTES:
            if word is None:
                return _Routed(steady=True)
            wrote, moves = self._write(first, word.data)
            if moves and word.last:
                self.first = None
            return _Routed(moves, wrote=wrote)
        if first.destination is Destination.COPIED:
            if absorbed is None:
                return _Routed(steady=True)
            wrote, moves = self._write(first, absorbed.data)
            if moves and absorbed.last:
                self.first = None
            return _Routed(copies=moves, wrote=wrote)
        if first.destination is Destination.COMPARED:
            return self._compare(first, word, memory)
        takes, pair, suffices = self.sampler.tick(first.destination, word, buffer)
        if suffices is not None:
            self.first = None
        if suffices is False:
            self.second = None
            buffer.restart()
        failed = first if suffices is False else None
        return _Routed(takes, failed=failed, sampled=pair, steady=self.sampler.steady)

    def _sampler_of(self, destination: Destination) -> _AnySampler:
        if destination.value >= Destination.LARGE_UNIFORM.value:
            return NumberPairSamplerTwin() if self.samples_pairs else LargeSamplerTwin()
        if self.samples_pairs and destination is Destination.UNIFORM:
            return _UniformSampler()
        return _Sampler()

    def _compare(self, first: _Target, word: BusWord | None, memory: list[int]) -> _Routed:
        """A word that is read in the first of two cycles."""
        if word is None:
            return _Routed(steady=True)
        if not self.is_second:
            self.is_second = True
            return _Routed()
        self.is_second = False
        equal = word.data == memory[first.address]
        first.address += 1
        if word.last:
            self.first = None
        return _Routed(takes=True, equal=equal)

    def _write(self, first: _Target, word: int) -> tuple[tuple[int, int] | None, bool]:
        """What is written in this cycle, and whether the word is done with."""
        wrote = None if self.is_second else (first.address, word)
        moves, self.is_second = self.is_second, not self.is_second
        first.address += moves
        return wrote, moves


class _Absorber:
    """An Absorber, which may read a word in every cycle.

    Attributes
    ----------
    steady (bool): the last cycle has changed nothing
    """

    def __init__(self, *, every_cycle: bool) -> None:
        self.every_cycle = every_cycle
        self.message: BusWord | None = None
        self.left = self.address = 0
        self.steady = False
        self.fetched = self.last = self.streams = self.streaming = self.streamed = False

    @property
    def busy(self) -> bool:
        """No range can be taken."""
        return self.left > 0 or self.streaming

    def tick(self, taken: bool, memory: list[int], streamed: BusWord | None) -> bool:
        """A cycle in which the message's word is taken, or not, and this word of the stream is
        offered; whether the register is free for a tail."""
        if taken:
            self.message = None
        free = self.message is None
        self.streamed = self.streaming and free and streamed is not None
        if self.streamed and streamed is not None:
            self.message, self.streaming = streamed, not streamed.last
        self.steady = not (taken or self.streamed or (self.left and (free or not self.fetched)))
        if not self.left:
            return free
        if self.fetched and free:
            ends = self.left == 1
            self.message = BusWord(memory[self.address], BUS_BYTES, self.last and ends)
            self.address += 1
            self.left -= 1
            self.fetched = self.every_cycle and not ends
            self.streaming = self.streams and ends
        else:
            self.fetched = True
        return False


class SpongeSideTwin:
    """A SpongeSide beside a byte memory, a list of words, and a SampleBufferTwin.

    In each cycle call `tick`, and after both sides' calls that of the buffer. A word that is
    written is in the memory from the next call on.

    Attributes
    ----------
    busy (bool)
    cycle (int): calls of `tick`
    differs, agrees (bool), compared (int): as the ports
    """

    def __init__(
        self,
        slices: int,
        program: AssembledProgram,
        memory: list[int],
        buffer: SampleBufferTwin,
        *,
        masked: bool = False,
        samples_pairs: bool = False,
    ):
        self.program, self.memory, self.buffer = program, memory, buffer
        self._samples_pairs = samples_pairs
        self._hash_unit = HashUnitTwin(slices, 2, masked=masked)
        self.cycle = self._set = self._present = 0
        self._clearing = CLEARING if program.large else 0
        self._seen: tuple[object, ...] | None = None
        self._events = SpongeEvents()
        self._forget()

    def _forget(self) -> None:
        """What a wipe ends."""
        self._router = _Router(samples_pairs=self._samples_pairs)
        self._absorber = _Absorber(every_cycle=self._samples_pairs)
        self._begin_comparison()
        self.busy = self._repeating = self._tail_due = self._fetched = False
        self._repeats = 0
        self._state = _State()
        self._seen = None

    def _begin_comparison(self) -> None:
        self.differs, self.agrees, self.compared = False, True, 0
        self._found: bool | None = None  # whether the word before was equal

    @property
    def wiping(self) -> bool:
        """As the port."""
        return (self._hash_unit.sponge.wiping or self._clearing > 0) and not self.busy

    def start(self, entry: str, parameter_set: int, present: int = 0) -> None:
        """As the ports, in the cycle of the last `tick`."""
        assert not self.busy
        assert not self.wiping
        self._seen = None
        self.busy, self._state = True, _State(self.program.entries[entry])
        self._fetched = False
        self._begin_comparison()
        self._set, self._present = parameter_set, present

    def tick(
        self,
        *,
        available: bool = False,
        random: int | None = None,
        rejected: bool = False,
        streamed: BusWord | None = None,
        wipe: bool = False,
    ) -> SpongeEvents:
        """A cycle: whether the arithmetic side rejects; whether the semaphore is available; a
        random byte, and a word of the stream, if there is one.

        After a cycle that has changed nothing those with the same inputs are not computed again.
        """
        seen = available, random, rejected, streamed, wipe, self.buffer.room
        sponge = self._hash_unit.sponge
        if seen == self._seen and sponge.counts >= sponge.computes:
            if sponge.computes:
                sponge.count()
        else:
            self._events, steady = self._cycle(available, random, rejected, streamed, wipe)
            self._seen = seen if steady else None
        self.cycle += 1
        return self._events

    def _cycle(
        self,
        available: bool,
        random: int | None,
        rejected: bool,
        streamed: BusWord | None,
        wipe: bool,
    ) -> tuple[SpongeEvents, bool]:
        """What happens, and whether anything has changed."""
        hash_unit, router, absorber = self._hash_unit, self._router, self._absorber
        wiping, shown = hash_unit.sponge.wiping, self.wiping
        changes = self._repeating or self._clearing > 0 or not self._fetched
        tail_was_due = self._tail_due
        step = self._executed(router.idle)
        ready = router.ready
        reading = absorber.busy
        offered = absorber.message
        word = None if wiping else hash_unit.word
        routed = router.tick(word, offered, random, self.memory, self.buffer)

        target = self._target(step) if step and ready else None
        command = None
        if step and step.kind is InstructionKind.HASH:
            if wiping or hash_unit.entering is not None:
                target = None
            elif target is not None and step.function is not None:
                command = HashCommand(step.function, 4 * self._words(step, target))
        found = hash_unit.tick(
            command, offered, ready=routed.takes, wipe=wipe or routed.failed is not None
        )
        taken = offered is not None and (found.message_ready or routed.copies)
        free = absorber.tick(taken, self.memory, streamed)
        goes = step is not None and self._goes(step, target, reading, free, available)
        if target is not None:
            router.second = target
        if step and goes:
            self._step(step, rejected)
            if command is not None:
                self._repeats = 0
        changes |= goes or wipe or tail_was_due != self._tail_due or self._found is not None
        steady = routed.steady and hash_unit.steady and absorber.steady and not changes
        self._repeating &= wiping
        self._fetched = not (goes or routed.failed is not None)
        if routed.failed is not None:
            router.second = None
            self._absorber = _Absorber(every_cycle=self._samples_pairs)
            self._repeating, self._state = True, routed.failed.resume
            self._tail_due = False
            self._repeats = (routed.failed.repeats + 1) % REPEATS
        kind = step.kind if step and goes else None
        if kind is InstructionKind.END:
            self.busy, self._repeats = False, 0
        if routed.wrote is not None:
            address, written = routed.wrote
            self.memory[address] = written
        if self._found is not None:
            self.differs |= not self._found
            self.agrees &= self._found
            self.compared += 1
        self._found = routed.equal
        self._clearing = max(0, self._clearing - 1)
        if wipe:
            self._forget()
            self._clearing = CLEARING if self.program.large else 0
            self.buffer.restart()
        events = SpongeEvents(
            kind is InstructionKind.END,
            routed.waits,
            kind is InstructionKind.POST,
            kind is InstructionKind.AWAIT,
            shown,
            routed.drew,
            routed.wrote,
            routed.sampled,
            absorber.streamed,
            hash_unit.sponge.computes,
        )
        return events, steady

    def _executed(self, settled: bool) -> Instruction | None:
        """The instruction that is executed unless its kind waits."""
        if not self.busy or self._repeating or not self._fetched:
            return None
        step = self.program.instructions[self._state.counter]
        return step if settled or not step.settles else None

    def _target(self, step: Instruction) -> _Target | None:
        """The destination of a HASH or DRAW."""
        address = step.addresses[self._set] if step.addresses else 0
        if step.kind is InstructionKind.HASH:
            destination = step.destinations[self._set]
            return _Target(destination, address, self._repeats, self._state)
        if step.kind is InstructionKind.DRAW and not self._skips(step):
            return _Target(Destination.DRAWN, address, self._repeats, self._state)
        if step.kind is InstructionKind.COPY:
            return _Target(Destination.COPIED, address, self._repeats, self._state)
        return None

    def _skips(self, step: Instruction) -> bool:
        return bool(self._present >> (step.unless or 0) & 1)

    def _words(self, step: Instruction, target: _Target) -> int:
        """Words of a HASH's output."""
        unit = self.program.format.unit_words
        units = step.words[self._set] // unit if step.words else 0
        pairs = self.program.pairs
        return output_words(target.destination, self._repeats, units, unit, pairs=pairs)

    def _goes(
        self, step: Instruction, target: _Target | None, reading: bool, free: bool, available: bool
    ) -> bool:
        """Whether an instruction is executed; a range or a tail is given to the absorber."""
        match step.kind:
            case InstructionKind.HASH | InstructionKind.COPY:
                return target is not None
            case InstructionKind.DRAW:
                return target is not None or self._skips(step)
            case InstructionKind.ABSORB:
                return self._absorbs(step, reading, free)
            case InstructionKind.AWAIT:
                return available
        return True

    def _absorbs(self, step: Instruction, reading: bool, free: bool) -> bool:
        """A range, then its tail."""
        if reading:
            return False
        if not self._tail_due and step.addresses and step.words:
            self._absorber.left = step.words[self._set]
            if not step.continues:
                self._absorber.address = step.addresses[self._set]
            in_last_row = self._state.row == self.program.rows[self._set] - 1
            ends = step.last and (in_last_row or not step.last_row)
            self._absorber.last = ends and step.tail is None
            self._absorber.streams = step.streams
            self._tail_due = step.tail is not None
            return not self._tail_due
        if free and step.tail is not None:
            tail = self._tail(step.tail)
            self._absorber.message = BusWord(int.from_bytes(tail, "little"), len(tail), True)
            self._tail_due = False
        return free

    def _tail(self, tail: Tail) -> bytes:
        state, length = self._state, 2 if self.program.large_sets[self._set] else 1
        return {
            Tail.CONSTANT: self.program.constant[self._set].to_bytes(length, "little"),
            Tail.NONCE: state.nonce.to_bytes(length, "little"),
            Tail.COLUMN_ROW: bytes([state.column, state.row]),
            Tail.ROW_COLUMN: bytes([state.row, state.column]),
        }[tail]

    def _step(self, step: Instruction, rejected: bool) -> None:
        """The program goes on."""
        state, columns = self._state, self.program.columns[self._set]
        after = replace(state, counter=state.counter + 1)
        if step.tail is Tail.NONCE:
            after = replace(after, nonce=state.nonce + 1)
        jumps = step.over in (Over.ALWAYS, Over.REWIND) or (step.over is Over.REJECTED and rejected)
        if step.over is Over.REWIND:
            after = replace(after, nonce=state.nonce - columns)
        if step.over is Over.COLUMNS:
            jumps = state.column + 1 < columns
            after = replace(after, column=state.column + 1 if jumps else 0)
        if step.over is Over.ROWS:
            jumps = state.row + 1 < self.program.rows[self._set]
            after = replace(after, row=state.row + 1 if jumps else 0)
        if jumps and step.label is not None:
            after = replace(after, counter=step.label)
        self._state = after if step.kind is not InstructionKind.END else state
