"""Build an accelerator's Verilog into a shared library that simulates it.

Verilator turns the Verilog into C++; a C++ compiler builds that together with simulation.cpp, which
drives AXI4-Lite or AXI4, and waits for the interrupt. Libraries are kept in the cache, by content.

Verilator writes every instance of a module anew, so hundreds of nodes on a chain would make more
C++ than a compiler can take. Of a `Chain` the front end and the node are built once each, and
simulation.cpp connects as many nodes as it is asked for.
"""

import ctypes
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .cache import cached
from .tool_errors import ToolError
from .tools import Compiler, find_compiler, run_tool, run_yosys, tool_version, verilator_root

_WRAPPER = Path(__file__).with_name("simulation.cpp")
_NOISE = Path(__file__).with_name("noise.h")  # wrappers include it
_LIBRARY = "simulation.so"
_OPTIMIZATION = "-O1"
"""Unless CXX has another. Measured: -O2, -O3 and newer instruction sets add nothing, and take half
as long again to compile; -Og takes two thirds of the time, and simulates up to a quarter slower."""
# Measured: without the last two, 10 % of the speed is lost.
_CXX_FLAGS = (
    *("-std=c++20", "-fPIC", "-pthread", "-DVL_TIME_CONTEXT", "-w"),
    *("-fvisibility=hidden", "-fno-semantic-interposition"),
)
_VERILATOR_FLAGS = (
    *("--cc", "-O3"),
    *("--x-assign", "fast", "--x-initial", "fast"),
    *("--no-timing", "--no-assert", "-Wno-fatal", "-Wno-lint", "-Wno-style"),
)
_HEADER = "runtime.h"
_HEADERS = ("algorithm", "deque", "iterator", "memory", "random", "string", "vector", "verilated.h")
"""What every simulation includes; compiled in advance it takes a second less for each."""
_SOURCES = ("verilated", "verilated_threads")  # Verilator's own sources that every simulation needs
_TRACER = "verilated_fst_c"  # the one that waveforms need
_LARGE = 460_000
"""Bytes of Verilog from which on Verilator makes many short functions: the compiler's time grows
faster than a function, and much of these designs is one expression after the other. A compressor
tree of 31 bits takes 6 s in place of 23."""
_SPLIT = ("--output-split", "2000", "--output-split-cfuncs", "200")
_WHOLE = ("--flatten",)
"""All modules as one, which saves the copies of ports: a third faster. Not for what is split."""
_SHOWN = "/*verilator public_flat_rd*/"
_SHOWN_FLAGS = ("-fno-gate",)
"""For designs with registers shown. Verilator 5.48 otherwise moves a constant that is shifted by an
address, and of which a wire takes the lowest bit, into the expressions that use this wire, and
there takes other bits, too: steps of two lanes were decoded wrongly. Measured: 13 % slower."""
_DELETES = ("_ZdlPv", "_ZdlPvm", "_ZdlPvSt11align_val_t", "_ZdlPvmSt11align_val_t")
_WIPED = ("-DWIPED", *(f"-Wl,--wrap={name}" for name in _DELETES))
"""The linker wraps every form of operator delete."""
AT_CYCLE = ctypes.CFUNCTYPE(ctypes.c_uint64)
"""A function that a simulation with registers calls in a cycle; it gives the next one, 0: never."""
_REGISTER = re.compile(
    r"^(  reg (?:signed )?(?:\[\d+:\d+\] )?(?:\\\S+ |\w+)(?: \[\d+:\d+\])?)", re.MULTILINE
)
"""A declaration up to where it may be given its first value."""


NOISE_FUNCTIONS: Mapping[str, tuple[type | None, list[type]]] = {
    "noise": (
        None,
        [ctypes.c_void_p, *[ctypes.c_double] * 3, *[ctypes.c_uint32] * 2, ctypes.c_uint64],
    ),
    "give_noise": (None, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64]),
}
"""Types of the functions of a modelled noise source, without their prefix."""


