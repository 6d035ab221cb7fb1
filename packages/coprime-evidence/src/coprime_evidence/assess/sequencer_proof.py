"""Constant time of `compact` and `ring`, proved: the sequencer, and that nothing else takes part.

Two copies of the engine get the same public inputs: command, lengths, what is written where and
when. Their operands differ: every word that is read from a memory may be any word, another one in
each copy, but for digits of the public exponent. Next `busy`, `done` and `multiplying` are the same
in every cycle, as long as no check ends one copy's command with an error and not the other's. That
is shown in two steps:

* The sequencer is all that takes anything from the operands: the exponent's digits and what the
  linear unit finds out. A solver proves, for two copies of it as they come from a reset, that all
  it gives but the window and what follows from that, and all its registers but the exponent and the
  window, are the same forever, whatever these inputs are in either copy. That the others are the
  same is its premise. The digits of the public exponent are proved to be the same, too, as long as
  they are scanned: else the solver would have to find that out bit by bit.
* No wire or register leads from operands to these others, nor past the sequencer to the engine's
  outputs: by a search of the netlist.

Of two lanes both sequencers are proved like that. What one shows to the other is among what is
proved to be the same of the one, and among the premises of the other: by induction over the cycles
both hold.
"""

import json
import re
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coprime.catalog import Choice
from coprime.engine.design import EngineDesign
from coprime.engine.layout import BankedLayout
from coprime.flow.parts import engine_verilog
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import package_folder, run_tool, run_yosys

from .aiger import Graph

SECRET_INPUTS = frozenset(
    {
        *("exponent_data", "exponent_other", "borrow", "z_is_zero", "z_is_odd"),
        *("z_is_normalized", "differs"),
    }
)
"""Of the sequencer: what it is told of the operands."""
SAME_INPUTS = frozenset({"fault"})
"""The sequencer's inputs that come from memory, and are the same in both copies: the multiplier's
`fault` is 1 only where an inverse is even, which none of an odd number is. It ends the command with
an error."""
SAME_INPUTS_OF_CURVES = SAME_INPUTS | {"short"}
"""And whether the prime of a curve has the inverse 1, which is public."""
_SECRET_REGISTERS = re.compile(
    r"scanner\.(exponent|exponent_of_e|bit|selected_1)|windows\.window|\\?\$signal.*"
)
"""Of the sequencer: the digit of the exponent that is scanned; the register of its bit; and the
window, which may have no name of its own."""
_DIGITS = re.compile(r"scanner\.(exponent|exponent_of_e)")
"""Of these registers, those of an exponent's digit."""
_SOLVERS = ("pdr", "pdr -s -f")
"""Of ABC. Which one is faster differs from design to design, by a factor of four and more."""
_SECRET_OUTPUTS = {"suppress_write", "swaps"}
"""Of the sequencer, beside these: a window of 0 has a product that is not written, and by a bit of
1 numbers change places."""
_GIVEN = {"busy", "done", "multiplying"}
"""Of the engine: what can be measured outside."""
_KNOWN = {
    *("fsm_state", "program_memory.pc", "program_memory.address", "program_memory.there"),
    *("step", "scanner.bit_index", "scanner.index_inverted"),
}
"""Registers of every sequencer that must be the same: without them a proof would say nothing."""

Bits = Mapping[str, Sequence[Any]]
"""By name the bits of signals, as Yosys numbers them."""


@dataclass(frozen=True, kw_only=True)
class SequencerProof:
    """What the solver says of the sequencers, and what the search has found.

    Parameters
    ----------
    sequencers : for each lane, whether its sequencer does the same whatever the secrets
    ways : what operands lead to other than through a sequencer, each with where it comes from
    """

    sequencers: tuple[bool, ...]
    ways: Mapping[str, frozenset[str]]

    @property
    def holds(self) -> bool:
        """Whether no secret changes how long the engine works."""
        return all(self.sequencers) and not self.ways


def has_sequencer_proof(choice: Choice) -> bool:
    """Whether the sequencer is what is proved of an engine: where lanes have two banks."""
    design = choice.design
    return isinstance(design, EngineDesign) and isinstance(design.layout, BankedLayout)


def prove_sequencers(choice: Choice, *, seconds: int = 600) -> SequencerProof:
    """Prove that an engine with two banks is constant-time, or find what stands against it.

    The solver may take so many seconds for each lane. Raises ToolError where it takes longer.
    """
    curves = choice.values.get("curves", "none") != "none"
    same = SAME_INPUTS_OF_CURVES if curves else SAME_INPUTS
    ways = ways_past(choice, SECRET_INPUTS | same)
    lanes = range(len(_sequencers(choice)))
    agree = tuple(sequencers_agree(choice, lane, seconds=seconds) for lane in lanes)
    return SequencerProof(sequencers=agree, ways=ways)


