"""Families of engines of byte strings, and their records."""

import pytest

from coprime.bus.call_front_end import CallFrontEnd
from coprime.calls.ports import CallSignature
from coprime.catalog import CALL_FAMILIES, FAMILIES, choose, choose_calls
from coprime.cells.target import Target
from tests.calls.mock import INTERFACE

every = pytest.mark.parametrize("family", CALL_FAMILIES.values(), ids=CALL_FAMILIES)


@every
def test_a_record_is_sound(family):
    """Names, numbers and codes are distinct and in range, calls name slots, and draws fit."""
    interface = family.choose({}).design.interface
    assert interface.family == family.name
    slots, calls = interface.slots, interface.calls
    assert len({one.name for one in slots}) == len({one.number for one in slots}) == len(slots)
    assert len({one.name for one in calls}) == len({one.code for one in calls}) == len(calls)
    assert all(one.number in range(31) for one in slots)
    assert all(one.code in range(17, 64) for one in calls)
    for slot in slots:
        assert len(slot.lengths) in (1, len(interface.parameter_sets))
        assert slot.streamed == (slot.lengths == (0,))
        assert not slot.number_of or interface.slot[slot.number_of].streamed
    for call in calls:
        names = {*call.inputs, *call.outputs, *call.uses_up, *call.optional, *call.sizes}
        assert names <= interface.slot.keys()
        assert call.optional | call.uses_up <= {*call.inputs}
    CallFrontEnd(interface)


@every
def test_numbers_of_families_are_distinct(family):
    numbers = [one.choose({}).design.interface.family_number for one in CALL_FAMILIES.values()]
    numbers += [one.choose({}).design.capabilities.family_number for one in FAMILIES.values()]
    assert numbers.count(family.choose({}).design.interface.family_number) == 1


@every
def test_the_hardware_has_the_ports_of_the_record(family):
    design = family.choose({}).design
    for target in Target:
        engine = design.hardware(target)
        assert engine.interface is design.interface
        assert engine.signature.members == CallSignature(design.interface).members


@every
def test_choices(family):
    choice = family.choose({})
    assert choice == choose_calls(family.name, {})
    assert hash(choice) == hash(family.choose({}))
    words = "".join(f" -p {name}={value}" for name, value in choice.values.items())
    assert choice.command("build", Target.XC7) == f"coprime build {family.name}{words} --target xc7"
    assert choice.module_name == f"coprime_{family.name}"


def test_wrong_choices():
    with pytest.raises(ValueError, match="no family is called 'shaek'; did you mean shake"):
        choose_calls("shaek", {})
    with pytest.raises(ValueError, match="fdfm works on numbers, not on byte strings: name one of"):
        choose_calls("fdfm", {})
    with pytest.raises(ValueError, match="shake works on byte strings, and this takes an engine"):
        choose("shake", {})
    with pytest.raises(ValueError, match="shake has no parameter 'slice'; did you mean slices"):
        choose_calls("shake", {"slice": "8"})


def test_lengths_of_outputs():
    copy, echo = INTERFACE.call["COPY"], INTERFACE.call["ECHO"]
    assert INTERFACE.length(copy, "copy", "long", {}) == 12
    shake = CALL_FAMILIES["shake"].choose({}).design.interface
    assert shake.length(shake.call["SHA3_384"], "output", "", {}) == 48
    values = {"output_bytes": (1000).to_bytes(4, "little")}
    assert shake.length(shake.call["SHAKE128"], "output", "", values) == 1000
    with pytest.raises(KeyError):
        INTERFACE.length(echo, "missing", "short", {})
