"""`coprime ec`: keys, shared secrets and signatures of elliptic curves on any device."""

import argparse
from functools import partial

from cryptography.hazmat.primitives.serialization import Encoding

from coprime.ec import ecdsa, eddsa, exchange, keys
from coprime.ec.edwards import EdwardsCurve, Variant
from coprime.ec.montgomery import MontgomeryCurve
from coprime.ec.weierstrass import WeierstrassCurve
from coprime.flow.files import create_file

from .arguments.ec import DER, DEVICE, RANDOM, RAW, RECOVERABLE
from .devices import NamedDevice, device_for
from .digests import read_digest
from .key_files import (
    check_new_files,
    check_output,
    load_key,
    new_passphrase,
)
from .open_devices import open_device
from .options import open_input
from .output import deliver, print_json
from .validity import report_validity

_SIGNING = [name for name, curve in keys.CURVES.items() if not isinstance(curve, MontgomeryCurve)]
_OF_ECDSA, _OF_EDDSA = ("hash", "digest", "format", "low_s", "nonce"), ("prehash", "context")
"""Options of one kind of signatures."""


def _encoding(options: argparse.Namespace) -> Encoding:
    return Encoding.DER if options.der else Encoding.PEM


# --- Keys and secrets ---------------------------------------------------------------------------


def run_keygen(options: argparse.Namespace) -> None:
    """Make a key pair; of a device, its public key.

    Raises ValueError for a device without a file for the public key.
    """
    check_new_files(options.output, options.public)
    if options.device is not None and options.public is None:
        raise ValueError("--device computes the public key: name a file for it with --public")
    secret = new_passphrase(options)
    key = keys.CurvePrivateKey.generate(keys.CURVES[options.curve])
    if options.public is not None:
        public = key.software_public()
        if options.device is not None:
            public = _public_on(options.device, key)
        create_file(options.public, public.encode(_encoding(options)))
    create_file(options.output, key.encode(secret, _encoding(options)), secret=True)
    if options.json:
        print_json(
            {
                "curve": options.curve,
                "encrypted": secret is not None,
                "output": str(options.output),
                "public": None if options.public is None else str(options.public),
            }
        )


def run_public(options: argparse.Namespace) -> None:
    """Compute and write the public key."""
    check_output(options.output, key=options.key)
    key = load_key(keys.parse_private, options)
    public = _public_on(device_for(options, key.curve.command), key)
    record = {"curve": key.curve.name, "point": public.point.hex()}
    deliver(options, "public", public.encode(_encoding(options)), record)


def run_derive(options: argparse.Namespace) -> None:
    """Its file is readable by its owner only, as keys are."""
    check_output(options.output, key=options.key, peer=options.peer)
    key = load_key(keys.parse_private, options)
    peer = _load_public(options, "peer")
    keys.check_agreement(key, peer)
    command = key.curve.command
    with open_device(device_for(options, command), key.curve, command) as accelerator:
        secret = exchange.shared_secret(accelerator, key, peer)
    deliver(options, "secret", secret, {"curve": key.curve.name}, secret=True)


def _public_on(device: NamedDevice, key: keys.CurvePrivateKey) -> keys.CurvePublicKey:
    with open_device(device, key.curve, key.curve.command) as accelerator:
        return exchange.public_key(accelerator, key)


def _load_public(options: argparse.Namespace, name: str = "key") -> keys.CurvePublicKey:
    return load_key(lambda data, _: keys.parse_public(data), options, name)


# --- Signatures ---------------------------------------------------------------------------------


def run_sign(options: argparse.Namespace) -> None:
    """Sign the input."""
    check_output(options.output, key=options.key)
    key = load_key(keys.parse_private, options)
    curve = _signing_curve(options, key)
    of_curve = _sign_eddsa if isinstance(curve, EdwardsCurve) else _sign_ecdsa
    deliver(options, "signature", of_curve(options, key), _record(options, curve))


def _sign_ecdsa(options: argparse.Namespace, key: keys.CurvePrivateKey) -> bytes:
    curve, data = key.curve, _digest(options)
    assert isinstance(curve, WeierstrassCurve)
    d = curve.decode_scalar(key.scalar)
    public = curve.decode_point(key.software_public().point)
    nonces: ecdsa.Nonces | None = partial(ecdsa.deterministic, hash=_hash(options))
    if options.nonce == RANDOM:
        nonces = ecdsa.random
    elif options.nonce == DEVICE:
        nonces = None
    command = ecdsa.signing_command(nonces)
    with open_device(device_for(options, command), curve, command) as accelerator:
        made = ecdsa.sign(
            accelerator, curve, d, data, nonces=nonces, low_s=options.low_s, public=public
        )
    if options.format == RECOVERABLE:
        return made.recoverable(curve, public, data)
    return made.raw(curve) if options.format == RAW else made.der()


