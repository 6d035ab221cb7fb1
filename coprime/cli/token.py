"""`coprime token`: build the PKCS #11 module, and simulated devices for it; make a token ready,
show, check and save it; make keys of ML-DSA in it, and certificates and signatures with them.
"""

import argparse
import os
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coprime.encodings.certificates import Signer
from coprime.token import ml_dsa
from coprime.token.build import build_device, build_token
from coprime.token.module import ADVISED_PIN, MIN_PIN, NOT_RECOGNIZED, TokenError, TokenModule
from coprime.token.token_files import DamagedError, read_file, repair, save

from .certificates import write_certificate, write_cms, write_request
from .key_files import ask, first_line
from .options import FAILED, STANDARD, chosen_of_all
from .output import check_file, check_folder, print_json, report_work, write_output
from .progress import announce, progress

_TAKES = "building the module and its simulated engine: half a minute or more, the first time"
"""Measured: 24 s of processor time, of which the engine's simulation takes 20."""
_INDENT: Any = {"initial_indent": "  ", "subsequent_indent": "    "}


def run_build(options: argparse.Namespace) -> None:
    """Build both files, and say where they are."""
    check_folder("-o", options.output)
    report_work(_TAKES)
    with progress("building the token"):
        made = build_token(options.output)
    for path in made:
        print(path)


def run_simulation(options: argparse.Namespace) -> None:
    """Write the library of a simulated device."""
    check_file("-o", options.output)
    choice = chosen_of_all(options)
    announce(choice)
    with progress("building the simulated device"):
        library = build_device(choice)
    write_output(str(options.output), library.read_bytes())


def run_init(options: argparse.Namespace) -> int | None:
    """Make a token ready.

    Raises ValueError for what the module refuses.
    """
    officer = _pin(options.so_pin_file, "PIN of the security officer: ", "--so-pin-file")
    user = _pin(options.pin_file, "PIN of the user: ", "--pin-file")
    _advise(officer, user)
    module = _load(options)
    try:
        with module.running():
            module.initialize(options.slot, options.label, officer, user)
    except TokenError as error:
        raise ValueError(str(error)) from error
    return None


def _advise(*pins: bytes) -> None:
    """Say which PINs do not withstand whoever has the file."""
    if any(MIN_PIN <= len(pin) < ADVISED_PIN for pin in pins):
        print(
            f"coprime: a PIN of fewer than {ADVISED_PIN} characters can be found by whoever"
            " reads the token's file",
            file=sys.stderr,
        )


def run_check(options: argparse.Namespace) -> int | None:
    """Say what is in both files; with a PIN, whether they are what was written with it."""
    folder = _folder(options)
    damaged = False
    for name in ("token", "token.old"):
        path = folder / name
        try:
            found = read_file(path)
        except FileNotFoundError:
            print(f"{name}: there is none")
            damaged = damaged or name == "token"
        except DamagedError as error:
            print(f"{name}: {error}")
            damaged = True
        else:
            guests = f", {found.guests} of them written without a PIN" if found.guests else ""
            print(
                f"{name}: whole, {found.label}, generation {found.generation},"
                f" {found.objects} objects{guests}, {found.size} bytes"
            )
    if damaged:
        return FAILED
    return _check_pin(options, folder) if options.pin_file else None


def _check_pin(options: argparse.Namespace, folder: Path) -> int | None:
    os.environ["COPRIME_TOKEN_DIR"] = str(folder)
    module = _load(options)
    try:
        with module.running():
            module.check_pin(0, _pin(options.pin_file, "", "--pin-file"))
    except TokenError as error:
        changed = error.code == NOT_RECOGNIZED
        print("the file was changed by somebody without a PIN" if changed else error)
        return FAILED
    print("all of it was written with a PIN, except objects marked as written without")
    return None


def run_repair(options: argparse.Namespace) -> None:
    """Restore the generation before."""
    found = repair(_folder(options))
    print(f"restored {found.label}, generation {found.generation}, with {found.objects} objects")


def run_backup(options: argparse.Namespace) -> None:
    """Copy the file."""
    check_file("-o", options.output)
    found = save(_folder(options), options.output)
    print(f"{options.output}: {found.label}, generation {found.generation}, {found.size} bytes")


def _folder(options: argparse.Namespace) -> Path:
    named = options.dir or os.environ.get("COPRIME_TOKEN_DIR")
    if not named:
        raise ValueError("name the token's folder with --dir, or in COPRIME_TOKEN_DIR")
    folder = Path(named)
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    return folder


