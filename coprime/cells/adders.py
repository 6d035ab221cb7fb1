"""Adders of explicit cells, where Yosys uses more LUTs than are needed.

On XC7 a sum of three numbers takes a LUT a bit. A LUT has two outputs: it compresses three bits to
a sum and a carry, which goes to the next LUT; the carry chain adds the sum and the carry of the LUT
before. Yosys does not use the second output, and needs two LUTs a bit.

On ECP5 a sum of two numbers takes a LUT a bit. Where Yosys finds several sums that are added, it
compresses three numbers to two before the carry chain, which takes three LUTs a bit in all.
"""

from collections.abc import Mapping, Sequence

from amaranth.hdl import Cat, Const, Instance, Module, Mux, Signal, Value, ValueLike, signed

from .target import Target

CHAIN = 4  # bits of a CARRY4


def add_three(
    m: Module,
    rows: Sequence[tuple[ValueLike, int]],
    width: int,
    target: Target,
    *,
    subtract_last: bool = False,
) -> Value:
    """The sum of three numbers, each shifted left; modulo 2^width, signed.

    Parameters
    ----------
    rows (sequence of (ValueLike, int)): the numbers, signed or not, and each one's shift in bits
    width (int): bits of the sum
    target (Target): XC7 places LUT6_2 and CARRY4, from the second lowest shift on
    subtract_last (bool): the last number is subtracted. Its shift is not the lowest one, unless
        another is equal.
    """
    start = sorted(shift for _, shift in rows)[1]
    assert not subtract_last or rows[-1][1] >= start
    extended = [Signal(signed(width), name=f"row_{k}") for k in range(len(rows))]
    for row, (value, shift) in zip(extended, rows, strict=True):
        m.d.comb += row.eq(Value.cast(value) << shift)
    a, b, c = extended
    total = Signal(signed(width))
    if target is Target.XC7:
        # Below `start` all but one are 0.
        chain = chain_of_three(m, a[start:], b[start:], c[start:], subtract_last)
        m.d.comb += total.eq(Cat((a | b | c)[:start], chain))
    else:
        m.d.comb += total.eq(a + b - c if subtract_last else a + b + c)
    return total


def add_two(
    m: Module,
    a: Value,
    b: Value,
    width: int,
    target: Target,
    *,
    subtract: bool = False,
    carry: ValueLike | None = None,
) -> Value:
    """a + b + carry, or a - b - 1 + carry; modulo 2^width, signed. ECP5 places CCU2C.

    The carry, of 1 bit, is 0 unless it is given, and 1 if b is subtracted.
    """
    rows = [Signal(signed(width), name=name) for name in "ab"]
    m.d.comb += [row.eq(number) for row, number in zip(rows, (a, b), strict=True)]
    total = Signal(signed(width))
    carry = Value.cast(subtract if carry is None else carry)[0]
    if target is Target.ECP5:
        m.d.comb += total.eq(chain_of_two(m, rows[0], rows[1], carry, complement=subtract))
    else:
        m.d.comb += total.eq(rows[0] + (~rows[1] if subtract else rows[1]) + carry)
    return total


def add_selected(
    m: Module,
    select: Value,
    zero: tuple[Value, Value],
    one: tuple[Value, Value],
    width: int,
    target: Target,
    *,
    subtract: bool = False,
) -> Value:
    """The sum, or difference, of two numbers: those of `zero` or, where `select` is 1, of `one`.

    Modulo 2^width, unsigned. On XC7 selection and addition take a LUT a bit together.
    """
    numbers = [Signal(width, name=name) for name in ("a_0", "b_0", "a_1", "b_1")]
    m.d.comb += [row.eq(number) for row, number in zip(numbers, (*zero, *one), strict=True)]
    a_0, b_0, a_1, b_1 = numbers
    total = Signal(width)
    if target is not Target.XC7:
        a, b = Mux(select, a_1, a_0), Mux(select, b_1, b_0)
        m.d.comb += total.eq(a - b if subtract else a + b)
        return total

    def bits(row: int) -> tuple[int, int]:
        """The two bits that are added: inputs 0 and 1, or 2 and 3 if input 4 is 1."""
        a, b = (row >> 2 * (row >> 4) + k & 1 for k in range(2))
        return a, b ^ subtract

    table = _table(
        {row: bits(row)[0] for row in range(32)}, {row: sum(bits(row)) % 2 for row in range(32)}
    )
    selected = [_two_outputs(m, table, *pins, select) for pins in zip(*numbers, strict=True)]
    carried, compressed = (Cat(output) for output in zip(*selected, strict=True))
    m.d.comb += total.eq(_carry_chain(m, compressed, carried, subtract))
    return total


