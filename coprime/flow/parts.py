"""Verilog of designs and of their parts: what is built, simulated and measured."""

from collections.abc import Collection
from functools import lru_cache

from coprime import __version__
from coprime.bus.axi_accelerator import AxiAccelerator
from coprime.bus.axi_cluster import AxiCluster, ChainEnds
from coprime.bus.cores import AxiCores, CoreModule, EngineCore
from coprime.bus.kinds import Bus
from coprime.catalog import (
    SUITE,
    AnyDesign,
    CallChoice,
    Choice,
    ClusterChoice,
    SuiteChoice,
    check_one_core,
)
from coprime.cells.target import Target
from coprime.cluster.chain import chain_node
from coprime.fixed_modulus.fixed_design import FixedModulusDesign
from coprime.padding.scheme import Padding

from .noise_module import noise_module, with_noise
from .part_names import PARTS, WORDS
from .port_comments import BUS_PORTS
from .verilog import to_verilog

__all__ = [
    "FRONT_END",
    "NODE",
    "accelerator_verilog",
    "build_command",
    "check_part",
    "cluster_verilog",
    "engine_verilog",
    "measured_verilog",
    "multiplier_verilog",
    "part_verilog",
    "refuse_paddings",
    "suite_summary",
    "suite_verilog",
]

FRONT_END = "coprime_cluster_front_end"
NODE = "coprime_cluster_node"


def accelerator_verilog(
    choice: Choice | CallChoice,
    target: Target = Target.GENERIC,
    bus: Bus = Bus.AXI4_LITE,
    paddings: Collection[Padding] = (),
) -> str:
    """Verilog of the accelerator with its slave on a bus; the top module is named in `choice`.

    Of several cores it has the module of one, and an instance for each. Raises ValueError for a
    noise source that the target does not have.
    """
    return _accelerator_verilog(choice, target, bus, tuple(paddings))


@lru_cache(maxsize=8)  # who has opened a design once often opens it again
def _accelerator_verilog(
    choice: Choice | CallChoice, target: Target, bus: Bus, paddings: tuple[Padding, ...]
) -> str:
    noise = noise_module(choice.source, target, choice.module_name)
    engine, header = choice.design.hardware(target), _header(choice, target, bus, paddings)
    if isinstance(choice, CallChoice) and choice.cores > 1:
        core, name = EngineCore(engine, choice.source), _core_module(choice)
        top = AxiCores([CoreModule(name, core.draws)] * choice.cores, bus, choice.source, noise)
        text = to_verilog(top, choice.module_name, header=header, ports=BUS_PORTS)
        text = f"{text}\n{to_verilog(core, name)}"
    else:
        hardware = AxiAccelerator(engine, bus, paddings, choice.source, noise)
        text = to_verilog(hardware, choice.module_name, header=header, ports=BUS_PORTS)
    return with_noise(text, noise, target)


@lru_cache(maxsize=8)
def suite_verilog(
    choice: SuiteChoice,
    target: Target = Target.GENERIC,
    bus: Bus = Bus.AXI4_LITE,
    paddings: tuple[Padding, ...] = (),
) -> str:
    """Verilog of a suite with its slave on a bus; the top module is named in `choice`.

    It has the module of each engine once, and engines of numbers have these paddings.
    """
    cores: dict[str, EngineCore] = {}
    for name, engine in zip(choice.modules, choice.engines, strict=True):
        if name not in cores:
            hardware = engine.design.hardware(target)
            own = paddings if isinstance(engine, Choice) else ()
            cores[name] = EngineCore(hardware, choice.source, own)
    noise = noise_module(choice.source, target, choice.module_name)
    modules = [CoreModule(name, cores[name].draws) for name in choice.modules]
    top = AxiCores(modules, bus, choice.source, noise)
    header = _suite_header(choice, target, bus, paddings)
    text = "\n".join(
        [
            to_verilog(top, choice.module_name, header=header, ports=BUS_PORTS),
            *(to_verilog(core, name) for name, core in cores.items()),
        ]
    )
    return with_noise(text, noise, target)


