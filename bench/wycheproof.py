"""Every RSA file of Wycheproof through a simulated device: the table of docs/rsa.md.

`python -m bench.wycheproof` takes hours, mostly for private keys of 3072 bits and more.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache

from coprime.device.accelerator import Accelerator
from coprime.device.simulated import open_simulation
from tests.wycheproof import RSA_FILES, design_for, vectors

from .page import replace_part, table, thousands

PAGE = "rsa.md"
RESULTS = ("valid", "invalid", "acceptable")


@dataclass(frozen=True)
class Row:
    """A file: the tests of each result in it, and those of them that the device accepted."""

    file: str
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


def run(file: str) -> Row:
    """Run all tests of a file. AssertionError if one ends neither as accepted nor as refused."""
    tests, accepted = Counter(), Counter()
    for vector in vectors(file, acceptable=True):
        bits = next(limit for limit in (2048, 4096, 8192) if vector.n.bit_length() <= limit)
        tests[vector.result] += 1
        accepted[vector.result] += vector.accepted_by(accelerator_for(bits))
    return Row(file, *({name: found[name] for name in RESULTS} for found in (tests, accepted)))


def write(rows: list[Row]) -> None:
    """Write the table."""

    def cells(name: str, tests: Counter, accepted: Counter, result: str) -> tuple[str, ...]:
        counts = (f"{accepted[one]} of {tests[one]}" if tests[one] else "" for one in RESULTS)
        return (name, thousands(sum(tests.values())), *counts, result)

    def sum_of(found: str) -> Counter:
        return sum((Counter(getattr(row, found)) for row in rows), Counter())

    lines = [
        cells(
            row.file.split("/")[-1].removesuffix("_test.json"),
            *(Counter(row.tests), Counter(row.accepted)),
            "passed" if row.passed else "FAILED",
        )
        for row in rows
    ]
    passed = sum(row.passed for row in rows)
    whole = cells("all", sum_of("tests"), sum_of("accepted"), f"{passed} of {len(rows)}")
    head = ["file", "tests", "valid accepted", "invalid accepted", "acceptable accepted", "result"]
    replace_part(PAGE, "wycheproof", table(head, [*lines, whole]))


def main() -> None:
    rows = []
    for file in RSA_FILES:
        rows.append(run(file))
        print(file, "passed" if rows[-1].passed else "FAILED", flush=True)
    write(rows)


if __name__ == "__main__":
    main()
