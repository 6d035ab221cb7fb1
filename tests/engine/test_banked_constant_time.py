"""No secret changes how long compact and ring work: proved for engines of 64 bits, and run.

Two copies of the engine get the same public inputs: command, lengths, what is written where and
when. Their operands differ: every word that is read from a memory may be any word, another one in
each copy, but for digits of the public exponent. Next `busy`, `done` and `multiplying` are the same
in every cycle, as long as no check ends one copy's command with an error and not the other's. That
is shown in two steps:

* The sequencer is all that takes anything from the operands: the exponent's digits and what the
  linear unit finds out. A solver proves, for two copies of it as they come from a reset, that all
  it gives but the window and what follows from that, and all its registers but the exponent and the
  window, are the same forever, whatever these inputs are in either copy. That the others are the
  same is its premise.
* No wire or register leads from operands to these others, nor past the sequencer to the engine's
  outputs: by a search of the netlist.

Of two lanes both sequencers are proved like that. What one shows to the other is among what is
proved to be the same of the one, and among the premises of the other: by induction over the cycles
both hold.
"""

import importlib.util
import json
import math
import random
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from coprime.catalog import choose
from coprime.engine.contract import Length, Operand
from coprime.engine.curve_settings import KINDS
from coprime.flow.parts import engine_verilog
from coprime.flow.tools import run_tool, run_yosys
from coprime.rsa.keys import generate
from tests.benches import open_bench

pytestmark = pytest.mark.xdist_group("banked constant time")

SECRET_INPUTS = {
    "exponent_data",
    "exponent_other",
    "borrow",
    "z_is_zero",
    "z_is_odd",
    "z_is_normalized",
    "differs",
}
"""Of the sequencer: what it is told of the operands."""
SAME_INPUTS = {"fault"}
"""The sequencer's inputs that come from memory, and are the same in both copies: the multiplier's
`fault` is 1 only where an inverse is even, which none of an odd number is. It ends the command with
an error."""
SAME_INPUTS_OF_CURVES = SAME_INPUTS | {"short"}
"""And whether the prime of a curve has the inverse 1, which is public."""
SECRET_REGISTERS = re.compile(
    r"scanner\.(exponent|exponent_of_e|bit)|windows\.window|\\?\$signal.*"
)
"""Of the sequencer: the digit of the exponent that is scanned; its bit, which has a register where
products overlap; and the window, which may have no name of its own."""
SECRET_OUTPUTS = {"suppress_write", "swaps"}
"""Of the sequencer, beside these: a window of 0 has a product that is not written, and by a bit of
1 numbers change places."""
GIVEN = {"busy", "done", "multiplying"}
"""Of the engine: what can be measured outside."""


class Netlist:
    """A module as one, in Yosys's words: its memories are cells, and so are its black boxes."""

    def __init__(self, verilog, top, folder, commands=(), boxes=()):
        (folder / "design.v").write_text(verilog, encoding="utf-8")
        read = ["read_verilog design.v", *(f"blackbox {box}" for box in boxes)]
        read += [f"hierarchy -top {top}", "proc -norom", "flatten", "memory_collect", "opt_clean"]
        run_yosys([*read, *commands, "write_rtlil one.il", "write_json one.json"], folder)
        module = json.loads((folder / "one.json").read_text("utf-8"))["modules"][top]
        self.cells = module["cells"].values()
        self.names = {
            name: net["bits"] for name, net in module["netnames"].items() if not net["hide_name"]
        }
        self.ports = {
            way: {
                name: port["bits"]
                for name, port in module["ports"].items()
                if port["direction"] == way
            }
            for way in ("input", "output")
        }

    @property
    def registers(self):
        """Every name whose bits are all of registers."""
        stored = {
            bit for cell in self.cells if "dff" in cell["type"] for bit in cell["connections"]["Q"]
        }
        return {name: bits for name, bits in self.names.items() if stored.issuperset(bits)}


def parts_of(family, **settings):
    """The engine's Verilog, its module and those of the lanes' sequencers."""
    choice = choose(family, {"max_bits": "64", **settings})
    engine = f"{choice.module_name}_engine"
    lanes = ("lane", "lane_1")[: len(choice.design.programs)]
    return engine_verilog(choice), engine, [f"{engine}_{lane}_sequencer" for lane in lanes]


# --- Two copies of the sequencer ----------------------------------------------------------------


