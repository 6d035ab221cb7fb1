import re
from dataclasses import replace
from fractions import Fraction

import pytest
from amaranth.sim import Simulator

from coprime.catalog import family_named
from coprime.cells.target import Target
from coprime.device.simulated import SimulatedDevice
from coprime.engine.compact import compact
from coprime.engine.contract import Command, Length, Operand
from coprime.engine.families import INTERLEAVED_CSA, MONTGOMERY_1CSA, MONTGOMERY_R2
from coprime.engine.fdfm import fdfm
from coprime.engine.karatsuba import karatsuba
from coprime.engine.ring import ring
from coprime.flow.boards import BOARDS
from coprime.flow.mapping import map_design
from coprime.flow.verilog import to_verilog
from coprime.soc.board_design import BoardDesign
from coprime.soc.self_test import known_answer, known_answers, self_testing
from tests.netlists import MODELS, ecp5_library

pytestmark = pytest.mark.matrix

SMALL = fdfm(64)
TOP = "coprime_fdfm_on_ulx3s"
BUSY, PASSED, FAILED = 1, 2, 4

# The LEDs are what a read of any address gives; the button is pressed while the bus is reset. No
# host is there.
BENCH = f"""
module coprime_bench (
  input s_axi_aclk, s_axi_aresetn, s_axi_awvalid, s_axi_wvalid, s_axi_bready, s_axi_arvalid,
  input s_axi_rready, input [11:0] s_axi_awaddr, s_axi_araddr, input [2:0] s_axi_awprot,
  input [2:0] s_axi_arprot, input [31:0] s_axi_wdata, input [3:0] s_axi_wstrb,
  output s_axi_awready, s_axi_wready, s_axi_bvalid, s_axi_arready, output reg s_axi_rvalid,
  output [1:0] s_axi_bresp, s_axi_rresp, output reg [31:0] s_axi_rdata, output irq
);
  wire [4:0] led;
  {TOP} test(
    .clk(s_axi_aclk), .button(!s_axi_aresetn), .rx(1'b1), .tx(),
    .led_busy(led[0]), .led_passed(led[1]), .led_failed(led[2]), .led_session(led[3]),
    .led_clock(led[4])
  );
  assign irq = led[1] | led[2];
  assign {{s_axi_awready, s_axi_wready, s_axi_bvalid, s_axi_bresp, s_axi_rresp}} = 0;
  assign s_axi_arready = !s_axi_rvalid;
  always @(posedge s_axi_aclk)
    if (!s_axi_aresetn) s_axi_rvalid <= 0;
    else if (s_axi_arvalid && s_axi_arready) begin
      s_axi_rvalid <= 1;
      s_axi_rdata <= led & 8'h0f;
    end else if (s_axi_rready) s_axi_rvalid <= 0;
endmodule
"""


def outcome(design, answer):
    """How a self-test ends, and after how many cycles, in Amaranth's simulator."""
    ends = []
    engine = self_testing(design, answer)
    test = engine.test

    async def run(context):
        context.set(test.start, 1)
        await context.tick()
        context.set(test.start, 0)
        cycles = 0
        while context.get(test.running):
            assert not context.get(test.passed | test.failed | engine.busy | engine.done)
            await context.tick()
            cycles += 1
        return context.get(test.passed), context.get(test.failed), cycles

    async def bench(context):
        assert not context.get(test.running)
        ends.append(await run(context))
        await context.tick().repeat(100)
        assert (context.get(test.passed), context.get(test.failed)) == ends[0][:2]

    simulator = Simulator(engine)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    passed, failed, cycles = ends[0]
    assert passed + failed == 1
    return "passed" if passed else "failed", cycles


def words(design, answer):
    """Count of stored digits: of the operands, and of the result."""
    digits = {kind: design.capabilities.digits(length) for kind, length in answer.lengths.items()}
    digits[Length.DIGIT] = 1
    return sum(digits[operand.length] for operand in answer.operands), digits[Length.MODULUS]


def all_cycles(design, answer):
    """Two for a digit that is written, one for the start, five for a digit that is compared."""
    written, compared = words(design, answer)
    return 2 * written + 1 + answer.cycles + 5 * compared


@pytest.mark.parametrize(
    "design",
    [
        SMALL,
        fdfm(64, multipliers=2),
        pytest.param(MONTGOMERY_1CSA.design(70, word=16, multipliers=1), marks=pytest.mark.matrix),
        pytest.param(INTERLEAVED_CSA.design(66, word=16, multipliers=2), marks=pytest.mark.matrix),
        pytest.param(MONTGOMERY_R2.design(64, word=16), marks=pytest.mark.matrix),
        pytest.param(karatsuba(64, word=16), marks=pytest.mark.matrix),
        pytest.param(compact(64), marks=pytest.mark.matrix),
    ],
    ids=lambda design: design.capabilities.family,
)
def test_passes(design):
    answer = known_answer(design)
    assert answer.command is Command.RSA_PRIVATE
    assert answer.operands[Operand.M].bit_length() == design.capabilities.max_length
    assert outcome(design, answer) == ("passed", all_cycles(design, answer))