def _core_module(choice: CallChoice) -> str:
    """Name of the module of each of several cores."""
    return f"{choice.module_name}_core"


def build_command(
    choice: AnyDesign,
    target: Target,
    bus: Bus,
    paddings: Collection[Padding],
) -> str:
    """The command line that makes a design again, without the option for its folder."""
    command = choice.command("build", target)
    if bus is not Bus.AXI4_LITE:
        command += f" --bus {bus.value}"
    if paddings:
        names = [padding.value for padding in Padding if padding in paddings]
        command += f" --padding {','.join(names)}"
    return command


def engine_verilog(choice: Choice | CallChoice, target: Target = Target.GENERIC) -> str:
    """Verilog of the engine without its bus; the top module has the suffix `_engine`.

    ValueError for several.
    """
    check_one_core(choice, "the part engine, unlike --part accelerator,")
    hardware = choice.design.hardware(target)
    return to_verilog(hardware, f"{choice.module_name}_engine", header=_header(choice, target))


def multiplier_verilog(choice: Choice, target: Target = Target.GENERIC) -> str:
    """Verilog of one multiplier of the engine; the top module has the suffix `_multiplier`."""
    hardware = choice.design.multiplier_hardware(target)
    return to_verilog(hardware, f"{choice.module_name}_multiplier", header=_header(choice, target))


@lru_cache(maxsize=8)
def cluster_verilog(
    choice: ClusterChoice, target: Target = Target.GENERIC, bus: Bus = Bus.AXI4_LITE
) -> str:
    """Verilog of a cluster with its slave on a bus; the top module is named in `choice`.

    It is wires between the modules FRONT_END and NODE, which has an instance for each core.
    """
    design, cores, registers = choice.core.design, choice.cores, choice.link_registers
    capabilities = design.capabilities
    top = AxiCluster(capabilities, cores, bus, ends=FRONT_END, node=NODE)
    return "\n".join(
        [
            to_verilog(
                top, choice.module_name, header=_header(choice, target, bus), ports=BUS_PORTS
            ),
            to_verilog(ChainEnds(capabilities, cores, bus, registers, target=target), FRONT_END),
            to_verilog(chain_node(design.hardware(target), cores, registers), NODE),
        ]
    )


def part_verilog(
    choice: Choice | CallChoice,
    part: str,
    target: Target = Target.GENERIC,
    paddings: Collection[Padding] = (),
    bus: Bus = Bus.AXI4_LITE,
) -> tuple[str, str]:
    """Verilog to measure one of `PARTS`, and the name of its top module.

    Raises ValueError for another part, for one that the family does not have, and for paddings or
    another bus than AXI4-Lite of another one than the accelerator.
    """
    if part != "accelerator":
        if paddings:
            raise ValueError(
                f"only the accelerator has paddings, not the {part}: name --part accelerator"
            )
        if bus is not Bus.AXI4_LITE:
            raise ValueError(
                f"only the accelerator has a bus, not the {part}: name --part accelerator"
            )
    if part == "engine":
        return engine_verilog(choice, target), f"{choice.module_name}_engine"
    if part == "accelerator":
        text = accelerator_verilog(choice, target, bus, paddings)
        return text, choice.module_name
    if isinstance(choice, CallChoice):
        raise ValueError(f"{choice.family.name} has no {part}: name --part engine or accelerator")
    if part == "multiplier":
        return multiplier_verilog(choice, target), f"{choice.module_name}_multiplier"
    if part in WORDS:
        top = f"{choice.module_name}_{part.replace('-', '_')}"
        hardware = _fixed(choice, part).reduction_hardware(WORDS[part])
        return to_verilog(hardware, top), top
    raise ValueError(f"part must be one of {', '.join(PARTS)}, not {part!r}")


