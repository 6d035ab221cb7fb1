"""The registers of a cluster, and what they send along its chain."""

from amaranth.hdl import Array, Cat, Const, Elaboratable, Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.bus import cluster_registers as registers
from coprime.bus.cluster_registers import REGISTERS
from coprime.bus.collector import Collector, distributed
from coprime.bus.common import (
    CLASSES,
    LONGEST,
    check_max_length,
    classes_of,
    classify,
    digits_for,
    exceeds,
    identity,
    keep_refusal,
    length_registers,
    number,
    register_value,
    report_lengths,
    too_long_for,
)
from coprime.bus.packing import WordsToDigits
from coprime.bus.port import WORD_BITS, RegisterSignature
from coprime.cells.target import Target
from coprime.cluster.packet import SETTINGS, Kind, PacketLayout
from coprime.engine.contract import (
    ERROR_BITS,
    OPERAND_BITS,
    USED_UP,
    Capabilities,
    Command,
    Error,
    Length,
    Operand,
)

__all__ = ["ClusterFrontEnd"]

LENGTH_REGISTERS = length_registers(REGISTERS)
OF_A_CORE = (
    registers.COMMAND,
    registers.CANCEL,
    registers.KEY_OPERAND,
    registers.KEY_DATA,
    *LENGTH_REGISTERS,
)
NOT_WHILE_OCCUPIED = tuple(one for one in OF_A_CORE if one is not registers.CANCEL)


