"""A solver proves each bit-serial multiplier, control included, for every operand at once.

What is proved, for a family and a shape (words and their bits, N in all): from the registers'
initial values on, a preparation and then a multiplication of N rounds write each word of the
result once, with the plain expression's value, and they take exactly `prepare_cycles` and `cycles`
cycles. That holds for every M that the multiplier takes in N bits, every Y below M, or below 2M if
it takes these, and every X of N bits. It is one proof, with X, Y and M unknown: nothing is split or
left out.

How: Yosys reads the exported Verilog and a bench around it, and makes a network of ANDs and
flip-flops. ABC unrolls that from its initial state, one copy for each cycle. The control depends on
no operand, so that it is constant in each copy and folds away, and equal nodes are shared. What is
left, 3N unknown bits and a few thousand ANDs, goes to ABC's solver.
"""

import importlib.util
import re
import tempfile
from pathlib import Path

import pytest
from amaranth.hdl import Cat, Const
from amaranth.utils import bits_for

from coprime.flow.tools import run_tool, run_yosys
from coprime.flow.verilog import to_verilog
from coprime.multipliers import (
    carry_save,
    interleaved_csa,
    montgomery_1csa,
    montgomery_2csa,
    montgomery_csa,
    montgomery_r2,
)
from coprime.multipliers.contract import Role
from coprime.multipliers.interleaved_csa import InterleavedCsa
from coprime.multipliers.montgomery_1csa import MontgomeryOneCsa
from coprime.multipliers.montgomery_2csa import MontgomeryTwoCsa
from coprime.multipliers.montgomery_r2 import MontgomeryRadix2
from coprime.multipliers.multiplication import READ_LATENCY

CARRY_SAVE = [MontgomeryTwoCsa, MontgomeryOneCsa, InterleavedCsa]
FAMILIES = [*CARRY_SAVE, MontgomeryRadix2]
SHAPES = [(2, 2)]
LONG_SHAPES = [(1, 3), (1, 4), (1, 5), (1, 6), (2, 3), (3, 2)]


def bench(multiplier, cycles):
    """A module that takes X, Y and M in its first cycle, prepares, multiplies, and compares.

    `wrong` is 1 where a word of the result is written that is not the plain expression's, or was
    written before; and in the last of `cycles` cycles, where that is not the first one after the
    multiplication, or a word was not written. X is any number of n bits; Y is below M, or below 2M
    if the multiplier is not canonical; M is odd, with the multiplier's headroom, or has n bits if
    it is aligned. With other operands the result may be anything, but not the cycles.
    """
    n, words, width = multiplier.width, multiplier.words, multiplier.digit_width
    counts = multiplier.count_bits
    clock_bits = bits_for(cycles - 1)
    valid = (
        f"m[{n - 1}]"
        if multiplier.multiplication.aligned
        else f"m[0] && m < {1 << n - multiplier.multiplication.headroom}"
    )
    bound = "m" if multiplier.multiplication.canonical else "2 * m"
    latency = READ_LATENCY
    halvings = "value = value[0] ? (value + modulus) >> 1 : value >> 1; " * n
    return f"""
module bench(input clk, input [{n - 1}:0] any_x, any_y, any_m, output wrong);
  function [{2 * n}:0] halved(input [{2 * n}:0] value, input [{n - 1}:0] modulus);
    begin {halvings} halved = value; end
  endfunction
  reg [{clock_bits - 1}:0] cycle = 0;
  reg [2:0] step = 0;
  reg [{n - 1}:0] x = 0, y = 0, m = 0;
  reg [{latency * width - 1}:0] data = 0;
  reg [{words - 1}:0] written = 0;
  wire done, write;
  wire [1:0] role;
  wire [{counts - 1}:0] a_index, b_index;
  wire [{width - 1}:0] result;
  wire [{n - 1}:0] asked = role == {Role.MULTIPLICAND} ? y : role == {Role.MULTIPLIER} ? x : m;
  wire [{width - 1}:0] asked_word = asked >> (a_index * {width});
  coprime_dut dut(.clk(clk), .rst(1'b0), .prepare(step == 1), .start(step == 3), .wipe(1'b0),
    .inner_digits({counts}'d{words}), .outer_digits({counts}'d{words}),
    .rounds({multiplier.round_bits}'d{n}), .multiplier_is_one(1'b0),
    .a_role(role), .a_index(a_index), .a_data(data[{(latency - 1) * width} +: {width}]),
    .b_index(b_index), .b_data({width}'d0), .b_write(write), .b_write_data(result), .done(done));
  wire [{words - 1}:0] place = {words}'d1 << b_index;
  always @(posedge clk) begin
    cycle <= cycle + 1;
    data <= {{data, asked_word}};
    if (write) written <= written | place;
    if (step == 0) {{x, y, m}} <= {{any_x, any_y, any_m}};
    if ((step != 2 && step != 4 && step != 6) || ((step == 2 || step == 4) && done))
      step <= step + 1;
  end
  wire [{2 * n}:0] expected = {plain_expression(multiplier)};
  wire [{width - 1}:0] expected_word = expected >> (b_index * {width});
  wire valid = y < {bound} && {valid};
  wire bad_word = step != 4 || !(place & ~written) || (valid && result != expected_word);
  wire bad_end = step != 5 || !(&written);
  assign wrong = (write && bad_word) || (cycle == {cycles - 1} && bad_end);
endmodule
"""


