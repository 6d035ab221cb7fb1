"""`coprime token`: build the PKCS #11 module, make a token ready, and show what there is."""

import argparse
import getpass
import warnings
from pathlib import Path

from coprime.token.build import MODULE, build_token
from coprime.token.module import Module, TokenError

from .options import FAILED, add_json, add_verb, location
from .output import print_json

__all__ = ["SUMMARY", "add_options", "run"]

SUMMARY = "Build the PKCS #11 module, or make a token ready."
_FOLDER = Path("build") / "token"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of `coprime token`."""
    verbs = parser.add_subparsers(title="verbs", required=True, metavar="VERB")
    build = add_verb(verbs, "build", _build, "Compile the module and its simulated engine.")
    build.add_argument(
        *("-o", "--output"),
        type=location,
        default=_FOLDER,
        metavar="DIR",
        help=f"folder for both ({_FOLDER})",
    )
    make = add_verb(verbs, "init", _init, "Make a token ready. All that was in it is gone.")
    make.add_argument("--label", required=True, help="name of the token, 32 bytes at most")
    make.add_argument("--slot", type=int, default=0, metavar="N", help="number of the slot (0)")
    make.add_argument(
        "--so-pin-file",
        type=location,
        metavar="FILE",
        help="file whose first line is the PIN of the security officer; it is asked for otherwise",
    )
    make.add_argument(
        "--pin-file", type=location, metavar="FILE", help="the same for the PIN of the user"
    )
    show = add_verb(verbs, "info", _info, "Show the slots and their tokens.")
    add_json(show)
    for verb in (make, show):
        verb.add_argument(
            "--module",
            type=location,
            default=_FOLDER / MODULE,
            metavar="FILE",
            help=f"the module ({_FOLDER / MODULE})",
        )


def run(options: argparse.Namespace) -> None:
    """Without a verb there is nothing to do; argparse asks for one."""


def _build(options: argparse.Namespace) -> None:
    """Build both files, and say where they are."""
    for path in build_token(options.output):
        print(path)


def _init(options: argparse.Namespace) -> int | None:
    """Make a token ready."""
    officer = _pin(options.so_pin_file, "PIN of the security officer: ", "--so-pin-file")
    user = _pin(options.pin_file, "PIN of the user: ", "--pin-file")
    module = _load(options)
    try:
        with module.running():
            module.initialize(options.slot, options.label, officer, user)
    except TokenError as error:
        raise ValueError(str(error)) from error
    return None


def _info(options: argparse.Namespace) -> int | None:
    """Print each slot's token."""
    module = _load(options)
    try:
        with module.running():
            states = [module.state(slot) for slot in module.slots()]
    except TokenError as error:
        print(f"coprime: {error}")
        return FAILED
    if options.json:
        print_json({"module": str(options.module.resolve()), "slots": [s.__dict__ for s in states]})
        return None
    print(f"module {options.module.resolve()}")
    for state in states:
        ready = "ready" if state.user_pin else "without a PIN" if state.initialized else "empty"
        named = f" {state.label} {state.serial}" if state.initialized else ""
        print(f"slot {state.slot}: {ready}{named}")
    return None


def _load(options: argparse.Namespace) -> Module:
    if not options.module.is_file():
        raise ValueError(f"there is no {options.module}: build it with `coprime token build`")
    try:
        return Module(options.module)
    except OSError as error:
        raise ValueError(f"{options.module} cannot be loaded: {error}") from error


def _pin(path: Path | None, prompt: str, option: str) -> bytes:
    """The first line of a file, or what is typed."""
    if path is not None:
        return bytes(path.read_bytes().partition(b"\n")[0].removesuffix(b"\r"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)  # it would show what is typed
        try:
            return getpass.getpass(prompt).encode()
        except (getpass.GetPassWarning, EOFError):
            raise ValueError(
                f"there is no terminal to ask for a PIN: name a file that holds it with {option}"
            ) from None