def two_copies(module, inputs, outputs):
    """Verilog whose output `wrong` is 1 where two copies differ that have had the same error.

    Inputs of SECRET_INPUTS are each copy's own, but for the digits of the public exponent.
    `outputs` are those that must be the same.
    """
    own = [name for name in inputs if name in SECRET_INPUTS]
    digits = ("exponent_data", "exponent_other")
    ports = {name: f"in_{k}" for k, name in enumerate(inputs)}
    given = {name: f"out_{k}" for k, name in enumerate(outputs)}

    def ranged(bits):
        return f"[{len(bits) - 1}:0]"

    def given_to(name, which):
        if name in digits and which == "_b" and "public" in outputs:
            return f"{given['public']}_b ? {ports[name]}_a : {ports[name]}_b"
        return ports[name] + (which if name in own else "")

    def copy(which):
        connected = [
            *(f".\\{name} ({given_to(name, which)})" for name in inputs),
            *(f".\\{name} ({given[name]}{which})" for name in outputs),
        ]
        wires = [f"wire {ranged(bits)} {given[name]}{which};" for name, bits in outputs.items()]
        return "\n  ".join([*wires, f"{module} copy{which}({', '.join(connected)});"])

    def every(which):
        return "{" + ", ".join(f"{given[name]}{which}" for name in outputs) + "}"

    heads = [
        f"input {ranged(bits)} {ports[name]}{which}"
        for name, bits in inputs.items()
        for which in (("_a", "_b") if name in own else ("",))
    ]
    error = given["code" if "code" in outputs else "error"]
    return f"""module two({", ".join(heads)}, output wrong);
  {copy("_a")}
  {copy("_b")}
  reg told = 0;  // an error has told the copies apart
  wire tells = {error}_a != {error}_b;
  always @(posedge {ports["clk"]}) if (tells) told <= 1;
  assign wrong = !told && !tells && {every("_a")} != {every("_b")};
endmodule
"""


def sequencers_agree(family, lane=0, **settings):
    """Whether a solver proves that two sequencers of a lane with different secrets do the same."""
    verilog, _, modules = parts_of(family, **settings)
    module = modules[lane]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        found = Netlist(verilog, module, folder)
        secret = {
            bit
            for name, bits in found.registers.items()
            if SECRET_REGISTERS.fullmatch(name)
            for bit in bits
        }
        assert len(secret) >= 17
        assert "exponent_data" in found.ports["input"]
        kept = [name for name, bits in found.registers.items() if not secret & {*bits}]
        scanner = {"scanner.bit_index", "scanner.index_inverted"}
        assert {"fsm_state", "program_memory.pc", "step", *scanner} <= {*kept}
        # What a register holds becomes an output.
        shown = [f"expose w:{name}" for name in kept if name not in found.ports["output"]]
        found = Netlist(verilog, module, folder, shown)
        public = {
            name: bits
            for name, bits in found.ports["output"].items()
            if not secret & {*bits} and name not in SECRET_OUTPUTS
        }
        assert GIVEN - {"multiplying"} <= {*public}
        text = two_copies(module, found.ports["input"], public)
        (folder / "two.v").write_text(text, encoding="utf-8")
        read = ["read_rtlil one.il", "read_verilog two.v", "hierarchy -check -top two", "proc"]
        read += ["flatten", "opt -full", "techmap", "opt -full", "dffunmap", "simplemap", "aigmap"]
        run_yosys([*read, "opt_clean -purge", "write_aiger -zinit two.aig"], folder)
        abc = Path(importlib.util.find_spec("pyosys").origin).with_name("yosys-abc")
        log = run_tool("ABC", [abc, "-s", "-c", "read_aiger two.aig; pdr"], folder=folder)
    proved, refuted = "Property proved." in log, "was asserted in frame" in log
    assert proved != refuted, log
    return proved


@pytest.mark.slow
@pytest.mark.parametrize("family", ["compact", "ring"])
def test_sequencer(family):
    assert sequencers_agree(family)


@pytest.mark.slow
def test_sequencer_with_a_ladder():
    """Of X_MULTIPLY. (Programs for other curves are in block RAM, and too long for the solver.)"""
    assert sequencers_agree("compact", curves="montgomery")


@pytest.mark.slow
@pytest.mark.parametrize("lane", [0, 1])
def test_sequencers_of_two_lanes(lane):
    assert sequencers_agree("ring", lane, multipliers="2")


