"""What the netlist's cells make of symbols is what they make of integers, and so does Amaranth."""

from itertools import product

import pytest
from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator
from coprime_evidence.assess.schedules import netlist as of_netlist
from coprime_evidence.assess.schedules.netlist import Netlist
from coprime_evidence.assess.schedules.symbols import ANYTHING, ProofError, Rules, Symbol

BITS = 3


class Cells(wiring.Component):
    """An output for each thing that a datapath does with words; `flag` is control."""

    def __init__(self):
        outputs = {
            **dict.fromkeys(("add", "sub", "narrow", "masked", "chosen", "kept"), Out(5)),
            **dict.fromkeys(("difference", "product", "flipped"), Out(signed(8))),
            **dict.fromkeys(("upper", "carried", "borrowed", "mixed", "bit"), Out(6)),
            "opaque": Out(1),
        }
        super().__init__({"a": In(BITS), "b": In(BITS), "flag": In(1), **outputs})

    def elaborate(self, platform):
        m = Module()
        a, b, flag = self.a, self.b, self.flag
        difference = Signal(signed(BITS + 1))
        total = Signal(BITS + 1)
        m.d.comb += [
            difference.eq(a - b),
            total.eq(a + b),
            self.add.eq(a + b + 1),
            self.sub.eq(a - b),
            self.narrow.eq((a + b)[:BITS]),
            self.masked.eq((a & flag.replicate(BITS)) | (b & ~flag.replicate(BITS))),
            self.chosen.eq(Mux(flag, a, b)),
            self.difference.eq(difference),
            self.product.eq(difference * difference),
            self.flipped.eq((Cat(a, 0).as_signed() - 5) ^ flag.replicate(8).as_signed()),
            self.upper.eq((a * b)[2:]),
            # The idioms with which the carry is an input of one carry chain.
            self.carried.eq((Cat(Const(1, 1), a) + Cat(total[BITS], b))[1:]),
            self.borrowed.eq((Cat(Const(0, 1), a) - Cat(flag, b ^ flag.replicate(BITS)))[1:]),
            self.mixed.eq(Cat(a[1:], flag, b[0])),
            self.bit.eq(a[2]),
            self.opaque.eq(a == b),
        ]
        m.d.sync += self.kept.eq(a + Mux(flag, self.kept, 3))
        return m


def evaluate(polynomial, values):
    """Its value where operands have these."""

    def of(unknown):
        division = unknown.division
        if division is None:
            return values[unknown.name]
        whole = evaluate(division.whole, values)
        low = whole & (1 << division.bits) - 1
        found = low if unknown in next(iter(division.low.terms)) else whole >> division.bits
        assert unknown.least <= found <= unknown.most
        return found

    total = 0
    for monomial, coefficient in polynomial.terms.items():
        for unknown in monomial:
            coefficient *= of(unknown)
        total += coefficient
    least, most = polynomial.bounds
    assert least <= total <= most
    return total


def widths():
    return {name: len(getattr(Cells(), name)) for name in Cells().signature.members}


@pytest.mark.parametrize("often", [1, 1000], ids=["learned", "any"])
def test_integers_are_amaranths(often, monkeypatch):
    """Whether the function for what is known takes over at once, or never."""
    monkeypatch.setattr(of_netlist, "_OFTEN", often)
    cells = Netlist.read(Cells())
    dut = Cells()
    names = [name for name, member in dut.signature.members.items() if member.flow is Out]

    async def bench(context):
        state = list(cells.registers.values())
        for a, b, flag in product(range(1 << BITS), range(1 << BITS), range(2)):
            for name, value in (("a", a), ("b", b), ("flag", flag)):
                context.set(getattr(dut, name), value)
            inputs = {"a": a, "b": b, "flag": flag, "rst": 0}
            state, outputs = cells.step(state, inputs, Rules())
            for name in names:
                mask = (1 << len(getattr(dut, name))) - 1
                assert outputs[name] == context.get(getattr(dut, name)) & mask, (name, a, b, flag)
            await context.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("often", [1, 1000], ids=["learned", "any"])
