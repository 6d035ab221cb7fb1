"""Common parts of the registers of an accelerator and of a cluster."""

from collections.abc import Iterable, Mapping

from amaranth.hdl import Cat, Const, Mux, Value, ValueLike

import coprime
from coprime.bus import cluster_registers, registers
from coprime.bus.gearbox import LENGTH_BITS
from coprime.bus.port import ADDRESS_BITS, WORD_BITS
from coprime.bus.register_classes import Register, Window
from coprime.calls.interface import WIPE, EngineInterface
from coprime.engine.contract import COMMAND_BITS, OPERAND_BITS, Capabilities, Length

LONGEST = (1 << LENGTH_BITS) - 1  # value of a length register for a length that does not fit
PADDING_REGISTERS = (registers.PADDING, registers.PADDING_WINDOW)
"""Registers that are defined only with padding."""
CHECKED_REGISTERS = (registers.RESIDUE,)  # defined only if results are checked
COMMAND_REGISTERS = (registers.COMMANDS, registers.COMMANDS_HIGH)
"""Registers that are defined only if a code has no bit in CAPABILITIES; the same in a cluster."""
SLOT_REGISTERS = (
    *(registers.PARAMETER_SET, registers.SLOT, registers.SLOT_LENGTH),
    *(registers.COMPLETE, registers.WAITING, registers.DATA_WINDOW),
)
"""Registers and windows that are defined only for engines of byte strings."""
SEEDED_REGISTERS = (
    *(registers.RANDOM_STATUS, registers.RANDOM_SEED, registers.RANDOM_CONTROL),
    registers.RANDOM_REQUESTS,
)
"""Registers of a source of random bytes in the hardware that software seeds."""
NOISE_REGISTERS: tuple[Register | Window, ...] = (
    *(registers.RANDOM_STATUS, registers.RANDOM_CONTROL, registers.RANDOM_REQUESTS),
    registers.RANDOM_SAMPLES,
)
"""Registers, and a window, of one that seeds itself."""
RANDOM_REGISTERS = tuple(dict.fromkeys((*SEEDED_REGISTERS, *NOISE_REGISTERS)))
"""All that are defined only with a source in the hardware."""
_BY_SOURCE = ((), SEEDED_REGISTERS, NOISE_REGISTERS)  # by the value of CAPABILITIES.SOURCE
CORE_REGISTERS = (registers.CORES, registers.CORE_SELECT, registers.PENDING)
"""Registers that are defined only where an accelerator has several cores."""
_OPTIONAL = (
    *(*PADDING_REGISTERS, *CHECKED_REGISTERS, *COMMAND_REGISTERS),
    *(*SLOT_REGISTERS, *RANDOM_REGISTERS, *CORE_REGISTERS),
)
PLAIN_REGISTERS = tuple(register for register in registers.REGISTERS if register not in _OPTIONAL)
"""All other registers except the windows."""
PLAIN_WINDOWS = tuple(window for window in registers.WINDOWS if window not in _OPTIONAL)
CLASSES = (Length.MODULUS, Length.EXPONENT, Length.P, Length.Q)
"""The length classes that have a register, by their value."""


# --- Registers ----------------------------------------------------------------------------------


def length_registers(known: Iterable[Register]) -> tuple[Register, ...]:
    """Return the length registers of CLASSES in a register map: MODULUS_LENGTH and so on."""
    by_name = {register.name: register for register in known}
    return tuple(by_name[f"{length_class.name}_LENGTH"] for length_class in CLASSES)


def number(register: Register) -> int | str:
    """Return the register's address at the register port; for a window, a pattern for all."""
    first = register.address // 4
    if not isinstance(register, Window):
        return first
    free = (register.words - 1).bit_length()
    return f"{first >> free:0{ADDRESS_BITS - free}b}{'-' * free}"


def register_value(register: Register, **fields: ValueLike) -> Value:
    """Return a register with these values of its fields, and 0 in all other bits."""
    parts: list[Value] = []
    place = 0
    for field in register.fields:
        if field.name not in fields:
            continue
        value = Value.cast(fields[field.name])
        parts += [Const(0, field.offset - place), (value | Const(0, field.width))[: field.width]]
        place = field.offset + field.width
    return Cat(*parts)


