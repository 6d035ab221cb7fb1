"""The C driver and its examples compile for other processors, and UIO works on a kernel of ours."""

import importlib.util
import shutil
import sys
from pathlib import Path
from subprocess import run

import pytest

from coprime.flow.tools import run_tool
from tests.drivers.harness import (
    CALLS,
    CLUSTER,
    CURVES,
    DECRYPT,
    DRIVER,
    DRIVERS,
    INCLUDES,
    KEYGEN,
    WARNINGS,
    compile_c,
)
from tests.drivers.test_model import examples_of

ARM = ("arm-none-eabi-gcc", "-mthumb")
RISCV = "riscv64-unknown-elf-gcc"
ZIG = ("zig", "cc", "-fno-sanitize=undefined")
PROCESSORS = {
    "RISC-V, 32 bits": (RISCV, "-march=rv32im", "-mabi=ilp32"),
    "RISC-V, 32 bits, no multiplication": (RISCV, "-march=rv32i", "-mabi=ilp32"),
    "RISC-V, 64 bits": (RISCV, "-march=rv64imac", "-mabi=lp64", "-mcmodel=medany"),
    "Cortex-M0": (*ARM, "-mcpu=cortex-m0"),
    "Cortex-M3": (*ARM, "-mcpu=cortex-m3"),
    "Cortex-A9": (*ARM, "-mcpu=cortex-a9"),
    "RISC-V, clang": (*ZIG, "-target", "riscv32-freestanding", "-mcpu=generic_rv32+m"),
    "Cortex-M3, clang": (*ZIG, "-target", "thumb-freestanding-eabi", "-mcpu=cortex_m3"),
}


@pytest.mark.matrix(quick=2)
@pytest.mark.parametrize("processor", PROCESSORS)
def test_bare_metal(tmp_path, processor):
    compiler, *flags = PROCESSORS[processor]
    if compiler == "zig":
        if importlib.util.find_spec("ziglang") is None:
            pytest.skip("there is no ziglang (make compiler)")
        command = [sys.executable, "-m", "ziglang"]
    elif path := shutil.which(compiler):
        command = [path]
    else:
        pytest.skip(f"there is no {compiler} (on Debian: apt-get install gcc-{compiler[:-4]})")
    flags += [*WARNINGS, *INCLUDES, "-Os", "-ffreestanding", "-c"]
    padding, curves, bare_metal, *_ = examples_of("drivers")
    examples = {"padding": padding, "curves_example": curves, "bare_metal": bare_metal}
    for name, text in examples.items():
        (tmp_path / f"{name}.c").write_text(text)
    for source in (
        DRIVER,
        KEYGEN,
        CALLS,
        CLUSTER,
        *CURVES,
        *(DRIVERS / "src" / f"coprime_{name}.c" for name in ("ml_kem", "ml_dsa")),
        DECRYPT,
        *(tmp_path / f"{name}.c" for name in examples),
    ):
        output = tmp_path / f"{source.stem}.o"
        run_tool(compiler, [*command, *flags, source, "-o", output])
        assert output.stat().st_size > 500


def test_a_c_plus_plus_program_can_use_the_header(tmp_path):
    source = tmp_path / "use.cpp"
    headers = ("keygen", "calls", "ml_kem", "ml_dsa", "curves", "uio", "pool", "cluster", "serial")
    includes = "".join(f'#include "coprime_{name}.h"\n' for name in headers)
    source.write_text(f"{includes}int main() {{ return coprime_error_text(0) == nullptr; }}\n")
    compiler = next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    if compiler is None:
        pytest.skip("there is no C++ compiler (on Debian: apt-get install g++)")
    flags = ("-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *INCLUDES)
    run_tool(compiler, [compiler, *flags, "-c", source, "-o", tmp_path / "use.o"])


@pytest.mark.skipif(sys.platform != "linux", reason="UIO is Linux's")
def test_uio(tmp_path):
    wrap = "-Wl,--wrap=open,--wrap=mmap,--wrap=munmap"
    uio = DRIVERS / "src" / "coprime_uio.c"
    program = compile_c(
        tmp_path, "uio", "-D_GNU_SOURCE", wrap, Path(__file__).with_name("uio.c"), uio, DRIVER
    )
    done = run([program], check=False)
    assert done.returncode == 0, f"uio.c, line {done.returncode}"


@pytest.mark.skipif(sys.platform != "linux", reason="UIO is Linux's")
def test_the_example_of_uio(tmp_path):
    (tmp_path / "main.c").write_text(examples_of("drivers")[3])
    uio = DRIVERS / "src" / "coprime_uio.c"
    program = compile_c(tmp_path, "example", tmp_path / "main.c", uio, DRIVER)
    done = run([program], check=False, capture_output=True, text=True)
    if done.returncode:  # unless this machine has one
        assert "/dev/uio0: " in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the port is Linux's")
def test_the_example_of_a_serial_port(tmp_path):
    (tmp_path / "main.c").write_text(examples_of("serial")[0])
    serial = DRIVERS / "src" / "coprime_serial.c"
    program = compile_c(tmp_path, "example", tmp_path / "main.c", serial, DRIVER)
    done = run([program], check=False, capture_output=True, text=True)
    if done.returncode:  # unless this machine has one
        assert "/dev/ttyUSB0: " in done.stderr
