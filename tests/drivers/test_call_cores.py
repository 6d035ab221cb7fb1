"""The C driver on several cores of a simulated accelerator for byte strings."""

import subprocess

import pytest

from coprime.flow.parts import accelerator_verilog
from coprime.flow.simulation import build_simulation
from tests.calls.mock import COPY, FAMILY, KEY, SECOND, inverted
from tests.drivers.harness import CALLS, DRIVER, DRIVERS, SANITIZERS, can_compile, compile_c

CORES = 3
COPY_CALL, SIZE = 20, 260
THREADS = ("-fsanitize=thread", "-g")


def compile_with_cores(folder, name, *flags):
    """Compile NAME.c with the driver and a simulation of the cores."""
    choice = FAMILY.choose({"cores": str(CORES)})
    library = build_simulation(accelerator_verilog(choice), choice.module_name)
    return compile_c(
        folder,
        name,
        *(flags if can_compile(folder, *flags) else ()),
        __file__.replace("test_call_cores.py", f"{name}.c"),
        *(DRIVER, CALLS, DRIVERS / "src" / "coprime_call_cores.c"),
        *(library, f"-Wl,-rpath,{library.parent}", "-pthread"),
    )


def test_cores_work_at_the_same_time_and_are_wiped_one_by_one(tmp_path):
    program = compile_with_cores(tmp_path, "call_cores", *SANITIZERS)
    keys = [bytes([core] * 7) for core in range(CORES)]
    numbers = (COPY_CALL, KEY.number, SECOND.number, COPY.number, len(keys[0]), CORES)
    done = subprocess.run(
        [program, *map(str, numbers)],
        input=" ".join(key.hex() for key in keys),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    head, *each, held = done.stdout.splitlines()
    assert head == f"{CORES} {SIZE}"  # no core has that number
    assert each == [
        f"{(2 << core) - 1} 0 {inverted(keys[core]).hex()}" for core in reversed(range(CORES))
    ]
    assert held == "3 0 2 0 1 0 0"


@pytest.mark.parametrize("flags", [SANITIZERS, THREADS], ids=["address", "thread"])
def test_threads_use_a_core_each(tmp_path, flags):
    """With a lock around each access: every call of 100 by each thread is right."""
    program = compile_with_cores(tmp_path, "call_threads", *flags)
    numbers = (COPY_CALL, KEY.number, SECOND.number, COPY.number, 7, 100)
    done = subprocess.run(
        [program, *map(str, numbers)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    cores, taken = map(int, done.stdout.split())
    assert cores == CORES
    assert taken > 0  # they did meet
