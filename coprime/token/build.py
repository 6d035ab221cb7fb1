"""Build the PKCS #11 module, the simulated engines that it takes by default, and others."""

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

import coprime
from coprime.catalog import AnyDesign, ClusterChoice, SuiteChoice, choose_calls, family_named
from coprime.flow.cache import cached
from coprime.flow.files import write_file
from coprime.flow.kept_verilog import kept_accelerator, kept_cluster, kept_suite
from coprime.flow.parts import FRONT_END, NODE
from coprime.flow.simulation import Chain, build_simulation
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import run_tool
from coprime.package.call_header import call_header

from .token_files import MODULE

ENGINE = (
    "ring",
    {"tile": "kara95", "max_bits": "4096", "curves": "all", "ecdsa": "drawn"},
)
"""The simulated engine of numbers, with its parameters. Measured: of all families and tiles it
simulates a private operation of RSA-2048 in the shortest time."""
LATTICE_ENGINE: tuple[str, dict[str, str]] = ("lattice", {})
"""The simulated engine of byte strings, for ML-KEM."""
SIMULATION, LATTICE_SIMULATION = "libcoprime-simulated.so", "libcoprime-simulated-lattice.so"
"""The simulated engines' files, which the module expects beside it."""

_ROOT = Path(coprime.__file__).parent
_SOURCES = _ROOT / "token" / "src"
_DRIVERS = _ROOT / "drivers" / "src"
_INCLUDES = (_SOURCES, _ROOT / "drivers" / "include", _ROOT / "bus")
EXPORTS = _SOURCES / "exports.map"
NUMBERS = "coprime_lattice.h"
"""The header that is generated."""
_HEADERS = ("/usr/include/nss", "/usr/include/nspr")
FLAGS = (
    *("-std=c11", "-O2", "-g", "-fPIC", "-fvisibility=hidden", "-fstack-protector-strong"),
    *("-D_FORTIFY_SOURCE=2", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"),
)
_PROBE = "#include <pkcs11.h>\n#include <openssl/evp.h>\nint main(void) { return 0; }\n"
LINK = ("-shared", "-Wl,-Bsymbolic,-z,nodelete,-z,defs,-z,relro,-z,now")
"""Calls stay within the module whatever else the process loads, and the code stays where it is
while a thread is in it."""


def build_token(folder: Path) -> list[Path]:
    """Build the module and the simulated engines into a folder; return their paths.

    Raises ToolError, which names the packages of Debian, if a compiler or headers are missing.
    """
    built = {
        MODULE: build_module(),
        SIMULATION: build_device(family_named(ENGINE[0]).choose(ENGINE[1])),
        LATTICE_SIMULATION: build_device(choose_calls(*LATTICE_ENGINE)),
    }
    for name, source in built.items():
        write_file(folder / name, source.read_bytes())
    return [folder / name for name in built]


def build_device(choice: AnyDesign) -> Path:
    """Build the library of a simulated device, LIBRARY in the module's device `sim:LIBRARY`.

    A cluster's is for any number of cores, `sim:LIBRARY@CORES`. Raises ToolError without a C++
    compiler.
    """
    if isinstance(choice, ClusterChoice):
        chain = Chain(FRONT_END, NODE, choice.cores)
        return build_simulation(kept_cluster(choice), chain, wiped=True)
    if isinstance(choice, SuiteChoice):
        verilog = kept_suite(choice)
    else:
        verilog = kept_accelerator(choice)
    return build_simulation(verilog, choice.module_name, wiped=True)


def build_module(options: Sequence[str] = ()) -> Path:
    """Build the module alone, with more options for the compiler; raises as `build_token`."""
    compiler = _compiler()
    headers = _headers()
    sources = module_sources()
    command = [
        *(compiler, *FLAGS, *options, *headers, *(f"-I{folder}" for folder in _INCLUDES), "-I."),
        *(*LINK, f"-Wl,--version-script={EXPORTS}", *map(str, sources)),
        *("-o", MODULE, "-lcrypto", "-lpthread", "-ldl"),
    ]

    numbers = lattice_numbers()

    def build(folder: Path) -> None:
        _check_headers(compiler, headers, folder)
        (folder / NUMBERS).write_text(numbers, "utf-8")
        run_tool("the C compiler", command, folder=folder)

    version = run_tool("the C compiler", [compiler, "--version"])
    texts = [path.read_text("utf-8") for path in (*sources, *module_headers(), EXPORTS)]
    return cached("token", (version, *command, numbers, *texts), build) / MODULE


def module_sources() -> list[Path]:
    """The C files of the module: its own, and the drivers."""
    return [*sorted(_SOURCES.glob("*.c")), *sorted(_DRIVERS.glob("*.c"))]


def module_headers() -> list[Path]:
    """The headers that these include, without the one that is generated."""
    return [path for folder in (*_INCLUDES, _DRIVERS) for path in sorted(folder.glob("*.h"))]


def include_options(folder: Path) -> list[str]:
    """Options with which a program finds the module's headers; one is written into a folder."""
    (folder / NUMBERS).write_text(lattice_numbers(), "utf-8")
    return [*_headers(), *(f"-I{path}" for path in (*_INCLUDES, folder))]


def lattice_numbers() -> str:
    """NUMBERS, the header with the numbers of an engine's slots and calls."""
    return call_header("coprime_lattice", choose_calls(*LATTICE_ENGINE).design.interface)


def _compiler() -> str:
    """The C compiler: CC if it is set, else cc, gcc or clang."""
    chosen = os.environ.get("CC")
    for name in [chosen] if chosen else ["cc", "gcc", "clang"]:
        if found := shutil.which(name):
            return found
    raise ToolError("the token needs a C compiler (on Debian: apt-get install gcc)")


def _headers() -> list[str]:
    """Options with which the compiler finds the headers of PKCS #11."""
    if shutil.which("pkg-config"):
        try:
            options = shlex.split(run_tool("pkg-config", ["pkg-config", "--cflags", "nss"]))
            return [option.replace("-I", "-isystem", 1) for option in options]
        except ToolError:
            pass  # the package may be there all the same
    return [f"-isystem{folder}" for folder in _HEADERS]


def _check_headers(compiler: str, headers: Sequence[str], folder: Path) -> None:
    (folder / "probe.c").write_text(_PROBE, "utf-8")
    command = [compiler, *headers, "probe.c", "-o", "probe", "-lcrypto"]
    try:
        run_tool("the C compiler", command, folder=folder)
    except ToolError as error:
        raise ToolError(
            "the token needs the headers of PKCS #11 3.0 and of OpenSSL 3"
            " (on Debian: apt-get install libnss3-dev libssl-dev)"
        ) from error
    finally:
        for name in ("probe.c", "probe"):
            (folder / name).unlink(missing_ok=True)