class ClusterFrontEnd(wiring.Component):
    """Registers, the loading of operands and the collecting of results, for a chain of cores.

    The register map says what each register does. What belongs to a core, lengths, digit counts and
    the marks of complete operands, lies in small memories, of which one word is looked up as soon
    as the core is selected.

    An operand's words become digits, and each digit a packet. A command is checked, then its eight
    settings and the command leave: 11 cycles in which accesses wait, and as many more as the
    collector's run of RECEIVE packets takes, which goes before everything else. A reset clears the
    memories, a word a cycle, in which accesses wait, and lasts until nothing that was sent before
    comes back.

    Parameters
    ----------
    capabilities : Capabilities
        Of the engines; max_length up to 65534.
    cores : int
        1 to 1023.
    target : Target

    Members
    -------
    registers : the register port
    packet_out, packet_in : the two ends of the chain
    irq : 1 while a completion is there and the interrupt enabled
    """

    def __init__(self, capabilities: Capabilities, cores: int, *, target: Target = Target.GENERIC):
        check_max_length(capabilities)
        self.capabilities = capabilities
        self.cores = cores
        self.target = target
        self.layout = PacketLayout(capabilities, cores)
        super().__init__(
            {
                "registers": Out(RegisterSignature()),
                "packet_out": Out(self.layout),
                "packet_in": In(self.layout),
                "irq": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        own, port = self.capabilities, self.registers

        # What software has set, and what it is shown.
        core = Signal(self.layout["core"].shape)
        selected = Signal(init=1)  # else no core is
        interrupt_enable = Signal()
        refusal = Signal(Error.ADDRESS.bit_length())  # the highest of its codes
        time = Signal(32)
        m.d.sync += time.eq(time + 1)

        # Of each core. A length that is too long is kept as all ones.
        length_bits = bits_for(own.max_length + 1)
        over = (1 << length_bits) - 1
        held: dict[str, Memory] = {
            **{f"length_{k}": distributed(length_bits, self.cores) for k in range(len(CLASSES))},
            **{f"count_{k}": distributed(own.count_bits, self.cores) for k in range(len(CLASSES))},
            "marks": distributed(len(Operand), self.cores),
            "occupied": distributed(1, self.cores),
        }
        clearing = Signal()
        clear_address = Signal(range(self.cores + 8))
        writes_held, current = {}, {}
        for name, memory in held.items():
            m.submodules[name] = memory
            write, read = memory.write_port(), memory.read_port(domain="comb")
            word = Signal.like(read.data, name=name)
            m.d.comb += [write.addr.eq(core), read.addr.eq(core)]
            with m.If(clearing):
                m.d.comb += [write.addr.eq(clear_address), write.en.eq(1)]
            m.d.sync += word.eq(read.data)
            with m.If(~selected):  # `core` is no core's number then
                m.d.sync += word.eq(0)
            writes_held[name], current[name] = write, word
        lengths = [current[f"length_{one.value}"] for one in CLASSES]
        counts = [current[f"count_{one.value}"] for one in CLASSES]
        marks, occupied = current["marks"], current["occupied"]
        absent = [length == 0 for length in lengths]
        too_long_held = [length == over for length in lengths]

        # Errors.
        refused = Signal.like(refusal)
        clear_error = Signal()
        keep_refusal(m, refusal, refused, clear=clear_error)

        # The chosen operand. What depends on it is known a cycle later.
        operand = Signal(OPERAND_BITS)
        length_class = Signal(range(len(Length)))
        operand_class = Signal.like(length_class)
        operand_length = Signal(range(max(own.max_length, own.digit_width) + 1))
        operand_known, operand_padded, operand_aligned, operand_absent, operand_over = (
            Signal(name=f"operand_{name}")
            for name in ("known", "padded", "aligned", "absent", "over")
        )
        classify(m, own, operand, length_class)
        is_digit = length_class == Length.DIGIT
        class_index = length_class[:2]
        exponents = [one for one in sorted(own.operands) if one.is_exponent]
        m.d.sync += [
            operand_class.eq(length_class),
            operand_known.eq(operand.matches(*sorted(own.operands))),
            operand_length.eq(Mux(is_digit, own.digit_width, Array(lengths)[class_index])),
            operand_padded.eq(~is_digit),
            operand_aligned.eq(~is_digit & ~operand.matches(*exponents)),
            operand_absent.eq(~is_digit & Array(absent)[class_index]),
            operand_over.eq(~is_digit & Array(too_long_held)[class_index]),
        ]

        # What a command needs.
        command = Signal(range(1 << 3))
        required = Signal(len(Operand))
        uses = Signal(len(CLASSES))
        with m.Switch(command):
            for known, operands in own.required.items():
                with m.Case(known):
                    m.d.comb += [
                        required.eq(sum(1 << one for one in operands)),
                        uses.eq(classes_of(operands)),
                    ]
        command_error = Signal(ERROR_BITS)
        m.d.sync += command_error.eq(
            Mux((required & ~marks).any(), Error.OPERAND_MISSING, Error.NONE)
        )
        report_lengths(m, command_error, uses=uses, absent=absent, over=too_long_held)

        # The two sides of the chain.
        loader = WordsToDigits(
            own.digit_width,
            own.headroom,
            max(own.max_length, own.digit_width),
            alignable=own.aligned,
        )
        ends_loading = Signal()
        m.submodules.loader = ResetInserter(ends_loading)(loader)
        m.submodules.collector = collector = Collector(own, self.cores, target=self.target)
        arrived = Signal(self.layout)
        m.d.sync += arrived.eq(self.packet_in)
        came = arrived.kind
        replied = Signal()
        reply_digit, reply_wrong = Signal(own.digit_width), Signal()
        # What was under way before a reset is nobody's.
        m.d.sync += [
            replied.eq((came == Kind.RECEIVE) & ~clearing),
            reply_digit.eq(arrived.data),
            reply_wrong.eq(arrived.operand[0]),
        ]
        noticed = (came == Kind.NOTICE) & ~clearing
        reports = Signal()  # a command that was refused here ends like any other
        m.d.comb += [
            collector.replies.valid.eq(replied),
            collector.replies.payload.digit.eq(reply_digit),
            *([collector.replies.payload.wrong.eq(reply_wrong)] if own.checked else []),
            collector.notices.valid.eq(noticed | reports),
            collector.notices.payload.core.eq(Mux(noticed, arrived.core, core)),
            collector.notices.payload.error.eq(
                Mux(noticed, arrived.data[:ERROR_BITS], command_error)
            ),
            collector.notices.payload.result.eq(noticed & arrived.data[ERROR_BITS]),
        ]
        asked_count, asked_length = (
            held[name].read_port(domain="comb") for name in ("count_0", "length_0")
        )
        m.d.comb += [
            asked_count.addr.eq(collector.asked_core),
            asked_length.addr.eq(collector.asked_core),
        ]
        m.d.sync += [
            collector.asked_digits.eq(asked_count.data),
            collector.asked_length.eq(asked_length.data),
        ]

        # One packet leaves in a cycle: the collector's before all others.
        setting = Signal(range(len(SETTINGS)))
        packet = Signal(self.layout)  # unless the collector has one
        leaves = Signal()
        m.d.comb += [
            leaves.eq(~collector.requests.valid),
            packet.core.eq(core),
            packet.operand.eq(operand),
        ]
        m.d.sync += self.packet_out.eq(packet)
        with m.If(collector.requests.valid):
            m.d.sync += [
                self.packet_out.kind.eq(Kind.RECEIVE),
                self.packet_out.core.eq(collector.asked_core),
                self.packet_out.index.eq(collector.requests.payload),
            ]

        # Writes. In the first cycle for which `settled` is 1 the address is decoded and the value
        # compared; in the next one the write takes place.
        settled = Signal()
        value = port.write_data
        accepts, forbids = Signal(name="accepts"), Signal(name="forbids")
        beyond, zero, too_long, unwritable, lost, blocked = (
            Signal(name=name)
            for name in ("beyond", "zero", "too_long", "unwritable", "lost", "blocked")
        )
        attempts = {r: port.write_address == number(r) for r in REGISTERS if r.writable}
        writes = {r: Signal(name=f"writes_{r.name.lower()}") for r in attempts}
        of_a_core = Cat(attempts[r] for r in OF_A_CORE).any()
        not_while_occupied = Cat(attempts[r] for r in NOT_WHILE_OCCUPIED).any()
        m.d.comb += [
            accepts.eq(port.write & ~port.write_ready & settled),
            forbids.eq((of_a_core & ~selected) | (not_while_occupied & occupied)),
            port.write_error.eq(unwritable),
        ]
        m.d.sync += [
            port.write_ready.eq(accepts),
            *(
                writes[r].eq(accepts & attempt & ~(forbids & (r in OF_A_CORE)))
                for r, attempt in attempts.items()
            ),
            lost.eq(accepts & of_a_core & ~selected),
            blocked.eq(accepts & not_while_occupied & selected & occupied),
            unwritable.eq(~port.write_address.matches(*(number(r) for r in attempts))),
            beyond.eq(exceeds(value, self.cores - 1)),
            zero.eq(value == 0),
            too_long.eq(
                too_long_for(
                    own,
                    value,
                    of_prime=attempts[registers.P_LENGTH] | attempts[registers.Q_LENGTH],
                )
            ),
        ]
        m.d.comb += [
            clear_error.eq(writes[registers.ERROR]),
            loader.words.payload.eq(value),
            loader.words.valid.eq(writes[registers.KEY_DATA] & loader.busy),
            loader.length.eq(operand_length),
            loader.padded.eq(operand_padded),
            loader.digits.ready.eq(leaves),
            collector.completions.ready.eq(writes[registers.NEXT]),
        ]
        if own.aligned:
            m.d.comb += loader.aligned.eq(operand_aligned)
        with m.If(blocked):
            m.d.comb += refused.eq(Error.BUSY)
        with m.If(lost | (writes[registers.CORE] & beyond)):
            m.d.comb += refused.eq(Error.ADDRESS)
        with m.If(writes[registers.KEY_DATA] & ~loader.busy):
            m.d.comb += refused.eq(Error.KEY_OVERRUN)
        with m.If(writes[registers.INTERRUPT_ENABLE]):
            m.d.sync += interrupt_enable.eq(value)
        with m.If(writes[registers.CORE]):
            m.d.sync += [core.eq(value), selected.eq(~beyond)]
            m.d.comb += ends_loading.eq(1)
        with m.If(writes[registers.KEY_OPERAND]):
            m.d.sync += operand.eq(value)
            m.d.comb += ends_loading.eq(1)
        with m.If(writes[registers.COMMAND]):
            m.d.sync += command.eq(value)
            m.d.comb += ends_loading.eq(1)

        # Lengths, counts of digits and marks.
        counted = Signal()  # an operand has been loaded, and the loader knows its digits
        length_count = digits_for(own, zero=zero, too_long=too_long)
        mark = writes_held["marks"]
        for one, register in zip(CLASSES, LENGTH_REGISTERS, strict=True):
            length, count = (writes_held[f"{n}_{one.value}"] for n in ("length", "count"))
            gone = sum(1 << name for name in own.operands if name.length is one)
            with m.If(writes[register]):
                m.d.comb += [
                    length.en.eq(1),
                    length.data.eq(Mux(too_long, over, value)),
                    count.en.eq(1),
                    count.data.eq(length_count),
                    mark.en.eq(1),
                    mark.data.eq(marks & ~gone),
                    ends_loading.eq(1),
                ]
            with m.If(counted & (operand_class == one)):
                m.d.comb += [count.en.eq(1), count.data.eq(loader.digit_index)]
        # A mark is set or cleared; a command takes those with it that it uses up, WIPE all.
        operand_mark = Signal(len(Operand))
        m.d.comb += operand_mark.eq(1 << operand[: bits_for(len(Operand) - 1)])
        sets_mark, clears_mark, spends, wipes = (
            Signal(name=name) for name in ("sets_mark", "clears_mark", "spends", "wipes")
        )
        spent: Value = Const(1 << Operand.X, len(Operand))
        if own.checked:
            spent |= Mux(command == Command.RSA_PRIVATE, sum(1 << one for one in USED_UP), 0)
        for condition, marked in (
            (sets_mark, marks | operand_mark),
            (clears_mark, marks & ~operand_mark),
            (spends, marks & ~spent),
            (wipes, Const(0)),
        ):
            with m.If(condition):
                m.d.comb += [mark.en.eq(1), mark.data.eq(marked)]
        # A core is occupied from its command's start until its completion is removed.
        occupies = Signal()
        occupancy = writes_held["occupied"]
        with m.If(occupies):
            m.d.comb += [occupancy.en.eq(1), occupancy.data.eq(1)]
        with m.If(writes[registers.NEXT] & collector.completions.valid):
            m.d.comb += [occupancy.en.eq(1), occupancy.addr.eq(collector.completions.payload.core)]
            if own.checked:
                # The core has wiped its memory, or was cancelled while E was somewhere else.
                with m.If(
                    collector.completions.payload.error.matches(Error.FAULT, Error.CANCELLED)
                ):
                    m.d.comb += [
                        mark.en.eq(1),
                        mark.addr.eq(collector.completions.payload.core),
                        mark.data.eq(0),
                    ]

        m.d.comb += settled.eq(0)
        with m.FSM(init="CLEAR"):
            with m.State("CLEAR"):
                m.d.comb += clearing.eq(1)
                m.d.sync += clear_address.eq(clear_address + 1)
                # By then what was on the way when the reset began has come back.
                with m.If(clear_address == self.cores + 7):
                    m.next = "IDLE"
            with m.State("IDLE"):
                m.d.comb += [
                    settled.eq(~loader.busy | loader.words.ready),
                    counted.eq(loader.done),
                    sets_mark.eq(loader.done & ~loader.excess),
                ]
                with m.If(loader.done & loader.excess):
                    m.d.comb += refused.eq(Error.KEY_EXCESS)
                with m.If(loader.digits.valid):
                    m.d.comb += [
                        packet.kind.eq(Kind.SEND),
                        packet.index.eq(loader.digit_index),
                        packet.data.eq(loader.digits.payload),
                    ]
                with m.If(writes[registers.KEY_OPERAND]):
                    m.next = "LOOK_UP_OPERAND"
                with m.If(writes[registers.COMMAND]):
                    m.next = "LOOK_UP_COMMAND"
                with m.If(writes[registers.CANCEL]):
                    m.next = "CANCEL"
                with m.If(writes[registers.CORE]):
                    m.next = "SELECT"
            with m.State("SELECT"):  # what the core has is looked up
                m.next = "IDLE"
            with m.State("LOOK_UP_OPERAND"):
                m.next = "CHOOSE"
            with m.State("CHOOSE"):
                with m.If(~operand_known):
                    m.d.comb += refused.eq(Error.ADDRESS)
                with m.Elif(operand_absent):
                    m.d.comb += refused.eq(Error.LENGTH_ZERO)
                with m.Elif(operand_over):
                    m.d.comb += refused.eq(Error.LENGTH_OVER)
                with m.Else():
                    m.d.comb += [loader.start.eq(1), clears_mark.eq(1)]
                m.next = "IDLE"
            with m.State("LOOK_UP_COMMAND"):
                m.next = "CHECK"
            with m.State("CHECK"):
                m.d.sync += setting.eq(0)
                m.d.comb += occupies.eq(1)
                m.next = "SET"
                with m.If(command == Command.WIPE):
                    m.d.comb += wipes.eq(1)
                with m.Elif(command_error != Error.NONE):
                    m.next = "REPORT"
                with m.Else():
                    m.d.comb += spends.eq(required[Operand.X])
            with m.State("REPORT"), m.If(~noticed):
                m.d.comb += reports.eq(1)
                m.next = "IDLE"
            with m.State("SET"):
                values = [*counts, *lengths]
                m.d.comb += [
                    packet.kind.eq(Kind.SET),
                    packet.index.eq(setting),
                    packet.data.eq(Array(values)[setting]),
                ]
                with m.If(leaves):
                    m.d.sync += setting.eq(setting + 1)
                    with m.If(setting == len(SETTINGS) - 1):
                        m.next = "START"
            with m.State("START"):
                m.d.comb += [packet.kind.eq(Kind.START), packet.data.eq(command)]
                with m.If(leaves):
                    m.next = "IDLE"
            with m.State("CANCEL"):
                m.d.comb += packet.kind.eq(Kind.CANCEL)
                with m.If(leaves):
                    m.next = "IDLE"

        # Reads: one cycle to look up, one to answer. They wait as writes do, so that ERROR tells of
        # the word before; RESULT waits for its word.
        waiting = Signal()
        answer = Signal(WORD_BITS)
        is_result = port.read_address == number(registers.RESULT)
        fetched = ~is_result | collector.words.valid | ~collector.word_pending
        takes = Signal()
        spends_word = Signal()
        m.d.comb += [
            self.irq.eq(interrupt_enable & collector.completions.valid),
            takes.eq(port.read & ~waiting & ~port.read_ready & settled & fetched),
            collector.words.ready.eq(waiting & spends_word),
        ]
        m.d.sync += [
            waiting.eq(takes),
            spends_word.eq(is_result),
            port.read_ready.eq(waiting),
            port.read_error.eq(0),
        ]
        shown_core = Mux(selected, core, LONGEST)
        answers: dict[str, Value] = {
            "IDENTIFICATION": Const(registers.IDENTIFICATION["ID"].reset, WORD_BITS),
            **identity(own),
            "CORES": Const(self.cores, WORD_BITS),
            "ERROR": register_value(registers.ERROR, REFUSAL=refusal),
            "INTERRUPT_ENABLE": interrupt_enable,
            **{
                register.name: Mux(length == over, LONGEST, length)
                for register, length in zip(LENGTH_REGISTERS, lengths, strict=True)
            },
            "CORE": register_value(registers.CORE, NUMBER=shown_core, OCCUPIED=selected & occupied),
            "COMPLETION": register_value(
                registers.COMPLETION,
                CORE=collector.completions.payload.core,
                ERROR=collector.completions.payload.error,
                VALID=collector.completions.valid,
            ),
            "RESULT_LENGTH": collector.completions.payload.bytes,
            "TIME": time,
            "RESULT": collector.words.payload,
        }
        with m.If(takes), m.Switch(port.read_address):
            for register in REGISTERS:
                if register.readable:
                    with m.Case(number(register)):
                        m.d.sync += answer.eq(answers[register.name])
            with m.Default():
                m.d.sync += answer.eq(0)
        m.d.sync += port.read_data.eq(0)
        with m.If(waiting):
            m.d.sync += port.read_data.eq(answer)
            readable = [number(register) for register in REGISTERS if register.readable]
            m.d.sync += port.read_error.eq(~port.read_address.matches(*readable))
        return m
