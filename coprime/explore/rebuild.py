"""The commands that measure a point again."""

from coprime.bus.kinds import Bus
from coprime.calls.interface import SHORT_OUTPUT
from coprime.catalog import CALL_FAMILIES, CLUSTER, calls_named
from coprime.cells.target import Target
from coprime.explore.points import Point
from coprime.flow.part_names import SYSTEM
from coprime.flow.targets import flow_of


def area_command(point: Point) -> str:
    """The command that maps the design again, or estimates it, and routes it if the point was.

    "" if only cycles were counted.
    """
    if point.target == Target.GENERIC.value:
        return ""
    family, *parameters = _choice(point)
    if point.part == CLUSTER:
        words = ["coprime synth", CLUSTER, f"-p engine={family}"]
        words += [f"-p {name}={value}" for name, value in point.of_the_cluster.items()]
    else:
        words = ["coprime synth", family]
    words += [*parameters, f"--target {point.target}"]
    if point.part not in ("engine", CLUSTER):
        words.append(f"--part {point.part}")
    words += _bus(point)
    if point.fmax_mhz is not None:
        words.append("--route")
        flow = flow_of(Target(point.target))
        for name, device in flow.devices.items():
            if name != flow.default_device and device.title == point.device:
                words.append(f"--device {name}")
        if point.stamped:
            words.append("--stamp")
        elif point.placements > 1:
            words.append(f"--seeds {point.placements}")
    return " ".join(words)


def cycles_command(point: Point) -> str:
    """The command that simulates the operation again, or what the part does alone.

    A cluster's cycles are those of one engine.
    """
    family, *parameters = _choice(point)
    if point.part == SYSTEM:
        words = ["coprime soc", family, *parameters, "--operation modexp", *_bus(point)]
    else:
        words = ["coprime run", family, point.operation, *parameters]
    if family in CALL_FAMILIES:
        words += [f"--set {point.parameter_set}"] if point.parameter_set else []
        words += _streams(point)
    else:
        words.append(f"--bits {point.bits}")
    words.append(f"--seed {point.seed}")
    return " ".join([*words, *(["--exponents worst"] if point.exponents == "worst" else [])])


def _streams(point: Point) -> list[str]:
    """The options for the lengths of streams that a call takes and gives."""
    own = calls_named(point.operation)[0]
    call = own.call[point.operation]
    slots = [own.slot[name] for name in call.inputs]
    return [
        *(f"--{slot.name}-bytes {point.bits // 8}" for slot in slots if slot.streamed),
        *(f"--{slot.name.replace('_', '-')} {SHORT_OUTPUT}" for slot in slots if slot.number_of),
    ]


def commands(point: Point) -> list[tuple[str, str]]:
    """What rebuilds a point: what each command does, and the command."""
    return [
        ("Build it:", point.command),
        ("Measure its area again:", area_command(point)),
        ("Count its cycles again:", cycles_command(point)),
    ]


def _bus(point: Point) -> list[str]:
    return [] if point.bus == Bus.AXI4_LITE.value else [f"--bus {point.bus}"]


def _choice(point: Point) -> list[str]:
    return [point.family, *(f"-p {name}={value}" for name, value in point.parameters.items())]