@pytest.mark.parametrize("flag", range(2))
def test_symbols_are_integers(flag, often, monkeypatch):
    monkeypatch.setattr(of_netlist, "_OFTEN", often)
    cells = Netlist.read(Cells())
    rules = Rules()
    a, b = (Symbol.of(rules.operand(name, BITS)) for name in "ab")
    reset = list(cells.registers.values())
    bits = widths()
    inputs = {"flag": flag, "rst": 0}
    for _ in range(2):  # the second time there may be a function for it
        state, outputs = cells.step(reset, {**inputs, "a": a, "b": b}, rules)
    assert outputs.pop("opaque") is ANYTHING
    assert sum(isinstance(word, Symbol) for word in outputs.values()) == 13
    for values in product(range(1 << BITS), repeat=2):
        of = dict(zip("ab", values, strict=True))
        expected_state, expected = cells.step(reset, {**inputs, **of}, rules)
        for name, word in outputs.items():
            if isinstance(word, Symbol):
                found = evaluate(word.polynomial, of) & (1 << bits[name]) - 1
                assert found == expected[name], (name, of)
        (kept,), (expected_kept,) = state, expected_state
        assert evaluate(kept.polynomial, of) & 31 == expected_kept


class Flags(wiring.Component):
    """A record of flags goes through a register; a word, whose flag may be a part of an address."""

    def __init__(self):
        inputs = {"known": In(1), "other": In(1), "place": In(2), "written": In(3), "enable": In(1)}
        super().__init__({**inputs, "later": Out(1), "word": Out(BITS), "found": Out(BITS)})

    def elaborate(self, platform):
        m = Module()
        record, word = Signal(2), Signal(BITS)
        m.submodules.memory = memory = Memory(shape=BITS, depth=8, init=[])
        read, write = memory.read_port(), memory.write_port()
        m.d.sync += [record.eq(Cat(self.other, self.known)), word.eq(Cat(self.place, self.known))]
        m.d.comb += [
            *(self.later.eq(record[1]), self.word.eq(word + 1)),
            *(read.addr.eq(Cat(self.place, self.known)), self.found.eq(read.data)),
            *(write.addr.eq(self.written), write.en.eq(self.enable), write.data.eq(5)),
        ]
        return m


def test_a_flag_beside_one_that_is_not_known():
    """It is known; a word whose lower bits are not known is not, nor what else it may be in."""
    netlist, rules = Netlist.read(Flags()), Rules()
    state = list(netlist.registers.values())
    known = {"known": 1, "other": ANYTHING, "place": ANYTHING, "enable": 1}
    found = []
    for written, enable in ((2, 1), (2, 1), (6, 1), (6, 0), (6, 0)):
        inputs = {**known, "written": written, "enable": enable}
        state, outputs = netlist.step(state, inputs, rules)
        found.append(outputs["found"])
    assert outputs["later"] == 1
    assert outputs["word"] is ANYTHING
    # Of the cycle before: the other half of the memory is written, then this one; it has 0 and 5.
    assert found[1:] == [0, 0, ANYTHING, ANYTHING]


def test_anything_is_never_used():
    rules = Rules()
    word = Symbol.of(rules.operand("a", 4))
    assert rules.add(word, ANYTHING, 4) is ANYTHING
    assert rules.both(ANYTHING, 0, 4) == 0
    assert rules.select(word, word) is word
    assert rules.select(word, 3) is ANYTHING
    assert rules.mul(ANYTHING, rules.sub(word, word, 4), 4).polynomial.terms == {}
    with pytest.raises(ProofError, match="multiplied by a word that may be anything"):
        _ = rules.mul(ANYTHING, word, 4).polynomial
    with pytest.raises(ProofError, match="may be anything is used"):
        _ = ANYTHING.polynomial


