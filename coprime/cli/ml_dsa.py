"""`coprime ml-dsa`: keys, signatures and verification on any device."""

import argparse
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from cryptography.hazmat.primitives.serialization import Encoding

from coprime.device.calls import CallAccelerator
from coprime.encodings import key_info
from coprime.encodings.certificates import Signer
from coprime.flow.files import create_file
from coprime.pqc import keys, ml_dsa
from coprime.pqc.key_sets import KeySet
from coprime.pqc.ml_dsa_key_sets import ML_DSA

from .certificates import write_certificate, write_cms, write_request
from .key_files import check_new_files, check_output, load_key, new_passphrase
from .open_devices import open_calls
from .options import open_input, read_input
from .output import deliver, print_json
from .validity import report_validity


def run_keygen(options: argparse.Namespace) -> None:
    """Make a key pair."""
    check_new_files(options.output, options.public)
    key_set, form = ML_DSA[options.set], keys.KeyForm(options.form)
    secret = new_passphrase(options)
    read = [] if form is keys.KeyForm.SEED else ["sk"]
    with _open(options, ml_dsa.KEY_PAIR, key_set, read) as accelerator:
        key, public = ml_dsa.generate(accelerator, key_set, form)
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
    """Compute and write the public key."""
    check_output(options.output, key=options.key)
    key = load_key(_parse_private, options)
    call = ml_dsa.KEY_PAIR if key.expanded is None else ml_dsa.CHECK_KEY
    with _open(options, call, key.set, []) as accelerator:
        public = ml_dsa.public_key(accelerator, key)
    deliver(options, "public", public.encode(_encoding(options)), {"set": key.set.name})


def run_sign(options: argparse.Namespace) -> None:
    """Sign the input."""
    check_output(options.output, key=options.key)
    framing = _framing(options)
    key = load_key(_parse_private, options)
    deterministic = options.deterministic
    with _message(options) as message, _open(options, ml_dsa.SIGN, key.set, []) as accelerator:
        if isinstance(message, bytes):
            signature = ml_dsa.sign_representative(
                accelerator, key, message, deterministic=deterministic
            )
        else:
            signature = ml_dsa.sign(accelerator, key, message, framing, deterministic=deterministic)
    record = {**_record(options, key.set, framing), "deterministic": deterministic}
    deliver(options, "signature", signature, record)


def run_verify(options: argparse.Namespace) -> int:
    """Say whether a signature is valid; 1 if it is not.

    Raises ValueError for one of another length.
    """
    framing = _framing(options)
    key = load_key(lambda data, _: keys.parse_public(data, ML_DSA), options)
    signature = options.signature.read_bytes()
    try:
        ml_dsa.check_signature(key.set, signature)
    except ValueError as error:
        raise ValueError(f"--signature {options.signature}: {error}") from None

    def check() -> None:
        with (
            _message(options) as message,
            _open(options, ml_dsa.VERIFY, key.set, []) as accelerator,
        ):
            if isinstance(message, bytes):
                ml_dsa.verify_representative(accelerator, key, message, signature)
            else:
                ml_dsa.verify(accelerator, key, message, signature, framing)

    return report_validity(options, _record(options, key.set, framing), check)


def run_certificate(options: argparse.Namespace) -> None:
    """Write a certificate that the key signs for itself."""
    write_certificate(options, _signer(options))


def run_request(options: argparse.Namespace) -> None:
    """Write a request for a certificate of the key."""
    write_request(options, _signer(options))


def run_cms(options: argparse.Namespace) -> None:
    """Sign the input as CMS. ValueError if the certificate is another key's, or none."""
    write_cms(options, _signer(options), f"--key {options.key}")


@contextmanager
def _signer(options: argparse.Namespace) -> Iterator[Signer]:
    """The key, which signs as long as the context lasts."""
    check_output(options.output, key=options.key)
    key = load_key(_parse_private, options)
    with _open(options, ml_dsa.SIGN, key.set, []) as accelerator:
        public = key_info.read_public(ml_dsa.public_key(accelerator, key).encode(Encoding.DER))
        assert public is not None
        yield Signer(
            public, lambda message: ml_dsa.sign(accelerator, key, message, ml_dsa.Framing())
        )


def _framing(options: argparse.Namespace) -> ml_dsa.Framing:
    """How the message is signed. ValueError for --mu with what it contains."""
    if options.mu:
        for name in ("context", "hash"):
            if getattr(options, name) is not None:
                raise ValueError(f"--mu is made of --{name}, too: leave one of them out")
    return ml_dsa.Framing(options.context or b"", options.hash)


@contextmanager
def _message(options: argparse.Namespace) -> "Iterator[ml_dsa.Message]":
    """The input: mu as bytes, or a file with the message. ValueError for mu of another length."""
    if not options.mu:
        with open_input(options) as file:
            yield file
        return
    mu = read_input(options)
    try:
        ml_dsa.check_representative(mu)
    except ValueError as error:
        raise ValueError(f"--in {options.source}: {error}") from None
    yield mu


def _record(
    options: argparse.Namespace, key_set: KeySet, framing: ml_dsa.Framing
) -> dict[str, object]:
    """What --json says of a signature."""
    of = {"context": framing.context.hex(), "hash": framing.prehash}
    return {"set": key_set.name, "mu": options.mu, **({} if options.mu else of)}


def _encoding(options: argparse.Namespace) -> Encoding:
    return Encoding.DER if options.der else Encoding.PEM


def _parse_private(data: bytes, passphrase: str | bytes | None) -> keys.LatticePrivateKey:
    return keys.parse_private(data, ML_DSA, passphrase)


def _open(
    options: argparse.Namespace, call: str, key_set: KeySet, read: Collection[str]
) -> AbstractContextManager[CallAccelerator]:
    """The device of --device, whose engine has the call and the parameter set, and from which these
    secrets can be read.
    """
    check = partial(ml_dsa.check_engine, key_set=key_set, secret=read)
    return open_calls(options.device, call, check)
