"""The README of a package."""

import re

import pytest

from coprime.package import readme
from tests.package.designs import described


@pytest.mark.matrix(quick=2)
def test_the_readme_names_every_file(contents):
    rows = {*re.findall(r"^\| `([^`]+)` \|", contents["README.md"], re.M)}
    tops = {f"{path.split('/')[0]}/" if "/" in path else path for path in contents}
    assert rows == tops - {"README.md"}


@pytest.mark.matrix(quick=2)
def test_the_readme_names_only_files_that_are_there(contents):
    names = re.findall(r"`([\w/]+\.(?:\w+))`", contents["README.md"])
    assert names
    assert {*names} - {*contents} == set()


def test_a_file_without_a_purpose_is_refused():
    with pytest.raises(ValueError, match=r"stray\.bin: .* does not say what it is for"):
        readme.files(described("fdfm"), ["stray.bin"])
