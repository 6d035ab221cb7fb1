"""Build an accelerator's Verilog into a shared library that simulates it.

Verilator turns the Verilog into C++; a C++ compiler builds that together with simulation.cpp, which
drives AXI4-Lite and the interrupt. Libraries are kept in the cache, by content.
"""

import ctypes
import re
from pathlib import Path

from .tools import ToolError, cached, find_compiler, run_tool, verilator_root

__all__ = ["build_simulation", "load_simulation"]

_WRAPPER = Path(__file__).with_name("simulation.cpp")
_LIBRARY = "simulation.so"
# Measured: -O3 and newer instruction sets add nothing to -O2; without the last two, 10 % is lost.
_CXX_FLAGS = (
    *("-std=c++20", "-O2", "-fPIC", "-pthread", "-DVL_TIME_CONTEXT", "-w"),
    *("-fvisibility=hidden", "-fno-semantic-interposition"),
)
_VERILATOR_FLAGS = (
    *("--cc", "-O3", "--prefix", "Vmodel", "--Mdir", "model"),
    *("--x-assign", "fast", "--x-initial", "fast"),
    *("--no-timing", "--no-assert", "-Wno-fatal", "-Wno-lint", "-Wno-style"),
)


def build_simulation(verilog: str, top: str, *, trace: bool = False) -> Path:
    """Give the shared library that simulates module `top` of `verilog`, building it if need be.

    `top` has the ports of an accelerator: s_axi_aclk, s_axi_aresetn, the five AXI4-Lite channels
    with 12-bit addresses and 32-bit data, irq. With `trace` it can also write waveforms, which
    makes it slower. Raises ToolError without a C++ compiler, or for Verilog with errors.
    """
    compiler = find_compiler()
    root = verilator_root()
    tools = (_verilator_version(root), compiler.version, *compiler.command, *_CXX_FLAGS)

    def build(folder: Path) -> None:
        if trace:
            _check_lz4()
        runtime = cached("verilated", (*tools, str(trace)), lambda fresh: _runtime(fresh, trace))
        (folder / "design.v").write_text(verilog, encoding="utf-8")
        flags = [*_VERILATOR_FLAGS, *(["--trace-fst"] if trace else [])]
        verilator = str(root / "bin" / "verilator_bin")
        run_tool(
            "Verilator",
            [verilator, *flags, "--top-module", top, "design.v"],
            folder=folder,
            environment={"VERILATOR_ROOT": str(root)},
        )
        sources = [*sorted((folder / "model").glob("*.cpp")), _WRAPPER]
        # One translation unit lets the compiler inline across Verilator's files.
        (folder / "all.cpp").write_text(
            "".join(f'#include "{source}"\n' for source in sources), encoding="utf-8"
        )
        objects = [str(path) for path in sorted(runtime.glob("*.o"))]
        command = [
            *(*compiler.command, *_CXX_FLAGS, *_includes(root), "-Imodel"),
            *(f"-DVM_TRACE={int(trace)}", *_one_clock(folder / "model")),
            *("-shared", "all.cpp", *objects, "-o", _LIBRARY),
            *(("-llz4", "-lz") if trace else ()),
        ]
        run_tool("the C++ compiler", command, folder=folder)
        for path in (*(folder / "model").iterdir(), folder / "all.cpp"):
            path.unlink()
        (folder / "model").rmdir()

    recipe = [path.read_text("utf-8") for path in (Path(__file__), _WRAPPER)]
    key = (*tools, *recipe, str(trace), top, verilog)
    return cached("simulation", key, build) / _LIBRARY


def load_simulation(library: Path) -> ctypes.CDLL:
    """Load what `build_simulation` gave, with the C functions' types declared."""
    loaded = ctypes.CDLL(str(library))
    handle, word, count = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
    types: dict[str, tuple[type | None, list[type]]] = {
        "create": (handle, [count]),
        "destroy": (None, [handle]),
        "reset": (None, [handle]),
        "read32": (ctypes.c_int, [handle, word, ctypes.POINTER(word)]),
        "write32": (ctypes.c_int, [handle, word, word]),
        "wait_interrupt": (ctypes.c_int, [handle, count]),
        "run": (None, [handle, count]),
        "cycles": (count, [handle]),
        "trace_open": (ctypes.c_int, [handle, ctypes.c_char_p]),
        "trace_close": (None, [handle]),
    }
    for name, (result, arguments) in types.items():
        function = getattr(loaded, f"coprime_{name}", None)
        if function is not None:  # only a library built for it can trace
            function.restype, function.argtypes = result, arguments
    return loaded


def _one_clock(model: Path) -> list[str]:
    """Tell the wrapper where the model keeps the clock's last value, if it waits for no other edge.

    Where that cannot be made out for sure, the wrapper ticks the slow way.
    """
    source = "".join(path.read_text("utf-8") for path in sorted(model.glob("*.cpp")))
    edges = set(re.findall(r"is active: (@.*?)\\n", source))
    values = set(re.findall(r"\b__Vtrigprevexpr\w+", source))
    if edges == {"@(posedge s_axi_aclk)"} and len(values) == 1:
        return [f"-DPREVIOUS_CLOCK={values.pop()}"]
    return []


def _runtime(folder: Path, trace: bool) -> None:
    """Compile Verilator's own sources, which are the same for every design."""
    compiler = find_compiler()
    root = verilator_root()
    names = ("verilated", "verilated_threads", *(("verilated_fst_c",) if trace else ()))
    for name in names:
        source = str(root / "include" / f"{name}.cpp")
        command = [*compiler.command, *_CXX_FLAGS, *_includes(root), "-c", source]
        run_tool("the C++ compiler", [*command, "-o", f"{name}.o"], folder=folder)


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
