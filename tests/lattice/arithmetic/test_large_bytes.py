"""Numbers modulo 8380417 to bytes and back in the Amaranth simulator, against the model."""

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.sim import Simulator

from coprime.cells.dsp_slice import Accumulate, DspSlice
from coprime.lattice.arithmetic.large_bytes import MOST, LargeBytes, PackedForm
from coprime.lattice.arithmetic.number_packer import ML_DSA_WIDTHS
from coprime.lattice.arithmetic.number_unpacker import NumberUnpacker
from coprime.model.lattice import ml_dsa
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS, Q
from coprime.model.lattice.rounding import decompose, exceeds, power2round, use_hint

N = 256


class Rig(wiring.Component):
    """The part with its slice."""

    def __init__(self):
        self.dut = LargeBytes()
        super().__init__({})

    def elaborate(self, platform):
        m = Module()
        m.submodules.dut = dut = self.dut
        m.submodules.slice = slice_ = DspSlice()
        m.d.comb += [
            slice_.a.eq(dut.factor),
            slice_.b.eq(dut.constant),
            slice_.product.eq(1),
            slice_.accumulate.eq(Accumulate.LOAD.value),
            dut.product.eq(slice_.p),
        ]
        return m


class Bench:
    """Words that are written, or read, and a number every other cycle."""

    def __init__(self, number):
        self.rig, self.number = Rig(), number
        self.words, self.hints = [], []

    def run(self, script):
        dut = self.rig.dut
        simulator = Simulator(self.rig)
        simulator.add_clock(1e-8)

        async def bench(context):
            context.set(dut.parameter_set, self.number)
            context.set(dut.few_parts, ML_DSA_SETS[self.number].parts == 32)
            await script(context)

        simulator.add_testbench(bench)
        simulator.run()

    async def tick(self, context):
        dut = self.rig.dut
        use, write = context.get(dut.use), context.get(dut.write)
        if use and write:
            self.words.append(context.get(dut.write_data))
        found = self.words.pop(0) if use and not write else 0x5A5A5A5A
        hint = self.hints.pop(0) if context.get(dut.hint_step) and self.hints else 0
        await context.tick()
        context.set(dut.read_data, found)
        context.set(dut.hint, hint)

    async def begin(self, context, form, width, *, unpacks):
        dut = self.rig.dut
        context.set(dut.form, form)
        context.set(dut.width, ML_DSA_WIDTHS.index(width))
        context.set(dut.unpacks, unpacks)
        context.set(dut.clear, 1)
        context.set(dut.start, 1)
        await self.tick(context)
        context.set(dut.start, 0)
        context.set(dut.clear, 0)

    async def pack(self, context, form, width, numbers, hints=()):
        """The bytes that were written, and whether a number was out of bounds."""
        dut = self.rig.dut
        self.words, self.hints = [], list(hints)
        await self.begin(context, form, width, unpacks=0)
        for x in numbers:
            context.set(dut.r, x)
            context.set(dut.put, 1)
            await self.tick(context)
            context.set(dut.put, 0)
            context.set(dut.r, 4711)
            await self.tick(context)
        for _ in range(12):
            await self.tick(context)
        data = b"".join(word.to_bytes(4, "little") for word in self.words)
        return data, bool(context.get(dut.exceeds))

    async def unpack(self, context, width, data):
        """The numbers, and whether one was out of bounds."""
        dut, found = self.rig.dut, []
        self.words = [int.from_bytes(data[k : k + 4], "little") for k in range(0, len(data), 4)]
        await self.begin(context, PackedForm.BELOW, width, unpacks=1)
        for _ in range(NumberUnpacker.READY - 1):
            await self.tick(context)
        for _ in range(N):
            context.set(dut.take, 1)
            await self.tick(context)
            context.set(dut.take, 0)
            found.append(context.get(dut.unpacked))
            await self.tick(context)
        for _ in range(3):
            await self.tick(context)
        assert not self.words
        return found, bool(context.get(dut.exceeds))


def forms(x, generator):
    """A number as one of its two forms in [-q, q)."""
    return x % Q - (Q if generator.randrange(2) else 0)


