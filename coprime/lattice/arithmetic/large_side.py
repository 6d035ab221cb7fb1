"""The arithmetic side modulo 8380417: a program of steps on polynomials beside the sponge side."""

from amaranth.hdl import Cat, Const, Module
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.cells.shared_slice import WIDE_USER
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.lattice.memory.byte_memory import ByteAccess
from coprime.lattice.memory.sample_buffer import PAIR, joined_polynomials
from coprime.model.lattice.large_arithmetic import NUMBER_BITS
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

from .hint_memory import HintMemory
from .large_butterfly import NUMBER
from .large_datapath import LargeDatapath
from .large_instructions import LABEL_BITS, WORD_BITS, AssembledLarge
from .large_sequencer import LARGE_FULL, LargeSequencer
from .large_steps import TABLE_DEPTH, LargeKind, large_table
from .number_packer import HINT_BITS, ML_DSA_WIDTHS
from .parallel_large_datapath import ParallelLargeDatapath


class LargeSide(wiring.Component):
    """A datapath, its program, and the table of constants in the same block RAM.

    Cycles: `LargeTwin`, to the cycle.

    Parameters
    ----------
    program (AssembledLarge)
    address_bits (int): of the byte memory
    target (Target)
    verify_only (bool): as of LargeBytes
    shares_slice (bool): as of LargeButterfly, and `slice`
    lanes (int): 1, or 4 or 8 that compute at once, with `shares_slice` 1; of several lanes bytes
        are read and written two words at once

    Members
    -------
    start (1 bit, in), entry, parameter_set (in): begin at an instruction; only while `busy` and
        `wiping` are 0; `parameter_set` is stable while `busy`
    busy, done (1 bit, out): from the next cycle on; `done` in the last busy cycle
    bytes (out): of ByteMemory
    full, sample_address, sample, release (in, out, in, out): of SampleBuffer; of one lane, a sample
        is in the lowest 24 bits of its word
    post (1 bit, out): of the semaphore
    exceeds (1 bit, out): a number was out of its bounds, or a rule of hints was broken, since CLEAR
    cancels (1 bit, out): of LargeDatapath
    rejected (1 bit, out): the same, as the last VERDICT has found it
    multiplying (1 bit, out): a step is executed
    fault (1 bit, out): of LargeSequencer, or a parity of a polynomial is wrong
    wipe (1 bit, in): end, and clear the polynomials
    wiping (1 bit, out): this is under way, as it is after a reset
    """

    def __init__(
        self,
        program: AssembledLarge,
        address_bits: int,
        target: Target = Target.GENERIC,
        *,
        verify_only: bool = False,
        shares_slice: bool = False,
        lanes: int = 1,
    ):
        assert lanes == 1 or not shares_slice
        self.program, self.target, self.verify_only = program, Target(target), verify_only
        self.shares_slice, self.lanes = shares_slice, lanes
        regions = program.regions
        self.datapath: LargeDatapath | ParallelLargeDatapath = (
            LargeDatapath(regions, self.target, verify_only=verify_only, shares_slice=shares_slice)
            if lanes == 1
            else ParallelLargeDatapath(regions, lanes, self.target, verify_only=verify_only)
        )
        full = LARGE_FULL if lanes == 1 else range(joined_polynomials(lanes) + 1)
        words = 1 if lanes == 1 else 2
        address_bits -= words - 1
        self.sequencer = LargeSequencer(program, address_bits, self.target, full, words=words)
        outputs = ("busy", "done", "release", "post", "exceeds", "rejected", "cancels", "fault")
        super().__init__(
            {
                **dict.fromkeys(("start", "wipe"), In(1)),
                **dict.fromkeys((*outputs, "multiplying", "wiping"), Out(1)),
                "entry": In(LABEL_BITS),
                "parameter_set": In(program.set_bits),
                "bytes": Out(ByteAccess(address_bits, words)),
                "full": In(full),
                "sample_address": Out(self.datapath.sample_address.shape()),
                "sample": In(PAIR) if lanes == 1 else In(data.ArrayLayout(NUMBER, lanes)),
                **({"slice": Out(WIDE_USER)} if shares_slice else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Connect the parts."""
        m = Module()
        m.submodules.datapath = datapath = self.datapath
        m.submodules.sequencer = sequencer = self.sequencer
        m.submodules.hints = hints = HintMemory(verify_only=self.verify_only, pairs=self.lanes > 1)
        if self.shares_slice:
            connect(m, datapath.slice, flipped(self.slice))
        words = _table(0, self.lanes) + list(self.program.words)
        m.submodules.words = memory = Memory(
            shape=WORD_BITS,
            depth=2 * TABLE_DEPTH,
            init=words + [0] * (2 * TABLE_DEPTH - len(words)),
            attrs={"ram_style": "block"},
        )
        constants, instructions = memory.read_port(), memory.read_port()
        padding = Const(0, TABLE_DEPTH.bit_length() - 1 - LABEL_BITS)
        numbers = [ML_DSA_SETS.index(parameter_set) for parameter_set in self.program.sets]
        step = sequencer.step
        packs_hints = (step.kind == LargeKind.PACK) & (step.width == ML_DSA_WIDTHS.index(HINT_BITS))
        if isinstance(datapath, ParallelLargeDatapath):
            self._add_tables(m, datapath)
            if self.program.repeats:
                m.d.comb += sequencer.step_follows.eq(datapath.follows)
            pack_address, constant = datapath.number_address, datapath.table_words[0]
            samples = [(datapath.sample[k], self.sample[k]) for k in range(self.lanes)]
        else:
            pack_address, constant = datapath.sample_address, datapath.table_word
            samples = [(datapath.sample, self.sample.as_value())]
        for port, sample in samples:
            with m.If(packs_hints):
                m.d.comb += port.eq(~hints.packed)
            with m.Else():
                m.d.comb += port.eq(sample[:NUMBER_BITS].as_signed())
        m.d.comb += [
            constants.addr.eq(datapath.table_address),
            constant.eq(constants.data[:NUMBER_BITS].as_signed()),
            instructions.addr.eq(Cat(sequencer.instruction_address, padding, Const(1, 1))),
            sequencer.instruction.eq(instructions.data),
            *same_named(
                *(sequencer, self, "start", "entry", "parameter_set", "full", "wipe"),
            ),
            *same_named(self, sequencer, "busy", "done", "release", "post", "rejected"),
            self.fault.eq(sequencer.fault | datapath.wrong),
            datapath.parameter_set.eq(look_up(numbers, self.parameter_set, 2)),
            datapath.step.eq(sequencer.step),
            datapath.start.eq(sequencer.start_step),
            sequencer.step_done.eq(datapath.done),
            datapath.clear.eq(sequencer.clear),
            hints.begin.eq(sequencer.clear),
            hints.row.eq(sequencer.hints_row),
            hints.step.eq(datapath.hint_step),
            *same_named(hints, sequencer, "row_number", "rest", "finish"),
            hints.found.payload.eq(datapath.found.payload),
            hints.found.valid.eq(datapath.found.valid),
            hints.pack_address.eq(pack_address),
            hints.packs.eq(packs_hints),
            *same_named(hints, datapath, "parameter_set"),
            hints.bytes.payload.eq(datapath.byte.payload),
            hints.bytes.valid.eq(datapath.byte.valid),
            datapath.hint.eq(hints.hint),
            sequencer.waits.eq(hints.waits),
            *same_named(self, datapath, "cancels"),
            self.exceeds.eq(datapath.exceeds | hints.refuses),
            sequencer.exceeds.eq(self.exceeds),
            sequencer.use.eq(datapath.use),
            self.bytes.use.eq(datapath.use),
            self.bytes.address.eq(sequencer.address),
            self.bytes.write.eq(datapath.write),
            self.bytes.write_data.eq(datapath.write_data),
            datapath.read_data.eq(self.bytes.data),
            self.sample_address.eq(datapath.sample_address),
            *(part.wipe.eq(self.wipe) for part in (datapath, hints)),
            self.multiplying.eq(datapath.busy),
            self.wiping.eq(datapath.wiping | hints.wiping),
        ]
        return m

    def _add_tables(self, m: Module, datapath: ParallelLargeDatapath) -> None:
        """The constants of all lanes but the first one."""
        for lane in range(1, self.lanes):
            memory = Memory(
                shape=NUMBER_BITS,
                depth=TABLE_DEPTH,
                init=_table(lane, self.lanes),
                attrs={"ram_style": "block"},
            )
            m.submodules[f"constants_{lane}"] = memory
            port = memory.read_port()
            m.d.comb += [
                port.addr.eq(datapath.table_address),
                datapath.table_words[lane].eq(port.data.as_signed()),
            ]


def _table(lane: int, lanes: int) -> list[int]:
    """The constants of a lane."""
    return [word & (1 << NUMBER_BITS) - 1 for word in large_table(lane, lanes).words]