def test_a_signed_word_that_overflows():
    """Its sign is an unknown of its own."""
    rules = Rules()
    word = rules.sub(*(Symbol.of(rules.operand(name, 4)) for name in "ab"), 4)
    assert rules.signed(word, 5).polynomial.bounds == (-15, 15)
    for a, b in product(range(16), repeat=2):
        found = evaluate(rules.signed(word, 4).polynomial, {"a": a, "b": b})
        assert found == ((a - b & 15) ^ 8) - 8


class SmallMemory(wiring.Component):
    """A memory of LUTs, and one that is read with a clock."""

    def __init__(self):
        inputs = dict.fromkeys(("written", "asked"), In(2)) | {"enable": In(1), "word": In(BITS)}
        super().__init__({**inputs, "at_once": Out(BITS), "later": Out(BITS)})

    def elaborate(self, platform):
        m = Module()
        for name, domain in (("at_once", "comb"), ("later", "sync")):
            m.submodules[f"memory_{name}"] = memory = Memory(shape=BITS, depth=4, init=[])
            read, write = memory.read_port(domain=domain), memory.write_port()
            m.d.comb += [
                *(write.addr.eq(self.written), write.en.eq(self.enable), write.data.eq(self.word)),
                *(read.addr.eq(self.asked), getattr(self, name).eq(read.data)),
            ]
        return m


def test_a_memory():
    """What it holds; what is read as it is written; and what may have been written."""
    netlist, rules = Netlist.read(SmallMemory()), Rules()
    a, b = (Symbol.of(rules.operand(name, BITS)) for name in "ab")
    state = list(netlist.registers.values())

    def step(written, word, asked, enable=1):
        nonlocal state
        inputs = {"written": written, "word": word, "asked": asked, "enable": enable, "rst": 0}
        state, outputs = netlist.step(state, inputs, rules)
        return outputs

    assert step(1, a, 0)["at_once"] == 0
    assert step(2, b, 1)["at_once"] is a
    assert step(1, b, 1)["at_once"] is ANYTHING
    assert step(1, b, 1)["at_once"] is b  # it is written once more
    assert step(3, a, 2, enable=0)["later"] is b
    assert step(3, a, 3, enable=ANYTHING)["later"] is b
    assert step(0, a, 1, enable=0)["at_once"] is ANYTHING  # the address is of no use either
    assert step(2, b, 0)["later"] is ANYTHING
    assert step(ANYTHING, a, 3)["later"] is ANYTHING
    assert step(0, 5, 2)["at_once"] is ANYTHING  # it was b
    assert step(0, 5, 0, enable=0)["at_once"] == 5


def test_a_sum_of_two_parts():
    """Both parts of two products, added by themselves, are the parts of the products' sum."""
    rules = Rules()
    divisions = rules.divisions
    divisions.part = BITS
    a, b, c, d = (rules.operand(name, BITS) for name in "abcd")
    of_ab, of_cd = (divisions.divide(one, BITS) for one in (a * b, c * d))
    lower = divisions.divide(of_ab.low + of_cd.low, BITS)
    upper = of_ab.high + of_cd.high + lower.high
    whole = divisions.divide(a * b + c * d, BITS)
    assert (lower.low, upper) == (whole.low, whole.high)
    assert lower.high.bounds == (0, 1)
    word = divisions.word(whole.low)
    assert divisions.word(word) == word != whole.low
    assert divisions.divide(word + a, BITS).low != divisions.divide(whole.low + a, BITS).low
    for values in product(range(1 << BITS), repeat=4):
        of = dict(zip("abcd", values, strict=True))
        total = values[0] * values[1] + values[2] * values[3]
        assert evaluate(word, of) == evaluate(lower.low, of) == total & 7
        assert evaluate(upper, of) == total >> BITS
