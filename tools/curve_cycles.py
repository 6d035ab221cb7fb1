"""Predicts cycles of the designs to choose among on each named curve: curve_cycles.json.

After a change of the programs of operations on curves, or of the specifications that
`coprime choose` has designs of: `python tools/curve_cycles.py` (about five minutes).
"""

import json
from collections.abc import Iterator

from coprime_evidence.sweeps.specification import read_specification

from coprime.ec.samples import AnyCurve, curve_of_length, curves_of
from coprime.engine.contract import Command
from coprime.explore.curve_prediction import predicted_cycles
from coprime.explore.on_curve import SHIPPED_CYCLES
from coprime.explore.points import Design
from coprime.explore.shipped import TO_CHOOSE
from coprime.flow.files import write_file


def wanted() -> Iterator[tuple[Design, Command, list[AnyCurve]]]:
    """Each design and operation, with the curves on which no specification measures it."""
    measured: dict[tuple[Design, Command], set[str]] = {}
    for name in TO_CHOOSE:
        for planned in read_specification(name):
            command = Command.__members__.get(planned.run.operation)
            if command is not None and command.operation.on_curve:
                choice = planned.run.choice
                design = choice.family.name, tuple(sorted(choice.values.items()))
                curve = curve_of_length(command, planned.run.bits)
                measured.setdefault((design, command), set()).add(curve.name)
    for (design, command), names in sorted(measured.items(), key=str):
        yield design, command, [one for one in curves_of(command) if one.name not in names]


def main() -> None:
    """Write the file."""
    cycles: dict[Design, dict[str, dict[str, int | None]]] = {}
    for design, command, curves in wanted():
        found = {curve.name: predicted_cycles(design, command, curve) for curve in curves}
        if found:
            cycles.setdefault(design, {})[command.name] = found
        print(f"{design[0]} {dict(design[1])}, {command.name}: {len(found)} curves", flush=True)
    rows = [
        {"family": family, "parameters": dict(parameters), "cycles": by_operation}
        for (family, parameters), by_operation in cycles.items()
    ]
    lines = ",\n".join(json.dumps(row) for row in rows)
    write_file(SHIPPED_CYCLES, f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