def run_info(options: argparse.Namespace) -> int | None:
    """Print each slot's token, what it can do, and what its keys may do."""
    module = _load(options)
    pin = _pin(options.pin_file, "", "--pin-file") if options.pin_file else None
    try:
        with module.running():
            slots = [_slot_of(module, slot, pin) for slot in module.slots()]
    except TokenError as error:
        print(f"coprime: {error}", file=sys.stderr)
        return FAILED
    if options.json:
        print_json({"module": str(options.module.resolve()), "slots": slots})
        return None
    print(f"module {options.module.resolve()}")
    for slot in slots:
        _print_slot(slot)
    return None


def run_keygen(options: argparse.Namespace) -> None:
    """Make a key pair of ML-DSA in the token. ValueError for what it refuses."""
    with _logged_in(options) as (module, pin):
        ml_dsa.generate(module, options.slot, pin, options.label, options.set)


def run_certificate(options: argparse.Namespace) -> None:
    """Write a certificate that a key of the token signs for itself."""
    write_certificate(options, _signer(options))


def run_request(options: argparse.Namespace) -> None:
    """Write a request for a certificate of a key of the token."""
    write_request(options, _signer(options))


def run_cms(options: argparse.Namespace) -> None:
    """Sign a file as CMS. ValueError if the certificate is another key's, or none."""
    write_cms(options, _signer(options), repr(options.label))


@contextmanager
def _signer(options: argparse.Namespace) -> Iterator[Signer]:
    """The key of --label. ValueError as `ml_dsa.signer`, and if -o cannot be written."""
    if options.output != STANDARD:
        check_file("-o", Path(options.output))
    with (
        _logged_in(options) as (module, pin),
        ml_dsa.signer(module, options.slot, pin, options.label) as signer,
    ):
        yield signer


@contextmanager
def _logged_in(options: argparse.Namespace) -> Iterator[tuple[TokenModule, bytes]]:
    """The module, and the PIN. ValueError for what the module refuses."""
    module = _load(options)
    pin = _pin(options.pin_file, "PIN of the user: ", "--pin-file")
    try:
        with module.running():
            yield module, pin
    except TokenError as error:
        raise ValueError(str(error)) from error


def _slot_of(module: TokenModule, slot: int, pin: bytes | None) -> dict[str, Any]:
    """A slot's token, its mechanisms and its keys."""
    state = module.state(slot)
    keys = module.keys(slot, pin) if state.user_pin else []
    return {
        **state.__dict__,
        "mechanisms": module.mechanisms(slot),
        "keys": [key.__dict__ for key in keys],
    }


def _print_slot(slot: dict[str, Any]) -> None:
    named = f" {slot['label']} {slot['serial']}" if slot["initialized"] else ""
    protected = "" if slot["writable"] else " (its folder cannot be written)"
    print(f"slot {slot['slot']}: {_readiness(slot)}{named}{protected}")
    if slot["officer_pin_locked"]:
        print("  the PIN of the security officer is locked")
    by_use: dict[str, list[str]] = {}
    for name, does in slot["mechanisms"].items():
        by_use.setdefault(", ".join(does), []).append(name)
    for does, names in by_use.items():
        print(textwrap.fill(f"{does}: {' '.join(names)}", 100, **_INDENT))
    for key in slot["keys"]:
        may = ", ".join(key["rights"]) or "nothing"
        print(f"  key {key['label'] or '(no label)'}, {key['kind']}, {key['type']}: {may}")


def _readiness(slot: dict[str, Any]) -> str:
    """Whether the user can log in."""
    if not slot["user_pin"]:
        return "without a PIN" if slot["initialized"] else "empty"
    if slot["user_pin_locked"]:
        return "PIN locked (the security officer can set another one: C_InitPIN)"
    return "ready"


def _load(options: argparse.Namespace) -> TokenModule:
    if not options.module.is_file():
        raise ValueError(f"there is no {options.module}: build it with `coprime token build`")
    try:
        return TokenModule(options.module)
    except OSError as error:
        raise ValueError(f"{options.module} cannot be loaded: {error}") from error


def _pin(path: Path | None, prompt: str, option: str) -> bytes:
    """The first line of a file, or what is typed."""
    if path is not None:
        return first_line(path)
    missing = "there is no terminal to ask for a PIN: name a file that holds it with"
    return ask(prompt, f"{missing} {option}")
