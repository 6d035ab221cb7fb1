"""Hints to bytes and back in the Amaranth simulator, against the model, with every rule broken."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.lattice.arithmetic.hint_decoder import HintDecoder
from coprime.lattice.arithmetic.hint_encoder import HintEncoder
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from coprime.model.lattice.rounding import pack_hints, unpack_hints

FIRST_SET = pytest.mark.parametrize(
    "number",
    [
        pytest.param(k, marks=[pytest.mark.matrix] * (k > 0), id=one.name)
        for k, one in enumerate(ML_DSA_SETS)
    ],
)
"""With slow tests all of them."""


def random_hints(p, count, generator):
    hints = [[0] * 256 for _ in range(p.k)]
    for place in generator.sample(range(256 * p.k), count):
        hints[place // 256][place % 256] = 1
    return hints


def decoded(number, encodings, *, pairs):
    """Of each encoding its hints, and whether it is refused."""
    p, dut, found = ML_DSA_SETS[number], HintDecoder(pairs=pairs), []
    simulator = Simulator(dut)
    simulator.add_clock(1e-8)

    async def bench(context):
        context.set(dut.parameter_set, number)
        for data in encodings:
            hints, position = [], 0
            context.set(dut.begin, 1)
            await context.tick()
            context.set(dut.begin, 0)

            async def cycle(data=data):
                nonlocal position
                context.set(dut.bytes.payload, data[min(position, len(data) - 1)])
                if pairs:
                    context.set(dut.following, data[min(position + 1, len(data) - 1)])
                    position += context.get(dut.takes_both)
                position += context.get(dut.bytes.ready)
                await context.tick()
                hints = context.get(dut.hint)
                return [hints & 1, hints >> 1][: 1 + pairs]

            for row in range(p.k):
                context.set(dut.row, 1)
                context.set(dut.count, data[p.omega + row])
                await cycle()
                context.set(dut.row, 0)
                context.set(dut.step, 1)
                hints.append([hint for _ in range(256 >> pairs) for hint in await cycle()])
                context.set(dut.step, 0)
            resting = 0
            context.set(dut.rest, 1)
            while context.get(dut.resting) and resting < 300:
                await cycle()
                resting += 1
            context.set(dut.rest, 0)
            await cycle()
            found.append((hints, bool(context.get(dut.refuses)), resting))

    simulator.add_testbench(bench)
    simulator.run()
    return found


def broken(p, generator):
    """A good encoding with a byte changed, or two exchanged, or all its bytes random."""
    data = bytearray(pack_hints(p, random_hints(p, generator.randrange(p.omega + 1), generator)))
    kind = generator.randrange(5)
    one, other = (generator.randrange(len(data)) for _ in range(2))
    if kind == 0:
        data[one] = generator.randrange(256)
    elif kind == 1:
        data[one], data[other] = data[other], data[one]
    elif kind == 2:
        data[p.omega + generator.randrange(p.k)] = generator.randrange(p.omega + 3)
    elif kind == 3:
        last = data[-1]
        data[generator.randrange(max(1, last))] = data[generator.randrange(max(1, last))]
    else:
        data[: p.omega] = generator.randbytes(p.omega)
    return bytes(data)


@pytest.mark.matrix
@pytest.mark.parametrize("pairs", [False, True])
@FIRST_SET
def test_good_encodings_give_their_hints_and_bad_ones_are_refused(number, pairs):
    p, generator = ML_DSA_SETS[number], random.Random(number)
    good = [random_hints(p, count, generator) for count in (0, 1, p.omega)]
    dense = [[0] * 256 for _ in range(p.k)]
    dense[-1][-p.omega :] = [1] * p.omega  # one after the other, to the last place
    good.append(dense)
    encodings = [pack_hints(p, one) for one in good]
    for change in ((p.omega - 1, 1), (p.omega + p.k - 1, p.omega + 1), (p.omega + p.k - 1, 255)):
        data = bytearray(encodings[1])
        data[change[0]] = change[1]
        encodings.append(bytes(data))
    encodings += [broken(p, generator) for _ in range(25)]
    refused, found = 0, decoded(number, encodings, pairs=pairs)
    for data, (hints, refuses, resting) in zip(encodings, found, strict=True):
        expected = unpack_hints(p, data)
        assert refuses == (expected is None), data.hex()
        refused += refuses
        if expected is not None:
            assert hints == expected
            assert resting == p.omega - sum(map(sum, expected))
    assert 10 < refused < len(encodings)


@FIRST_SET
def test_hints_are_encoded_in_the_predicted_cycles(number):
    p, generator, dut = ML_DSA_SETS[number], random.Random(number), HintEncoder()
    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    counts = (3, 0, p.omega, p.omega + 1, p.omega - 1)
    tried = [(random_hints(p, count, generator), count) for count in counts]

    async def bench(context):
        context.set(dut.parameter_set, number)
        while context.get(dut.busy):
            await context.tick()
        for hints, count in tried:
            data = bytearray()

            async def cycle(data=data):
                if context.get(dut.bytes.valid) and context.get(dut.bytes.ready):
                    data.append(context.get(dut.bytes.payload))
                await context.tick()

            context.set(dut.begin, 1)
            await cycle()
            context.set(dut.begin, 0)
            context.set(dut.bytes.ready, 1)
            for row in hints:
                context.set(dut.step, 1)
                for hint in row:
                    context.set(dut.hint, hint)
                    await cycle()
                context.set(dut.step, 0)
                await cycle()
            assert context.get(dut.too_many) == (count > p.omega)
            if count > p.omega:
                continue
            context.set(dut.finish, 1)
            await cycle()
            context.set(dut.finish, 0)
            cycles = 0
            while context.get(dut.busy):
                await cycle()
                cycles += 1
            assert bytes(data) == pack_hints(p, hints)
            assert cycles == HintEncoder.cycles(count, number)

    simulator.add_testbench(bench)
    simulator.run()
