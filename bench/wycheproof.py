"""Every RSA file of Wycheproof through a simulated device: the table of docs/results.md.

`python -m bench.wycheproof` takes hours, mostly for private keys of 3072 bits and more.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache

from coprime.device.accelerator import Accelerator
from coprime.device.simulated import open_simulation
from tests.integers import IntegerAccelerator
from tests.wycheproof import RSA_FILES, design_for, vectors

from .page import replace_part, table, thousands

PAGE = "results.md"
RESULTS = ("valid", "invalid", "acceptable")


@dataclass(frozen=True)
class Row:
    """A file: the tests of each result in it, and those of them that were accepted.

    Parameters
    ----------
    device : the family that computed, or "integers" for Python's
    """

    file: str
    device: str
    tests: dict[str, int]
    accepted: dict[str, int]

    @property
    def passed(self) -> bool:
        """Whether everything valid was accepted, and nothing invalid."""
        return self.accepted["valid"] == self.tests["valid"] and not self.accepted["invalid"]


@cache
def accelerator_for(bits: int) -> Accelerator:
    """Simulated for all that needs it."""
    return Accelerator(open_simulation(design_for(bits)))


def run(file: str, *, simulated: bool = True) -> Row:
    """Run all tests of a file. AssertionError if one ends neither as accepted nor as refused."""
    tests, accepted = Counter(), Counter()
    for vector in vectors(file, acceptable=True):
        bits = next(limit for limit in (2048, 4096, 8192) if vector.n.bit_length() <= limit)
        tests[vector.result] += 1
        accelerator = accelerator_for(bits) if simulated else IntegerAccelerator()
        accepted[vector.result] += vector.accepted_by(accelerator)
    counts = ({name: found[name] for name in RESULTS} for found in (tests, accepted))
    return Row(file, design_for(1).family.name if simulated else "integers", *counts)


def write(rows: list[Row]) -> None:
    """Write the table."""

    def cells(name: str, device: str, tests: Counter, accepted: Counter, result: str):
        counts = (
            f"{thousands(accepted[one])} of {thousands(tests[one])}" if tests[one] else ""
            for one in RESULTS
        )
        return name, device, thousands(sum(tests.values())), *counts, result

    def sum_of(found: str) -> Counter:
        return sum((Counter(getattr(row, found)) for row in rows), Counter())

    lines = [
        cells(
            row.file.split("/")[-1].removesuffix("_test.json"),
            row.device,
            *(Counter(row.tests), Counter(row.accepted)),
            "passed" if row.passed else "FAILED",
        )
        for row in rows
    ]
    passed = sum(row.passed for row in rows)
    whole = cells("all", "", sum_of("tests"), sum_of("accepted"), f"{passed} of {len(rows)}")
    head = [
        "file",
        "on",
        "tests",
        "valid accepted",
        "invalid accepted",
        "acceptable accepted",
        "result",
    ]
    replace_part(PAGE, "wycheproof", table(head, [*lines, whole]))


def main() -> None:
    rows = []
    for file in RSA_FILES:
        rows.append(run(file))
        print(file, "passed" if rows[-1].passed else "FAILED", flush=True)
    write(rows)


if __name__ == "__main__":
    main()
