"""The arithmetic side: a program of steps on polynomials beside the sponge side."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.cells.shared_slice import narrow_user
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.lattice.memory.byte_memory import ByteAccess
from coprime.lattice.memory.sample_buffer import PAIR as SAMPLES
from coprime.model.lattice.arithmetic import LANE_BITS

from .datapath import Datapath
from .instructions import LABEL_BITS, WORD_BITS, AssembledArithmetic
from .parallel_datapath import ParallelDatapath
from .pipeline import P_BITS
from .results import DEPTH
from .sequencer import FULL, ArithmeticSequencer
from .table import TABLE_BITS, TABLE_WORDS, table_words


class ArithmeticSide(wiring.Component):
    """A datapath, its program, and the table of constants in the same block RAM.

    Cycles: `ArithmeticTwin`, to the cycle.

    Parameters
    ----------
    program (AssembledArithmetic)
    address_bits (int): of the byte memory
    target (Target)
    shares_slice (bool): as of Datapath, and `slice`
    lanes (int): 4 or 8 for a ParallelDatapath, not with `shares_slice`; bytes are then read and
        written two words at once

    Members
    -------
    start (1 bit, in), entry, parameter_set (in): begin at an instruction; only while `busy` and
        `wiping` are 0; `parameter_set` is stable while `busy`
    busy, done (1 bit, out): from the next cycle on; `done` in the last busy cycle
    bytes (out): of ByteMemory
    full, sample_address, sample, release (in, out, in, out): of SampleBuffer
    post, available, take (1 bit, out, in, out): of the semaphores
    forget, altered, decided, refused (1 bit, in, out, out, out): of ArithmeticSequencer
    multiplying (1 bit, out): a slot of a step
    fault (1 bit, out): of ArithmeticSequencer, or a parity of the polynomials' memory is wrong
    wipe, wiping, wipe_address (in): end, and clear the polynomials; as of Datapath
    """

    def __init__(
        self,
        program: AssembledArithmetic,
        address_bits: int,
        target: Target = Target.GENERIC,
        *,
        shares_slice: bool = False,
        lanes: int = 1,
    ):
        self.program, self.target, self.shares_slice = program, Target(target), shares_slice
        self.lanes = lanes
        self.datapath = (
            Datapath(target, shares_slice=shares_slice)
            if lanes == 1
            else ParallelDatapath(lanes, target)
        )
        words = 1 if lanes == 1 else 2
        address_bits -= words - 1
        self.sequencer = ArithmeticSequencer(program, address_bits, self.target, words=words)
        outputs = ("busy", "done", "release", "post", "take", "altered", "decided", "refused")
        super().__init__(
            {
                **dict.fromkeys(("start", "available", "forget", "wipe", "wiping"), In(1)),
                "wipe_address": In(range(DEPTH)),
                **dict.fromkeys((*outputs, "multiplying", "fault"), Out(1)),
                "entry": In(LABEL_BITS),
                "parameter_set": In(program.set_bits),
                "bytes": Out(ByteAccess(address_bits, words)),
                "full": In(FULL),
                "sample_address": Out(self.datapath.sample_address.shape()),
                "sample": In(SAMPLES) if lanes == 1 else In(data.ArrayLayout(SAMPLES, lanes)),
                **({"slice": Out(narrow_user(P_BITS))} if shares_slice else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Connect the parts."""
        m = Module()
        m.submodules.datapath = datapath = self.datapath
        m.submodules.sequencer = sequencer = self.sequencer
        mask = (1 << TABLE_BITS) - 1
        words = [word & mask for word in table_words(0, self.lanes)] + list(self.program.words)
        depth = 2 * TABLE_WORDS
        m.submodules.words = memory = Memory(
            shape=TABLE_BITS,
            depth=depth,
            init=words + [0] * (depth - len(words)),
            attrs={"ram_style": "block"},
        )
        constants, instructions = memory.read_port(), memory.read_port()
        padding = Const(0, TABLE_WORDS.bit_length() - 1 - LABEL_BITS)
        if self.shares_slice:
            connect(m, datapath.slice, flipped(self.slice))
        m.d.comb += [
            constants.addr.eq(datapath.table_address),
            (datapath.table_word if self.lanes == 1 else datapath.table_words[0]).eq(
                constants.data
            ),
            instructions.addr.eq(Cat(sequencer.instruction_address, padding, Const(1, 1))),
            sequencer.instruction.eq(instructions.data[:WORD_BITS]),
            *same_named(
                *(sequencer, self, "start", "entry", "parameter_set", "full", "available"),
                *("forget", "wipe"),
            ),
            *same_named(
                *(self, sequencer, "busy", "done", "release", "post", "take"),
                *("altered", "decided", "refused"),
            ),
            datapath.step.eq(sequencer.step),
            datapath.start.eq(sequencer.start_step),
            sequencer.step_done.eq(datapath.done),
            datapath.clear.eq(sequencer.compare),
            *same_named(sequencer, datapath, "differs", "agrees", "compared"),
            sequencer.use.eq(self.bytes.use if self.program.exchanges else datapath.use),
            self.fault.eq(sequencer.fault | datapath.wrong),
            self.bytes.use.eq(datapath.use),
            self.bytes.address.eq(sequencer.address),
            self.bytes.write.eq(datapath.write),
            self.bytes.write_data.eq(datapath.write_data),
            datapath.read_data.eq(self.bytes.data),
            self.sample_address.eq(datapath.sample_address),
            *same_named(datapath, self, "wipe", "wiping", "wipe_address"),
            self.multiplying.eq(datapath.multiplying),
        ]
        if self.program.exchanges:
            self._copy(m, datapath)
        samples = [(datapath.sample, self.sample)]
        if self.lanes > 1:
            self._add_tables(m, datapath)
            samples = [(datapath.sample[k], self.sample[k]) for k in range(self.lanes)]
        for port, sample in samples:
            m.d.comb += [port[0].eq(sample.even[:LANE_BITS]), port[1].eq(sample.odd[:LANE_BITS])]
        return m

    def _copy(self, m: Module, datapath: ParallelDatapath) -> None:
        """What COPY has read waits for a cycle until it is written."""
        sequencer, access = self.sequencer, self.bytes
        was_read, word = Signal(), Signal.like(access.data)
        m.d.sync += was_read.eq(sequencer.reads_seed)
        with m.If(was_read):
            m.d.sync += word.eq(access.data)
        with m.If(self.wiping):
            m.d.sync += word.eq(0)
        with m.If(sequencer.writes_seed):
            m.d.comb += access.write_data.eq(word)
        m.d.comb += [
            access.use.eq(datapath.use | sequencer.reads_seed | sequencer.writes_seed),
            access.write.eq(datapath.write | sequencer.writes_seed),
        ]

    def _add_tables(self, m: Module, datapath: ParallelDatapath) -> None:
        """The constants of all lanes but the first one."""
        mask = (1 << TABLE_BITS) - 1
        for lane in range(1, self.lanes):
            words = [word & mask for word in table_words(lane, self.lanes)]
            memory = Memory(
                shape=TABLE_BITS, depth=TABLE_WORDS, init=words, attrs={"ram_style": "block"}
            )
            m.submodules[f"constants_{lane}"] = memory
            port = memory.read_port()
            m.d.comb += [
                port.addr.eq(datapath.table_address),
                datapath.table_words[lane].eq(port.data),
            ]