KINDS = [Command.X_MULTIPLY, Command.EC_BASE_MULTIPLY, Command.ED_BASE_MULTIPLY]


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("kind", ["weierstrass", "montgomery", "edwards", "all"])
def test_answers_on_curves(kind):
    """Of each kind that the engine has, whose results are Python's."""
    of_kind = {"montgomery": KINDS[:1], "weierstrass": KINDS[1:2], "edwards": KINDS[2:]}
    for bits in (64, 256):
        usual, *found = known_answers(compact(bits, curves=kind))
        assert usual.command is Command.RSA_PRIVATE
        assert [one.command for one in found] == of_kind.get(kind, KINDS)
        assert all(one.cycles > 1000 and one.result for one in found)


@pytest.mark.parametrize("digit", [-1, pytest.param(0, marks=pytest.mark.matrix)])
def test_fails_at_the_digit_that_differs(digit):
    answer = known_answer(SMALL)
    _, digits = words(SMALL, answer)
    digit %= digits
    changed = replace(answer, result=answer.result ^ 1 << 17 * digit)
    expected = all_cycles(SMALL, answer) - 5 * (digits - 1 - digit)
    assert outcome(SMALL, changed) == ("failed", expected)


def test_fails_with_a_wrong_operand():
    answer = known_answer(SMALL)
    operands = {**answer.operands, Operand.DP: answer.operands[Operand.DP] ^ 2}
    assert outcome(SMALL, replace(answer, operands=operands))[0] == "failed"


def test_fails_when_the_engine_ends_with_an_error():
    """The result is one that the engine's memory holds anyway: it is the error that tells."""
    answer = known_answer(SMALL)
    written, _ = words(SMALL, answer)
    operands = {**answer.operands, Operand.M: answer.operands[Operand.M] ^ 1}
    even = replace(answer, operands=operands, result=0)
    result, cycles = outcome(SMALL, even)
    assert result == "failed"
    assert cycles < 2 * written + 100


@pytest.mark.parametrize("cycles", [1, 1000])
def test_fails_when_the_engine_is_late(cycles):
    answer = replace(known_answer(SMALL), cycles=cycles)
    written, _ = words(SMALL, answer)
    assert outcome(SMALL, answer) == ("failed", 2 * written + 1 + cycles)


def test_one_cycle_less_is_too_few():
    answer = known_answer(SMALL)
    late = replace(answer, cycles=answer.cycles - 1)
    assert outcome(SMALL, late)[0] == "failed"


def without_crt(**capabilities):
    own = SMALL.capabilities
    required = {Command.MODEXP: own.required[Command.MODEXP]}
    return replace(SMALL, capabilities=replace(own, required=required, **capabilities))


@pytest.mark.matrix
def test_engine_without_crt():
    design = without_crt()
    answer = known_answer(design)
    assert answer.command is Command.MODEXP
    assert outcome(design, answer) == ("passed", all_cycles(design, answer))


def test_engine_with_a_fixed_modulus():
    design = without_crt(fixed_modulus=(1 << 31) - 1)
    answer = known_answer(design)
    assert answer.operands[Operand.M] == (1 << 31) - 1
    assert outcome(design, answer) == ("passed", all_cycles(design, answer))


@pytest.mark.parametrize("bits", [64, 100, 512])
def test_known_answer(bits):
    """The result is what Python makes of the operands alone."""
    answer = known_answer(fdfm(), bits)
    operands = answer.operands
    p, q = operands[Operand.P], operands[Operand.Q]
    assert p * q == operands[Operand.M]
    assert (p * q).bit_length() == bits
    half_p = pow(operands[Operand.X], operands[Operand.DP], p)
    half_q = pow(operands[Operand.X], operands[Operand.DQ], q)
    assert answer.result == (half_q + q * ((half_p - half_q) * pow(q, -1, p) % p)) % (p * q)
    assert known_answer(fdfm(), bits) == answer
    assert known_answer(fdfm(), bits, seed=2) != answer


def test_default_length():
    assert known_answer(fdfm()).lengths[Length.MODULUS] == 512
    assert known_answer(fdfm(300)).lengths[Length.MODULUS] == 300


def test_refuses():
    with pytest.raises(ValueError, match=r"bits must be in 64\.\.2176, not 63"):
        known_answer(fdfm(), 63)
    with pytest.raises(ValueError, match=r"bits must be in 64\.\.1024, not 1025"):
        known_answer(fdfm(1024), 1025)
    with pytest.raises(TypeError, match="bits must be an int, not '512'"):
        known_answer(fdfm(), "512")
    capabilities = SMALL.capabilities
    required = {Command.MODMUL: capabilities.required[Command.MODMUL]}
    design = replace(SMALL, capabilities=replace(capabilities, required=required))
    with pytest.raises(ValueError, match="fdfm has neither RSA_PRIVATE nor MODEXP"):
        known_answer(design)


