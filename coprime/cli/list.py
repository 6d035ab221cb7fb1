"""`coprime list`: the families with parameters and operations."""

import argparse
from typing import Any

from coprime.calls.interface import Slot
from coprime.catalog import (
    CALL_FAMILIES,
    CLUSTER,
    CLUSTER_PARAMETERS,
    FAMILIES,
    SUITE,
    SUITE_ENGINES,
    CallChoice,
    choose_suite,
)
from coprime.parameters import AnyParameter, BudgetParameter
from coprime.suites import EnginesParameter

from .output import print_json

_NOT_INHERITED = {"name", "paper", "summary", "parameters"}
"""Keys of a family's record that a cluster has values of its own for."""


def run(options: argparse.Namespace) -> None:
    """Print the families."""
    records = [record for record in _records() if options.family in (None, record["name"])]
    if options.json:
        print_json(records)
        return
    for record in records:
        print(f"{record['name']}  ({record['paper'] or 'our own'}): {record['summary']}")
        for parameter in record["parameters"]:
            summary, span = parameter["summary"], _span(parameter)
            print(f"    -p {parameter['name']}=  {summary} ({span}, {_default(parameter)})")
        for slot in record.get("slots", ()):
            print(f"    {slot['name']}: {slot['summary']} ({_bytes(slot)})")
        print(f"    {', '.join(record['operations'])}")


def _records() -> list[dict[str, Any]]:
    """A record of each family, of the cluster and of the suite."""
    records: list[dict[str, Any]] = [
        {
            "name": family.name,
            "paper": family.paper,
            "summary": family.summary,
            "parameters": [_parameter(parameter) for parameter in family.settings],
            "operations": [command.name for command in sorted(capabilities.required)],
            "constant_time": capabilities.constant_time,
            "max_length": capabilities.max_length,
            "max_prime_length": capabilities.max_prime_length,
        }
        for family in FAMILIES.values()
        for capabilities in [family.choose({}).design.capabilities]
    ]
    default = next(iter(FAMILIES))
    cluster = {
        "name": CLUSTER,
        "paper": "FDFM",
        "summary": "many engines on a chain of shift registers, with one bus slave",
        "parameters": [
            {
                "name": "engine",
                "type": "family",
                "choices": list(FAMILIES),
                "default": default,
                "summary": "family of the cores, whose parameters follow",
            },
            *(_parameter(parameter) for parameter in CLUSTER_PARAMETERS),
            *(_parameter(parameter) for parameter in FAMILIES[default].parameters),
            *(_parameter(parameter) for parameter in FAMILIES[default].operations),
        ],
        **{key: value for key, value in records[0].items() if key not in _NOT_INHERITED},
    }
    return [*records, *_call_records(), cluster, _suite_record()]


def _suite_record() -> dict[str, Any]:
    """That of the suite, with the operations and calls of its default engines."""
    choice = choose_suite({})
    names = [
        call.name
        for engine in choice.engines
        for call in (
            engine.design.interface.calls
            if isinstance(engine, CallChoice)
            else sorted(engine.design.capabilities.required)
        )
    ]
    return {
        "name": SUITE,
        "paper": "",
        "summary": "several engines of any kinds, each a core, with one bus slave",
        "parameters": [_parameter(SUITE_ENGINES)],
        "operations": names,
    }


def _call_records() -> list[dict[str, Any]]:
    """A record of each family of engines of byte strings."""
    return [
        {
            "name": family.name,
            "paper": family.paper,
            "summary": family.summary,
            "parameters": [_parameter(parameter) for parameter in family.settings],
            "operations": [call.name for interface in interfaces for call in interface.calls],
            "parameter_sets": [
                name for interface in interfaces for name in interface.parameter_sets if name
            ],
            "slots": [_slot(slot) for interface in interfaces for slot in interface.slots],
            "constant_time": all(interface.constant_time for interface in interfaces),
        }
        for family in CALL_FAMILIES.values()
        for interfaces in [family.interfaces]
    ]


def _slot(slot: Slot) -> dict[str, object]:
    """A slot's record; `bytes` by parameter set, null for one of any length."""
    return {
        "name": slot.name,
        "number": slot.number,
        "bytes": None if slot.streamed else list(slot.lengths),
        "secret": slot.secret,
        "readable": slot.readable,
        "summary": slot.summary,
    }


def _bytes(slot: dict[str, Any]) -> str:
    """Lengths of a slot, and what of it is not as usual."""
    size = "any length" if slot["bytes"] is None else f"{', '.join(map(str, slot['bytes']))} bytes"
    return ", ".join([size, *(["secret"] if slot["secret"] else [])])


def _parameter(parameter: AnyParameter | BudgetParameter | EnginesParameter) -> dict[str, object]:
    return {
        "name": parameter.name,
        **parameter.record,
        "default": parameter.default,
        "summary": parameter.summary,
    }


def _span(parameter: dict[str, Any]) -> str:
    """The values that a parameter can have."""
    if parameter["type"] in ("int", "budget"):
        return f"{parameter['minimum']}..{parameter['maximum']}"
    if parameter["type"] == "modulus":
        return "p-256, curve25519, ..."
    return ", ".join(parameter["choices"])


def _default(parameter: dict[str, Any]) -> str:
    """What is taken if the parameter is not set."""
    if parameter["type"] == "budget":
        return f"picks those of {', '.join(parameter['picks'])} that are not set"
    return f"default {parameter['default']}"
