"""`coprime ml-kem`: keys, encapsulation and decapsulation on any device."""

import argparse
from collections.abc import Collection
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding

from coprime.device.calls import CallAccelerator
from coprime.flow.files import create_file
from coprime.pqc import keys, ml_kem
from coprime.pqc.key_sets import ML_KEM, KeySet

from .key_files import check_new_files, check_output, load_key, new_passphrase
from .open_devices import open_calls
from .options import read_input
from .output import deliver, print_json, write_output


def run_keygen(options: argparse.Namespace) -> None:
    """Make a key pair."""
    check_new_files(options.output, options.public)
    key_set, form = ML_KEM[options.set], keys.KeyForm(options.form)
    secret = new_passphrase(options)
    read = [] if form is keys.KeyForm.SEED else ["dk"]
    with _open(options, ml_kem.KEY_PAIR, key_set, read) as accelerator:
        key, public = ml_kem.generate(accelerator, key_set, form)
    if options.public is not None:
        create_file(options.public, public.encode(_encoding(options)))
    create_file(options.output, key.encode(secret, _encoding(options)), secret=True)
    if options.json:
        print_json(
            {
                "set": key_set.name,
                "form": form.value,
                "encrypted": secret is not None,
                "output": str(options.output),
                "public": None if options.public is None else str(options.public),
            }
        )


def run_public(options: argparse.Namespace) -> None:
    """Compute and write the public key, which an expanded key contains: no device is needed."""
    check_output(options.output, key=options.key)
    key = load_key(_parse_private, options)
    if key.seed is None:
        public = key.software_public()
    else:
        with _open(options, ml_kem.KEY_PAIR, key.set, []) as accelerator:
            public = ml_kem.public_key(accelerator, key)
    deliver(options, "public", public.encode(_encoding(options)), {"set": key.set.name})


def run_encapsulate(options: argparse.Namespace) -> None:
    """Make a shared secret, whose file is readable by its owner only, and its ciphertext.

    Raises ValueError for one file for both.
    """
    check_output(options.output, key=options.key)
    check_output(options.secret, option="--secret", key=options.key)
    if options.secret.absolute() == Path(options.output).absolute():
        raise ValueError("--secret and -o must name two files")
    public = load_key(lambda data, _: keys.parse_public(data, ML_KEM), options)
    with _open(options, ml_kem.ENCAPSULATE, public.set, ["key"]) as accelerator:
        made = ml_kem.encapsulate(accelerator, public)
    write_output(str(options.secret), made.secret, secret=True)
    record = {"set": public.set.name, "secret": str(options.secret)}
    deliver(options, "ciphertext", made.ciphertext, record)


def run_decapsulate(options: argparse.Namespace) -> None:
    """Compute the shared secret, whose file is readable by its owner only.

    Raises ValueError for a ciphertext of another length.
    """
    check_output(options.output, key=options.key)
    key = load_key(_parse_private, options)
    ciphertext = read_input(options)
    try:
        ml_kem.check_ciphertext(key.set, ciphertext)
    except ValueError as error:
        raise ValueError(f"--in {options.source}: {error}") from None
    with _open(options, ml_kem.DECAPSULATE, key.set, ["key"]) as accelerator:
        secret = ml_kem.decapsulate(accelerator, key, ciphertext)
    write_output(str(options.output), secret, secret=True)
    if options.json:
        print_json({"set": key.set.name, "output": str(options.output)})


def _encoding(options: argparse.Namespace) -> Encoding:
    return Encoding.DER if options.der else Encoding.PEM


def _parse_private(data: bytes, passphrase: str | bytes | None) -> keys.LatticePrivateKey:
    return keys.parse_private(data, ML_KEM, passphrase)


def _open(
    options: argparse.Namespace, call: str, key_set: KeySet, read: Collection[str]
) -> AbstractContextManager[CallAccelerator]:
    """The device of --device, whose engine has the call and the parameter set, and from which these
    secrets can be read.
    """
    check = partial(ml_kem.check_engine, key_set=key_set, secret=read)
    return open_calls(options.device, call, check)
