"""OpenSSL's command line and `coprime rsa`, in both directions: paddings, hashes, salts, labels."""

from dataclasses import dataclass

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa as theirs

from coprime.device.accelerator import Accelerator
from coprime.device.simulated import open_simulation
from coprime.rsa import keys
from coprime.rsa.hashes import HASHES, digest, digest_size
from tests.cli.command import run
from tests.integers import IntegerAccelerator
from tests.openssl import openssl
from tests.wycheproof import design_for

MESSAGE = b"A message of the matrix."
COMMANDS = {1024: 358, 2048: 398, 3072: 398, 4096: 398}
"""Commands of ours for each length of key: what does not fit into 1024 bits is left out there."""
SALTS = ("digest", "max", "0", "20", "auto")


@dataclass(frozen=True)
class Case:
    """One padding with its options; `mgf` and `salt` are PSS's or OAEP's, "" elsewhere."""

    verb: str
    padding: str
    hash: str = ""
    mgf: str = ""
    salt: str = ""
    label: str = ""
    prehashed: bool = False

    def ours(self):
        """Options of `coprime rsa`; hashes have OpenSSL's names there too."""
        options = ["--padding", self.padding]
        for name, value in (
            ("--hash", name_of(self.hash)),
            ("--mgf-hash", name_of(self.mgf)),
            ("--salt-length", self.salt),
            ("--label", self.label),
        ):
            options += [name, value] if value else []
        return options + ["--digest"] * self.prehashed

    def openssl(self, option):
        """The same for OpenSSL, where `option` takes a setting: -sigopt or -pkeyopt."""
        mode = "pkcs1" if self.padding == "pkcs1" else self.padding
        settings = [f"rsa_padding_mode:{mode}"]
        if self.padding == "pss":
            # Its own `auto` signs with the longest salt, and verifies any.
            settings += [f"rsa_pss_saltlen:{self.salt}", f"rsa_mgf1_md:{name_of(self.mgf)}"]
        if self.padding == "oaep":
            settings += [f"rsa_oaep_md:{name_of(self.hash)}", f"rsa_mgf1_md:{name_of(self.mgf)}"]
            settings += [f"rsa_oaep_label:{self.label}"] if self.label else []
        if self.prehashed:
            settings.append(f"digest:{name_of(self.hash)}")
        return [word for setting in settings for word in (option, setting)]

    def fits(self, bits):
        """Whether a modulus of so many bits is long enough."""
        size = digest_size(self.hash) if self.hash else 0
        if self.padding == "pss":
            salt = int(self.salt) if self.salt.isdigit() else 0 if self.salt == "max" else size
            return (bits + 6) // 8 >= size + salt + 2
        if self.padding == "oaep":
            return bits // 8 >= 2 * size + 2 + len(MESSAGE)
        return bits // 8 >= size + 19 + 11


def name_of(name):
    """OpenSSL's name of a hash."""
    return name.replace("_", "-")


def cases():
    """The whole matrix. Each hash masks once with its own, and once with the next one in line."""
    names = list(HASHES)
    for name, other in zip(names, names[1:] + names[:1], strict=True):
        for prehashed in (False, True):
            yield Case("sign", "pkcs1", name, prehashed=prehashed)
            yield Case("sign", "pss", name, other, "digest", prehashed=prehashed)
            for salt in SALTS:
                yield Case("sign", "pss", name, name, salt, prehashed=prehashed)
        for label in ("", "00c0ffee"):
            for mask in (name, other):
                yield Case("encrypt", "oaep", name, mask, label=label)
    yield Case("encrypt", "pkcs1")


