"""The C driver, compiled and run: harness.c, told line by line what to do."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from coprime.bus.kinds import Bus
from coprime.catalog import family_named
from coprime.flow.parts import accelerator_verilog
from coprime.flow.simulation import build_simulation
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import run_tool

ROOT = Path(__file__).parents[2]
DRIVERS = ROOT / "coprime" / "drivers"
DRIVER = DRIVERS / "src" / "coprime.c"
CLUSTER = DRIVERS / "src" / "coprime_cluster.c"
CALLS = DRIVERS / "src" / "coprime_calls.c"
KEYGEN = DRIVERS / "src" / "coprime_keygen.c"
CURVES = (DRIVERS / "src" / "coprime_curves.c", DRIVERS / "src" / "coprime_named_curves.c")
DECRYPT = ROOT / "docs" / "examples" / "decrypt.c"
HARNESS = Path(__file__).with_name("harness.c")
INCLUDES = (f"-I{DRIVERS / 'include'}", f"-I{ROOT / 'coprime' / 'bus'}")
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")


def find_c_compiler():
    """The machine's C compiler; skips the test if there is none."""
    name = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if name is None:
        pytest.skip("there is no C compiler (on Debian: apt-get install gcc)")
    return name


def compile_c(folder, name, *arguments):
    """Compile and link a program; a warning is an error."""
    program = folder / name
    run_tool(
        "the C compiler",
        [find_c_compiler(), *WARNINGS, *INCLUDES, *map(str, arguments), "-o", str(program)],
    )
    return program


def can_compile(folder, *flags):
    """Whether the compiler makes programs with these flags."""
    source = folder / "nothing.c"
    source.write_text("int main(void) { return 0; }\n")
    try:
        compile_c(folder, "nothing", *flags, source)
    except ToolError:
        return False
    return True


def simulation_of(family, paddings=(), *, bus=Bus.AXI4_LITE, **settings):
    """The shared library that simulates an accelerator."""
    choice = family_named(family).choose({name: str(value) for name, value in settings.items()})
    verilog = accelerator_verilog(choice, bus=bus, paddings=paddings)
    return build_simulation(verilog, choice.module_name)


def octets(number):
    """A number as the harness reads it; None is a null pointer."""
    if number is None:
        return "-"
    return number.to_bytes((number.bit_length() + 7) // 8 or 1, "big").hex()


class Harness:
    """A running harness. Each call sends a line and returns the error code and the numbers."""

    def __init__(self, program):
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, *words):
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the harness ended with status {self._process.wait()}"
        code, *numbers = answer.split()
        return int(code), *(int(number, 16) for number in numbers)

    def close(self):
        """End it; a sanitizer that has found something, or a leak, gives a status other than 0."""
        self._process.communicate()
        assert self._process.returncode == 0

    def set_modulus(self, m, bits=None, e=None, e_bits=None):
        """Set the modulus, or the public key."""
        bits = m.bit_length() if bits is None else bits
        e_bits = (e or 0).bit_length() if e_bits is None else e_bits
        return self("set_public", bits, octets(m), e_bits, octets(e))

    def set_private(self, key, e=None):
        """Set a private key; an attribute that is None is a null pointer."""
        pairs = [(key.n, key.n.bit_length()), (e, (e or 0).bit_length())]
        primes = [(prime, prime.bit_length()) for prime in (key.p, key.q)]
        return self(
            "set_private",
            *(part for value, bits in pairs for part in (bits, octets(value))),
            octets(key.d),
            *(part for value, bits in primes for part in (bits, octets(value))),
            *(octets(key.dp), octets(key.dq), octets(key.qinv)),
        )
