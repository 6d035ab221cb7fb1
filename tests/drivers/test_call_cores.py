"""The C driver on several cores of a simulated accelerator for byte strings."""

import subprocess

from coprime.flow.parts import accelerator_verilog
from coprime.flow.simulation import build_simulation
from tests.calls.mock import COPY, FAMILY, KEY, SECOND, inverted
from tests.drivers.harness import CALLS, DRIVER, DRIVERS, SANITIZERS, can_compile, compile_c

CORES = 3
COPY_CALL, SIZE = 20, 260


def test_cores_work_at_the_same_time_and_are_wiped_one_by_one(tmp_path):
    choice = FAMILY.choose({"cores": str(CORES)})
    library = build_simulation(accelerator_verilog(choice), choice.module_name)
    program = compile_c(
        tmp_path,
        "call_cores",
        *(SANITIZERS if can_compile(tmp_path, *SANITIZERS) else ()),
        __file__.replace("test_call_cores.py", "call_cores.c"),
        *(DRIVER, CALLS, DRIVERS / "src" / "coprime_call_cores.c"),
        *(library, f"-Wl,-rpath,{library.parent}"),
    )
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
