"""The generator: tests itself, waits for a seed, and gives bytes.

Source: NIST SP 800-90A Rev. 1 (2015), sections 9 (functions), 11.3 (tests of health) and 11.4
(errors). What differs: there is one instance, without a personalization string of its own.
"""

import enum
from typing import NamedTuple

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.cells.wires import same_named
from coprime.model.hash_drbg import MOST_REQUESTS
from coprime.parameters import check_ranges

from .delivery import Delivery
from .known_answer_test import KnownAnswerTest
from .mechanism import COUNT_BITS, DrbgMechanism
from .programs import RESEED_LEAST, SEED_LEAST, DrbgTask, known_answer
from .seed_material import SEED_WORDS

INTERVAL = 1 << 16
"""Requests after which it needs a new seed: 8 MiB. The standard allows 2^48."""
assert INTERVAL <= MOST_REQUESTS


class SourceState(enum.IntEnum):
    """Whether the source gives bytes."""

    TESTING = 0  # tests itself, or seeds itself
    UNSEEDED = 1  # waits for seed material: the first, or after INTERVAL requests
    READY = 2
    FAILED = 3  # a test has failed; it gives no byte until it is restarted


class _Status(NamedTuple):
    """What decides which task may begin."""

    seeded: Signal
    loaded: Signal  # words of seed material
    wrong: Signal  # a test has failed
    again: Signal  # a restart is wanted