def _sign_eddsa(options: argparse.Namespace, key: keys.CurvePrivateKey) -> bytes:
    curve, kind = key.curve, _variant(options)
    assert isinstance(curve, EdwardsCurve)
    command, public = curve.command, key.software_public().point
    with (
        open_input(options) as message,
        open_device(device_for(options, command), curve, command) as accelerator,
    ):
        return eddsa.sign(accelerator, curve, key.scalar, message, kind, public=public)


def run_verify(options: argparse.Namespace) -> int:
    """Say whether a signature is valid; 1 if it is not."""
    key = _load_public(options)
    curve = _signing_curve(options, key)
    of_curve = _verify_eddsa if isinstance(curve, EdwardsCurve) else _verify_ecdsa
    encoded = options.signature.read_bytes()
    check = partial(of_curve, options, key, encoded)
    return report_validity(options, _record(options, curve), check)


def _record(
    options: argparse.Namespace, curve: WeierstrassCurve | EdwardsCurve
) -> dict[str, object]:
    """What --json says of a signature."""
    if isinstance(curve, EdwardsCurve):
        kind = _variant(options)
        return {"curve": curve.name, "prehashed": kind.prehashed, "context": kind.context.hex()}
    return {"curve": curve.name, "hash": _hash(options), "format": options.format or DER}


def _verify_ecdsa(options: argparse.Namespace, key: keys.CurvePublicKey, encoded: bytes) -> None:
    curve, data = key.curve, _digest(options)
    assert isinstance(curve, WeierstrassCurve)
    point = curve.decode_point(key.point)
    if options.format == RAW:
        signature = ecdsa.Signature.from_raw(curve, encoded)
    elif options.format == RECOVERABLE:
        signature, recovery = ecdsa.Signature.from_recoverable(curve, encoded)
        if ecdsa.recovered(curve, data, signature, recovery) != point:
            raise ecdsa.InvalidSignatureError
    else:
        signature = ecdsa.Signature.from_der(encoded)
    command = ecdsa.VERIFICATION
    with open_device(device_for(options, command), curve, command) as accelerator:
        ecdsa.verify(accelerator, curve, point, data, signature, low_s=options.low_s)


def _verify_eddsa(options: argparse.Namespace, key: keys.CurvePublicKey, encoded: bytes) -> None:
    curve, command, kind = key.curve, eddsa.VERIFICATION, _variant(options)
    assert isinstance(curve, EdwardsCurve)
    eddsa.check_signature(curve, encoded)
    with (
        open_input(options) as message,
        open_device(device_for(options, command), curve, command) as accelerator,
    ):
        eddsa.verify(accelerator, curve, key.point, message, encoded, kind)


def _signing_curve(
    options: argparse.Namespace, key: keys.CurvePrivateKey | keys.CurvePublicKey
) -> WeierstrassCurve | EdwardsCurve:
    """The key's curve. ValueError unless it has signatures, and the options that are given."""
    curve = key.curve
    if isinstance(curve, MontgomeryCurve):
        raise ValueError(
            f"--key {options.key}: {curve.name} has no signatures; these curves have:"
            f" {', '.join(_SIGNING)}"
        )
    others, kind = (_OF_ECDSA, "ECDSA") if isinstance(curve, EdwardsCurve) else (_OF_EDDSA, "EdDSA")
    for name in others:
        if getattr(options, name, None) not in (None, False):
            option = f"--{name.replace('_', '-')}"
            raise ValueError(f"{option} is an option of {kind}, and the key is of {curve.name}")
    return curve


def _variant(options: argparse.Namespace) -> Variant:
    """What EdDSA signs. ValueError for a context that is too long."""
    return Variant(options.prehash, options.context or b"")


def _hash(options: argparse.Namespace) -> str:
    return options.hash or "sha256"


def _digest(options: argparse.Namespace) -> bytes:
    """The digest of the input, or the input as it is. ValueError if that has another length."""
    return read_digest(options, _hash(options), given=options.digest)
