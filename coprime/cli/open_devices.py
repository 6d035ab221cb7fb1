"""Opening what `--device` names: a simulation, or hardware."""

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Protocol

from coprime.bus import cluster_registers, registers
from coprime.calls.interface import EngineInterface
from coprime.catalog import (
    SUITE,
    CallChoice,
    Choice,
    ClusterChoice,
    SuiteChoice,
    choose,
    choose_calls,
    choose_engine,
    choose_suite,
    with_source,
)
from coprime.device.accelerator import Accelerator
from coprime.device.base import Device
from coprime.device.calls import CallAccelerator
from coprime.device.cluster import Cluster
from coprime.device.cores import Cores
from coprime.device.keyed_cluster import KeyedCluster
from coprime.device.serial import open_serial
from coprime.device.simulated import SimulatedDevice, open_cluster, open_simulation
from coprime.device.source import AcceleratorSource
from coprime.device.uio import UioDevice
from coprime.operations.commands import Command
from coprime.operations.lengths import Lengths
from coprime.random.kinds import RandomSource

from .devices import Hardware, NamedDevice, Simulated, calls_default_with, default_with
from .progress import announce, progress


class DeviceKey(Protocol):
    """A key, or one that is still to be made."""

    @property
    def n(self) -> int | None:
        """The modulus; None if it is still to be made."""

    @property
    def lengths(self) -> Lengths:
        """Of the numbers in its operations."""


def open_device(
    named: NamedDevice, key: DeviceKey, command: Command | None = None
) -> AbstractContextManager[Accelerator | KeyedCluster]:
    """Open what is named: a device that holds the key, and has the command.

    None: any command. ValueError, before a simulation is built, for one that does not.
    """
    if isinstance(named, Simulated) and named.is_suite:
        return _open_suite(named, key, command)
    if isinstance(named, Simulated):
        return open_simulated(named, key, command)
    return open_hardware(named, key, command)


@contextmanager
def open_simulated(
    named: Simulated, key: DeviceKey, command: Command | None
) -> Iterator[Accelerator | KeyedCluster]:
    """Simulate a design that holds the key, and has the command.

    ValueError, before it is built, if none does.
    """
    choice = _chosen(named, key, command)
    announce(choice)
    with _simulation(choice) as device, progress("simulating") as passed:
        device.progress = passed
        yield _driver(device)


def check_device(named: NamedDevice, key: DeviceKey, command: Command) -> None:
    """Raise ValueError for a simulation that does not hold the key or lacks the command; hardware
    is not opened.
    """
    if isinstance(named, Simulated) and named.is_suite:
        _suite_for(named, key, command)
    elif isinstance(named, Simulated):
        _chosen(named, key, command)


def _chosen(named: Simulated, key: DeviceKey, command: Command | None) -> Choice | ClusterChoice:
    """The design of a simulation. ValueError as `open_simulated`."""
    choice = choose(named.family, named.settings, key.lengths, option=f"sim:{named.family},")
    choice = with_source(choice, named.source)
    _check_command(f"sim:{named.family}", command, choice.core.design.capabilities.commands)
    _check_modulus(choice.core, key)
    return choice


@contextmanager
def open_hardware(
    named: Hardware, key: DeviceKey, command: Command | None
) -> Iterator[Accelerator | KeyedCluster]:
    """Open it. ValueError if the key is longer than it reports to take, or it has no command."""
    with _connection(named) as device:
        driver = _driver(device, command)
        excess = key.lengths.excess(driver)
        if excess:
            raise ValueError(f"the accelerator at {named.name} takes {excess}")
        _check_command(f"the accelerator at {named.name}", command, driver.commands)
        yield driver


# --- Engines of byte strings --------------------------------------------------------------------

CheckEngine = Callable[[EngineInterface], None]
"""Raises ValueError for an engine that lacks something."""