@dataclass(frozen=True)
class Chain:
    """A front end and `length` nodes behind each other, in a ring, in place of one top module.

    In every clock cycle a packet of P bits and a reset go from the front end to node 0, from each
    node to the next, and the packet from the last node back to the front end. All that leaves a
    module must come from registers, and depend on none of its inputs in the same cycle; then the
    chain is, cycle for cycle, the module that one would write with these instances in it. This is
    not checked.

    Raises TypeError if `length` is not an int, ValueError if it is out of range.

    Parameters
    ----------
    front_end (str): module with the ports of an accelerator, as `build_simulation` lists them, and
        packet_out [P-1:0], reset_out, packet_in [P-1:0]
    node (str): module with clk, number (its place on the chain, from 0 on), packet_in [P-1:0],
        reset_in, packet_out [P-1:0], reset_out
    length (int): how many nodes there are: at least 1, at most what `number` counts
    """

    front_end: str
    node: str
    length: int

    def __post_init__(self) -> None:
        if not isinstance(self.length, int):
            raise TypeError(f"length must be an int, not {self.length!r}")
        if self.length not in range(1, 1 << 64):
            raise ValueError(f"length must be in 1..2**64 - 1, not {self.length}")


def build_simulation(
    verilog: str, top: str | Chain, *, trace: bool = False, wiped: bool = False
) -> Path:
    """Give the shared library that simulates `top` of `verilog`, building it if need be.

    `top` is a module with the ports of an accelerator: s_axi_aclk, s_axi_aresetn, the five channels
    of AXI4-Lite, or of AXI4 with IDs of up to 8 bits, with 12-bit addresses and 32-bit data, irq;
    and, if it has the AXI4-Stream s_axis_random_*, that gets random bytes of the operating system;
    the ports noise_* are connected to a model of a noise source.
    Or it is a Chain, whose length does not matter here: one library simulates all lengths. With
    `trace` it can also write waveforms, which makes it slower. With `wiped` it overwrites memory
    before it returns it, for simulated devices with keys to hide. If `verilog` is what
    `show_registers` gave, the library can read and change the registers. Raises ToolError without a
    C++ compiler, or for Verilog with errors; ValueError for a chain whose packets differ in width.
    """
    if not isinstance(top, Chain):
        shown = ["-DREGISTERS"] if _SHOWN in verilog else []
        return build_library(
            *(verilog, [(top, "s_axi_aclk")], _WRAPPER),
            macros=lambda models: [*_bus_macros(models), *shown],
            options=_WIPED if wiped else (),
            trace=trace,
        )

    def macros(models: Sequence[Path]) -> list[str]:
        front_end, node = models
        return [*_bus_macros(models), f"-DNUMBER_WIDTH={_check_chain(front_end, node)}"]

    modules = [(top.front_end, "s_axi_aclk"), (top.node, "clk")]
    options = _WIPED if wiped else ()
    return build_library(verilog, modules, _WRAPPER, macros=macros, options=options, trace=trace)


