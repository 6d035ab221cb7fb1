"""Shares and secrets of TLS's hybrid groups, beside the library's two halves."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, mlkem
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from coprime.catalog import choose, choose_calls
from coprime.device.accelerator import Accelerator
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import open_simulation
from coprime.ec.keys import CurvePrivateKey
from coprime.encodings.errors import KeyFileError
from coprime.pqc.hybrid import (
    GROUPS,
    X25519MLKEM768,
    HybridPrivateKey,
    answer,
    finish,
    offer,
)
from coprime.pqc.key_sets import ML_KEM
from coprime.pqc.keys import LatticePrivateKey
from tests.integers import IntegerCurves
from tests.pqc.references import ReferenceCalls

LENGTHS = {  # number, shares of client and server, secret: section 4 of the draft
    "X25519MLKEM768": (4588, 1216, 1120, 64),
    "SecP256r1MLKEM768": (4587, 1249, 1153, 64),
    "SecP384r1MLKEM1024": (4589, 1665, 1665, 80),
}
NIST = {"SecP256r1MLKEM768": ec.SECP256R1(), "SecP384r1MLKEM1024": ec.SECP384R1()}


class Library:
    """The other side, of the library's keys."""

    def __init__(self, name):
        self.first = name == "X25519MLKEM768"  # ML-KEM's part
        self.nist = NIST.get(name)
        self.point_bytes = {"X25519MLKEM768": 32, "SecP256r1MLKEM768": 65}.get(name, 97)
        large = name == "SecP384r1MLKEM1024"
        self.of_private = mlkem.MLKEM1024PrivateKey if large else mlkem.MLKEM768PrivateKey
        self.of_public = mlkem.MLKEM1024PublicKey if large else mlkem.MLKEM768PublicKey
        self.own = ec.generate_private_key(self.nist) if self.nist else X25519PrivateKey.generate()

    def point(self):
        public = self.own.public_key()
        if self.nist:
            return public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return public.public_bytes_raw()

    def agree(self, point):
        if self.nist:
            peer = ec.EllipticCurvePublicKey.from_encoded_point(self.nist, point)
            return self.own.exchange(ec.ECDH(), peer)
        return self.own.exchange(X25519PublicKey.from_public_bytes(point))

    def join(self, lattice, curve):
        return lattice + curve if self.first else curve + lattice

    def split(self, share):
        if self.first:
            return share[: -self.point_bytes], share[-self.point_bytes :]
        return share[self.point_bytes :], share[: self.point_bytes]

    def offer(self):
        self.lattice = self.of_private.generate()
        return self.join(self.lattice.public_key().public_bytes_raw(), self.point())

    def answer(self, share):
        lattice, point = self.split(share)
        secret, ciphertext = self.of_public.from_public_bytes(lattice).encapsulate()
        return self.join(ciphertext, self.point()), self.join(secret, self.agree(point))

    def finish(self, share):
        ciphertext, point = self.split(share)
        return self.join(self.lattice.decapsulate(ciphertext), self.agree(point))


def exchange(lattice, curves, name):
    group, library = GROUPS[name], Library(name)
    number, *lengths = LENGTHS[name]
    assert group.number == number
    private, share = offer(lattice, curves, group)
    server_share, secret = library.answer(share)
    assert [len(share), len(server_share), len(secret)] == lengths
    kept = HybridPrivateKey.parse(private.encode(), group)
    assert kept == private
    assert finish(lattice, curves, kept, server_share) == secret
    made = answer(lattice, curves, group, library.offer())
    assert library.finish(made.share) == made.secret
    assert repr(made) == "ServerAnswer()"


@pytest.mark.parametrize("name", GROUPS)
def test_both_sides_against_the_library(name):
    exchange(ReferenceCalls(), IntegerCurves(), name)


@pytest.mark.vectors
def test_both_sides_on_simulated_engines():
    lattice, curves = choose_calls("lattice", {}), choose("compact", {"curves": "montgomery"})
    with open_simulation(lattice) as first, open_simulation(curves) as second:
        calls = CallAccelerator(first, lattice.design.interface)
        exchange(calls, Accelerator(second), "X25519MLKEM768")


def test_wrong_shares():
    lattice, curves, group = ReferenceCalls(), IntegerCurves(), X25519MLKEM768
    private, share = offer(lattice, curves, group)
    with pytest.raises(ValueError) as found:
        answer(lattice, curves, group, share[1:])
    assert str(found.value) == "a client's share of X25519MLKEM768 has 1,216 bytes, not 1,215"
    with pytest.raises(ValueError) as found:
        finish(lattice, curves, private, share)
    assert str(found.value) == "a server's share of X25519MLKEM768 has 1,120 bytes, not 1,216"
    with pytest.raises(ValueError, match="a number in the public key is not below 3329"):
        answer(lattice, curves, group, b"\xff" * 3 + share[3:])
    low = bytes(32)
    with pytest.raises(ValueError, match="the public key is a point of low order"):
        answer(lattice, curves, group, share[:-32] + low)
    with pytest.raises(ValueError, match="the public key is a point of low order"):
        finish(lattice, curves, private, bytes(1088) + low)
    nist = GROUPS["SecP256r1MLKEM768"]
    share = offer(lattice, curves, nist)[1]
    with pytest.raises(ValueError):
        answer(lattice, curves, nist, share[:64] + bytes([share[64] ^ 1]) + share[65:])


def test_wrong_private_keys():
    one = LatticePrivateKey.generate(ML_KEM["ML-KEM-768"]).encode()
    other = LatticePrivateKey.generate(ML_KEM["ML-KEM-512"]).encode()
    x25519, p256 = (
        CurvePrivateKey.generate(GROUPS[name].curve).encode()
        for name in ("X25519MLKEM768", "SecP256r1MLKEM768")
    )
    for data, text in (
        (one, "the file holds 1 of the two private keys of X25519MLKEM768: name the one that"),
        (other + x25519, "the file holds a private key that is not of ML-KEM-768"),
        (x25519 + one, "the file holds a private key that is not of ML-KEM-768"),
        (one + p256, "the second key in the file is of P-256, not of X25519"),
        (b"", "the file is empty"),
    ):
        with pytest.raises(KeyFileError) as found:
            HybridPrivateKey.parse(data, X25519MLKEM768)
        assert str(found.value).startswith(text)
