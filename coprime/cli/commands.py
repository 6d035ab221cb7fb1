"""Every command: its name, its summary, and the package that has its files.

A package of commands is a module with the table COMMANDS (name: the line that `--help` prints), and
those of these tables that it needs:

- BY_FAMILY: commands that have other options for each family of engines of byte strings, with the
  names of the files of these
- SHARED: commands that share their files, with the name of these
- NAMED_FILES: options whose value is a file or a name, by their metavar, with the names

`coprime.cli` is one. Other distributions have theirs by an entry point in the group
`coprime.commands`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from types import ModuleType

GROUP = "coprime.commands"
ELSEWHERE: Mapping[str, str] = dict.fromkeys(("assess", "report", "sweep"), "coprime-evidence")
"""Commands of other distributions of this repository, with the distribution of each."""


@dataclass(frozen=True)
class CommandEntry:
    """A command."""

    name: str
    summary: str  # the line that `--help` prints
    package: str  # the module whose neighbours are its files
    file: str  # their name
    for_byte_strings: str | None  # the name for engines of byte strings, if they have their own

    def module(self, *, byte_strings: bool = False) -> ModuleType:
        """What it does."""
        return import_module(f"{self.package}.{self._file(byte_strings)}")

    def arguments(self, *, byte_strings: bool = False) -> ModuleType:
        """Its options."""
        return import_module(f"{self.package}.arguments.{self._file(byte_strings)}")

    def _file(self, byte_strings: bool) -> str:
        return self.for_byte_strings if byte_strings and self.for_byte_strings else self.file


@cache
def packages() -> Sequence[ModuleType]:
    """The packages of commands: ours, and those of installed distributions."""
    others = sorted(metadata.entry_points(group=GROUP), key=lambda entry: entry.name)
    return import_module("coprime.cli"), *(entry.load() for entry in others)


@cache
def entries() -> Mapping[str, CommandEntry]:
    """Every command by its name."""
    found = {}
    for package in packages():
        by_family, shared = (getattr(package, name, {}) for name in ("BY_FAMILY", "SHARED"))
        for name, summary in package.COMMANDS.items():
            file = shared.get(name, name).replace("-", "_")
            found[name] = CommandEntry(name, summary, package.__name__, file, by_family.get(name))
    return found


def named_files() -> Mapping[str, Sequence[str]]:
    """The options whose value is a file or a name, by their metavar, with the names."""
    tables = [getattr(package, "NAMED_FILES", {}) for package in packages()]
    return {metavar: names for table in tables for metavar, names in table.items()}