def measured_verilog(
    choice: AnyDesign,
    part: str,
    target: Target,
    paddings: Collection[Padding] = (),
    bus: Bus = Bus.AXI4_LITE,
) -> tuple[str, str, tuple[str, ...]]:
    """Verilog to be mapped, the name of its top module, and the modules to map by themselves.

    A cluster is measured as a whole, whatever the part: its node, which has many instances, and its
    front end are mapped once each. So is one of several cores of an accelerator, and each engine of
    a suite, which is a whole, too. Raises ValueError as `part_verilog`.
    """
    if isinstance(choice, SuiteChoice):
        text = suite_verilog(choice, target, bus, tuple(paddings))
        return text, choice.module_name, tuple(dict.fromkeys(choice.modules))
    if isinstance(choice, ClusterChoice):
        refuse_paddings(paddings)
        text = cluster_verilog(choice, target, bus)
        return text, choice.module_name, (FRONT_END, NODE)
    many = isinstance(choice, CallChoice) and choice.cores > 1
    repeated = (_core_module(choice),) if isinstance(choice, CallChoice) and many else ()
    return (*part_verilog(choice, part, target, paddings, bus), repeated)


def check_part(choice: Choice, part: str) -> None:
    """Refuse a part that the family does not have (ValueError)."""
    if part in WORDS:
        _fixed(choice, part)


def _fixed(choice: Choice, part: str) -> FixedModulusDesign:
    if not isinstance(choice.design, FixedModulusDesign):
        raise ValueError(f"{choice.family.name} is not for one modulus: it has no part {part}")
    return choice.design


def refuse_paddings(paddings: Collection[Padding]) -> None:
    """Refuse the paddings of a cluster, which has none (ValueError)."""
    if paddings:
        raise ValueError("a cluster has no padding in hardware")


def _header(
    choice: Choice | CallChoice | ClusterChoice,
    target: Target,
    bus: Bus = Bus.AXI4_LITE,
    paddings: Collection[Padding] = (),
) -> str:
    many = ""
    if isinstance(choice, ClusterChoice):
        many = f"{choice.cores} engines on a chain, each "
    elif isinstance(choice, CallChoice) and choice.cores > 1:
        many = f"{choice.cores} cores, each "
    core = choice.core if isinstance(choice, ClusterChoice) else choice
    command = build_command(choice, target, bus, paddings)
    lines = [
        f"{choice.module_name}: {many}{core.family.summary}",
        f"Coprime {__version__}, Apache-2.0",
        f"Made by: {command} -o DIR",
        "",
        *(_calls(core) if isinstance(core, CallChoice) else _operations(core)),
    ]
    return "\n".join(lines)


def _suite_header(
    choice: SuiteChoice, target: Target, bus: Bus, paddings: Collection[Padding]
) -> str:
    command = build_command(choice, target, bus, paddings)
    lines = [
        f"{choice.module_name}: {suite_summary(choice)}",
        f"Coprime {__version__}, Apache-2.0",
        f"Made by: {command} -o DIR",
    ]
    for core, (name, engine) in enumerate(zip(choice.names, choice.engines, strict=True)):
        own = _calls(engine) if isinstance(engine, CallChoice) else _operations(engine)
        lines += ["", f"Core {core}, {name}: {engine.family.summary}", *own]
    return "\n".join(lines)


def suite_summary(choice: SuiteChoice) -> str:
    """The suite in one line."""
    *names, last = choice.names
    return f"a {SUITE} of {len(choice.engines)} engines: {', '.join(names)} and {last}"


def _operations(core: Choice) -> list[str]:
    """What an engine of numbers does."""
    capabilities = core.design.capabilities
    return [
        f"Longest modulus {capabilities.max_length} bits,"
        f" longest prime {capabilities.max_prime_length} bits,"
        f" digits of {capabilities.digit_width} bits.",
        f"Operations: {', '.join(command.name for command in sorted(capabilities.required))}.",
        f"Constant time: {'yes' if capabilities.constant_time else 'no'}.",
    ]


def _calls(choice: CallChoice) -> list[str]:
    """What an engine of byte strings does."""
    interface = choice.design.interface
    sets = ", ".join(filter(None, interface.parameter_sets))
    return [
        f"Calls: {', '.join(call.name for call in interface.calls)}.",
        *([f"Parameter sets: {sets}."] if sets else []),
        f"Constant time: {'yes' if interface.constant_time else 'no'}.",
    ]
