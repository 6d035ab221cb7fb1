"""The generator's test at start: a known answer of all that it does.

Source: NIST SP 800-90A Rev. 1 (2015), section 11.3.
"""

from amaranth.hdl import Array, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up

from .mechanism import DrbgMechanism
from .programs import RESEED_LEAST, SEED_LEAST, DrbgTask
from .seed_material import SEED_WORDS
from .steps import REQUEST_BYTES

_TASKS = (
    (DrbgTask.TEST_SEED, 0, False),
    (DrbgTask.SEED, SEED_LEAST, False),
    (DrbgTask.TEST_RESEED, 0, False),
    (DrbgTask.SEED, RESEED_LEAST, True),
    (DrbgTask.GENERATE, 0, True),
    (DrbgTask.GENERATE, 0, True),
)
"""Tasks with words of seed material, and whether it is seeded already."""


class KnownAnswerTest(wiring.Component):
    """Seed with known bytes, seed again, make two requests, compare the second one.

    Parameters
    ----------
    answer : the REQUEST_BYTES that are expected

    Members
    -------
    run : 1 from the first cycle of the test to the last one
    done, passed : the last cycle; all bytes were as expected
    task, start, seeded, material_words, count, task_done, index, byte : those of DrbgMechanism
    """

    def __init__(self, answer: bytes):
        self.answer = answer
        super().__init__(
            {
                **dict.fromkeys(("run", "task_done"), In(1)),
                "byte": In(8),
                **dict.fromkeys(("done", "passed", "start", "seeded"), Out(1)),
                "task": Out(DrbgTask),
                "material_words": Out(range(SEED_WORDS + 1)),
                "count": Out(2),
                "index": Out(range(REQUEST_BYTES)),
            }
        )

    @staticmethod
    def cycles() -> int:
        """Those in which `run` is 1."""
        tasks = (
            DrbgMechanism.cycles(task, seeded=seeded, material_words=words) + 1
            for task, words, seeded in _TASKS
        )
        return sum(tasks) + REQUEST_BYTES + 1

    def elaborate(self, platform: object) -> Module:
        """DrbgStep through the tasks, then through the bytes."""
        m = Module()
        stage, place = Signal(range(len(_TASKS))), Signal(range(REQUEST_BYTES + 1))
        expected, compares, differs = Signal(8), Signal(), Signal()
        task, words, seeded = zip(*_TASKS, strict=True)
        m.d.comb += [
            self.task.eq(Array(Const(value, DrbgTask) for value in task)[stage]),
            self.material_words.eq(Array(words)[stage]),
            self.seeded.eq(Array(map(int, seeded))[stage]),
            self.count.eq(1 + (stage == len(_TASKS) - 1)),
            self.index.eq(place),
            self.passed.eq(~(differs | (compares & (self.byte != expected)))),
        ]
        m.d.sync += [
            expected.eq(look_up(tuple(self.answer), place[:-1], 8)),
            compares.eq(0),
        ]
        with m.If(compares & (self.byte != expected)):
            m.d.sync += differs.eq(1)
        with m.FSM():
            with m.State("START"):
                m.d.comb += self.start.eq(self.run)
                with m.If(self.run):
                    m.next = "TASK"
            with m.State("TASK"), m.If(self.task_done):
                m.d.sync += stage.eq(stage + 1)
                m.next = "START"
                with m.If(stage == len(_TASKS) - 1):
                    m.d.sync += [stage.eq(0), place.eq(0), differs.eq(0)]
                    m.next = "COMPARE"
            with m.State("COMPARE"):
                m.d.sync += place.eq(place + 1)
                m.d.sync += compares.eq(1)
                with m.If(place == REQUEST_BYTES):
                    m.d.sync += compares.eq(0)
                    m.d.comb += self.done.eq(1)
                    m.next = "START"
        return m
