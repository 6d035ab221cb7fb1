"""What the multipliers that scan one bit of X a round share: parameters, cycles, control.

Source: Amanor, Paar, Pelzl, Bunimov, Schimmler, "Efficient Hardware Architectures for Modular
Multiplication on FPGAs" (2005). Its state machine is Idle, Loading, Loading complete/Starting,
Running, Finished. What differs:

* The operands come word by word from a memory, and the result goes back there. X, whose bits are
  scanned, is not held as a whole: one word of it is, and the next one is read while that is
  scanned. That saves n flip-flops and the cycles of loading them.
"""

from abc import abstractmethod
from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.bitserial import COUNTS

from .contract import READ_LATENCY, ModularMultiplier, Multiplication, MultiplierSignature, Role

__all__ = [
    "BitSerialControl",
    "BitSerialMultiplication",
    "BitSerialMultiplier",
    "delays_with_reset",
    "spread",
    "turned",
]

_PASSES = ("tabulating", "summing", "reducing", "writing")
_STATES = (
    *("idle", "wiping", "loading", "starting", "running", "moving", "transferring", "waiting"),
    *_PASSES,
)


def turned(register: Value, word: Value) -> Value:
    """The register after a word has entered at the high end, and one has left at the low end."""
    return Cat(register[len(word) :], word)


def delays_with_reset(m: Module, signal: Value, cycles: int) -> list[Value]:
    """The signal as it was 0, 1, ... `cycles` cycles ago; a reset makes all of that 0."""
    taps: list[Value] = [signal]
    for _ in range(cycles):
        delayed = Signal.like(taps[-1], name="delayed")
        m.d.sync += delayed.eq(taps[-1])
        taps.append(delayed)
    return taps


def spread(m: Module, following: Value, width: int, *, name: str, clear: Value) -> Value:
    """A flip-flop that selects at each of `width` bits, as that many equal bits.

    `following` is its next value and `clear` its synchronous reset.
    """
    # A copy for each 64 bits was slower (1024 bits on ecp5: 139 MHz, not 152). It shortens the way
    # to the bits, but lengthens the one to the copies, which has q's logic before it.
    flag = Signal(name=name)
    m.d.sync += flag.eq(following)
    with m.If(clear):
        m.d.sync += flag.eq(0)
    return flag.replicate(width)


@dataclass(frozen=True)
class BitSerialMultiplication(Multiplication):
    """A multiplication in registers of N = `words` * `digit_width` bits, some passes and rounds.

    A *pass* takes a word from the low end of a register and enters one at the high end, so that
    after `words` cycles each word has had its turn. Every pass goes through all words, whatever the
    operands' lengths are: words that an operand does not have are zero.

    Where it is `aligned`, operands and result are at the upper end of their digits, with zero bits
    below. Else they are at the lower end.

    Parameters
    ----------
    words : int
        Digits of the longest operand, 1 to 4096.
    digit_width : int
        Bits of a word, 1 to 128.
    """

    words: int
    digit_width: int

    prepares = True
    headroom = 0
    constant_cycles = 1
    """Of a multiplication beside its rounds, loading and unloading: STARTING."""

    def __post_init__(self) -> None:
        _check_range("words", self.words, 1, 4096)
        _check_range("digit_width", self.digit_width, 1, 128)

    @property
    def width(self) -> int:
        """Bits of the registers, N."""
        return self.words * self.digit_width

    @property
    def pass_cycles(self) -> int:
        """Cycles of the pass that writes."""
        return self.words

    @property
    def loading_cycles(self) -> int:
        """Cycles of one multiplication before STARTING.

        The words of Y and one of X, and the last one's way to where its first bit is used.
        """
        return self.words + 1 + READ_LATENCY + 1

    @property
    @abstractmethod
    def unloading_cycles(self) -> int:
        """Cycles of the passes in FINISHED."""

    def cycles(self, inner: int, rounds: int) -> int:
        """Cycles of one multiplication; they depend on the rounds only."""
        return self.loading_cycles + self.constant_cycles + rounds + self.unloading_cycles

    def products(self, inner: int, rounds: int) -> int:
        """Cycles in RUNNING."""
        return rounds

    def prepare_cycles(self, inner: int) -> int:
        """Cycles of loading the modulus."""
        return self.words + READ_LATENCY + 1