@pytest.mark.parametrize("number", range(3), ids=lambda k: ML_DSA_SETS[k].name)
def test_high_parts_with_hints_are_packed(number):
    p, bench, generator = ML_DSA_SETS[number], Bench(number), random.Random(number)
    r = [generator.randrange(Q) for _ in range(N - 3)] + [0, Q - 1, Q - p.gamma2]
    hints = [generator.randrange(2) for _ in r]

    async def script(context):
        given = [forms(x, generator) for x in r]
        data, _ = await bench.pack(context, PackedForm.HIGH, p.w1_bits, given, hints)
        assert not bench.hints
        assert data == ml_dsa.pack(
            [use_hint(p, h, x) for h, x in zip(hints, r, strict=True)], p.w1_bits
        )
        data, _ = await bench.pack(context, PackedForm.HIGH, p.w1_bits, given)
        assert data == ml_dsa.pack([decompose(p, x)[0] for x in r], p.w1_bits)

    bench.run(script)


@pytest.mark.matrix(quick=2)
@pytest.mark.parametrize("width", MOST)
def test_differences_are_packed_and_come_back(width):
    most, generator = MOST[width], random.Random(width)
    bench = Bench({4: 1, 18: 0, 20: 1}.get(width, 2))
    least = {8: 0, 3: -most, 4: -most}.get(width, 1 - most)
    numbers = [generator.randint(least, most) for _ in range(N - 2)] + [least, most]

    async def script(context):
        given = [forms(x, generator) for x in numbers]
        data, _ = await bench.pack(context, PackedForm.BELOW, width, given)
        assert data == ml_dsa.pack_below(most, numbers, width)
        found, wrong = await bench.unpack(context, width, data)
        assert found == numbers
        assert wrong == (width > 13), "the largest mask is too large for z"

    bench.run(script)


def test_both_parts_of_t():
    bench, generator = Bench(0), random.Random(35)
    t = [generator.randrange(Q) for _ in range(N - 4)] + [0, 4096, 4097, Q - 1]

    async def script(context):
        given = [forms(x, generator) for x in t]
        top, _ = await bench.pack(context, PackedForm.TOP, 10, given)
        rest, _ = await bench.pack(context, PackedForm.REST, 13, given)
        assert top == ml_dsa.pack([power2round(x)[0] for x in t], 10)
        assert rest == ml_dsa.pack([4096 - power2round(x)[1] for x in t], 13)
        found, _ = await bench.unpack(context, 10, top)
        assert found == [power2round(x)[0] << 13 for x in t]

    bench.run(script)


@pytest.mark.matrix  # many polynomials; the bounds themselves are those of NormCheck, tested apart
@pytest.mark.parametrize("number", range(3), ids=lambda k: ML_DSA_SETS[k].name)
def test_one_number_out_of_bounds_is_found(number):
    """In the first, a middle and the last place; and none if all are just within."""
    p, bench, generator = ML_DSA_SETS[number], Bench(number), random.Random(number)
    width = p.z_bits
    bound = p.gamma1 - p.beta

    def with_one(x, place):
        numbers = [generator.choice((1 - bound, bound - 1, 0)) for _ in range(N)]
        numbers[place] = x
        return numbers

    async def script(context):
        for place in (0, 100, N - 1):
            for x in (bound - 1, bound, 1 - bound, -bound):
                numbers = with_one(x, place)
                given = [forms(one, generator) for one in numbers]
                data, found = await bench.pack(context, PackedForm.BELOW, width, given)
                assert found == exceeds(numbers, bound)
                if place == 100:
                    _, found = await bench.unpack(context, width, data)
                    assert found == exceeds(numbers, bound)
        low = p.gamma2 - p.beta
        for x, wrong in ((low - 1, 0), (low, 1), (1 - low, 0), (-low, 1)):
            numbers = [generator.randrange(1 - low, low) + 2 * p.gamma2 * 3 for _ in range(N)]
            numbers[77] = x + 2 * p.gamma2 * 5
            data, found = await bench.pack(context, PackedForm.LOW, 4, numbers)
            assert found == wrong and data == b""
        for x, wrong in ((p.gamma2 - 1, 0), (p.gamma2, 1), (-p.gamma2, 1)):
            numbers = [0] * N
            numbers[8] = forms(x, generator)
            data, found = await bench.pack(context, PackedForm.CHECK, 4, numbers)
            assert found == wrong and data == b""

    bench.run(script)


@pytest.mark.parametrize("number", [1, 2], ids=lambda k: ML_DSA_SETS[k].name)
def test_coefficients_of_a_private_key_are_checked(number):
    p, bench = ML_DSA_SETS[number], Bench(number)

    async def script(context):
        for wrong in range(2 * p.eta + 1, 1 << p.s_bits):
            values = [2 * p.eta] * N
            values[200] = wrong
            found, exceeds_ = await bench.unpack(context, p.s_bits, ml_dsa.pack(values, p.s_bits))
            assert exceeds_ and found[200] == p.eta - wrong

    bench.run(script)
