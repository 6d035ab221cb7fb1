"""ML-DSA of others: keys of one side are those of the other one, and signatures go both ways.

OpenSSL's in `cryptography`, dilithium-py (Python), filippo.io/mldsa (Go), libcrux-ml-dsa (Rust).
The model in the hardware's steps meets many keys, and the simulated accelerator a few.
"""

import random
import shutil
import sys
from importlib import import_module
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import mldsa

from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import open_simulation
from coprime.pqc import ml_dsa
from coprime.pqc.keys import LatticePrivateKey
from coprime.pqc.ml_dsa import Framing, InvalidSignatureError
from coprime.pqc.ml_dsa_key_sets import ML_DSA
from tests.pqc.programs import built, cargo_program
from tests.pqc.references import ReferenceSignatures
from tests.pqc.test_other_implementations import Program

SEED = 204
FOLDER = Path(__file__).parent
KEYS = 500
"""Of each set, with the library."""
FEWER = 50
"""With the others, which are slow, or are started for each word."""


class Library:
    def of(self, name, what):
        return getattr(mldsa, f"{name.replace('-', '')}{what}Key")

    def key(self, name, seed):
        return self.of(name, "Private").from_seed_bytes(seed).public_key().public_bytes_raw()

    def sign(self, name, seed, message, context):
        return self.of(name, "Private").from_seed_bytes(seed).sign(message, context)

    def verify(self, name, pk, message, context, signature):
        try:
            self.of(name, "Public").from_public_bytes(pk).verify(signature, message, context)
        except InvalidSignature:
            return False
        return True


class DilithiumPy:
    """`prefix` is HASH_ and `suffix` _WITH_SHA512 for HashML-DSA."""

    def __init__(self, module, prefix="", suffix=""):
        self.module, self.prefix, self.suffix = module, prefix, suffix

    def of(self, name):
        return getattr(self.module, f"{self.prefix}{name.replace('-', '_')}{self.suffix}")

    def key(self, name, seed):
        return self.of(name).key_derive(seed)[0]

    def sign(self, name, seed, message, context):
        return self.of(name).sign(self.of(name).key_derive(seed)[1], message, ctx=context)

    def verify(self, name, pk, message, context, signature):
        return self.of(name).verify(pk, message, signature, ctx=context)


class OtherProgram(Program):
    def sign(self, name, seed, message, context):
        return self.ask("sign", name, seed, b"\0" + message, b"\0" + context)[0]

    def verify(self, name, pk, message, context, signature):
        words = (pk, b"\0" + message, b"\0" + context, signature)
        return self.ask("verify", name, *words) == [b"\1"]


@pytest.fixture(scope="module")
def dilithium_py(tmp_path_factory):
    folder = tmp_path_factory.mktemp("python")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--target", folder, "-r", "requirements.txt"]
    missing = {"No matching distribution": "pip does not reach its registry"}
    built(command, FOLDER / "python_mldsa", {}, missing)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield import_module("dilithium_py.ml_dsa")


@pytest.fixture(scope="module")
def go(tmp_path_factory):
    if shutil.which("go") is None:
        pytest.skip("there is no Go (on Debian: apt-get install golang, 1.25 or later)")
    program = tmp_path_factory.mktemp("go") / "main"
    missing = {
        "go.mod requires go": "this Go is too old: filippo.io/mldsa needs 1.25",
        "dial tcp": "Go does not reach its proxy",
    }
    command = ["go", "build", "-buildvcs=false", "-o", program, "."]
    built(command, FOLDER / "go_mldsa", {}, missing)
    found = OtherProgram(program)
    yield found
    found.close()


@pytest.fixture(scope="module")
def rust(tmp_path_factory):
    program = cargo_program("rust_mldsa", "other-ml-dsa", tmp_path_factory)
    found = OtherProgram(program)
    yield found
    found.close()


@pytest.fixture(scope="module")
def accelerator():
    choice = choose_calls("lattice", {"schemes": "ml-dsa"})
    with open_simulation(choice) as device:
        yield CallAccelerator(device, choice.design.interface)


def refuses(ours, public, message, signature, framing):
    with pytest.raises(InvalidSignatureError):
        ml_dsa.verify(ours, public, message, signature, framing)


def compare(ours, theirs, name, keys, prehash=None):
    """Keys of both sides are equal; each side's signatures are valid for the other one, and an
    altered one, or one with another context, is not."""
    draw = random.Random(f"{SEED} {name} {prehash}")
    for number in range(keys):
        private = LatticePrivateKey(ML_DSA[name], draw.randbytes(32))
        message, context = (draw.randbytes(draw.randrange(size)) for size in (300, 256))
        framing = Framing(context, prehash)
        public = ml_dsa.public_key(ours, private)
        assert public.key == theirs.key(name, private.seed), number
        signature = theirs.sign(name, private.seed, message, context)
        ml_dsa.verify(ours, public, message, signature, framing)
        place = draw.randrange(8 * len(signature))
        wrong = int.from_bytes(signature, "little") ^ 1 << place
        altered = wrong.to_bytes(len(signature), "little")
        assert not theirs.verify(name, public.key, message, context, altered), number
        refuses(ours, public, message, altered, framing)
        signature = ml_dsa.sign(ours, private, message, framing)
        assert theirs.verify(name, public.key, message, context, signature), number
        other = context[1:] if context else b"\0"
        assert not theirs.verify(name, public.key, message, other, signature), number


@pytest.mark.timeout(7200)
@pytest.mark.clients
@pytest.mark.parametrize("name", ML_DSA)
def test_the_library(name, accelerator):
    compare(ReferenceSignatures(), Library(), name, KEYS)
    compare(accelerator, Library(), name, 5)


@pytest.mark.timeout(3600)
@pytest.mark.clients
@pytest.mark.parametrize("name", ML_DSA)
def test_dilithium_py(name, dilithium_py, accelerator):
    compare(ReferenceSignatures(), DilithiumPy(dilithium_py), name, FEWER)
    compare(accelerator, DilithiumPy(dilithium_py), name, 5)


@pytest.mark.timeout(3600)
@pytest.mark.clients
@pytest.mark.parametrize("name", ML_DSA)
def test_hashes_of_dilithium_py(name, dilithium_py, accelerator):
    theirs = DilithiumPy(dilithium_py, "HASH_", "_WITH_SHA512")
    compare(ReferenceSignatures(), theirs, name, FEWER, "sha512")
    compare(accelerator, theirs, name, 5, "sha512")


@pytest.mark.timeout(3600)
@pytest.mark.clients
@pytest.mark.parametrize("name", ML_DSA)
def test_go(name, go, accelerator):
    compare(ReferenceSignatures(), go, name, FEWER)
    compare(accelerator, go, name, 5)


@pytest.mark.timeout(3600)
@pytest.mark.clients
@pytest.mark.parametrize("name", ML_DSA)
def test_libcrux(name, rust, accelerator):
    compare(ReferenceSignatures(), rust, name, FEWER)
    compare(accelerator, rust, name, 5)