def open_calls(
    named: NamedDevice, call: str, check: CheckEngine
) -> AbstractContextManager[CallAccelerator]:
    """Open what is named: a device that has the call, and whose engine passes the check.

    ValueError, before a simulation is built, for one that does not.
    """
    if isinstance(named, Simulated) and named.is_suite:
        return _open_calls_of_suite(named, call, check)
    if isinstance(named, Simulated):
        return open_simulated_calls(named, call, check)
    return _open_hardware_calls(named, call, check)


@contextmanager
def open_simulated_calls(
    named: Simulated, call: str, check: CheckEngine
) -> Iterator[CallAccelerator]:
    """Simulate a design. ValueError as `open_calls`."""
    choice = with_source(choose_calls(named.family, named.settings), named.source)
    interface = choice.design.interface
    if call not in interface.call:
        raise _no_call(named.name, call)
    _check_engine(named.name, interface, check)
    with open_simulation(choice) as device, progress("simulating") as passed:
        device.progress = passed
        yield CallAccelerator(device, interface)


@contextmanager
def _open_hardware_calls(
    named: Hardware, call: str, check: CheckEngine
) -> Iterator[CallAccelerator]:
    """Open it: an engine as the default one that has the call."""
    default = calls_default_with(call)
    interface = choose_calls(default.family, default.settings).design.interface
    _check_engine(f"the accelerator at {named.name}", interface, check)
    with _connection(named) as device:
        yield CallAccelerator(_calls_core(device, interface, call), interface)


def _no_call(name: str, call: str) -> ValueError:
    return ValueError(
        f"{name} has no {call}: take an engine that has it, such as {calls_default_with(call).name}"
    )


def _calls_core(device: Device, interface: EngineInterface, call: str) -> Device:
    """The device; of several cores the one that has the call. ValueError if none has."""
    cores = Cores(device)
    if len(cores.cores) == 1:
        return device
    return cores.calls(interface.call[call].code, interface.family_number)


def _check_engine(name: str, interface: EngineInterface, check: CheckEngine) -> None:
    try:
        check(interface)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


# --- Suites -------------------------------------------------------------------------------------


@contextmanager
def open_both(
    named: NamedDevice, call: str, check: CheckEngine, key: DeviceKey, command: Command
) -> Iterator[tuple[CallAccelerator, Accelerator]]:
    """Open one device with both: an engine that has the call, and one that holds the key and has
    the command. ValueError as `open_calls` and as `open_device`.
    """
    if isinstance(named, Simulated):
        choice, numbers = _suite_for(named, key, command)
        calls, interface = _calls_of(named, choice, call, check)
        with open_simulation(choice) as device, progress("simulating") as passed:
            device.progress = passed
            cores = Cores(device).cores
            yield CallAccelerator(cores[calls], interface), Accelerator(cores[numbers])
        return
    default = calls_default_with(call)
    interface = choose_calls(default.family, default.settings).design.interface
    _check_engine(f"the accelerator at {named.name}", interface, check)
    with _connection(named) as connection:
        every = Cores(connection)
        core = every.calls(interface.call[call].code, interface.family_number)
        yield CallAccelerator(core, interface), Accelerator(every.numbers(command))


@contextmanager
def _open_suite(named: Simulated, key: DeviceKey, command: Command | None) -> Iterator[Accelerator]:
    """The engine of a suite that holds the key, and has the command. ValueError as `_suite_for`."""
    choice, core = _suite_for(named, key, command)
    announce(choice)
    with open_simulation(choice) as device, progress("simulating") as passed:
        device.progress = passed
        yield Accelerator(Cores(device).cores[core])


@contextmanager
def _open_calls_of_suite(
    named: Simulated, call: str, check: CheckEngine
) -> Iterator[CallAccelerator]:
    """The engine of a suite that has the call. ValueError as `open_calls`."""
    choice = with_source(choose_suite(named.settings), named.source)
    core, interface = _calls_of(named, choice, call, check)
    with open_simulation(choice) as device, progress("simulating") as passed:
        device.progress = passed
        yield CallAccelerator(Cores(device).cores[core], interface)