BLINDED = [
    {"blinding": "base"},
    {"blinding": "exponent", "max_bits": "128"},
    {"blinding": "both", "max_bits": "128"},
]


@pytest.mark.slow
@pytest.mark.parametrize("settings", BLINDED)
def test_blinded_sequencer(settings):
    """When random bytes come is public, and what they are is not."""
    assert sequencers_agree("compact", **settings)


@pytest.mark.slow
def test_the_proof_can_fail():
    """A binary exponentiation multiplies where the exponent's bit is 1."""
    assert not sequencers_agree("fdfm")


# --- What leads to the sequencer ----------------------------------------------------------------


def leaks(family, secret_inputs, **settings):
    """The public inputs of the sequencer, and outputs of the engine, that operands lead to.

    Each with what it comes from: a memory's words, a digit that is written, random bytes, or the
    sequencer's secret registers.
    """
    verilog, engine, modules = parts_of(family, **settings)
    with tempfile.TemporaryDirectory() as temporary:
        insides = {module: Netlist(verilog, module, Path(temporary)) for module in modules}
        found = Netlist(verilog, engine, Path(temporary), boxes=modules)
    secrets = {
        module: {
            bit
            for name, bits in inside.registers.items()
            if SECRET_REGISTERS.fullmatch(name)
            for bit in bits
        }
        for module, inside in insides.items()
    }
    boxes = {cell["type"]: cell for cell in found.cells if cell["type"] in modules}
    assert [*boxes] == modules
    sources = {
        bit: name for name in ("digit", "random") for bit in found.ports["input"].get(name, ())
    }
    before = {}
    for cell in found.cells:
        pins = cell["connections"]
        outputs = {pin for pin, way in cell["port_directions"].items() if way == "output"}
        if cell["type"].startswith("$mem"):
            sources |= dict.fromkeys(pins["RD_DATA"], "memory")
        elif cell["type"] in boxes:
            module = cell["type"]
            for pin in outputs:
                shown = {*insides[module].ports["output"][pin]}
                if secrets[module] & shown or pin in SECRET_OUTPUTS:
                    sources |= dict.fromkeys(pins[pin], pin)
        else:
            into = {bit for pin in pins if pin not in outputs for bit in pins[pin]}
            before |= {bit: into for pin in outputs for bit in pins[pin]}

    def origins(bits):
        todo, seen = list(bits), set()
        while todo:
            bit = todo.pop()
            if bit not in seen:
                seen.add(bit)
                todo += before.get(bit, ())
        return {sources[bit] for bit in seen & {*sources}}

    asked = {name: found.ports["output"][name] for name in GIVEN}
    for lane, box in enumerate(boxes.values()):
        of_lane = f" of lane {lane}" if lane else ""
        for pin, way in box["port_directions"].items():
            if way == "input" and pin not in secret_inputs:
                asked[f"sequencer's {pin}{of_lane}"] = box["connections"][pin]
    assert len(asked) > 10
    return {name: come for name, bits in asked.items() if (come := origins(bits))}


@pytest.mark.parametrize(
    "settings",
    [{}, BLINDED[2], *(pytest.param(one, marks=pytest.mark.slow) for one in BLINDED[:2])],
)
def test_no_way_past_the_sequencer(settings):
    assert leaks("compact", SECRET_INPUTS | SAME_INPUTS, **settings) == {}


@pytest.mark.parametrize(
    "curves",
    [
        "all",
        *(pytest.param(one, marks=pytest.mark.slow) for one in KINDS),
    ],
)
def test_no_way_past_the_sequencer_with_curves(curves):
    settings = {"curves": curves, "max_bits": "128"}
    assert leaks("compact", SECRET_INPUTS | SAME_INPUTS_OF_CURVES, **settings) == {}


@pytest.mark.slow
@pytest.mark.parametrize("blinding", ["0", "64", "half"])
def test_no_way_past_the_sequencer_with_random_scalars(blinding):
    """What is written for a drawn bit, and what is not, changes data alone."""
    settings = {"curves": "weierstrass", "max_bits": "128", "nonce": "random"}
    found = leaks(
        "compact", SECRET_INPUTS | SAME_INPUTS_OF_CURVES, **settings, scalar_blinding=blinding
    )
    assert found == {}


@pytest.mark.parametrize(
    "settings",
    [
        {"tile": "one17", "tiles": "2"},
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in ({"tile": "one17"}, {}, {"multipliers": "2"})
        ),
    ],
)
def test_no_way_past_the_sequencer_of_ring(settings):
    assert leaks("ring", SECRET_INPUTS | SAME_INPUTS, **settings) == {}