def identity_fields(
    capabilities: Capabilities, paddings: int = 0, source: int = 0, *, many: bool = False
) -> dict[Register, dict[str, int]]:
    """Return the constant registers that describe the engine, with their fields' values.

    `paddings` is the value of CAPABILITIES.PADDINGS, `source` that of CAPABILITIES.SOURCE; the
    engine may be one of many.
    """
    commands = sum(1 << command for command in capabilities.commands)
    more = {
        registers.COMMANDS: {"CODES": commands % (1 << WORD_BITS)},
        registers.COMMANDS_HIGH: {"CODES": commands >> WORD_BITS},
    }
    half_digits = capabilities.half_bits // capabilities.digit_width
    return {
        registers.VERSION: _version(),
        registers.FAMILY: {"NUMBER": capabilities.family_number},
        registers.CAPABILITIES: {
            "COMMANDS": commands & registers.CAPABILITIES["COMMANDS"].mask,
            "CONSTANT_TIME": int(capabilities.constant_time),
            "FIXED_MODULUS": int(capabilities.fixed_modulus is not None),
            "MULTIPLIERS": capabilities.multipliers,
            **({"EQUAL_PRIMES": 1} if capabilities.equal_primes else {}),
            **({"PADDINGS": paddings} if paddings else {}),
            **({"CHECKED": 1} if capabilities.checked else {}),
            **({"MORE_COMMANDS": 1} if has_more_commands(capabilities) else {}),
            **({"SOURCE": source} if source else {}),
            **({"CORES": 1} if many else {}),
        },
        registers.DIGITS: {
            "WIDTH": capabilities.digit_width,
            "HEADROOM": capabilities.headroom,
            "RADIX": capabilities.radix_bits,
            **({"HALF": half_digits.bit_length() - 1} if half_digits else {}),
            **({"SCALAR_BLINDING": 1} if capabilities.blinds_scalars else {}),
        },
        registers.MAX_LENGTH: {
            "MODULUS": capabilities.max_length,
            "PRIME": capabilities.max_prime_length,
        },
        registers.MIN_LENGTH: {"BITS": capabilities.min_length},
        **(more if has_more_commands(capabilities) else {}),
    }


def _version() -> dict[str, int]:
    """Values of the fields of VERSION."""
    major, minor, patch = (int(part) for part in coprime.__version__.split(".")[:3])
    return {"MAJOR": major, "MINOR": minor, "PATCH": patch}


def call_fields(
    interface: EngineInterface, source: int = 0, *, many: bool = False
) -> dict[Register, dict[str, int]]:
    """As `identity_fields`, of an engine of byte strings, which may be one of many."""
    commands = sum(1 << code for code in (WIPE, *(call.code for call in interface.calls)))
    return {
        registers.VERSION: _version(),
        registers.FAMILY: {"NUMBER": interface.family_number},
        registers.CAPABILITIES: {
            "COMMANDS": commands & registers.CAPABILITIES["COMMANDS"].mask,
            "CONSTANT_TIME": int(interface.constant_time),
            "MULTIPLIERS": interface.units,
            "MORE_COMMANDS": 1,
            "SLOTS": 1,
            **({"SOURCE": source} if source else {}),
            **({"CORES": 1} if many else {}),
        },
        registers.COMMANDS: {"CODES": commands % (1 << WORD_BITS)},
        registers.COMMANDS_HIGH: {"CODES": commands >> WORD_BITS},
    }


def has_more_commands(capabilities: Capabilities) -> bool:
    """Whether a command's code has no bit in CAPABILITIES.COMMANDS."""
    return max(capabilities.commands) >= registers.CAPABILITIES["COMMANDS"].width


def engine_command(capabilities: Capabilities, word: Value) -> Value:
    """A command's code in a word as the engine has it: a longer one becomes 0, which is none."""
    bits = capabilities.command_bits
    return Mux(word[bits:COMMAND_BITS].any(), 0, word[:bits])


