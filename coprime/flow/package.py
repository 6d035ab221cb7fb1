"""What `coprime build` writes: files that drop into a user's flow."""

from importlib import resources
from pathlib import Path

from coprime import __version__
from coprime.bus.accelerator import Accelerator
from coprime.catalog import Choice
from coprime.cells.target import Target

from .verilog import to_verilog

__all__ = [
    "PARTS",
    "accelerator_verilog",
    "engine_verilog",
    "multiplier_verilog",
    "part_verilog",
    "write_package",
]

C_HEADER = "coprime_registers.h"

PARTS = ("engine", "accelerator", "multiplier")
"""What of a design is measured: the engine; with its registers and AXI4-Lite slave; or one of the
engine's multipliers by itself, without the memory that holds its operands."""


def accelerator_verilog(choice: Choice, target: Target = Target.GENERIC) -> str:
    """Verilog of the accelerator with its AXI4-Lite slave; the top module is named in `choice`."""
    hardware = Accelerator(choice.design.hardware(target))
    return to_verilog(hardware, choice.module_name, header=_header(choice, target))


def engine_verilog(choice: Choice, target: Target = Target.GENERIC) -> str:
    """Verilog of the engine without its bus; the top module has the suffix `_engine`."""
    hardware = choice.design.hardware(target)
    return to_verilog(hardware, f"{choice.module_name}_engine", header=_header(choice, target))


def multiplier_verilog(choice: Choice, target: Target = Target.GENERIC) -> str:
    """Verilog of one multiplier of the engine; the top module has the suffix `_multiplier`."""
    hardware = choice.design.multiplier_hardware(target)
    return to_verilog(hardware, f"{choice.module_name}_multiplier", header=_header(choice, target))


def part_verilog(choice: Choice, part: str, target: Target = Target.GENERIC) -> tuple[str, str]:
    """Verilog of one of `PARTS`, and the name of its top module.

    Raises ValueError for another part.
    """
    if part == "engine":
        return engine_verilog(choice, target), f"{choice.module_name}_engine"
    if part == "accelerator":
        return accelerator_verilog(choice, target), choice.module_name
    if part == "multiplier":
        return multiplier_verilog(choice, target), f"{choice.module_name}_multiplier"
    raise ValueError(f"part must be one of {', '.join(PARTS)}, not {part!r}")


def write_package(choice: Choice, target: Target, folder: Path) -> list[Path]:
    """Write the accelerator and its C header into `folder`, which is made if need be.

    Gives the files' paths. Raises OSError if they cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    header = resources.files("coprime.bus").joinpath(C_HEADER).read_text("utf-8")
    contents = {
        f"{choice.module_name}.v": accelerator_verilog(choice, target),
        C_HEADER: header,
    }
    for name, text in contents.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in contents]


def _header(choice: Choice, target: Target) -> str:
    own = choice.design.capabilities
    lines = [
        f"{choice.module_name}: {choice.family.summary}",
        f"Coprime {__version__}, Apache-2.0",
        f"Made by: {choice.command('build', target)} -o DIR",
        "",
        f"Longest modulus {own.max_length} bits, longest prime {own.max_prime_length} bits,"
        f" digits of {own.digit_width} bits.",
        f"Operations: {', '.join(command.name for command in sorted(own.required))}.",
        f"Constant time: {'yes' if own.constant_time else 'no'}.",
    ]
    return "\n".join(lines)
