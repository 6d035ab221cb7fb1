"""The slots and calls of `lattice` with one scheme, or with both."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from coprime.calls.interface import Call, EngineInterface, Slot
from coprime.model.lattice.ml_dsa_sets import MlDsaSet
from coprime.model.lattice.ml_kem_sets import MlKemSet

from .interface import ml_kem_interface
from .ml_dsa_interface import ml_dsa_interface


@cache
def lattice_interface(
    ml_kem: tuple[MlKemSet, ...],
    ml_dsa: tuple[MlDsaSet, ...],
    *,
    verify_only: bool,
    readable: bool,
    check_signatures: bool = True,
) -> EngineInterface:
    """With these parameter sets; of one scheme there may be none.

    With both, the slots of ML-DSA follow those of ML-KEM, and each call has the parameter sets of
    its scheme. With another one a slot has no bytes, so that it is never complete.
    """
    if not ml_dsa:
        return ml_kem_interface(ml_kem, readable=readable)
    signatures = ml_dsa_interface(
        ml_dsa, verify_only=verify_only, readable=readable, check_signatures=check_signatures
    )
    if not ml_kem:
        return signatures
    keys = ml_kem_interface(ml_kem, readable=readable)
    more = max(slot.number for slot in keys.slots) + 1
    return replace(
        keys,
        slots=(
            *_slots(keys, 0, before=0, after=len(ml_dsa)),
            *_slots(signatures, more, before=len(ml_kem), after=0),
        ),
        calls=(*_calls(keys), *_calls(signatures)),
        parameter_sets=(*keys.parameter_sets, *signatures.parameter_sets),
        constant_time=signatures.constant_time,
    )


def _slots(interface: EngineInterface, more: int, *, before: int, after: int) -> Iterable[Slot]:
    """The slots with other numbers, between parameter sets with which they have no bytes."""
    sets = range(len(interface.parameter_sets))
    for slot in interface.slots:
        lengths = (0,) * before + tuple(map(slot.length, sets)) + (0,) * after
        yield replace(slot, number=slot.number + more, lengths=lengths)


def _calls(interface: EngineInterface) -> Iterable[Call]:
    return (replace(call, sets=interface.parameter_sets) for call in interface.calls)
