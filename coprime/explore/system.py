"""The part "system" of a sweep: processor, memory and accelerator of `coprime soc`.

Its operation is KARATSUBA's experiment in Table 4: one exponentiation without the Chinese Remainder
Theorem, with the accelerator, and in software on the same processor.
"""

from collections.abc import Mapping

from coprime.bus.kinds import Bus
from coprime.catalog import Choice
from coprime.cells.target import Target
from coprime.soc.exponentiation import COMMAND, ExponentiationRun, run_exponentiation
from coprime.soc.riscv import MODULE_NAME, system_verilog
from coprime.soc.simulated_system import DIVISOR

OPERATION = COMMAND.name  # its only operation

_BOARD_DIVISOR = 868  # of a system that is mapped: 115,200 bits per second at 100 MHz


def system_part(choice: Choice, target: Target, bus: Bus) -> tuple[str, str]:
    """Verilog of a system for a target, and the name of its top module.

    Raises as `system_verilog`.
    """
    verilog = system_verilog(choice, target, bus=bus, divisor=_BOARD_DIVISOR)
    return verilog, MODULE_NAME


def simulated_verilog(choice: Choice, bus: Bus) -> str:
    """Verilog of the system in which an exponentiation is simulated. Raises as `system_verilog`."""
    return system_verilog(choice, bus=bus, divisor=DIVISOR)


def measure_exponentiation(
    choice: Choice, bus: Bus, numbers: Mapping[str, int]
) -> tuple[ExponentiationRun, ExponentiationRun]:
    """Exponentiate with the accelerator on a bus, and in software on a processor without one.

    Both are kept by their content, whatever they take; those of software are shared by all systems.
    `numbers` are x, e and m. Raises as `run_exponentiation`.
    """
    x, e, m = (numbers[name] for name in ("x", "e", "m"))
    return (
        run_exponentiation(choice, x, e, m, bus=bus, software=False, kept=True),
        run_exponentiation(None, x, e, m, kept=True),
    )
