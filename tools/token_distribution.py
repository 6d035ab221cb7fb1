"""Make the source distribution of the PKCS #11 module, which Meson builds without Python of ours.

python tools/token_distribution.py -o build/token-dist

It has what `make token` compiles, as coprime/token/build.py lists it, the header that is generated,
packages/coprime-token, and the simulated engines as Verilog. The same files give the same bytes.
"""

import argparse
import gzip
import io
import re
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

from coprime import __version__
from coprime.calls.family import CallChoice
from coprime.catalog import choose_calls, family_named
from coprime.engine.family import Choice
from coprime.flow import simulation
from coprime.flow.files import write_file
from coprime.flow.parts import accelerator_verilog
from coprime.token import build

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "packages" / "coprime-token"
NAME = f"coprime-token-{__version__}"
_FLOW = Path(simulation.__file__).parent
_BUS_MACROS = {"s_axi_awlen": "-DBURSTS", "s_axis_random_tdata": "-DRANDOM"}
"""What simulation.cpp needs to know of the Verilog's ports."""


def module_files() -> dict[str, str]:
    """The files of the distribution by their path, without the engines."""
    sources = {_place(path): path for path in build.module_sources()}
    headers = {_place(path): path for path in build.module_headers()}
    package = [path for path in PACKAGE.rglob("*") if path.is_file()]
    copied = {
        **sources,
        **headers,
        _place(build.EXPORTS): build.EXPORTS,
        "LICENSE": ROOT / "LICENSE",
        "tests/check.c": ROOT / "tests" / "token" / "check.c",
        **{str(path.relative_to(PACKAGE)): path for path in package},
    }
    return {
        **{name: path.read_text("utf-8") for name, path in copied.items()},
        f"include/{build.NUMBERS}": build.lattice_numbers(),
        "VERSION": f"{__version__}\n",
        "sources.txt": "".join(f"{name}\n" for name in sources),
    }


def _place(path: Path) -> str:
    """Where a file of the module is in the distribution."""
    folder = path.relative_to(ROOT / "coprime").parent.as_posix()
    return {"token/src": "token", "drivers/src": "drivers"}.get(folder, "include") + f"/{path.name}"


def engine_files() -> dict[str, str]:
    """The simulated engines: Verilog, Verilator's options, and the C++ around them."""
    engines: dict[str, Choice | CallChoice] = {
        build.SIMULATION: family_named(build.ENGINE[0]).choose(build.ENGINE[1]),
        build.LATTICE_SIMULATION: choose_calls(*build.LATTICE_ENGINE),
    }
    files = {
        f"engines/{name}": (_FLOW / name).read_text("utf-8")
        for name in ("simulation.cpp", "noise.h")
    }
    for library, choice in engines.items():
        verilog, stem = accelerator_verilog(choice), Path(library).stem
        files[f"engines/{stem}.v"] = verilog
        files[f"engines/{stem}.args"] = engine_options(verilog, choice.module_name)
    return files


def engine_options(verilog: str, top: str) -> str:
    """Options with which Verilator builds a shared library: those of coprime/flow/simulation.py."""
    macros = [flag for port, flag in _BUS_MACROS.items() if re.search(rf"\b{port}\b", verilog)]
    compiled, linked = simulation._CXX_FLAGS, ("-shared", "-pthread")
    wiped = [flag for flag in simulation._WIPED if flag.startswith("-D")]
    wrapped = [flag for flag in simulation._WIPED if flag.startswith("-Wl")]
    optimized = simulation._OPTIMIZATION
    split = simulation._SPLIT if len(verilog) > simulation._LARGE else simulation._WHOLE
    lines = [
        " ".join(("--exe --build", *simulation._VERILATOR_FLAGS)),
        " ".join(split),
        f"--prefix Vmodel --top-module {top}",
        *(f"-CFLAGS {flag}" for flag in (*compiled, *macros, *wiped)),
        *(f"-LDFLAGS {flag}" for flag in (*linked, *wrapped)),
        *(f"-MAKEFLAGS {name}={optimized}" for name in ("OPT_FAST", "OPT_SLOW", "OPT_GLOBAL")),
    ]
    return "".join(f"{line}\n" for line in lines)


def archive(files: Mapping[str, str]) -> bytes:
    """A compressed archive of files, in a folder with the name of the distribution."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, text in sorted(files.items()):
            content = text.encode()
            entry = tarfile.TarInfo(f"{NAME}/{name}")
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


def main(arguments: list[str] | None = None) -> int:
    """Write the archive, and print its path."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, required=True, help="the archive's folder")
    folder = parser.parse_args(arguments).output
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{NAME}.tar.gz"
    write_file(path, archive({**module_files(), **engine_files()}))
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
