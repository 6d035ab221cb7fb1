"""A solver proves each carry-save multiplier, control included, for every operand at once."""

import tempfile
from pathlib import Path

import pytest
from amaranth.utils import bits_for

from coprime.flow.tools import ToolError, run_yosys
from coprime.flow.verilog import to_verilog
from coprime.multipliers import carry_save, interleaved_csa, montgomery_1csa, montgomery_2csa
from coprime.multipliers.contract import READ_LATENCY, Role
from coprime.multipliers.interleaved_csa import InterleavedCsa
from coprime.multipliers.montgomery_1csa import MontgomeryOneCsa
from coprime.multipliers.montgomery_2csa import MontgomeryTwoCsa

FAMILIES = [MontgomeryTwoCsa, MontgomeryOneCsa, InterleavedCsa]
MODULES = {
    MontgomeryTwoCsa: montgomery_2csa,
    MontgomeryOneCsa: montgomery_1csa,
    InterleavedCsa: interleaved_csa,
}


def bench(multiplier, expected):
    """A module that takes X, Y and M in its first cycle, prepares, multiplies, and compares.

    `wrong` is 1 where the result is written and is not `expected`. X is any number of n bits; Y is
    below M, and M is odd, or has n bits if the multiplier is aligned.
    """
    n = multiplier.width
    counts = multiplier.count_bits
    valid = f"m[{n - 1}]" if multiplier.aligned else "m[0]"
    latency = READ_LATENCY
    halvings = "value = value[0] ? (value + modulus) >> 1 : value >> 1; " * n
    return f"""
module bench(input clk, input [{n - 1}:0] any_x, any_y, any_m, output wrong, output over);
  function [{2 * n}:0] halved(input [{2 * n}:0] value, input [{n - 1}:0] modulus);
    begin {halvings} halved = value; end
  endfunction
  reg [3:0] step = 0;
  reg [{n - 1}:0] x = 0, y = 0, m = 0;
  reg [{latency * n - 1}:0] data = 0;
  reg finished = 0;
  wire done, write;
  wire [1:0] role;
  wire [{n - 1}:0] result;
  wire [{n - 1}:0] asked = role == {Role.MULTIPLICAND} ? y : role == {Role.MULTIPLIER} ? x : m;
  coprime_dut dut(.clk(clk), .rst(1'b0), .prepare(step == 1), .start(step == 3), .wipe(1'b0),
    .inner_digits({counts}'d1), .outer_digits({counts}'d1), .rounds({multiplier.round_bits}'d{n}),
    .multiplier_is_one(1'b0), .a_role(role), .a_data(data[{(latency - 1) * n} +: {n}]),
    .b_data({n}'d0), .b_write(write), .b_write_data(result), .done(done));
  always @(posedge clk) begin
    data <= {{data, asked}};
    if (step == 0) {{x, y, m}} <= {{any_x, any_y, any_m}};
    if (step == 0 || step == 1 || step == 3 || (done && (step == 2 || step == 4)))
      step <= step + 1;
  end
  wire [{2 * n}:0] expected = {expected};
  assign wrong = step == 4 && write && y < m && {valid} && {{{n + 1}'d0, result}} != expected;
  assign over = step == 5;
endmodule
"""


def plain_expression(multiplier):
    """What the result must be, in Verilog: X * Y % M, halved modulo M for each round."""
    n = multiplier.width
    product = f"({{{n + 1}'d0, x}} * y) % m"
    return f"halved({product}, m)" if multiplier.montgomery else product


def prove(multiplier, verilog, moduli):
    """Whether the solver finds no wrong result, for all X and Y, of these moduli."""
    n = multiplier.width
    steps = multiplier.prepare_cycles(1) + multiplier.cycles(1, n) + 6
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        text = verilog + bench(multiplier, plain_expression(multiplier))
        (folder / "design.v").write_text(text, encoding="utf-8")
        read = ["read_verilog design.v", "hierarchy -top bench", "proc", "flatten"]
        read += ["memory_map", "opt -full", "techmap", "opt -full"]
        # The bench comes to its end within these steps, else it would prove nothing.
        proofs = [f"sat -verify -seq {steps} -prove-skip {steps - 1} -prove over 1"]
        proofs += [f"sat -verify -seq {steps} -set any_m {m} -prove wrong 0" for m in moduli]
        try:
            run_yosys([*read, *proofs], folder)
        except ToolError as error:
            assert "proof did fail" in str(error), error
            return False
    return True


def moduli_of(multiplier):
    """Every modulus of the multiplier's registers."""
    n = multiplier.width
    return range(1 << (n - 1), 1 << n) if multiplier.aligned else range(1, 1 << n, 2)


def make(family, n):
    return family(1, n, 2, bits_for(n))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "n", [3, *(pytest.param(longer, marks=pytest.mark.slow) for longer in (4, 5, 6))]
)
def test_result_is_the_plain_expression(family, n):
    multiplier = make(family, n)
    verilog = to_verilog(multiplier, "coprime_dut")
    assert prove(multiplier, verilog, moduli_of(multiplier))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_proof_can_fail(family, monkeypatch):
    """A row of adders that forgets one carry is found out."""
    original = carry_save.carry_save

    def wrong(a, b, c):
        return original(a, b, c)[0], (a & b) | (b & c)

    monkeypatch.setattr(MODULES[family], "carry_save", wrong)
    multiplier = make(family, 3)
    verilog = to_verilog(multiplier, "coprime_dut")
    assert not prove(multiplier, verilog, moduli_of(multiplier))