class BitSerialMultiplier(ModularMultiplier):
    """The hardware of a `BitSerialMultiplication`: adds a multiple of Y each round.

    Parameters
    ----------
    multiplication : BitSerialMultiplication
        Of the class `computes`.
    count_bits : int
        Bits of a digit count, at most 16; it holds words + 1.
    round_bits : int
        Bits of a count of rounds, 1 to 32.

    Attributes
    ----------
    s : Signal
        The register S, for simulations to look into.
    secrets : list
        All signals and memory words that hold something of the operands; `wipe` clears them.
    """

    computes: type[BitSerialMultiplication]
    multiplication: BitSerialMultiplication

    def __init__(self, multiplication: BitSerialMultiplication, count_bits: int, round_bits: int):
        _check_range("count_bits", count_bits, 1, 16)
        _check_range("round_bits", round_bits, 1, 32)
        self.multiplication = multiplication
        self.words = words = multiplication.words
        self.digit_width = multiplication.digit_width
        self.width = multiplication.width
        if words + 1 >= 1 << count_bits:
            raise ValueError(f"count_bits must hold words + 1 = {words + 1}, not be {count_bits}")
        self.count_bits = count_bits
        self.round_bits = round_bits
        self.s = Signal(self.width, reset_less=True)
        self.secrets: list[Value] = [self.s]
        super().__init__(MultiplierSignature(self.digit_width, count_bits, round_bits))


def _check_range(name: str, value: int, least: int, most: int) -> None:
    if not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {value!r}")
    if value not in range(least, most + 1):
        raise ValueError(f"{name} must be in {least}..{most}, not {value}")