def engine_operand(capabilities: Capabilities, word: Value) -> Value:
    """An operand's number in a word as the engine has it: a longer one becomes the largest number,
    which is none."""
    bits = capabilities.operand_bits
    return word[:bits] | word[bits:OPERAND_BITS].any().replicate(bits)


def identity(
    capabilities: Capabilities,
    identification: Register,
    paddings: int = 0,
    source: int = 0,
    *,
    many: bool = False,
) -> dict[str, int]:
    """Values of the constant registers that describe the engine, by name."""
    return _words(identity_fields(capabilities, paddings, source, many=many), identification)


def call_identity(
    interface: EngineInterface, source: int = 0, *, many: bool = False
) -> dict[str, int]:
    """The same of an engine of byte strings, which may be one of many."""
    return _words(call_fields(interface, source, many=many), registers.IDENTIFICATION)


def _words(
    fields: Mapping[Register, Mapping[str, int]], identification: Register
) -> dict[str, int]:
    return {"IDENTIFICATION": identification["ID"].reset or 0} | {
        register.name: sum(value << register[name].offset for name, value in values.items())
        for register, values in fields.items()
    }


def defined_registers(
    capabilities: Capabilities, *, padded: bool, source: int = 0, many: bool = False
) -> tuple[Register | Window, ...]:
    """The registers and windows of an accelerator, which may have a padding unit, a source of
    random bytes, and several cores: `source` is the value of CAPABILITIES.SOURCE.
    """
    undefined = [
        *SLOT_REGISTERS,
        *(register for register in RANDOM_REGISTERS if register not in _BY_SOURCE[source]),
        *(() if many else CORE_REGISTERS),
        *(() if padded else PADDING_REGISTERS),
        *(() if capabilities.checked else CHECKED_REGISTERS),
        *(() if has_more_commands(capabilities) else COMMAND_REGISTERS),
    ]
    every = (*registers.REGISTERS, *registers.WINDOWS)
    return tuple(register for register in every if register not in undefined)


CALL_REGISTERS: tuple[Register | Window, ...] = tuple(
    register
    for register in (*registers.REGISTERS, *registers.WINDOWS)
    if register in SLOT_REGISTERS
    or register in COMMAND_REGISTERS
    or register
    in (
        *(registers.IDENTIFICATION, registers.VERSION, registers.FAMILY, registers.CAPABILITIES),
        *(registers.STATUS, registers.COMMAND, registers.ERROR),
        *(registers.INTERRUPT_ENABLE, registers.INTERRUPT_STATUS),
        *(registers.CYCLES, registers.PRODUCTS),
    )
)
"""The registers and windows of an accelerator for byte strings; STATUS can only be read."""


def defined_call_registers(*, source: int, many: bool = False) -> tuple[Register | Window, ...]:
    """The same of one that may have a source of random bytes, and several cores."""
    known = {
        *CALL_REGISTERS,
        *_BY_SOURCE[source],
        *(CORE_REGISTERS if many else ()),
    }
    return tuple(
        register for register in (*registers.REGISTERS, *registers.WINDOWS) if register in known
    )


def defined_cluster_registers(capabilities: Capabilities) -> tuple[Register, ...]:
    """The registers of a cluster of such engines."""
    every = cluster_registers.REGISTERS
    undefined = [
        *(() if capabilities.checked else [cluster_registers.RESIDUE]),
        *(() if has_more_commands(capabilities) else COMMAND_REGISTERS),
    ]
    return tuple(register for register in every if register not in undefined)


# --- Lengths ------------------------------------------------------------------------------------


def check_max_length(capabilities: Capabilities) -> None:
    """Refuse an engine whose lengths do not fit a register (ValueError)."""
    if not 1 <= capabilities.max_length < LONGEST:
        raise ValueError(f"max_length must be 1 to {LONGEST - 1}, not {capabilities.max_length}")


def exceeds(value: Value, limit: int) -> Value:
    """Whether an unsigned value is greater than a constant; in LUTs, since a carry chain takes
    more of them."""
    if limit >= (1 << len(value)) - 1:
        return Const(0)
    found = value[limit.bit_length() :].any()
    below: Value = Const(0)
    for place in range(limit.bit_length()):
        below = below & value[place] if limit >> place & 1 else below | value[place]
    return found | below
