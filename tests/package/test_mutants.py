"""Mutants are reproducible, proofs of equivalence prove what is so and nothing else; scores."""

import shutil

import pytest

from coprime.catalog import choose
from coprime.flow.parts import accelerator_verilog
from tests.package import equivalence
from tests.package.equivalence import is_equivalent
from tests.package.mutants import KINDS, drawn, score
from tests.package.reachable import is_never_seen

pytestmark = pytest.mark.proof

LEAST = 0.85
"""Of the score of a testbench: docs/integration.md says what survives."""
TEXT = """\
module top (
  input  wire clk,
  input  wire rst,
  input  wire [3:0] a,
  output wire [3:0] y
);
  reg  [3:0] taken = 4'h0;
  reg  valid = 1'h0;
  reg  never = 1'h0;

  assign y = never ? a : valid ? ~taken : (a & 4'h0);

  always @(posedge clk) begin
    taken <= a;
    if (rst) taken <= 4'h0;
  end
  always @(posedge clk) begin
    valid <= 1'h1;
    if (rst) valid <= 1'h0;
  end
  always @(posedge clk) begin
    if (a[0]) never <= 1'h0;
    if (rst) never <= 1'h0;
  end
endmodule
"""


@pytest.mark.proof
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no Icarus Verilog")
@pytest.mark.parametrize("family", ["compact", "fdfm", "karatsuba"])
def test_a_testbench_notices_most_mutants(family):
    found = score(family, count=20, seed=1)
    assert found.value >= LEAST, found


@pytest.fixture(scope="module")
def verilog():
    return accelerator_verilog(choose("compression", {"modulus": "2^16+1"}))


def test_the_same_seed_draws_the_same_mutants(verilog):
    first, again, other = (drawn(verilog, seed) for seed in (1, 1, 2))
    assert first == again != other


def test_there_are_mutants_of_each_kind_and_each_changes_the_text(verilog):
    found = drawn(verilog, 1)
    assert {one.kind for one in found} == set(KINDS)
    assert all(one.of(verilog) != verilog for one in found)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(a & 4'h0)", "(4'h0 & ~a)"),
        ("never ? a", "never ? ~a"),
        ("    if (rst) taken <= 4'h0;\n", ""),
    ],
    ids=[
        "without effect",
        "a register that never changes",
        "reset of a register that is loaded before it is seen",
    ],
)
def test_equivalent_texts_are_proved_so(right, wrong):
    assert TEXT.count(right) == 1
    assert is_equivalent(TEXT, TEXT.replace(right, wrong), "top")


def test_a_module_is_compared_without_what_is_inside_it(monkeypatch):
    monkeypatch.setattr(equivalence, "_MOST_REGISTERS", 1)
    around = """
module around (
  input  wire clk,
  input  wire rst,
  input  wire [3:0] b,
  output wire [3:0] z
);
  wire [3:0] y;
  top inner (
    .clk(clk),
    .rst(rst),
    .a(b & 4'h3),
    .y(y)
  );
  assign z = y | (b & 4'h0);
endmodule
"""
    text = TEXT + around
    assert is_equivalent(text, text.replace("(b & 4'h0)", "(4'h0 & ~b)"), "around")
    assert not is_equivalent(text, text.replace("(b & 4'h0)", "(b & 4'h8)"), "around")
    assert not is_equivalent(text, text.replace("b & 4'h3", "b & 4'h7"), "around")


@pytest.mark.proof(quick=1)
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(a & 4'h0)", "(a & 4'h8)"),
        ("    if (rst) valid <= 1'h0;\n", ""),
        ("taken <= a;", "taken <= ~a;"),
        ("valid <= 1'h1;", "valid <= a[0];"),
    ],
    ids=["an output", "reset of a register that is seen", "a value", "a state"],
)
def test_others_are_not(right, wrong):
    assert TEXT.count(right) == 1
    assert not is_equivalent(TEXT, TEXT.replace(right, wrong), "top")


COUNTERS = """\
module counter (
  input  wire clk,
  input  wire rst,
  input  wire step,
  output reg  [2:0] count = 3'h0
);
  always @(posedge clk) begin
    if (step) count <= count == 3'h4 ? 3'h0 : count + 1'h1;
    if (rst) count <= 3'h0;
  end
endmodule

module store (
  input  wire clk,
  input  wire [2:0] place,
  input  wire [3:0] word,
  input  wire write,
  output wire [3:0] read
);
  reg  [3:0] memory [0:7];

  assign read = memory[place];

  always @(posedge clk) begin
    if (write) memory[place] <= word;
  end
endmodule

module inner (
  input  wire clk,
  input  wire rst,
  input  wire step,
  input  wire [3:0] word,
  output wire [3:0] read,
  output wire [5:0] square,
  output wire fault
);
  wire [2:0] count;
  wire [2:0] again;
  wire [3:0] kept;

  counter first (
    .clk(clk),
    .rst(rst),
    .step(step),
    .count(count)
  );
  counter second (
    .clk(clk),
    .rst(rst),
    .step(step),
    .count(again)
  );
  store words (
    .clk(clk),
    .place(count),
    .word(step ? word : 4'h0),
    .write(step & (again != 3'h3)),
    .read(kept)
  );
  assign read = step ? kept : 4'h0;
  assign square = step ? {3'h0, count} * {3'h0, again} : 6'h00;
  assign fault = (count != again) | (count == 3'h7);
endmodule

module outer (
  input  wire clk,
  input  wire rst,
  input  wire step,
  input  wire [3:0] word,
  output wire [3:0] read,
  output wire [5:0] square,
  output wire fault
);
  inner only (
    .clk(clk),
    .rst(rst),
    .step(step),
    .word(word),
    .read(read),
    .square(square),
    .fault(fault)
  );
endmodule
"""


@pytest.mark.proof(quick=4)
@pytest.mark.parametrize(
    ("module", "right", "wrong", "same"),
    [
        ("inner", "(count != again)", "(count > again)", True),
        ("inner", "count == 3'h7", "count == 3'h5", True),
        ("inner", "step ? word : 4'h0", "word", True),
        ("counter", "count == 3'h4 ?", "count >= 3'h4 ?", True),
        ("inner", "(count != again)", "(count == again)", False),
        ("inner", "count == 3'h7", "count == 3'h4", False),
        ("inner", "step ? word : 4'h0", "step ? word : word | 4'h1", True),
        ("inner", "step ? word : 4'h0", "step ? ~word : 4'h0", False),
        ("inner", "(again != 3'h3)", "(again != 3'h2)", False),
        ("inner", ".place(count)", ".place(step ? count : 3'h6)", True),
        ("inner", ".place(count)", ".place(step ? 3'h6 : count)", False),
        ("inner", "{3'h0, count} *", "{3'h0, step ? again : 3'h1} *", True),
        ("inner", "{3'h0, count} *", "{3'h0, step ? 3'h1 : again} *", False),
        ("counter", "count == 3'h4 ?", "count == 3'h5 ?", False),
        ("counter", "    if (rst) count <= 3'h0;\n", "", False),
        ("store", "if (write) ", "if (!(write)) ", False),
        ("store", "memory[place];", "memory[place ^ 3'h1];", False),
    ],
)
def test_what_no_reached_state_shows_is_proved_and_nothing_else(module, right, wrong, same):
    assert COUNTERS.count(right) == 1
    assert is_never_seen(COUNTERS, COUNTERS.replace(right, wrong), module) is same
