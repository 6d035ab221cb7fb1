"""Adders of explicit cells, where Yosys uses more LUTs than are needed.

On XC7 a sum of three numbers takes a LUT a bit. A LUT has two outputs: it compresses three bits to
a sum and a carry, which goes to the next LUT; the carry chain adds the sum and the carry of the LUT
before. Yosys does not use the second output, and needs two LUTs a bit.

On ECP5 a sum of two numbers takes a LUT a bit. Where Yosys finds several sums that are added, it
compresses three numbers to two before the carry chain, which takes three LUTs a bit in all.
"""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Instance, Module, Signal, Value, ValueLike, signed

from .target import Target

__all__ = ["add_three", "add_two", "chain_of_three", "chain_of_two"]

CHAIN = 4
"""Bits of a CARRY4."""


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
    m : Module
    rows : sequence of (ValueLike, int)
        The numbers, signed or not, and by how many bits each is shifted.
    width : int
        Bits of the sum.
    target : Target
        XC7 places LUT6_2 and CARRY4, from the second lowest shift on.
    subtract_last : bool
        The last number is subtracted. Its shift is not the lowest one, unless another is equal.
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


def chain_of_three(m: Module, a: Value, b: Value, c: Value, subtract_last: bool) -> Value:
    """a + b + c, or a + b - c, of as many bits as each has, in cells of XC7."""
    table = _table(complement=subtract_last)
    compressed, carries = Signal(len(a)), Signal(len(a) + 1)
    m.d.comb += carries[0].eq(subtract_last)
    for k in range(len(a)):
        pins = {"i_I0": a[k], "i_I1": b[k], "i_I2": c[k], "i_I3": carries[k]}
        pins |= {"i_I4": Const(0, 1), "i_I5": Const(1, 1)}
        outputs = {"o_O6": compressed[k], "o_O5": carries[k + 1]}
        m.submodules += Instance("LUT6_2", p_INIT=table, **pins, **outputs)
    total: list[Value] = []
    ahead: Value = Const(0, 1)
    for k in range(0, len(a), CHAIN):
        used = compressed[k : k + CHAIN]
        unused = Const(0, CHAIN - len(used))
        sums, carry_out = Signal(CHAIN), Signal(CHAIN)
        m.submodules += Instance(
            "CARRY4",
            i_CI=ahead,
            i_CYINIT=Const(0, 1),
            i_S=Cat(used, unused),
            i_DI=Cat(carries[k : k + len(used)], unused),
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


def _table(*, complement: bool) -> Const:
    """INIT of a LUT6_2 of which input 5 is 1: on O5 the carry of inputs 0 to 2, on O6 the parity of
    inputs 0 to 3, both with the complement of input 2 if asked for."""
    init = 0
    for row in range(16):
        bits = row ^ complement << 2
        init |= (bits & 7).bit_count() // 2 << row | bits.bit_count() % 2 << 32 + row
    return Const(init, 64)
