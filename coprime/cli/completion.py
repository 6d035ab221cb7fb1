"""`coprime completion`: a script by which a shell completes this command line.

The scripts follow from the parser. Where an option's value has no fixed list of choices, the table
`_values` says by its name what may come: files, families, the parameters of the family.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence

import shtab

from coprime.catalog import (
    CALL_FAMILIES,
    CLUSTER,
    CLUSTER_PARAMETERS,
    FAMILIES,
    SUITE,
    SUITE_ENGINES,
)
from coprime.cli import parser
from coprime.cli.commands import named_files
from coprime.flow.cache_kinds import KINDS
from coprime.padding.scheme import Padding

Completion = dict[str, str | dict[str, str]]
"""For each shell, what it evaluates; "preamble" has the functions that this needs."""


def run(options: argparse.Namespace) -> None:
    """Print the script."""
    print(script(parser(), options.shell))


def script(whole: argparse.ArgumentParser, shell: str) -> str:
    """The script for a parser and one of SHELLS."""
    files = {"FILE": shtab.FILE, "FST": shtab.FILE, "DIR": shtab.DIRECTORY}
    values = _values() | files
    for action in _actions(whole):
        if action.metavar in values:
            action.complete = values[str(action.metavar)]  # type: ignore[attr-defined]
    return str(shtab.complete(whole, shell)).rstrip()


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """All options and arguments, those of subcommands too."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _actions(inner)
        else:
            yield action


def _values() -> dict[str, Completion]:
    """What may come, by the name that `--help` gives the value."""
    devices = [f"sim:{name}" for name in FAMILIES]
    return {
        "FAMILY": _words("families", [*FAMILIES, *CALL_FAMILIES, CLUSTER, SUITE]),
        "NAME=VALUE": _parameters(),
        "DEVICE": _words("devices", [*devices, "serial:/dev/ttyUSB0", "uio:/dev/uio0"]),
        "KIND": _words("kinds", KINDS),
        "LIST": _words("paddings", [padding.value for padding in Padding]),
    } | {
        metavar: _words(metavar.partition(".")[0].lower(), names, files=True)
        for metavar, names in named_files().items()
    }


def _words(name: str, words: Iterable[str], *, files: bool = False) -> Completion:
    """One of some words, or also a file."""
    listed, function = " ".join(words), f"_coprime_{name}{'_or_file' if files else ''}"
    bash = [f'compgen -W "{listed}" -- "$1"', *(['compgen -f -- "$1"'] if files else [])]
    zsh = [f"compadd -- {listed}", *(["_files"] if files else [])]
    return {
        "bash": function,
        "zsh": function,
        "fish": f"{listed} (__fish_complete_path (commandline -ct))" if files else listed,
        "preamble": {"bash": _function(function, bash), "zsh": _function(function, zsh)},
    }


def _parameters() -> Completion:
    """The parameters of the family that the command line names, each with its equals sign."""
    cores = ["engine", *(parameter.name for parameter in CLUSTER_PARAMETERS)]
    names = {
        family.name: [setting.name for setting in family.settings] for family in FAMILIES.values()
    }
    names[CLUSTER] = [
        *cores,
        *dict.fromkeys(name for settings in names.values() for name in settings),
    ]
    names |= {
        family.name: [setting.name for setting in family.settings]
        for family in CALL_FAMILIES.values()
    }
    names[SUITE] = [SUITE_ENGINES.name]
    cases = {name: " ".join(f"{setting}=" for setting in own) for name, own in names.items()}
    function = "_coprime_parameters"
    bash = [
        'case "${COMP_WORDS[2]}" in',
        *(f'  {name}) compgen -W "{own}" -- "$1" ;;' for name, own in cases.items()),
        "esac",
        "compopt -o nospace 2>/dev/null || :",
    ]
    zsh = [
        "case $words[2] in",
        *(f"  {name}) compadd -S '' -- {own} ;;" for name, own in cases.items()),
        "esac",
    ]
    fish = [
        "switch (commandline -opc)[3]",
        *(f"  case {name}\n    printf '%s\\n' {own}" for name, own in cases.items()),
        "end",
    ]
    return {
        "bash": function,
        "zsh": function,
        "fish": f"({function})",
        "preamble": {
            "bash": _function(function, bash),
            "zsh": _function(function, zsh),
            "fish": "\n".join([f"function {function}", *(f"  {line}" for line in fish), "end"]),
        },
    }


def _function(name: str, lines: Sequence[str]) -> str:
    return "\n".join([f"{name}() {{", *(f"  {line}" for line in lines), "}"])