class Generator(wiring.Component):
    """Random bytes from seed material.

    At start, and after `restart`, it seeds itself with known bytes, twice, makes two requests, and
    compares the second one with the model's bytes; then it forgets everything. It gives no byte
    before it is seeded. A request of 128 bytes is made when a byte is wanted and none is left; what
    is left when new seed material comes is dropped, so that all bytes after `seed` depend on it.

    Parameters
    ----------
    interval : requests after which it needs a new seed; 2 to 2^32 - 2
    answer : the bytes that the test expects; None: the right ones

    Members
    -------
    random : stream of random bytes
    hold : a word, or `seed`, is to come: no request begins, and no byte is given
    load, word, ready : a word of seed material is taken where `load` and `ready` are 1, the first
        byte most significant. `ready` is 1 only with `hold`, and then until `seed` or the end of
        `hold`. MemoryRegion beyond SEED_WORDS are dropped
    seed : seed with the words that were loaded, where `ready` is 1; without effect, but that they
        are dropped, if there are too few: SEED_LEAST the first time, then RESEED_LEAST
    restart : forget everything, and test again
    fail : the seed's source has failed: forget everything, FAILED
    state : see SourceState
    ages : half of the interval has passed
    requests : since the last seed
    """

    def __init__(self, *, interval: int = INTERVAL, answer: bytes | None = None):
        check_ranges(interval=(interval, range(2, (1 << COUNT_BITS) - 1)))
        self.interval, self.answer = interval, answer or known_answer()
        super().__init__(
            {
                "random": Out(stream.Signature(8)),
                "load": In(1),
                "word": In(32),
                "ready": Out(1),
                **dict.fromkeys(("hold", "seed", "restart", "fail"), In(1)),
                "state": Out(SourceState),
                "ages": Out(1),
                "requests": Out(COUNT_BITS),
            }
        )

    @staticmethod
    def start_cycles() -> int:
        """Cycles from a reset until it can be seeded."""
        return KnownAnswerTest.cycles() + 1 + DrbgMechanism.cycles(DrbgTask.CLEAR)

    def elaborate(self, platform: object) -> Module:
        """Test, then seed and generate as asked."""
        m = Module()
        m.submodules.drbg = drbg = DrbgMechanism()
        m.submodules.test = test = KnownAnswerTest(self.answer)
        m.submodules.delivery = delivery = Delivery()
        seeded, loaded = Signal(), Signal(range(SEED_WORDS + 1))
        wrong, again = Signal(), Signal()
        status = _Status(seeded, loaded, wrong, again)
        connect(m, flipped(self.random), delivery.random)
        m.d.comb += [
            self.ages.eq(self.requests >= self.interval // 2),
            drbg.seeded.eq(seeded),
            drbg.material_words.eq(loaded),
            drbg.load_index.eq(loaded),
            drbg.load_word.eq(self.word),
            drbg.count.eq(self.requests + 1),
            drbg.output_index.eq(delivery.index),
            drbg.clear.eq(delivery.clear),
            drbg.clear_index.eq(delivery.clear_index),
            delivery.byte.eq(drbg.output),
            test.task_done.eq(drbg.done),
            test.byte.eq(drbg.output),
        ]
        with m.If(self.restart):
            m.d.sync += again.eq(1)
        with m.If(self.fail):
            m.d.sync += wrong.eq(1)
        with m.FSM(init="TEST"):
            with m.State("TEST"):
                m.d.sync += again.eq(0)
                with m.If(self.restart):
                    m.d.sync += wrong.eq(0)
                self._test(m, drbg, test)
                with m.If(test.done):
                    m.d.sync += wrong.eq(wrong | self.fail | ~test.passed)
                    m.next = "FORGET"
            with m.State("FORGET"):
                m.d.comb += [drbg.task.eq(DrbgTask.CLEAR), drbg.start.eq(1), delivery.drop.eq(1)]
                m.d.sync += [seeded.eq(0), loaded.eq(0), self.requests.eq(0)]
                with m.If(drbg.done):
                    m.next = "IDLE"
                    with m.If(wrong):
                        m.next = "FAILED"
            with m.State("FAILED"):
                m.d.comb += self.state.eq(SourceState.FAILED)
                with m.If(again):
                    m.d.sync += wrong.eq(self.fail)
                    m.next = "TEST"
            self._await_work(m, drbg, delivery, status)
            with m.State("SEED"):
                m.d.comb += delivery.drop.eq(1)
                with m.If(drbg.done):
                    m.d.sync += [seeded.eq(1), loaded.eq(0), self.requests.eq(0)]
                    m.next = "IDLE"
            with m.State("GENERATE"):
                m.d.comb += self.state.eq(SourceState.READY)
                with m.If(drbg.done):
                    m.d.comb += delivery.fill.eq(1)
                    m.d.sync += self.requests.eq(self.requests + 1)
                    m.next = "IDLE"
        with m.If(wrong):
            m.d.comb += self.state.eq(SourceState.FAILED)
        return m

    def _await_work(
        self, m: Module, drbg: DrbgMechanism, delivery: Delivery, status: _Status
    ) -> None:
        """The state in which words of a seed are loaded, and a task of the mechanism begins."""
        seeded, loaded, wrong, again = status
        spent = self.requests == self.interval
        least = Mux(seeded, RESEED_LEAST, SEED_LEAST)
        with m.State("IDLE"):
            usable = ~(wrong | again)
            unseeded = ~seeded | (spent & delivery.empty)
            m.d.comb += [
                self.state.eq(Mux(unseeded, SourceState.UNSEEDED, SourceState.READY)),
                delivery.enable.eq(usable & ~self.hold),
                self.ready.eq(usable & self.hold),
                drbg.load.eq(self.load & self.ready & (loaded != SEED_WORDS)),
            ]
            with m.If(drbg.load):
                m.d.sync += loaded.eq(loaded + 1)
            with m.If(again):
                m.d.sync += wrong.eq(self.fail)
                m.next = "TEST"
            with m.Elif(wrong):
                m.next = "FORGET"
            with m.Elif(self.seed & self.ready):
                with m.If(loaded < least):
                    m.d.sync += loaded.eq(0)
                with m.Else():
                    m.d.comb += [drbg.task.eq(DrbgTask.SEED), drbg.start.eq(1)]
                    m.next = "SEED"
            with m.Elif(delivery.wanted & ~(unseeded | self.hold)):
                m.d.comb += [drbg.task.eq(DrbgTask.GENERATE), drbg.start.eq(1)]
                m.next = "GENERATE"

    @staticmethod
    def _test(m: Module, drbg: DrbgMechanism, test: KnownAnswerTest) -> None:
        """The test alone uses the mechanism."""
        m.d.comb += [
            test.run.eq(1),
            *same_named(drbg, test, "task", "start", "seeded", "material_words", "count"),
            drbg.output_index.eq(test.index),
        ]
