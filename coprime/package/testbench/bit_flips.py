"""Bits that a testbench turns over, like a fault in the hardware, and the design must notice."""

from dataclasses import dataclass

from coprime.engine.contract import Length
from coprime.program.steps import StepKind

_FETCH = 1
"""The sequencer's state in which a step may wait until the one before has left the linear unit."""


@dataclass(frozen=True)
class BitFlip:
    """A bit that the testbench turns over while a private operation runs: the result is FAULT.

    Parameters
    ----------
    title : what the design notices
    register : its path in the design
    mask : has the bit
    after : an expression in Verilog that is 1 before, once the command has begun; "" for none
    cycles : from then, or from the write of COMMAND, to the flip
    forgets : whether all operands are forgotten then
    """

    title: str
    register: str
    mask: int
    after: str = ""
    cycles: int = 0
    forgets: bool = True


def bit_flips(width: int, whole: int, front: int) -> list[BitFlip]:
    """One in each part of a design with checked results that notices faults by itself.

    Parameters
    ----------
    width : bits of a number of digits
    whole : cycles of the private operation, from the write of COMMAND to the interrupt
    front : how many of these the front end takes, before the engine and after it
    """
    late = whole - front // 4  # the result is being converted
    operands, engine = "front_end.operands.", "engine.lane."
    counts = [
        BitFlip(
            f"{length.name}_LENGTH in digits is another than when it was written",
            f"{operands}state__counts",
            1 << length * width + length % width,
            cycles=late,
        )
        for length in (Length.MODULUS, Length.EXPONENT, Length.P, Length.Q)
    ]
    return [
        BitFlip(
            "M has been loaded with another length",
            f"{operands}state__counts",
            1 << width - 1,
            cycles=front // 3,
            forgets=False,
        ),
        *counts,
        BitFlip("a length has changed", f"{operands}state__lengths", 1, cycles=late),
        BitFlip(
            "it is not the command that was given", "front_end.seal.of_command", 1, cycles=late
        ),
        BitFlip(
            "the result is not below the modulus",
            f"{engine}linear_unit.borrow",
            1,
            after=f"dut.{engine}sequencer.step_kind == {StepKind.CHECK_REDUCED}"
            f" & dut.{engine}sequencer.fsm_state != {_FETCH} & dut.{engine}linear_unit.done",
            cycles=1,
        ),
        *(
            BitFlip(
                f"the result is not checked modulo {prime}",
                f"{engine}sequencer.proof.passed",
                mask,
                after=f"dut.{engine}sequencer.proof.complete & dut.{engine}sequencer.busy",
            )
            for prime, mask in (("P", 1), ("Q", 2))
        ),
        BitFlip(
            "the result is not the one that was checked",
            f"{engine}result_check.read_1",
            1,
            after=f"dut.{engine}result_check.asked_4",
        ),
    ]