def _suite_for(
    named: Simulated, key: DeviceKey, command: Command | None
) -> tuple[SuiteChoice, int]:
    """A suite, and the number of its first core that has the command, which holds the key.

    ValueError if none has, or cannot hold the key.
    """
    choice = choose_suite(named.settings)
    numbers = {k: engine for k, engine in enumerate(choice.engines) if isinstance(engine, Choice)}
    if not numbers:
        raise ValueError(f"{named.name} has no engine of numbers: add one, such as compact")
    able = [
        k
        for k, engine in numbers.items()
        if command in (None, *engine.design.capabilities.commands)
    ]
    if not able:
        every = [
            each for engine in numbers.values() for each in engine.design.capabilities.commands
        ]
        _check_command(named.name, command, every)
    lengths = {able[0]: key.lengths}
    choice = choose_suite(named.settings, lengths, option=f"sim:{named.family},")
    return with_source(choice, named.source), able[0]


def _calls_of(
    named: Simulated, choice: SuiteChoice, call: str, check: CheckEngine
) -> tuple[int, EngineInterface]:
    """The number of the first core that has a call, and its interface.

    ValueError if none has, or if it does not pass the check.
    """
    for core, engine in enumerate(choice.engines):
        if isinstance(engine, CallChoice) and call in engine.design.interface.call:
            interface = engine.design.interface
            _check_engine(f"{named.name}, engine {choice.names[core]}", interface, check)
            return core, interface
    raise _no_call(named.name, call)


# --- Noise sources -------------------------------------------------------------------------------


@contextmanager
def open_noise(named: NamedDevice) -> Iterator[AcceleratorSource]:
    """Open the random source of what is named, which has a noise source.

    ValueError, before a simulation is built, for one without; DeviceError for such hardware.
    """
    if isinstance(named, Hardware):
        with _connection(named) as device:
            yield _source_of(device)
        return
    if named.source is not RandomSource.TRNG:
        raise ValueError(f"{named.name} has no noise source: add random=trng")
    choice: Choice | CallChoice | SuiteChoice
    if named.family == SUITE:
        choice = choose_suite(named.settings)
    else:
        choice = choose_engine(named.family, named.settings)
    with open_simulation(replace(choice, source=named.source)) as simulated:
        yield _source_of(simulated)


def _source_of(device: Device) -> AcceleratorSource:
    """The random source, which of several cores only those know that draw."""
    capabilities = device.read32(registers.CAPABILITIES.address)
    many = registers.CAPABILITIES["CORES"].of(capabilities)
    every = [AcceleratorSource(core) for core in (Cores(device).cores if many else [device])]
    return next((source for source in every if source.kind is RandomSource.TRNG), every[0])


# --- Devices ------------------------------------------------------------------------------------


def _connection(named: Hardware) -> AbstractContextManager[Device]:
    """The device; raises DeviceError if it cannot be opened."""
    if named.baud is None:
        return UioDevice(named.path)
    return open_serial(named.path, named.baud)


def _check_modulus(choice: Choice, key: DeviceKey) -> None:
    fixed = choice.design.capabilities.fixed_modulus
    if fixed not in (None, key.n):
        raise ValueError(
            f"{choice.family.name} is built for one modulus of {fixed.bit_length()} bits, and the"
            " key's is another: set modulus= to the key's, or take another family"
        )


def _check_command(name: str, command: Command | None, commands: Collection[Command]) -> None:
    """ValueError unless a device that is called `name` has the command, which is of curves."""
    if command is not None and command not in commands:
        raise ValueError(
            f"{name} has no {command.name}: take an engine that has it, such as"
            f" {default_with(command)}"
        )


def _simulation(choice: Choice | ClusterChoice) -> SimulatedDevice:
    return open_cluster(choice) if isinstance(choice, ClusterChoice) else open_simulation(choice)


def _driver(device: Device, command: Command | None = None) -> Accelerator | KeyedCluster:
    """The driver for what the device identifies itself as; of several cores, for the first one that
    has the command. ValueError if none has.
    """
    register = cluster_registers.IDENTIFICATION
    if device.read32(register.address) == register["ID"].reset:
        return KeyedCluster(Cluster(device))
    cores = Cores(device)
    return Accelerator(device if len(cores.cores) == 1 else cores.numbers(command))