class Matrix:
    """A folder with a key, in which both sides work; counts what it has compared."""

    def __init__(self, capsys, folder, key):
        self.capsys = capsys
        self.folder = folder
        self.count = 0
        (folder / "key").write_bytes(keys.private_pem(key))
        (folder / "public").write_bytes(keys.public_pem(key.public))
        (folder / "message").write_bytes(MESSAGE)
        for name in HASHES:
            (folder / name).write_bytes(digest(name, MESSAGE))

    def ours(self, *arguments):
        status, _, err = run(self.capsys, "rsa", *arguments)
        assert status == 0, (arguments, err)
        self.count += 1

    def compare(self, case, *, theirs_only=False):
        """What one side makes, the other one reads; ours too, unless OpenSSL makes all."""
        directory = self.folder
        files = {name: directory / name for name in ("key", "public", "message", "made", "read")}
        if case.verb == "encrypt":
            self.encryption(case, files)
            return
        source = directory / case.hash if case.prehashed else files["message"]
        verify = ["verify", "--key", files["public"], "--in", source, "--signature", files["made"]]
        self.openssl_sign(case, source, files)
        # Its longest salt is what `auto` is for.
        self.ours(*verify, *case.ours())
        if theirs_only:
            return
        self.ours("sign", "--key", files["key"], "--in", source, "-o", files["made"], *case.ours())
        self.openssl_verify(case, source, files)

    def encryption(self, case, files):
        options = case.openssl("-pkeyopt")
        public, key = ["-pubin", "-inkey", files["public"]], ["-inkey", files["key"]]
        given = ["-in", files["message"], "-out", files["made"]]
        openssl("pkeyutl", "-encrypt", *public, *given, *options)
        made = ["--in", files["made"], "-o", files["read"]]
        self.ours("decrypt", "--key", files["key"], *made, *case.ours())
        assert files["read"].read_bytes() == MESSAGE
        given = ["--in", files["message"], "-o", files["made"]]
        self.ours("encrypt", "--key", files["public"], *given, *case.ours())
        found = openssl("pkeyutl", "-decrypt", *key, "-in", files["made"], *options)
        assert found == MESSAGE

    def openssl_sign(self, case, source, files):
        if case.prehashed:
            command = ["pkeyutl", "-sign", "-inkey", files["key"], "-in", source]
            openssl(*command, "-out", files["made"], *case.openssl("-pkeyopt"))
        else:
            command = ["dgst", f"-{name_of(case.hash)}", "-sign", files["key"]]
            openssl(*command, "-out", files["made"], *case.openssl("-sigopt"), source)

    def openssl_verify(self, case, source, files):
        if case.prehashed:
            command = ["pkeyutl", "-verify", "-pubin", "-inkey", files["public"], "-in", source]
            openssl(*command, "-sigfile", files["made"], *case.openssl("-pkeyopt"))
        else:
            command = ["dgst", f"-{name_of(case.hash)}", "-verify", files["public"]]
            openssl(*command, "-signature", files["made"], *case.openssl("-sigopt"), source)


@pytest.fixture(scope="module")
def key_of():
    """Keys by their length, made once."""
    made = {}

    def key(bits):
        if bits not in made:
            generated = theirs.generate_private_key(65537, bits)
            made[bits] = keys.parse_private(
                generated.private_bytes(
                    serialization.Encoding.PEM,
                    serialization.PrivateFormat.PKCS8,
                    serialization.NoEncryption(),
                )
            )
        return made[bits]

    return key


@pytest.mark.parametrize("bits", [1032, pytest.param(2049, marks=pytest.mark.clients)])
def test_a_part_of_the_matrix_on_integers(capsys, tmp_path, key_of, on, bits):
    """Every seventh case, or every eleventh, with 1032 bits and a digit more than bytes."""
    on(IntegerAccelerator())
    matrix = Matrix(capsys, tmp_path, key_of(bits))
    for case in [case for case in cases() if case.fits(bits)][:: 7 if bits < 2048 else 11]:
        matrix.compare(case)
    assert matrix.count > 30


@pytest.mark.clients
def test_each_padding_on_compact(capsys, tmp_path, key_of, on, compact):
    """With the default hash."""
    on(compact.accelerator)
    matrix = Matrix(capsys, tmp_path, key_of(1024))
    for case in cases():
        if case.hash in ("sha256", "") and case.mgf in ("sha256", "") and case.salt in ("", "max"):
            matrix.compare(case)
    assert matrix.count == 14


@pytest.mark.clients
@pytest.mark.parametrize("bits", COMMANDS)
def test_the_whole_matrix_on_integers(capsys, tmp_path, key_of, on, bits):
    on(IntegerAccelerator())
    matrix = Matrix(capsys, tmp_path, key_of(bits))
    for case in cases():
        if case.fits(bits):
            matrix.compare(case)
    assert matrix.count == COMMANDS[bits]


@pytest.mark.clients
def test_verification_of_8192_bits_on_integers(capsys, tmp_path, key_of, on):
    on(IntegerAccelerator())
    matrix = Matrix(capsys, tmp_path, key_of(8192))
    for case in cases():
        if case.verb == "sign":
            matrix.compare(case, theirs_only=True)
    assert matrix.count == 154


@pytest.mark.clients
@pytest.mark.parametrize("bits", COMMANDS)
def test_the_matrix_on_a_device(capsys, tmp_path, key_of, on, bits):
    """Every second case, and with keys that take a device long every ninth."""
    with open_simulation(design_for(bits)) as device:
        on(Accelerator(device))
        matrix = Matrix(capsys, tmp_path, key_of(bits))
        fitting = [case for case in cases() if case.fits(bits)]
        for case in fitting[:: 2 if bits <= 2048 else 9]:
            matrix.compare(case)
        assert matrix.count > 40


@pytest.mark.clients
def test_verification_of_8192_bits_on_a_device(capsys, tmp_path, key_of, on):
    with open_simulation(design_for(8192)) as device:
        on(Accelerator(device))
        matrix = Matrix(capsys, tmp_path, key_of(8192))
        for case in cases():
            if case.verb == "sign":
                matrix.compare(case, theirs_only=True)
        assert matrix.count == 154
