"""What was assessed of the families: the figures that ship with Coprime, from assessed.json.

`python tools/assessed.py` writes the file from records of `coprime assess ... --json`.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from coprime.calls.family import CallChoice
from coprime.catalog import CALL_FAMILIES, Choice, ClusterChoice
from coprime.package.figures import PROVED, Assessed

SHIPPED = Path(__file__).parent / "assessed.json"
"""The file: a list of records, each with `assessment`, `family`, `parameters`, `sizes`."""

SIZES = frozenset({"max_bits", "word", "latency", "modulus", "factor", "extra_bits"})
"""Parameters in which an assessed design may differ from the one that it is shown for."""


MOST_T = 1e9
"""|t| in a record of power where a sample differs between the groups and never within one, as
`assess/moments.py` has it; JSON has no infinity."""


def find(choice: Choice | CallChoice | ClusterChoice) -> Sequence[Assessed]:
    """What was assessed of a family with these parameters but SIZES; of a cluster, its engines'."""
    core = choice if isinstance(choice, CallChoice) else choice.core
    parameters = {name: value for name, value in core.values.items() if name not in SIZES}
    return [
        _SHOWN[record["assessment"]](record)
        for record in _records()
        if record["family"] == core.family.name and record["parameters"] == parameters
    ]


@cache
def _records() -> Sequence[Mapping[str, Any]]:
    records: Sequence[Mapping[str, Any]] = json.loads(SHIPPED.read_text("utf-8"))
    return records


def _sizes(record: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in record["sizes"].items())


def _constant_time(record: Mapping[str, Any]) -> Assessed:
    of_calls = record["family"] in CALL_FAMILIES
    sizes = "" if of_calls else f", {_sizes(record)}"
    return Assessed(
        assessment="constant time",
        what=f"the whole engine{sizes}",
        amount="every input and secret, by a search of the netlist and a solver"
        if of_calls
        else "every input and secret, by a solver",
        result=PROVED if record["proved"] else _differs(record["cycle"]),
    )


def _differs(cycle: int | None) -> str:
    return "not proved" if cycle is None else f"differs in cycle {cycle}"


def _faults(record: Mapping[str, Any]) -> Assessed:
    seeds = f"{record['seeds']} seed{'s' if record['seeds'] > 1 else ''}"
    size = f"{record['bits']} bits" if "bits" in record else record["parameter_set"]
    refused = "inputs that are refused" if record.get("refused_inputs") else ""
    parts = [part for part in (record["operation"], size, refused) if part]
    return Assessed(
        assessment="faults",
        what=f"{', '.join(parts)}, kind: {record['kind']}",
        amount=f"{record['flips']:,} runs, {seeds}",
        result=(
            f"{record['wrong']:,} wrong results, {record['reveals']:,} of them reveal"
            f" {'the key' if 'bits' in record else 'a secret'};"
            f" probability below {record['upper_bound']:.2g} with {record['confidence']:.0%}"
            " confidence"
        ),
    )


def _t(value: float) -> str:
    return f"{value:.1f}" if value < MOST_T else "infinite"


def _power(record: Mapping[str, Any]) -> Assessed:
    orders = (
        f"order {order['order']}: largest |t| {_t(order['largest'])}, threshold"
        f" {order['corrected_threshold']:.1f}, {order['above_corrected']:,} samples above it"
        for order in record["orders"]
    )
    return Assessed(
        assessment="power",
        what=(
            f"{record['operation']}, {record['bits']} bits, fixed against random"
            f" {record['test']}, {record['model']}, noise {record['noise']:g}"
        ),
        amount=f"{record['traces']:,} traces",
        result="; ".join(orders),
    )


_SHOWN = {"constant time": _constant_time, "faults": _faults, "power": _power}