def plain_expression(multiplier):
    """What the result must be, in Verilog: X * Y % M, halved modulo M for each round.

    X * Y, if the multiplier is not canonical.
    """
    n = multiplier.width
    product = f"({{{n + 1}'d0, x}} * y)"
    if multiplier.multiplication.canonical:
        product += " % m"
    return f"halved({product}, m)" if multiplier.multiplication.montgomery else product


def bench_cycles(multiplier):
    """Cycles of the bench: loading, each command, each operation, and the cycle after them."""
    prepares = multiplier.multiplication.prepare_cycles(multiplier.words)
    return (
        1
        + 1
        + prepares
        + 1
        + multiplier.multiplication.cycles(multiplier.words, multiplier.width)
        + 1
    )


def prove(multiplier, cycles):
    """Whether the solver finds nothing wrong within so many cycles, for all X, Y and M."""
    text = to_verilog(multiplier, "coprime_dut") + bench(multiplier, cycles)
    abc = Path(importlib.util.find_spec("pyosys").origin).with_name("yosys-abc")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "design.v").write_text(text, encoding="utf-8")
        read = ["read_verilog design.v", "hierarchy -top bench", "proc", "flatten"]
        read += ["memory_map", "opt -full", "techmap", "opt -full"]
        # ABC knows flip-flops without enable and reset only.
        read += ["dffunmap", "simplemap", "aigmap", "opt_clean", "write_aiger design.aig"]
        run_yosys(read, folder)
        proof = f"read_aiger design.aig; frames -i -F {cycles}; orpos; sat"
        log = run_tool("ABC", [abc, "-s", "-c", proof], folder=folder)
    verdicts = re.findall(r"^((?:UN)?SATISFIABLE) ", log, re.MULTILINE)
    assert len(verdicts) == 1, log
    return verdicts == ["UNSATISFIABLE"]


def make(family, shape):
    words, width = shape
    return family(family.computes(words, width), bits_for(words + 1), bits_for(words * width))


@pytest.mark.proof(quick=1)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "shape",
    [*SHAPES, *(pytest.param(shape, marks=pytest.mark.proof) for shape in LONG_SHAPES)],
    ids=lambda shape: "x".join(map(str, shape)),
)
def test_result_is_the_plain_expression(family, shape):
    multiplier = make(family, shape)
    assert prove(multiplier, bench_cycles(multiplier))


def forgetful_row(a, b, c):
    """A row of full adders that forgets one case of a carry."""
    return a ^ b ^ c, (a & b) | (b & c)


def forgetful_sum(a, b, carry):
    """An adder of words that forgets the carry."""
    return (Cat(Const(1, 1), a) + Cat(Const(0, 1), b))[1:]


def turned_the_other_way(register, word):
    """A register that words enter at the low end."""
    return Cat(word, register[: -len(word)])


@pytest.mark.parametrize(
    ("family", "name", "wrong"),
    [
        (CARRY_SAVE[0], "carry_save", forgetful_row),
        *(
            pytest.param(family, "carry_save", forgetful_row, marks=pytest.mark.proof)
            for family in CARRY_SAVE[1:]
        ),
        *(
            pytest.param(family, "word_sum", forgetful_sum, marks=pytest.mark.proof)
            for family in CARRY_SAVE
        ),
        (MontgomeryRadix2, "turned", turned_the_other_way),
    ],
)
def test_the_proof_can_fail(family, name, wrong, monkeypatch):
    for module in (
        *(carry_save, montgomery_csa, montgomery_2csa, montgomery_1csa, interleaved_csa),
        montgomery_r2,
    ):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, wrong)
    multiplier = make(family, (2, 2))
    assert not prove(multiplier, bench_cycles(multiplier))


@pytest.mark.proof
def test_moduli_of_five_bits_in_a_register_of_seven():
    multiplier = make(MontgomeryRadix2, (1, 7))
    assert prove(multiplier, bench_cycles(multiplier))


@pytest.mark.parametrize(
    ("family", "difference"),
    [
        pytest.param(
            family, one, marks=[pytest.mark.proof] * (one == 1 or family is not CARRY_SAVE[1])
        )
        for family in FAMILIES
        for one in (-1, 1)
    ],
)
def test_the_proof_finds_another_count_of_cycles(family, difference):
    multiplier = make(family, (1, 3))
    assert not prove(multiplier, bench_cycles(multiplier) + difference)
