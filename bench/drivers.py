"""The C driver: bytes of its code on the processors that the page names."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from coprime.flow.tools import run_tool

from .page import replace_part, table

PAGE = "drivers.md"
ROOT = Path(__file__).parent.parent
RISCV, ARM = "riscv64-unknown-elf", "arm-none-eabi"
PROCESSORS: dict[str, tuple[str, ...]] = {
    "RISC-V, rv32im": (RISCV, "-march=rv32im", "-mabi=ilp32"),
    "RISC-V, rv32imc": (RISCV, "-march=rv32imc", "-mabi=ilp32"),
    "Cortex-M0": (ARM, "-mcpu=cortex-m0", "-mthumb"),
    "Cortex-M3": (ARM, "-mcpu=cortex-m3", "-mthumb"),
}
FLAGS = ("-Os", "-ffreestanding", "-std=c11", "-Icoprime/drivers/include", "-Icoprime/bus")


def sizes(compiler: str, *flags: str) -> list[str]:
    """Text, data and bss of coprime.o in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "coprime.o"
        source = "coprime/drivers/src/coprime.c"
        command = [f"{compiler}-gcc", *flags, *FLAGS, "-c", source, "-o", made]
        subprocess.run(command, cwd=ROOT, check=True)
        return run_tool("size", [f"{RISCV}-size", str(made)]).splitlines()[1].split()[:3]


def measure() -> str:
    """Write the page's table, where the compilers are; on the common page there is nothing."""
    if not all(shutil.which(f"{compiler}-gcc") for compiler in (RISCV, ARM)):
        return ""
    rows = []
    for name, (compiler, *flags) in PROCESSORS.items():
        text, *others = sizes(compiler, *flags)
        assert others == ["0", "0"], "the driver has variables"
        rows.append((name, f"{int(text):,} bytes"))
    replace_part(
        PAGE, "code", table(["processor", "code of `coprime.c`, its texts included"], rows)
    )
    return ""
