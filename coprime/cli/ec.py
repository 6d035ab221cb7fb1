"""`coprime ec`: keys and shared secrets of X25519 and X448 on any device."""

import argparse
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding

from coprime.ec import keys
from coprime.ec.montgomery import CURVES, public_key, shared_secret
from coprime.engine.contract import Command
from coprime.flow.files import create_file, write_file

from .devices import NamedDevice, add_device
from .key_files import add_key, add_passphrase, check_new_files, load_key, new_passphrase
from .options import Parser, add_verb
from .output import check_file, write_output

SUMMARY = "Keys and shared secrets of X25519 and X448 on any device."
_NAMES = {curve.name.lower(): curve for curve in CURVES}


def add_options(parser: Parser) -> None:
    """Add the verbs of `coprime ec` with their options."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    keygen = add_verb(verbs, "keygen", _keygen, "Make a key pair.")
    keygen.choice("--curve", _NAMES, "(x25519)", "x25519")
    keygen.path("-o", "--output", required=True)
    keygen.path("--public", help="write the public key too")
    keygen.flag("--der", "write DER, not PEM")
    keygen.flag("--encrypt", "encrypt the key; asks for a passphrase")
    add_passphrase(keygen)
    add_device(keygen, optional=True, curves=True)
    public = add_verb(verbs, "public", _public, "Compute the public key of a private key.")
    add_key(public, "private key, PEM or DER", required=True)
    add_passphrase(public)
    public.flag("--der", "write DER, not PEM")
    public.add_argument(
        *("-o", "--output"), default="-", metavar="FILE", help="output (-: standard output)"
    )
    add_device(public, curves=True)
    derive = add_verb(verbs, "derive", _derive, "Compute the secret that two keys share.")
    add_key(derive, "own private key, PEM or DER", required=True)
    add_passphrase(derive)
    derive.path("--peer", required=True, help="the other's public key, PEM or DER")
    derive.path("-o", "--output", required=True, help="the shared secret, 32 or 56 bytes")
    add_device(derive, curves=True)


def _encoding(options: argparse.Namespace) -> Encoding:
    return Encoding.DER if options.der else Encoding.PEM


def _keygen(options: argparse.Namespace) -> None:
    check_new_files(options.output, options.public)
    if options.device is not None and options.public is None:
        raise ValueError("--device computes the public key: name a file for it with --public")
    secret = new_passphrase(options)
    key = keys.CurvePrivateKey.generate(_NAMES[options.curve])
    if options.public is not None:
        public = key.software_public()
        if options.device is not None:
            public = _public_on(options.device, key)
        create_file(options.public, public.encode(_encoding(options)))
    create_file(options.output, key.encode(secret, _encoding(options)), secret=True)


def _public(options: argparse.Namespace) -> None:
    if options.output != "-":
        _check_output(Path(options.output), key=options.key)
    key = load_key(keys.load_private, options)
    write_output(options.output, _public_on(options.device, key).encode(_encoding(options)))


def _derive(options: argparse.Namespace) -> None:
    """Its file is readable by its owner only, as keys are."""
    _check_output(options.output, key=options.key, peer=options.peer)
    own = load_key(keys.load_private, options)
    peer = load_key(lambda path, _: keys.load_public(path), options, "peer")
    keys.check_same_curve(own, peer)
    with options.device.open(own.curve, Command.X_MULTIPLY) as accelerator:
        secret = shared_secret(accelerator, own.curve, own.scalar, peer.u)
    write_file(options.output, secret, secret=True)


def _public_on(device: NamedDevice, key: keys.CurvePrivateKey) -> keys.CurvePublicKey:
    with device.open(key.curve, Command.X_MULTIPLY) as accelerator:
        return keys.CurvePublicKey(key.curve, public_key(accelerator, key.curve, key.scalar))


def _check_output(path: Path, **inputs: Path) -> None:
    """ValueError, before any work, unless the file can be written and is none of the keys."""
    check_file("-o", path)
    for name, other in inputs.items():
        if path.resolve() == other.resolve():
            raise ValueError(f"-o and --{name} name one file, and a key is never overwritten")