class FlatNetlist:
    """A module as one, in Yosys's words: its memories are cells, and so are its black boxes."""

    def __init__(
        self,
        verilog: str,
        top: str,
        folder: Path,
        commands: Iterable[str] = (),
        boxes: Iterable[str] = (),
    ):
        (folder / "design.v").write_text(verilog, encoding="utf-8")
        read = ["read_verilog design.v", *(f"blackbox {box}" for box in boxes)]
        read += [f"hierarchy -top {top}", "proc -norom", "flatten", "memory_collect", "opt_clean"]
        run_yosys([*read, *commands, "write_rtlil one.il", "write_json one.json"], folder)
        module = json.loads((folder / "one.json").read_text("utf-8"))["modules"][top]
        self.cells: Collection[Mapping[str, Any]] = module["cells"].values()
        self.names: Bits = {
            name: net["bits"] for name, net in module["netnames"].items() if not net["hide_name"]
        }
        self.ports: Mapping[str, Bits] = {
            way: {
                name: port["bits"]
                for name, port in module["ports"].items()
                if port["direction"] == way
            }
            for way in ("input", "output")
        }

    @property
    def registers(self) -> Bits:
        """Every name whose bits are all of registers."""
        stored = {
            bit for cell in self.cells if "dff" in cell["type"] for bit in cell["connections"]["Q"]
        }
        return {name: bits for name, bits in self.names.items() if stored.issuperset(bits)}

    @property
    def secrets(self) -> set[Any]:
        """The bits of the registers that hold secrets."""
        return {
            bit
            for name, bits in self.registers.items()
            if _SECRET_REGISTERS.fullmatch(name)
            for bit in bits
        }


def _engine(choice: Choice) -> str:
    return f"{choice.module_name}_engine"


def _sequencers(choice: Choice) -> list[str]:
    """The modules of the lanes' sequencers."""
    assert isinstance(choice.design, EngineDesign)
    lanes = ("lane", "lane_1")[: len(choice.design.programs)]
    return [f"{_engine(choice)}_{lane}_sequencer" for lane in lanes]


# --- Two copies of the sequencer ----------------------------------------------------------------


def _two_copies(module: str, inputs: Bits, outputs: Bits, digits: Bits) -> str:
    """Verilog whose output `wrong` is 1 where two copies differ that have had the same error.

    Inputs of SECRET_INPUTS are each copy's own, but for the digits of the public exponent.
    `outputs` are those that must be the same, `digits` those that must be while it is scanned.
    """
    own = [name for name in inputs if name in SECRET_INPUTS]
    words = ("exponent_data", "exponent_other")
    ports = {name: f"in_{k}" for k, name in enumerate(inputs)}
    given = {name: f"out_{k}" for k, name in enumerate([*outputs, *digits])}

    def ranged(bits: Sequence[Any]) -> str:
        return f"[{len(bits) - 1}:0]"

    def given_to(name: str, which: str) -> str:
        if name in words and which == "_b" and "public" in outputs:
            return f"{given['public']}_b ? {ports[name]}_a : {ports[name]}_b"
        return ports[name] + (which if name in own else "")

    def copy(which: str) -> str:
        connected = [
            *(f".\\{name} ({given_to(name, which)})" for name in inputs),
            *(f".\\{name} ({wire}{which})" for name, wire in given.items()),
        ]
        shown = {**outputs, **digits}
        wires = [f"wire {ranged(bits)} {given[name]}{which};" for name, bits in shown.items()]
        return "\n  ".join([*wires, f"{module} copy{which}({', '.join(connected)});"])

    def differ(names: Iterable[str]) -> str:
        a, b = (", ".join(given[name] + which for name in names) for which in ("_a", "_b"))
        return f"{{{a}}} != {{{b}}}"

    heads = [
        f"input {ranged(bits)} {ports[name]}{which}"
        for name, bits in inputs.items()
        for which in (("_a", "_b") if name in own else ("",))
    ]
    error = given["code" if "code" in outputs else "error"]
    scanned = f" || {given['public']}_a && {differ(digits)}" if "public" in outputs else ""
    return f"""module two({", ".join(heads)}, output wrong);
  {copy("_a")}
  {copy("_b")}
  reg told = 0;  // an error has told the copies apart
  wire tells = {error}_a != {error}_b;
  always @(posedge {ports["clk"]}) if (tells) told <= 1;
  assign wrong = !told && !tells && ({differ(outputs)}{scanned});
endmodule
"""


