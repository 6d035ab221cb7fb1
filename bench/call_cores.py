"""Calls of several cores for byte strings: how many end in a million cycles, on both buses."""

from random import Random

from coprime.bus.kinds import Bus
from coprime.catalog import choose_calls
from coprime.device.call_cores import CallCores
from coprime.device.call_scheduler import CallScheduler
from coprime.device.simulated import SimulatedDevice
from coprime.flow.parts import accelerator_verilog

from .page import replace_part, table, thousands

CORES = (1, 2, 4)
CALLS = 8
"""Of each core."""
WORK = (
    ("lattice", "ML_KEM_KEY_PAIR", "ML-KEM-768"),
    ("lattice", "ML_KEM_ENCAPSULATE", "ML-KEM-768"),
    ("lattice", "ML_KEM_DECAPSULATE", "ML-KEM-768"),
)


def cycles_of(device: SimulatedDevice, design, work, count: int, *, wipe: bool) -> tuple[int, int]:
    """Cycles of so many calls, from the first access to the last one, and those of an engine."""
    _, name, parameter_set = work
    cores = CallCores(device, design.interface)
    call = design.interface.call[name]
    inputs = [call.draw(parameter_set, Random(seed)) for seed in range(count)]
    scheduler, before = CallScheduler(cores, wipe=wipe), device.cycles
    for values in inputs:
        scheduler.submit(name, values, parameter_set=parameter_set)
    for values, request in zip(inputs, scheduler.ordered(), strict=True):
        outputs = request.result.outputs
        wanted = call.reference(parameter_set, values)
        assert outputs == {one: wanted[one] for one in outputs}, name
        worked = request.result.cycles
    return device.cycles - before, worked


def measure() -> str:
    rows = {}
    for number in CORES:
        choice = choose_calls("lattice", {"cores": str(number)})
        for bus in Bus:
            verilog = accelerator_verilog(choice, bus=bus)
            with SimulatedDevice(verilog, choice.module_name) as device:
                for work in WORK:
                    for wipe in (False, True):
                        count = CALLS * number
                        found = cycles_of(device, choice.design, work, count, wipe=wipe)
                        rows[number, bus, work, wipe] = (count, *found)
                        print(number, bus.value, work, wipe, count, found, flush=True)
    head = ["call", "cycles", "bus", *(str(number) for number in CORES), "4, wiped"]
    text = []
    for work in WORK:
        for bus in Bus:
            worked = rows[1, bus, work, False][2]
            shown = [rows[number, bus, work, False] for number in CORES]
            shown.append(rows[CORES[-1], bus, work, True])
            rates = [f"{1e6 * count / cycles:.1f}" for count, cycles, _ in shown]
            text.append((f"{work[1]} of {work[2]}", thousands(worked), bus.title, *rates))
    return table(head, text)


def main() -> None:
    replace_part("cluster.md", "cores of byte strings", measure())


if __name__ == "__main__":
    main()