def test_the_search_can_fail():
    """It finds all of the ways that there are."""
    found = leaks("compact", set())
    ways = (SECRET_INPUTS | SAME_INPUTS) - {"z_is_normalized"}
    assert {*found} == {f"sequencer's {name}" for name in ways}
    assert all("memory" in come for come in found.values())


# --- Keys at the edge ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Numbers:
    """A private key whose exponents are chosen; E is whatever belongs to them."""

    p: int
    q: int
    dp: int
    dq: int

    @property
    def n(self):
        return self.p * self.q

    @property
    def e(self):
        """Inverse of both exponents; any number where these are 0."""
        if not self.dp:
            return 3
        below_p, below_q = (self.p - 1) // 2, self.q - 1
        e_p, e_q = pow(self.dp, -1, below_p), pow(self.dq, -1, below_q)
        return e_q + below_q * ((e_p - e_q) * pow(below_q, -1, below_p) % below_p)

    @property
    def d(self):
        return pow(self.e, -1, math.lcm(self.p - 1, self.q - 1)) if self.dp else 0

    def private(self, x):
        coefficient = pow(self.q, -1, self.p)
        of_p, of_q = pow(x, self.dp, self.p), pow(x, self.dq, self.q)
        return of_q + self.q * ((of_p - of_q) * coefficient % self.p)


EXPONENTS = {
    "all ones": [(1 << bits) - 1 for bits in range(64, 50, -1)],
    "one 0": [(1 << 64) - 1 - (1 << bit) for bit in range(1, 63)],
    "two ones": [(1 << bit) + 1 for bit in range(63, 40, -1)],
    "short": [(1 << bit) + 1 for bit in range(1, 20)],
    "random": [random.Random(k).getrandbits(64) | 1 for k in range(50)],
    "one": [1],
    "zero": [0],
}
"""Of each kind, the first ones that have an inverse modulo p - 1 and q - 1 are taken."""


def primes():
    """Pairs whose product has 128 bits: the longest ones, and some more."""
    yield (1 << 64) - 59, (1 << 64) - 83
    for seed in range(20):
        key = generate(128, seed=seed)
        yield key.p, key.q


def key_of(kind, p, q):
    def first(prime):
        wanted = [d for d in EXPONENTS[kind] if kind == "zero" or math.gcd(d, prime - 1) == 1]
        return next(iter(wanted), None)

    return Numbers(p, q, first(p), first(q))


@pytest.fixture(scope="module")
def bench():
    bench = open_bench("compact", max_bits=384)
    yield bench
    bench.device.close()


@pytest.mark.slow
def test_private_operations_of_a_size(bench):
    """Whatever the exponents, the primes and the message, an operation takes the same cycles.

    But for those that tell the public exponent: a product for each bit from its highest 1 on, one
    more for each 1, and a cycle for each bit above, in the check modulo either prime.
    """
    own = bench.design.capabilities
    digits = own.digits(64)
    product = 1 + bench.design.multiplication.cycles(digits, digits)
    # Those for which there is an E for any two exponents.
    pairs = [(p, q) for p, q in primes() if math.gcd((p - 1) // 2, q - 1) == 1][:4]
    assert len(pairs) == 4
    accelerator = bench.accelerator
    cycles = {}
    for kind in EXPONENTS:
        for p, q in pairs:
            key = key_of(kind, p, q)
            assert (key.n.bit_length(), key.p.bit_length(), key.q.bit_length()) == (128, 64, 64)
            job = accelerator.private_job(key)
            if Operand.E in job.operands:  # public, and its length may show
                job = replace(job, lengths={**job.lengths, Length.EXPONENT: 128})
            # With exponents of 0 there is no E but for X = 1.
            other = random.Random(p).randrange(key.n)
            for x in (1,) if kind == "zero" else (0, 1, key.n - 1, key.p, other):
                run = accelerator._run(job, x)
                assert run.value == key.private(x)
                if key.dp:
                    assert pow(run.value, key.e, key.n) == x
                bits = key.e.bit_length()
                checks = (bits + key.e.bit_count()) * product - bits
                cycles[kind, p, x] = run.cycles - 2 * checks
    assert len(cycles) == 4 * (6 * 5 + 1)
    assert len(set(cycles.values())) == 1