def sequencers_agree(choice: Choice, lane: int = 0, *, seconds: int = 600) -> bool:
    """Whether a solver proves that two sequencers of a lane with different secrets do the same.

    Raises ToolError if it takes longer than so many seconds.
    """
    verilog, module = engine_verilog(choice), _sequencers(choice)[lane]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        found = FlatNetlist(verilog, module, folder)
        secret = found.secrets
        kept = [
            name
            for name, bits in found.registers.items()
            if not secret & {*bits} and name not in _SECRET_OUTPUTS
        ]
        if not (secret and "exponent_data" in found.ports["input"] and {*kept} >= _KNOWN):
            raise ToolError(f"{module} has not the registers that the proof is about")
        # What a register holds becomes an output.
        digits = [name for name in found.registers if _DIGITS.fullmatch(name)]
        shown = [name for name in (*kept, *digits) if name not in found.ports["output"]]
        found = FlatNetlist(verilog, module, folder, [f"expose w:{name}" for name in shown])
        secret, outputs = found.secrets, found.ports["output"]
        public = {
            name: bits
            for name, bits in outputs.items()
            if not secret & {*bits} and name not in _SECRET_OUTPUTS
        }
        assert {*public} >= {*kept} | _GIVEN - {"multiplying"}
        text = _two_copies(
            module, found.ports["input"], public, {name: outputs[name] for name in digits}
        )
        (folder / "two.v").write_text(text, encoding="utf-8")
        read = ["read_rtlil one.il", "read_verilog two.v", "hierarchy -check -top two", "proc"]
        # A long program is in block RAM, which shows 0 until it is first read.
        read += ["flatten", "memory_map", "setundef -init -zero"]
        read += ["opt -full", "techmap", "opt -full", "dffunmap", "simplemap", "aigmap"]
        read += ["opt_clean -purge", "write_aiger -ascii -symbols -zinit two.aag"]
        run_yosys(read, folder)
        _with_shared_state(Graph.read(folder / "two.aag"), kept).write(folder / "two.aig")
        return _is_never_wrong(folder, seconds)


def _with_shared_state(two: Graph, kept: Collection[str]) -> Graph:
    """Let the second copy's next state follow from the first one's `kept` registers.

    Until the copies first differ in one of these, which makes `wrong` 1, each has the same value in
    both: so that first cycle is no other one. The solver need not learn that they stay the same,
    which takes most of its time.
    """
    replaced = {}
    for name, variable in two.names.items():
        register = re.fullmatch(r"copy_b\.(.*?)(\[\d+\])?", name)
        if register is not None and register[1] in kept:
            first = two.names.get(name.replace("copy_b.", "copy_a.", 1))
            if first is not None:
                replaced[variable] = first
    return two.following(replaced)


def _is_never_wrong(folder: Path, seconds: int) -> bool:
    """Whether the output of two.aig is 0 in every cycle.

    Raises ToolError if neither solver decides it within so many seconds.
    """
    abc = package_folder("pyosys") / "yosys-abc"
    for solver in _SOLVERS:
        commands = f"read_aiger two.aig; scorr; dc2; {solver} -T {seconds}"
        log = run_tool("ABC", [abc, "-s", "-c", commands], folder=folder)
        proved, refuted = "Property proved." in log, "was asserted in frame" in log
        if proved != refuted:
            return proved
    raise ToolError(
        f"ABC has not decided within {seconds} s whether the sequencer is constant-time"
    )


# --- What leads to the sequencer ----------------------------------------------------------------


def ways_past(choice: Choice, secret_inputs: Collection[str]) -> dict[str, frozenset[str]]:
    """The public inputs of the sequencer, and outputs of the engine, that operands lead to.

    Each with what it comes from: a memory's words, a digit that is written, random bytes, or the
    sequencer's secret registers.
    """
    verilog, modules = engine_verilog(choice), _sequencers(choice)
    with tempfile.TemporaryDirectory() as temporary:
        insides = {module: FlatNetlist(verilog, module, Path(temporary)) for module in modules}
        found = FlatNetlist(verilog, _engine(choice), Path(temporary), boxes=modules)
    secrets = {module: inside.secrets for module, inside in insides.items()}
    boxes = {cell["type"]: cell for cell in found.cells if cell["type"] in modules}
    assert [*boxes] == modules
    sources = {
        bit: name for name in ("digit", "random") for bit in found.ports["input"].get(name, ())
    }
    before: dict[Any, set[Any]] = {}
    for cell in found.cells:
        pins = cell["connections"]
        outputs = {pin for pin, way in cell["port_directions"].items() if way == "output"}
        if cell["type"].startswith("$mem"):
            sources |= dict.fromkeys(pins["RD_DATA"], "memory")
        elif cell["type"] in boxes:
            module = cell["type"]
            for pin in outputs:
                shown = {*insides[module].ports["output"][pin]}
                if secrets[module] & shown or pin in _SECRET_OUTPUTS:
                    sources |= dict.fromkeys(pins[pin], pin)
        else:
            into = {bit for pin in pins if pin not in outputs for bit in pins[pin]}
            before |= {bit: into for pin in outputs for bit in pins[pin]}

    def origins(bits: Iterable[Any]) -> frozenset[str]:
        todo, seen = list(bits), set()
        while todo:
            bit = todo.pop()
            if bit not in seen:
                seen.add(bit)
                todo += before.get(bit, ())
        return frozenset(sources[bit] for bit in seen & {*sources})

    asked = {name: found.ports["output"][name] for name in _GIVEN}
    for lane, box in enumerate(boxes.values()):
        of_lane = f" of lane {lane}" if lane else ""
        for pin, way in box["port_directions"].items():
            if way == "input" and pin not in secret_inputs:
                asked[f"sequencer's {pin}{of_lane}"] = box["connections"][pin]
    assert len(asked) > 10
    return {name: come for name, bits in asked.items() if (come := origins(bits))}
