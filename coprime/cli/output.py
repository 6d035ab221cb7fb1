"""What commands print and where they write: JSON, tables, checks of -o."""

import argparse
import errno
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from coprime.flow.files import check_writable, naming, write_file


class _Recorded(Protocol):
    """Has its fields as JSON has them."""

    def record(self) -> dict[str, object]: ...


STANDARD_OUTPUT = "standard output"


# --- Files --------------------------------------------------------------------------------------


def check_file(option: str, path: Path) -> None:
    """Raise ValueError, before any work, unless an option's file can be written.

    Its folder must be there: a folder that is made because its name was mistyped is found by no
    one.
    """
    _check(option, path, path)
    if not path.parent.exists():
        raise ValueError(
            f"{option} {path}: there is no folder {path.parent}; make it: mkdir -p {path.parent}"
        )


def check_folder(option: str, path: Path) -> None:
    """Raise ValueError, before any work, unless files can be written into an option's folder.

    It is made if need be, with those above it, as the option's help says.
    """
    if path.exists() and not path.is_dir():
        raise ValueError(f"{option} names a file, {path}: name a folder")
    _check(option, path, path / "file")


def _check(option: str, path: Path, file: Path) -> None:
    try:
        check_writable(file)
    except OSError as error:
        if error.errno == errno.EISDIR:
            message = f"{option} names a folder, {path}: add the name of a file"
        elif error.errno == errno.ENOTDIR:
            message = f"{option} {path}: a part of this path is a file, not a folder"
        else:
            message = f"{option} {path}: {error.filename}: {error.strerror}; name another place"
        raise ValueError(message) from None


def write_output(name: str, data: bytes, *, secret: bool = False) -> None:
    """Write a file, a `secret` one for its owner only; `-` is standard output."""
    if name == "-":
        with naming(STANDARD_OUTPUT):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
    else:
        write_file(Path(name), data, secret=secret)


def deliver(
    options: argparse.Namespace,
    name: str,
    data: bytes,
    record: Mapping[str, object],
    *,
    secret: bool = False,
) -> None:
    """Write what a command has made to -o; with --json print a record of it, too.

    In the record it is called `name`, in hexadecimal digits, unless -o names a file.
    """
    to_file = str(options.output) != "-"
    if to_file or not options.json:
        write_output(str(options.output), data, secret=secret)
    if options.json:
        place = str(options.output) if to_file else None
        print_json({**record, name: None if to_file else data.hex(), "output": place})


# --- Text ---------------------------------------------------------------------------------------


def print_json(value: object) -> None:
    """Print a record."""
    print(json.dumps(value, indent=2))


def print_table(rows: Sequence[tuple[str, object]]) -> None:
    """Print names and values in two columns."""
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {_text(value)}")


def _text(value: object) -> str:
    """A value as a reader wants it: counts by their names, and names one after the other."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {item}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def print_result(result: _Recorded, rows: Sequence[tuple[str, object]], *, as_json: bool) -> None:
    """Print a result as JSON, or as a table of these rows."""
    if as_json:
        print_json(result.record())
    else:
        print_table(rows)


def report_work(what: str) -> None:
    """Say on standard error what takes long; above the bar of a `progress`, if there is one."""
    print(f"coprime: {what} ...", file=sys.stderr)
