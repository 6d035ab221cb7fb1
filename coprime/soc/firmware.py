"""The firmware: C from the folder beside, and the C driver, for a bare RISC-V processor.

Needs a compiler for RISC-V: GCC for bare metal, or Clang as the Python package ziglang brings it.
"""

import hashlib
import importlib.util
import os
import shlex
import shutil
import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import coprime
from coprime.flow.cache import cache_folder, cached
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import run_tool
from coprime.package.description import C_HEADER

_SOURCES = Path(__file__).with_name("firmware")
_DRIVER = Path(coprime.__file__).with_name("drivers")
_NAME = "firmware.elf"
CURVES = "SYSTEM_CURVES"
"""The macro with which the firmware has operations on curves."""
ML_KEM, SECURE_BOOT, SUITE = "ml_kem", "secure_boot", "suite"
PROGRAMS = ("main", "encryption", "exponentiation", ML_KEM, SECURE_BOOT, SUITE)
"""The programs: each is a file in C of this name, and all files that are not programs."""
_PARTS: Mapping[str, Sequence[str]] = {
    "ml_kem_use": (ML_KEM, SUITE),
    "ml_dsa_use": (SUITE,),
}
"""Files that are of some programs alone."""
_CALL_DRIVERS: Mapping[str, Sequence[str]] = {
    ML_KEM: ("coprime_calls", "coprime_ml_kem"),
    SECURE_BOOT: ("coprime_calls",),
    SUITE: ("coprime_calls", "coprime_call_cores", "coprime_ml_kem", "coprime_ml_dsa"),
}
"""What programs need of the driver for engines of byte strings, and for several engines."""
_GCC = ("riscv64-unknown-elf-gcc", "riscv32-unknown-elf-gcc", "riscv-none-elf-gcc")
_GCC_FLAGS = (
    *("-march=rv32im", "-mabi=ilp32"),
    "-fno-tree-loop-distribute-patterns",  # else memcpy's loop becomes a call of memcpy
)
_ZIG_FLAGS = (
    *("-target", "riscv32-freestanding", "-mcpu=generic_rv32+m", "-mabi=ilp32"),
    *("-fno-sanitize=undefined", "-fno-stack-protector"),
)
_FAST, _SHORT = ("-O3", "-funroll-loops"), ("-O2",)
"""With what there is for curves, or for all engines of a suite, a program fits into the memory only
as a shorter one."""
_FLAGS = (
    *("-std=c11", "-Wall", "-Wextra"),
    *("-ffreestanding", "-fno-builtin", "-nostdlib", "-static"),
    *("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"),
)


@dataclass(frozen=True)
class Toolchain:
    """A compiler for rv32im without a system: its command, and the first line of its --version."""

    command: tuple[str, ...]
    version: str
    environment: Mapping[str, str]


def find_toolchain() -> Toolchain:
    """Find the compiler: RISCV_CC, which is a GCC, if it is set; else GCC on PATH; else ziglang.

    Raises ToolError if there is none.
    """
    chosen = os.environ.get("RISCV_CC")
    if chosen:
        command = tuple(shlex.split(chosen))
        if not command or shutil.which(command[0]) is None:
            raise ToolError(f"the RISC-V compiler that RISCV_CC names does not exist: {chosen}")
        return _toolchain((*command, *_GCC_FLAGS), {})
    for name in _GCC:
        path = shutil.which(name)
        if path:
            return _toolchain((path, *_GCC_FLAGS), {})
    if importlib.util.find_spec("ziglang") is not None:
        # Zig compiles its libraries once, and keeps them.
        kept = {"ZIG_GLOBAL_CACHE_DIR": str(cache_folder() / "zig")}
        return _toolchain((sys.executable, "-m", "ziglang", "cc", *_ZIG_FLAGS), kept)
    raise ToolError(
        "firmware needs a compiler for RISC-V, and there is none (on Debian: apt-get install"
        " gcc-riscv64-unknown-elf; or: make compiler); RISCV_CC may name one"
    )


def _toolchain(command: tuple[str, ...], environment: Mapping[str, str]) -> Toolchain:
    log = run_tool("the RISC-V compiler", [*command, "--version"], environment=environment)
    return Toolchain(command, log.splitlines()[0] if log else "", environment)