def show_registers(verilog: str, top: str) -> str:
    """The module as one, whose only variables are its registers and memories, for all to change.

    Their names have dots between the names of the submodules. What Yosys finds to have no effect is
    not there. It simulates at about half the speed. Raises ToolError for Verilog with errors.
    """

    def build(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as temporary:
            work = Path(temporary)
            (work / "design.v").write_text(verilog, encoding="utf-8")
            # Without processes and tables every variable is a register or a memory.
            commands = ["read_verilog design.v", f"hierarchy -top {top}", "proc -norom", "flatten"]
            run_yosys([*commands, "opt_clean", "memory_collect", "write_verilog -noattr out"], work)
            text = (work / "out").read_text("utf-8").partition("\n")[2]
        (folder / "design.v").write_text(_REGISTER.sub(rf"\1 {_SHOWN}", text), encoding="utf-8")

    key = (tool_version("pyosys"), Path(__file__).read_text("utf-8"), top, verilog)
    return (cached("registers", key, build) / "design.v").read_text("utf-8")


def build_library(
    verilog: str,
    modules: Sequence[tuple[str, str]],
    wrapper: Path,
    *,
    macros: Callable[[Sequence[Path]], list[str]] = lambda models: [],
    options: Sequence[str] = (),
    trace: bool = False,
) -> Path:
    """Give the shared library that simulates modules of `verilog`, building it if need be.

    Parameters
    ----------
    modules (one or two): each with the name of its clock, its only port at whose rising edge
        anything happens. In C++ they are the classes Vmodel and Vnode.
    wrapper (path): C++ that drives them. Where PREVIOUS_CLOCK, or PREVIOUS_NODE_CLOCK, is defined,
        it is the member of the root module that keeps the clock's last value, and falling edges
        need not be evaluated.
    macros (function): what else to define, as options for the compiler: from the folders of the C++
        models. It must follow from `verilog` and `modules`.
    options (sequence of str): more options for the compiler
    trace (bool): whether the library can write waveforms, which makes it slower

    Raises ToolError without a C++ compiler, or for Verilog with errors.
    """
    compiler = find_compiler()
    root = verilator_root()
    flags = _compile_command(compiler)
    tools = (_verilator_version(root), compiler.version, *flags)

    def build(folder: Path) -> None:
        if trace:
            _check_lz4()
        runtime = _runtime(tools)
        objects = [*_objects(runtime), *([_tracer(tools)] if trace else [])]
        (folder / "design.v").write_text(verilog, encoding="utf-8")
        models = [
            _verilate(folder, name, module, trace)
            for name, (module, _) in zip(("model", "node"), modules, strict=False)
        ]
        defined = [*macros(models), *_port_macros(models[0], {"noise_valid": "-DNOISE"})]
        names = ("PREVIOUS_CLOCK", "PREVIOUS_NODE_CLOCK")
        for model, (_, clock), name in zip(models, modules, names, strict=False):
            defined += _one_clock(model, clock, name)
        # One translation unit lets the compiler inline across Verilator's files. Two models cannot
        # be in one: they have static functions of the same name.
        units = [folder / f"all_{model.name}.cpp" for model in models]
        for model, unit in zip(models, units, strict=True):
            sources = [*sorted(model.glob("*.cpp")), *([wrapper] if model == models[0] else [])]
            unit.write_text(
                "".join(f'#include "{source}"\n' for source in sources), encoding="utf-8"
            )
        command = [
            *(*flags, *_includes(root)),
            *(
                *(f"-I{model.name}" for model in models),
                f"-DVM_TRACE={int(trace)}",
                f"-I{_NOISE.parent}",
                *defined,
                *options,
            ),
            # Compiled without waveforms, so not for what has them.
            *(() if trace else ("-include", str(runtime / _HEADER))),
            *("-shared", *(unit.name for unit in units), *map(str, objects), "-o", _LIBRARY),
            *(("-llz4", "-lz") if trace else ()),
        ]
        run_tool("the C++ compiler", command, folder=folder)
        for model, unit in zip(models, units, strict=True):
            shutil.rmtree(model)
            unit.unlink()

    recipe = [path.read_text("utf-8") for path in (Path(__file__), wrapper, _NOISE)]
    named = [name for module in modules for name in module]
    key = (*tools, *recipe, str(trace), *options, *named, verilog)
    return cached("simulation", key, build) / _LIBRARY


def _bus_macros(models: Sequence[Path]) -> list[str]:
    known = {"s_axi_awlen": "-DBURSTS", "s_axis_random_tdata": "-DRANDOM"}
    return _port_macros(models[0], known)


def _port_macros(model: Path, known: Mapping[str, str]) -> list[str]:
    """The macros of those ports that the model has."""
    return [macro for port, macro in known.items() if _port_width(model, port) is not None]


def load_simulation(library: Path) -> ctypes.CDLL:
    """Load what `build_simulation` gave, with the C functions' types declared."""
    handle, word, count = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
    words = ctypes.POINTER(word)
    types: Mapping[str, tuple[type | None, list[type]]] = {
        "create": (handle, [count, count]),
        "destroy": (None, [handle]),
        "forget": (None, [handle]),
        "reset": (None, [handle]),
        "read32": (ctypes.c_int, [handle, word, words]),
        "write32": (ctypes.c_int, [handle, word, word]),
        "read_block": (ctypes.c_int, [handle, word, words, count]),
        "write_block": (ctypes.c_int, [handle, word, words, count]),
        "wait_interrupt": (ctypes.c_int, [handle, count]),
        "run": (None, [handle, count]),
        "cycles": (count, [handle]),
        "random": (None, [handle, ctypes.c_char_p, count]),
        **NOISE_FUNCTIONS,
        "trace_open": (ctypes.c_int, [handle, ctypes.c_char_p]),
        "trace_close": (None, [handle]),
        "registers": (count, [handle]),
        "register": (ctypes.c_char_p, [handle, count, *[ctypes.POINTER(count)] * 2]),
        "peek": (None, [handle, count, count, ctypes.c_char_p, count]),
        "poke": (None, [handle, count, count, ctypes.c_char_p, count]),
        "state_bytes": (count, [handle]),
        "save": (None, [handle, ctypes.c_char_p]),
        "restore": (None, [handle, ctypes.c_char_p, ctypes.c_char_p]),
        "equals": (ctypes.c_int, [handle, ctypes.c_char_p]),
        "call_at": (None, [handle, count, AT_CYCLE]),
        "record": (count, [handle, count, words, count, ctypes.c_int]),
        "samples": (None, [handle, ctypes.c_void_p]),
    }
    return load_library(library, "coprime", types)


def load_library(
    library: Path, prefix: str, types: Mapping[str, tuple[type | None, list[type]]]
) -> ctypes.CDLL:
    """Load what `build_library` gave, with the types of its functions' results and arguments.

    They are named without the prefix, and need not all be there.
    """
    loaded = ctypes.CDLL(str(library))
    for name, (result, arguments) in types.items():
        function = getattr(loaded, f"{prefix}_{name}", None)
        if function is not None:  # tracing and registers are in libraries built for it only
            function.restype, function.argtypes = result, arguments
    return loaded


def _verilate(folder: Path, name: str, module: str, trace: bool) -> Path:
    """Turn `module` of design.v into C++ with class Vname, in the folder that this returns."""
    root = verilator_root()
    design = (folder / "design.v").read_text("utf-8")
    command = [
        *(str(root / "bin" / "verilator_bin"), *_VERILATOR_FLAGS),
        *(_SPLIT if len(design) > _LARGE else _WHOLE),
        *(_SHOWN_FLAGS if _SHOWN in design else ()),
        *("--prefix", f"V{name}", "--Mdir", name, *(("--trace-fst",) if trace else ())),
        *("--top-module", module, "design.v"),
    ]
    run_tool("Verilator", command, folder=folder, environment={"VERILATOR_ROOT": str(root)})
    return folder / name


def _port_width(model: Path, port: str) -> int | None:
    """Width of a port of the model in bits; None if it has no such port."""
    header = (model / f"V{model.name}.h").read_text("utf-8")
    found = re.search(rf"\bVL_(?:IN|OUT)\w*\(&{port},(\d+),0\b", header)
    return int(found[1]) + 1 if found else None


def _check_chain(front_end: Path, node: Path) -> int:
    """Give the width of the nodes' number; ValueError unless all packets have one width.

    C++ would copy between different widths, and leave bits where the model expects none.
    """

    def width(model: Path, port: str) -> int:
        found = _port_width(model, port)
        if found is None:
            what = "front end" if model == front_end else "node"
            raise ValueError(f"the {what} of a chain must have the port {port}")
        return found

    widths = [
        width(model, port)
        for model, port in (
            *((front_end, "packet_out"), (node, "packet_in")),
            *((node, "packet_out"), (front_end, "packet_in")),
        )
    ]
    if len(set(widths)) > 1:
        raise ValueError(
            "the packets of a chain must have one width, and not, from the front end's packet_out"
            f" through a node to the front end's packet_in, {widths}"
        )
    return width(node, "number")


def _one_clock(model: Path, clock: str, macro: str) -> list[str]:
    """Tell the wrapper where the model keeps the clock's last value, if it waits for no other edge.

    Where that cannot be made out for sure, the wrapper ticks the slow way.
    """
    # Verilator copies what it finds in a netlist's names, which need not be text.
    texts = (path.read_text("utf-8", errors="replace") for path in sorted(model.glob("*.cpp")))
    source = "".join(texts)
    edges = set(re.findall(r"is active: (@.*?)\\n", source))
    values = set(re.findall(r"\b__Vtrigprevexpr\w+", source))
    if edges == {f"@(posedge {clock})"} and len(values) == 1:
        return [f"-D{macro}={values.pop()}"]
    return []


def _runtime(tools: Sequence[str]) -> Path:
    """The folder with what all simulations have in common: a header, and Verilator's sources."""
    return cached("verilated", (*tools, *_HEADERS, *_SOURCES), _compile_runtime)


def _objects(runtime: Path) -> list[Path]:
    """Verilator's own sources, compiled, in the folder of `_runtime`."""
    return [runtime / f"{name}.o" for name in _SOURCES]


def _compile_runtime(folder: Path) -> None:
    """Compile the header that every design includes, and Verilator's own sources, at once."""
    (folder / _HEADER).write_text("".join(f"#include <{name}>\n" for name in _HEADERS), "utf-8")
    header = ["-DVM_TRACE=0", "-x", "c++-header", _HEADER, "-o", f"{_HEADER}.gch"]
    with ThreadPoolExecutor() as pool:
        done = [pool.submit(_compile, folder, header)]
        done += [pool.submit(_compile, folder, _source(name)) for name in _SOURCES]
    for future in done:
        future.result()


def _tracer(tools: Sequence[str]) -> Path:
    """What of Verilator's own sources writes waveforms, compiled."""
    return (
        cached("verilated", (*tools, _TRACER), lambda folder: _compile(folder, _source(_TRACER)))
        / f"{_TRACER}.o"
    )


def _source(name: str) -> list[str]:
    """Options that compile one of Verilator's own sources."""
    return ["-c", str(verilator_root() / "include" / f"{name}.cpp"), "-o", f"{name}.o"]


def _compile_command(compiler: Compiler) -> tuple[str, ...]:
    chosen = any(word.startswith("-O") for word in compiler.command)
    return (*compiler.command, *_CXX_FLAGS, *(() if chosen else (_OPTIMIZATION,)))


def _compile(folder: Path, options: Sequence[str]) -> None:
    flags = _compile_command(find_compiler())
    command = [*flags, *_includes(verilator_root()), *options]
    run_tool("the C++ compiler", command, folder=folder)


def _check_lz4() -> None:
    command = [*find_compiler().command, "-x", "c++", "-fsyntax-only", "-"]
    try:
        run_tool("the C++ compiler", command, text="#include <lz4.h>\n#include <zlib.h>\n")
    except ToolError as error:
        raise ToolError(
            "waveforms need lz4.h and zlib.h (on Debian: apt-get install liblz4-dev zlib1g-dev)"
        ) from error


def _includes(root: Path) -> list[str]:
    include = root / "include"
    return [f"-I{include}", f"-I{include / 'vltstd'}"]


def _verilator_version(root: Path) -> str:
    return run_tool(
        "Verilator",
        [root / "bin" / "verilator_bin", "--version"],
        environment={"VERILATOR_ROOT": str(root)},
    ).strip()