class BitSerialControl(wiring.Component):
    """The state machine, what reads the operands, and what scans X.

    ======== =====================================================================================
    state    what happens
    ======== =====================================================================================
    IDLE     S and C are cleared
    LOADING  Y is read, or in a preparation M; with `tabulates`, TABULATING is a part of it: passes
             that make a table
    STARTING the first round's selection is computed
    RUNNING  one round a cycle
    FINISHED MOVE: a pass that brings S into another register; TRANSFER: one round with nothing to
             add brings C into S; WAIT: until the modulus comes, if that was the register; SUM: the
             pass that adds both; REDUCE: passes that subtract; WRITE: the pass that writes
    ======== =====================================================================================

    A pass takes D + 2 cycles, D = words. Word j is taken in cycle j < D, added in the next one, and
    compared with a multiple of M in the one after, so that the pass that follows knows whether to
    subtract that. SUM, REDUCE, WRITE and the five of TABULATING are such passes. MOVE takes D
    cycles.

    Without `carry_save` there is no C, and S is written as it is: FINISHED is WRITE alone, of D
    cycles. Word j is written in cycle j.

    Parameters
    ----------
    multiplier : BitSerialMultiplier
        Gives the parameters.
    carry_save : bool
        What the rounds make stands in S and C.
    tabulates : bool
        Only with `carry_save`. LOADING has TABULATING, and there are two passes REDUCE. MOVE brings
        S to the modulus' place, and the modulus is read again meanwhile.

    Members
    -------
    those of MultiplierSignature but the data of port B
    word : `digit_width` bits, out
        A word of the operand that is read; 0 where it has none.
    preparing : out
        1 from LOADING on, in a preparation.
    forget : out
        Clears everything but S, C and the table.
    wiping : out
        Entry `entry` of the table is cleared.
    clear_s, clear_c : out
    entering_next, moving_next, passing_next, adding_next : out
        1 before each cycle in which `word` enters a register; MOVE moves a word; another pass takes
        one; S and C take a round's result, in RUNNING and TRANSFER.
    selecting, running, transferring, waiting, tabulating, summing, reducing, writing : out
        1 in STARTING and RUNNING; and in the states of these names.
    x_next : out
        The bit of X for the next round, where `selecting` is 1.
    first, final, closing : out
        1 in cycles 0, D - 1, D + 1 of a pass.
    doubling : out
        1 in SUM and the first pass REDUCE, which compare with 2M.
    entry : 4 bits, out
        The table's entry that is made: a count, + 8 for the entries with Y.
    """

    def __init__(
        self, multiplier: BitSerialMultiplier, *, carry_save: bool = True, tabulates: bool = False
    ):
        self.words = multiplier.words
        self.digit_width = multiplier.digit_width
        self.aligned = multiplier.multiplication.aligned
        self.pass_cycles = multiplier.multiplication.pass_cycles
        self.carry_save = carry_save
        self.tabulates = tabulates
        own = dict(multiplier.signature.members)
        del own["b_data"], own["b_write_data"]
        flags = (
            *("preparing", "forget", "wiping", "clear_s", "clear_c"),
            *("entering_next", "moving_next", "passing_next", "adding_next"),
            *("selecting", "running", "transferring", "waiting"),
            *("tabulating", "summing", "reducing", "writing"),
            *("x_next", "first", "final", "closing", "doubling"),
        )
        super().__init__(
            own
            | {"word": Out(self.digit_width), "entry": Out(4)}
            | {flag: Out(1) for flag in flags}
        )

    def connect(self, m: Module, multiplier: BitSerialMultiplier) -> None:
        """Become a submodule of the multiplier, and serve its ports."""
        m.submodules.control = self
        self.secrets = multiplier.secrets
        for name, member in multiplier.signature.members.items():
            if name in ("b_data", "b_write_data"):
                continue
            inner, outer = getattr(self, name), getattr(multiplier, name)
            m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)

    def elaborate(self, platform: object) -> Module:
        """Build reader, scanner and state machine."""
        m = Module()
        words, width = self.words, self.digit_width

        # --- The reader: the words of one operand, one a cycle ----------------------------------
        read = Signal()
        asking = Signal()
        asked = Signal(range(words))
        last_asked = Signal()
        written = Signal()  # a word of the result leaves
        role = Signal(Role)
        # One bit more: an aligned operand's index starts below zero where it has fewer words.
        index = Signal(len(self.inner_digits) + 1)
        held = Signal()  # the operand has this word
        m.d.comb += last_asked.eq(asked == words - 1)
        with m.If(read):
            m.d.sync += [asking.eq(1), asked.eq(0)]
        with m.Elif(asking):
            m.d.sync += [asking.eq(~last_asked), asked.eq(asked + 1)]
        with m.If(asking | written):
            m.d.sync += index.eq(index + 1)
        with m.Else():
            m.d.sync += index.eq(self.inner_digits - words if self.aligned else 0)
        m.d.comb += held.eq(~index[-1] if self.aligned else index < self.inner_digits)

        # --- The scanner: the words of X, and their bits ----------------------------------------
        scan = Signal()
        phase = Signal(range(width))
        x_index = Signal.like(self.a_index)
        ask_x = Signal()
        m.d.sync += phase.eq(0)
        m.d.comb += ask_x.eq(scan & (phase == 0))
        with m.If(~scan):
            m.d.sync += x_index.eq(self.outer_digits - 1 if self.aligned else 0)
        with m.Else():
            with m.If(phase != width - 1):
                m.d.sync += phase.eq(phase + 1)
            with m.If(ask_x):
                m.d.sync += x_index.eq(x_index - 1 if self.aligned else x_index + 1)

        # --- Ports A and B ----------------------------------------------------------------------
        m.d.comb += [
            self.a_role.eq(Mux(ask_x, Role.MULTIPLIER, role)),
            self.a_index.eq(Mux(ask_x, x_index, index)),
            self.b_index.eq(index),
            self.b_write.eq(written & held),
        ]
        # A block RAM's output comes late in the cycle: it is taken before anything is done with it.
        entering = delays_with_reset(m, asking, READ_LATENCY + 1)
        x_here = delays_with_reset(m, ask_x, READ_LATENCY + 1)[-1]
        m.d.sync += self.word.eq(self.a_data)
        with m.If(~delays_with_reset(m, ask_x | (asking & held), READ_LATENCY)[-1]):
            m.d.sync += self.word.eq(0)
        m.d.comb += self.entering_next.eq(entering[-2])
        bits = Signal(width)
        rest = Signal(width)
        m.d.comb += bits.eq(Mux(x_here, self.word[::-1] if self.aligned else self.word, rest))
        m.d.sync += [rest.eq(bits[1:]), self.x_next.eq(bits[0])]
        with m.If(self.forget):
            m.d.sync += rest.eq(0)
        self.secrets += [self.word, rest]

        # --- Counting rounds --------------------------------------------------------------------
        # The count is ahead of the rounds, and its sign is delayed, so that the state machine and
        # x_next have each what they need from a flip-flop.
        left = Signal(len(self.rounds) + 1)
        begins = Signal()  # the first cycle, from which on the lengths hold
        m.d.sync += begins.eq(0)
        loaded = Signal()  # in the cycle before STARTING
        last_selected, last = Signal(), Signal()
        with m.If(begins):
            m.d.sync += left.eq(self.rounds - 2)
        with m.If(loaded | self.selecting):
            m.d.sync += left.eq(left - 1)
        m.d.sync += [last_selected.eq(left[-1]), last.eq(last_selected)]
        with m.If(self.multiplier_is_one):
            # The highest bits of an aligned X come first, so its lowest bit is the last one.
            m.d.sync += self.x_next.eq(left[-1] if self.aligned else loaded)

        # --- States -----------------------------------------------------------------------------
        # A flip-flop for each state: from a code, the way to where they select would be too long.
        state = {name: Signal(name=name, init=name == "idle") for name in _STATES}
        following = {name: Signal(name=f"{name}_next") for name in _STATES}
        enters: dict[str, list[Value]] = {name: [] for name in _STATES}
        leaves: dict[str, list[Value]] = {name: [] for name in _STATES}
        last_reduction = Signal()

        def change(source: str, target: str, condition: Value) -> None:
            enters[target].append(state[source] & condition)
            leaves[source].append(condition)

        always = Const(1, 1)
        ready = entering[-2] if self.tabulates else always  # SUM's first word of M comes next
        prepared = self.preparing & entering[-1] & ~entering[-2]
        loads_x: Value = x_here  # in the cycle after Y's last word
        if not self.carry_save:
            # WRITE is short: there may still come a word of X that was asked for before it.
            loads_x = Signal(name="loads_x")
            m.d.sync += loads_x.eq(entering[-1] & ~entering[-2])
        change("idle", "loading", ~self.wipe & (self.start | self.prepare))
        if self.tabulates:
            change("idle", "wiping", self.wipe)
            change("wiping", "idle", self.wiping & (self.entry == 15))
            change("loading", "tabulating", prepared | (~self.preparing & entering[-2]))
            change("tabulating", "starting", self.closing & x_here)
            change("tabulating", "idle", self.closing & (self.entry == COUNTS - 1))
            change("transferring", "waiting", ~ready)
            change("waiting", "summing", ready)
            change("summing", "reducing", self.closing)
            change("reducing", "writing", self.closing & last_reduction)
        else:
            change("loading", "idle", prepared)
            change("loading", "starting", loads_x)
        change("starting", "running", always)
        if self.carry_save:
            change("running", "moving", last)
            change("moving", "transferring", self.final)
            change("transferring", "summing", ready)
            if not self.tabulates:
                change("summing", "writing", self.closing)
            change("writing", "idle", self.closing)
        else:
            change("running", "writing", last)
            change("writing", "idle", self.final)
        for name in _STATES:
            stays = state[name] & ~Cat(leaves[name]).any()
            m.d.comb += following[name].eq(stays | Cat(enters[name]).any())
            m.d.sync += state[name].eq(following[name])
        for name in ("running", "transferring", "waiting", *_PASSES):
            m.d.comb += getattr(self, name).eq(state[name])
        m.d.sync += self.selecting.eq(following["starting"] | following["running"])
        m.d.comb += [
            loaded.eq(following["starting"]),
            self.adding_next.eq(following["running"] | following["transferring"]),
            self.moving_next.eq(following["moving"]),
            self.done.eq(following["idle"] & ~state["idle"] & ~state["wiping"]),
            self.multiplying.eq(state["running"]),
        ]

        # --- Passes -----------------------------------------------------------------------------
        j = Signal(range(words + 2))
        in_pass = Cat(state[name] for name in _PASSES).any()
        first_next, second, ending = Signal(), Signal(), Signal()
        m.d.comb += [
            first_next.eq(
                Cat(following[name] for name in _PASSES).any() & (~in_pass | self.closing)
            ),
            self.passing_next.eq(first_next | (in_pass & ~self.final & ~ending & ~self.closing)),
        ]
        m.d.sync += [
            j.eq(Mux(in_pass & ~self.closing | state["moving"] & ~self.final, j + 1, 0)),
            self.first.eq(first_next),
            second.eq(self.first),
            ending.eq(self.final & in_pass),
            self.closing.eq(ending),
        ]
        if self.carry_save:
            m.d.comb += written.eq(state["writing"] & ~self.first & ~second)
        else:
            m.d.comb += written.eq(state["writing"])
        if words == 1:
            m.d.sync += self.final.eq(first_next | following["moving"] & ~state["moving"])
        else:
            m.d.sync += self.final.eq((in_pass | state["moving"]) & (j == words - 2))

        # --- What begins and ends with the states ----------------------------------------------
        with m.If(state["idle"]):
            # An aligned operand has its first index from its length, which does not hold yet.
            if not self.aligned:
                m.d.comb += read.eq(following["loading"])
            m.d.sync += [
                begins.eq(following["loading"]),
                self.preparing.eq(~self.start),
                role.eq(Mux(self.start, Role.MULTIPLICAND, Role.MODULUS)),
                self.entry.eq(Mux(self.start, 8, 0)),
                last_reduction.eq(0),
            ]
        if self.aligned:
            with m.If(begins):
                m.d.comb += read.eq(1)
        ends = Signal()
        m.d.comb += ends.eq(state["running"] & last)
        with m.If(ends):
            m.d.sync += [scan.eq(0), role.eq(Role.MODULUS)]
        if self.tabulates:
            # X's first word comes in the last cycle of the last pass.
            length = self.pass_cycles
            scan_pass, scan_cycle = divmod(COUNTS * length - 1 - (READ_LATENCY + 2), length)
            with m.If(state["tabulating"] & (self.entry == 8 + scan_pass) & (j == scan_cycle)):
                m.d.sync += scan.eq(1)
            with m.If(self.wiping | (state["tabulating"] & self.closing)):
                m.d.sync += self.entry.eq(self.entry + 1)
            reduced = last_reduction | (state["reducing"] & self.closing)
            m.d.sync += self.doubling.eq(following["summing"] | (following["reducing"] & ~reduced))
            with m.If(~state["idle"]):
                m.d.sync += last_reduction.eq(reduced)
            # M's first word comes after TRANSFER, or in WAIT if it cannot come so soon.
            ahead = READ_LATENCY + 1 - words
            with m.If(ends if ahead > 0 else state["moving"] & (j == -ahead)):
                m.d.comb += read.eq(1)
        else:
            with m.If(state["loading"] & ~self.preparing & asking & last_asked):
                m.d.sync += scan.eq(1)
        clear_next = following["idle"] | (following["starting"] if self.tabulates else 0)
        clear_s_next = clear_next
        if self.carry_save:
            # S is empty when C comes.
            clear_s_next |= ends if words == 1 else state["moving"] & (j == words - 2)
        m.d.sync += [
            self.clear_s.eq(clear_s_next),
            self.clear_c.eq(clear_next),
            self.forget.eq(state["idle"] & self.wipe),
        ]
        m.d.comb += self.wiping.eq(state["wiping"] & ~self.forget)
        return m
