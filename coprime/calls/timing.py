"""What a proof of constant time takes for granted of an engine of byte strings, and what it proves
on the way: signals that secrets, or words of memories, lead to, and that control reads.
"""

from dataclasses import dataclass

from amaranth.hdl import Signal


@dataclass(frozen=True, kw_only=True)
class TimingPremises:
    """Signals of an engine; all others that control reads must have no path from a secret.

    Parameters
    ----------
    public : depend on words of memories, and on no secret among them: the engine says why. Two
        copies of the engine are compared as long as these are the same in both
    faults : a memory has returned another word than was written: 0 without a fault
    proved : the same whatever the secrets, although secrets lead there: a solver proves that
    """

    public: tuple[Signal, ...] = ()
    faults: tuple[Signal, ...] = ()
    proved: tuple[Signal, ...] = ()


def timing_premises(engine: object) -> TimingPremises:
    """Those of an engine; none if it does not name any."""
    found = getattr(engine, "timing_premises", None)
    return found if isinstance(found, TimingPremises) else TimingPremises()