def board_test(*answers, target=Target.GENERIC, design=None, setting=None):
    design = design or family_named("fdfm").choose({}).design
    engine = self_testing(design, *answers, target=target)
    return to_verilog(BoardDesign(BOARDS["ulx3s"], engine, 16, setting), TOP)


@pytest.mark.parametrize(
    "wrong",
    [pytest.param(0, id="right"), pytest.param(1 << 17 * 30, id="wrong", marks=pytest.mark.matrix)],
)
def test_board_shows_how_it_ended(wrong):
    """The whole 512-bit decryption; each time that the button is released."""
    answer = known_answer(fdfm())
    verilog = BENCH + board_test(replace(answer, result=answer.result ^ wrong))
    with SimulatedDevice(verilog, "coprime_bench", cycle_limit=2 * answer.cycles) as device:
        for _ in range(2):
            start = device.cycles
            device.run(1000)
            assert device.read32(0) == BUSY
            device.wait_interrupt()
            assert device.read32(0) == (FAILED if wrong else PASSED)
            assert device.cycles - start > answer.cycles
            device.run(1000)
            assert device.read32(0) == (FAILED if wrong else PASSED)
            device.reset()


# A clock generator whose output is its input, and which needs 1023 cycles.
GENERATOR = """
module EHXPLLL #(
  parameter CLKI_DIV = 1, CLKFB_DIV = 1, CLKOP_DIV = 1, CLKOP_CPHASE = 0, CLKOS_DIV = 1,
  parameter CLKOS_CPHASE = 0, FEEDBK_PATH = "", CLKOP_ENABLE = "", CLKOS_ENABLE = ""
) (
  input CLKI, CLKFB, RST, STDBY, PHASESEL0, PHASESEL1, PLLWAKESYNC, ENCLKOP, ENCLKOS, PHASEDIR,
  input PHASESTEP, PHASELOADREG, output CLKINTFB, CLKOS, LOCK
);
  reg [9:0] count = 0;
  always @(posedge CLKI) if (!LOCK) count <= count + 1;
  assign CLKINTFB = CLKI, CLKOS = CLKI, LOCK = &count;
endmodule
"""


@pytest.mark.matrix
def test_board_waits_for_the_lock():
    """Nothing runs before the clock generator is locked, and 256 cycles after that."""
    answer = known_answer(SMALL)
    setting = BOARDS["ulx3s"].clock_setting(Fraction("62.5"))
    verilog = BENCH + GENERATOR + board_test(answer, design=SMALL, setting=setting)
    with SimulatedDevice(verilog, "coprime_bench", cycle_limit=2 * answer.cycles) as device:
        device.run(1200)
        assert device.read32(0) == 0
        device.run(200)
        assert device.read32(0) == BUSY
        device.wait_interrupt()
        assert device.read32(0) == PASSED


@pytest.mark.matrix
@pytest.mark.parametrize("curves", ["weierstrass", "montgomery", "edwards"])
@pytest.mark.parametrize("make", [compact, ring])
def test_board_with_curves(make, curves):
    """A decryption, and then a multiple of a point; either one may fail."""
    design = make(512, curves=curves)
    usual, on_curve = known_answers(design, 64)
    failing = {
        "none": (usual, on_curve),
        "first": (replace(usual, result=usual.result ^ 1), on_curve),
        "second": (usual, replace(on_curve, result=on_curve.result ^ 1)),
    }
    for which, answers in failing.items():
        verilog = BENCH + board_test(*answers, design=design)
        limit = 2 * (usual.cycles + on_curve.cycles)
        with SimulatedDevice(verilog, "coprime_bench", cycle_limit=limit) as device:
            start = device.cycles
            device.wait_interrupt()
            assert device.read32(0) == (PASSED if which == "none" else FAILED)
            assert (device.cycles - start > usual.cycles + on_curve.cycles) is (which != "first")


@pytest.mark.matrix
def test_board_blinks():
    """The last LED counts the clock, whatever the button does."""
    bench = BENCH.replace("led & 8'h0f", "led[4]")
    with SimulatedDevice(bench + board_test(known_answer(fdfm())), "coprime_bench") as device:
        seen = [device.read32(0)]
        for _ in range(2):
            device.run(1 << 23)
            device.reset()
            seen.append(device.read32(0))
    assert seen == [0, 1, 0]


@pytest.mark.matrix
def test_ecp5_netlist_passes():
    """The cells that go to the board, with the stored words in their block RAM, do the same."""
    answer = known_answer(fdfm())
    mapped = map_design(Target.ECP5, board_test(answer, target=Target.ECP5), TOP)
    # The engine's memory, the stored digits, the bridge's frames, the message buffer.
    assert mapped.bram == 2 + 1 + 1 + 1
    library = re.sub(r"^module DP16KD\b.*?^endmodule", "", ecp5_library(), flags=re.M | re.S)
    library += (MODELS / "block_ram_ecp5.v").read_text()
    verilog = BENCH + mapped.netlist + library
    with SimulatedDevice(verilog, "coprime_bench", cycle_limit=2 * answer.cycles) as device:
        device.wait_interrupt()
        assert device.read32(0) == PASSED
