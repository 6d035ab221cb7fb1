"""The C driver of a package compiles with what is in the package."""

from pathlib import Path

from coprime.flow.tools import run_tool
from coprime.package import drivers, headers
from tests.drivers.harness import WARNINGS, find_c_compiler
from tests.package.designs import described


def test_the_driver_needs_nothing_but_the_package(tmp_path):
    own = described("fdfm")
    for path, text in {**headers.files(own), **drivers.files(own)}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    sources = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("drivers/src/*.c"))
    names = ["coprime", "coprime_keygen", "coprime_serial", "coprime_uio"]
    assert [Path(source).stem for source in sources] == names
    command = [find_c_compiler(), *WARNINGS, "-I.", "-Idrivers/include", "-fsyntax-only", *sources]
    run_tool("the C compiler", command, folder=tmp_path)


def test_a_cluster_has_no_driver_in_c():
    assert drivers.files(described("cluster")) == {}
