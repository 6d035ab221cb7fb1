"""The C driver of a package compiles with what is in the package."""

from pathlib import Path

import pytest

from coprime.flow.tools import run_tool
from coprime.package import drivers, headers
from tests.drivers.harness import WARNINGS, find_c_compiler
from tests.package.designs import described

ALONE = [
    *("coprime", "coprime_curves", "coprime_keygen", "coprime_named_curves", "coprime_pool"),
    *("coprime_serial", "coprime_uio"),
]


@pytest.mark.parametrize(
    ("design", "expected"), [("fdfm", ALONE), ("cluster", sorted([*ALONE, "coprime_cluster"]))]
)
def test_the_driver_needs_nothing_but_the_package(tmp_path, design, expected):
    own = described(design)
    for path, text in {**headers.files(own), **drivers.files(own)}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    sources = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("drivers/src/*.c"))
    assert [Path(source).stem for source in sources] == expected
    command = [find_c_compiler(), *WARNINGS, "-I.", "-Idrivers/include", "-fsyntax-only", *sources]
    run_tool("the C compiler", command, folder=tmp_path)
