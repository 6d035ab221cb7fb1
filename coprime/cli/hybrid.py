"""`coprime x25519-mlkem768` and its like: shares and secrets of TLS 1.3 on any two devices.

A command has the name of its group, in lower case and with a hyphen.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from coprime.device.accelerator import Accelerator
from coprime.device.calls import CallAccelerator
from coprime.device.keyed_cluster import KeyedCluster
from coprime.flow.files import create_file
from coprime.pqc import hybrid, ml_kem
from coprime.rsa.keys import KeyFileError, read_key_file

from .devices import Simulated, device_for
from .key_files import check_output
from .open_devices import check_device, open_both, open_calls, open_device
from .output import print_json, write_output

GROUPS = {group.name.lower().replace("mlkem", "-mlkem"): group for group in hybrid.GROUPS.values()}
"""The group of each command."""


def run_offer(options: argparse.Namespace) -> None:
    """Make the client's share. The private key is readable by its owner only.

    Raises ValueError for the file of a private key that exists.
    """
    _check_outputs(options, "private")
    if options.private.exists():
        raise ValueError(f"{options.private} exists, and a key is never overwritten")
    with _open(options, ml_kem.KEY_PAIR, secret=False) as (lattice, curves):
        private, share = hybrid.offer(lattice, curves, GROUPS[options.command])
    create_file(options.private, private.encode(), secret=True)
    write_output(str(options.output), share)
    _report(options, private=str(options.private))


def run_answer(options: argparse.Namespace) -> None:
    """Make the server's share and the secret, which is readable by its owner only."""
    _check_outputs(options, "secret", "peer")
    share = _read_share(options, hybrid.CLIENT)
    with _open(options, ml_kem.ENCAPSULATE, secret=True) as (lattice, curves):
        made = hybrid.answer(lattice, curves, GROUPS[options.command], share)
    write_output(str(options.secret), made.secret, secret=True)
    write_output(str(options.output), made.share)
    _report(options, secret=str(options.secret))


def run_finish(options: argparse.Namespace) -> None:
    """Compute the secret, which is readable by its owner only.

    Raises KeyFileError for a private key that `offer` has not written.
    """
    check_output(options.output, private=options.private, peer=options.peer)
    group = GROUPS[options.command]
    try:
        private = hybrid.HybridPrivateKey.parse(read_key_file(options.private), group)
    except KeyFileError as error:
        raise KeyFileError(f"--private {options.private}: {error}") from error
    share = _read_share(options, hybrid.SERVER)
    with _open(options, ml_kem.DECAPSULATE, secret=True) as (lattice, curves):
        secret = hybrid.finish(lattice, curves, private, share)
    write_output(str(options.output), secret, secret=True)
    _report(options)


def _check_outputs(options: argparse.Namespace, other: str, *inputs: str) -> None:
    """Raise ValueError, before any work, unless both outputs can be written and differ."""
    given = {name: getattr(options, name) for name in inputs}
    second: Path = getattr(options, other)
    check_output(options.output, **given)
    check_output(second, option=f"--{other}", **given)
    if second.absolute() == options.output.absolute():
        raise ValueError(f"--{other} and -o must name two files")


def _read_share(options: argparse.Namespace, side: str) -> bytes:
    """The share in --peer. ValueError as `check_share`; OSError if it cannot be read."""
    share: bytes = options.peer.read_bytes()
    try:
        hybrid.check_share(GROUPS[options.command], side, share)
    except ValueError as error:
        raise ValueError(f"--peer {options.peer}: {error}") from None
    return share


@contextmanager
def _open(
    options: argparse.Namespace, call: str, *, secret: bool
) -> Iterator[tuple[CallAccelerator, Accelerator | KeyedCluster]]:
    """The devices of --device and --curve-device, which may be one: a suite is both by default.

    ValueError for one that lacks something.
    """
    group = GROUPS[options.command]
    curve = group.curve
    check = partial(ml_kem.check_engine, key_set=group.set, secret=["key"] if secret else [])
    suite = isinstance(options.device, Simulated) and options.device.is_suite
    if options.device == options.curve_device or (suite and options.curve_device is None):
        with open_both(options.device, call, check, curve, curve.command) as both:
            yield both
        return
    named = device_for(options, curve.command, "curve_device")
    check_device(named, curve, curve.command)
    with (
        open_calls(options.device, call, check) as lattice,
        open_device(named, curve, curve.command) as curves,
    ):
        yield lattice, curves


def _report(options: argparse.Namespace, **files: str) -> None:
    if options.json:
        print_json({"group": GROUPS[options.command].name, "output": str(options.output), **files})