def build_firmware(
    toolchain: Toolchain, definitions: Mapping[str, int], program: str = PROGRAMS[0]
) -> list[int]:
    """Compile one of PROGRAMS, and give its words of 32 bits from address 0 on.

    `definitions` are the macros by which it knows the system; with CURVES among them it has
    operations on curves. ToolError if the compiler fails.
    """
    has_curves = CURVES in definitions
    sources, headers = _files(program, has_curves)
    command = [
        *(*toolchain.command, *_FLAGS, *(_SHORT if has_curves or program == SUITE else _FAST)),
        *(f"-D{name}={value:#x}" for name, value in definitions.items()),
        *(argument for folder in headers for argument in ("-isystem", str(folder))),
        *("-T", str(_SOURCES / "link.ld"), *map(str, sources), "-o", _NAME),
    ]

    return elf_image(_linked(toolchain, command, _texts(sources, headers)))


def build_image(toolchain: Toolchain, definitions: Mapping[str, int], address: int) -> bytes:
    """Compile the image that secure boot starts, for this address, and give its bytes.

    `definitions` as `build_firmware`. ToolError if the compiler fails.
    """
    source, script = (_SOURCES / "image" / name for name in ("image.c", "image.ld"))
    command = [
        *(*toolchain.command, *_FLAGS, *_SHORT),
        *(f"-D{name}={value:#x}" for name, value in definitions.items()),
        *(f"-Wl,--defsym=__image={address:#x}", "-T", str(script), str(source), "-o", _NAME),
    ]
    words = elf_image(_linked(toolchain, command, [path.read_text() for path in (source, script)]))
    return b"".join(word.to_bytes(4, "little") for word in words[address // 4 :])


def _linked(toolchain: Toolchain, command: Sequence[str], texts: Sequence[str]) -> bytes:
    """The ELF file that a command makes of these texts."""

    def build(folder: Path) -> None:
        environment = {**toolchain.environment, "ZIG_LOCAL_CACHE_DIR": str(folder / "zig")}
        run_tool("the RISC-V compiler", list(command), folder=folder, environment=environment)
        shutil.rmtree(folder / "zig", ignore_errors=True)

    folder = cached("firmware", [toolchain.version, *command, *texts], build)
    return (folder / _NAME).read_bytes()


def program_sources(program: str) -> str:
    """Digest of what one of PROGRAMS, without operations on curves, is compiled from."""
    texts = _texts(*_files(program, has_curves=False))
    return hashlib.sha256("".join((*_FLAGS, *_FAST, *texts)).encode()).hexdigest()[:32]


def _files(program: str, has_curves: bool) -> tuple[list[Path], list[Path]]:
    """The sources of a program, and the folders of its headers."""
    names = [
        "coprime",
        *(("coprime_curves", "coprime_named_curves") if has_curves else ()),
        *_CALL_DRIVERS.get(program, ()),
    ]
    others = {other for other in PROGRAMS if other != program}
    others |= {part for part, programs in _PARTS.items() if program not in programs}
    own = sorted(path for path in _SOURCES.glob("*.[cS]") if path.stem not in others)
    headers = [
        *(_SOURCES / "include", _SOURCES, _DRIVER / "include"),
        Path(str(resources.files("coprime.bus").joinpath(C_HEADER))).parent,
    ]
    return [*own, *(_DRIVER / "src" / f"{name}.c" for name in names)], headers


def _texts(sources: Sequence[Path], headers: Sequence[Path]) -> list[str]:
    folders = [*headers, _DRIVER / "src"]
    read = [path for folder in folders for path in sorted(folder.glob("*.h"))]
    return [path.read_text("utf-8") for path in (*sources, _SOURCES / "link.ld", *read)]


def elf_image(elf: bytes) -> list[int]:
    """Give the words that an ELF file for 32 bits, little-endian, loads from address 0 on.

    Raises ValueError for another file.
    """
    if elf[:6] != b"\x7fELF\x01\x01":
        raise ValueError("not an ELF file of 32 bits, little-endian")
    table, size, count = *struct.unpack_from("<I", elf, 28), *struct.unpack_from("<HH", elf, 42)
    image = bytearray()
    for n in range(count):
        kind, offset, _, address, length, *_ = struct.unpack_from("<8I", elf, table + n * size)
        if kind == 1 and length:  # PT_LOAD
            image.extend(bytes(max(0, address + length - len(image))))
            image[address : address + length] = elf[offset : offset + length]
    image.extend(bytes(-len(image) % 4))
    return list(struct.unpack(f"<{len(image) // 4}I", image))