def chain_of_three(m: Module, a: Value, b: Value, c: Value, subtract_last: bool) -> Value:
    """a + b + c, or a + b - c, of as many bits as each has, in cells of XC7."""
    carry: Value = Const(subtract_last, 1)
    inverted = subtract_last << 2
    rows = {row: (row & 15) ^ inverted for row in range(32)}
    table = _table(
        {row: (bits & 7).bit_count() // 2 for row, bits in rows.items()},
        {row: bits.bit_count() % 2 for row, bits in rows.items()},
    )
    carries, compressed = [], []
    for pins in zip(a, b, c, strict=True):
        carries.append(carry)
        carry, bit = _two_outputs(m, table, *pins, carry, Const(0, 1))
        compressed.append(bit)
    return _carry_chain(m, Cat(compressed), Cat(carries), False)


def _table(lower: Mapping[int, int], upper: Mapping[int, int]) -> Const:
    """INIT of a LUT6_2 whose input 5 is 1: output O5 and output O6 for inputs 0 to 4."""
    return Const(sum(lower[row] << row | upper[row] << 32 + row for row in range(32)), 64)


def _two_outputs(m: Module, table: Const, *pins: Value) -> tuple[Signal, Signal]:
    """The outputs O5 and O6 of a LUT6_2 with five inputs."""
    lower, upper = Signal(name="o5"), Signal(name="o6")
    inputs = {f"i_I{k}": pin for k, pin in enumerate((*pins, Const(1, 1)))}
    m.submodules += Instance("LUT6_2", p_INIT=table, o_O5=lower, o_O6=upper, **inputs)
    return lower, upper


def _carry_chain(m: Module, propagates: Value, carried: Value, carry: int) -> Value:
    """The sum in CARRY4: a bit propagates the carry, or replaces it by its bit of `carried`."""
    total: list[Value] = []
    ahead: Value = Const(0, 1)
    for k in range(0, len(propagates), CHAIN):
        used = propagates[k : k + CHAIN]
        unused = Const(0, CHAIN - len(used))
        sums, carry_out = Signal(CHAIN), Signal(CHAIN)
        m.submodules += Instance(
            "CARRY4",
            i_CI=ahead,
            i_CYINIT=Const(carry if k == 0 else 0, 1),
            i_S=Cat(used, unused),
            i_DI=Cat(carried[k : k + len(used)], unused),
            o_O=sums,
            o_CO=carry_out,
        )
        total.append(sums[: len(used)])
        ahead = carry_out[CHAIN - 1]
    return Cat(total)


def chain_of_two(
    m: Module,
    a: Value,
    b: Value,
    carry: Value,
    *,
    complement: bool = False,
    leave_out: ValueLike = 0,
) -> Value:
    """a + b + carry, of as many bits as each has, in cells of ECP5.

    With `complement` it is a + ~b + carry. Where `leave_out` is 1 it is a + carry.
    """
    # C is 1. Then the LUT says whether a carry propagates: D ? A : A ^ B. Its entries for C = D = 0
    # are the carry where none does, A.
    init = Const(0xA09A if complement else 0xA06A, 16)
    total = Signal(len(a) + len(a) % 2)
    a, b = (Cat(row, Const(0, len(total) - len(row))) for row in (a, b))
    for k in range(0, len(total), 2):
        ports: dict[str, object] = {}
        for half in range(2):
            ports |= {
                f"p_INIT{half}": init,
                f"p_INJECT1_{half}": "NO",
                f"i_A{half}": a[k + half],
                f"i_B{half}": b[k + half],
                f"i_C{half}": Const(1, 1),
                f"i_D{half}": leave_out,
                f"o_S{half}": total[k + half],
            }
        carry_out = Signal(name="carry")
        m.submodules += Instance("CCU2C", i_CIN=carry, o_COUT=carry_out, **ports)
        carry = carry_out
    return total
