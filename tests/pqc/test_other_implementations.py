"""ML-KEM of others: keys, ciphertexts and secrets of one side are those of the other one.

kyber-py (Python), crypto/mlkem of Go's standard library, libcrux-ml-kem (Rust). The model in the
hardware's steps meets many keys, and the simulated accelerator, which the model is compared with
everywhere else, a few.
"""

import random
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import open_simulation
from coprime.model.lattice import ml_kem as model
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS
from tests.pqc.programs import built, cargo_program

SEED = 203
BY_NAME = {one.name: one for one in ML_KEM_SETS}
OTHERS = ("ML-KEM-768", "ML-KEM-1024")
FOLDER = Path(__file__).parent


class Model:
    """Ours: the model in the hardware's steps."""

    def key(self, name, seed):
        return model.key_pair(BY_NAME[name], seed[:32], seed[32:])[0]

    def encapsulate(self, name, ek, m):
        key, c = model.encapsulate(BY_NAME[name], ek, m)
        return c, key

    def decapsulate(self, name, seed, c):
        dk = model.key_pair(BY_NAME[name], seed[:32], seed[32:])[1]
        return model.decapsulate(BY_NAME[name], dk, c)


class Simulated:
    """Ours: the accelerator, in simulation."""

    def __init__(self, accelerator):
        self.accelerator = accelerator

    def call(self, name, call, values, read):
        done = self.accelerator.call(call, values, parameter_set=name, read=read)
        return [done.outputs[one] for one in read]

    def key(self, name, seed):
        values = {"d": seed[:32], "z": seed[32:]}
        return self.call(name, "ML_KEM_KEY_PAIR", values, ["ek"])[0]

    def encapsulate(self, name, ek, m):
        return self.call(name, "ML_KEM_ENCAPSULATE", {"ek": ek, "m": m}, ["c", "key"])

    def decapsulate(self, name, seed, c):
        self.key(name, seed)
        return self.call(name, "ML_KEM_DECAPSULATE", {"c": c}, ["key"])[0]


class KyberPy:
    def __init__(self, module):
        self.module = module

    def of(self, name):
        return getattr(self.module, name.replace("-", "_"))

    def key(self, name, seed):
        return self.of(name).key_derive(seed)[0]

    def encapsulate(self, name, ek, m):
        key, c = self.of(name).encaps(ek)
        return c, key

    def decapsulate(self, name, seed, c):
        return self.of(name).decaps(self.of(name).key_derive(seed)[1], c)


class Program:
    """A program that answers a line of words by a line."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            [command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, *words):
        texts = [word if isinstance(word, str) else word.hex() for word in words]
        self.process.stdin.write(" ".join(texts) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        assert answer, "no answer"
        assert answer[0] != "error", answer
        return [bytes.fromhex(word) for word in answer]

    def key(self, name, seed):
        return self.ask("key", name, seed)[0]

    def encapsulate(self, name, ek, m):
        return self.ask("encapsulate", name, ek, m)

    def decapsulate(self, name, seed, c):
        return self.ask("decapsulate", name, seed, c)[0]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait(60) == 0


@pytest.fixture(scope="module")
def kyber_py(tmp_path_factory):
    folder = tmp_path_factory.mktemp("python")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--target", folder, "-r", "requirements.txt"]
    missing = {"No matching distribution": "pip does not reach its registry"}
    built(command, FOLDER / "python", {}, missing)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield KyberPy(import_module("kyber_py.ml_kem"))


@pytest.fixture(scope="module")
def go(tmp_path_factory):
    if shutil.which("go") is None:
        pytest.skip("there is no Go (on Debian: apt-get install golang, 1.24 or later)")
    program = tmp_path_factory.mktemp("go") / "main"
    command = ["go", "build", "-buildvcs=false", "-o", program, "main.go"]
    missing = {"crypto/mlkem is not in std": "this Go has no crypto/mlkem: 1.24 or later has it"}
    built(command, FOLDER / "go_mlkem", {}, missing)
    found = Program(program)
    yield found
    found.close()


@pytest.fixture(scope="module")
def rust(tmp_path_factory):
    found = Program(cargo_program("rust", "other-ml-kem", tmp_path_factory))
    yield found
    found.close()


@pytest.fixture(scope="module")
def accelerator():
    choice = choose_calls("lattice", {})
    with open_simulation(choice) as device:
        yield Simulated(CallAccelerator(device, choice.design.interface))


def compare(ours, theirs, name, keys):
    """Keys of both sides are equal; each side's ciphertexts are the other one's, an altered one's
    secret of implicit rejection is, too."""
    draw = random.Random(f"{SEED} {name}")
    for number in range(keys):
        seed, m = draw.randbytes(64), draw.randbytes(32)
        ek = theirs.key(name, seed)
        assert ours.key(name, seed) == ek, number
        c, key = theirs.encapsulate(name, ek, m)
        assert ours.decapsulate(name, seed, c) == key, number
        c, key = ours.encapsulate(name, ek, m)
        assert theirs.decapsulate(name, seed, c) == key, number
        place = draw.randrange(8 * len(c))
        c = (int.from_bytes(c, "little") ^ 1 << place).to_bytes(len(c), "little")
        assert ours.decapsulate(name, seed, c) == theirs.decapsulate(name, seed, c) != key, number


@pytest.mark.timeout(7200)
@pytest.mark.clients
@pytest.mark.parametrize("name", BY_NAME)
def test_kyber_py(name, kyber_py, accelerator):
    compare(Model(), kyber_py, name, 1000)
    compare(accelerator, kyber_py, name, 5)


@pytest.mark.clients
@pytest.mark.parametrize("name", OTHERS)
def test_go(name, go, accelerator):
    compare(Model(), go, name, 100)
    compare(accelerator, go, name, 5)


@pytest.mark.clients
@pytest.mark.parametrize("name", BY_NAME)
def test_libcrux(name, rust, accelerator):
    compare(Model(), rust, name, 100)
    compare(accelerator, rust, name, 5)
