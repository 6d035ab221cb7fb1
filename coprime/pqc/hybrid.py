"""Hybrid key exchange of TLS 1.3: a curve and ML-KEM, of which one suffices to keep the secret.

Source: draft-ietf-tls-ecdhe-mlkem, section 4: a share, or the secret, is that of both, one after
the other, ML-KEM's first with X25519 and the curve's first with P-256 and P-384.

    private, client_share = offer(lattice, curves, X25519MLKEM768)  # the client
    server_share, secret = answer(lattice, curves, X25519MLKEM768, client_share)  # the server
    assert finish(lattice, curves, private, server_share) == secret  # the client
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from coprime.ec import exchange
from coprime.ec import keys as curve_keys
from coprime.ec.curves import Curve
from coprime.ec.keys import CurvePrivateKey, CurvePublicKey
from coprime.ec.montgomery import X25519
from coprime.ec.weierstrass import CurveAccelerator, curve_named
from coprime.encodings import key_files, pem
from coprime.encodings.errors import KeyFileError

from . import ml_kem
from .accelerators import Calls
from .key_sets import ML_KEM, MlKemKeySet
from .keys import LatticePrivateKey, LatticePublicKey, parse_private

__all__ = [
    "GROUPS",
    "X25519MLKEM768",
    "HybridPrivateKey",
    "TlsGroup",
    "answer",
    "check_share",
    "finish",
    "offer",
]


@dataclass(frozen=True)
class TlsGroup:
    """A named group of TLS.

    Parameters
    ----------
    name, number : as TLS has it
    curve, set : of which it consists
    point_bytes : of a public key of the curve
    lattice_first : whether ML-KEM's part is the first one
    """

    name: str
    number: int
    curve: Curve
    set: MlKemKeySet
    point_bytes: int
    lattice_first: bool = False

    def lattice_bytes(self, side: str) -> int:
        """Of ML-KEM's part of a side's share: a public key of the client, a ciphertext of the
        server.
        """
        return self.set.public_bytes if side == CLIENT else self.set.parameters.ciphertext_bytes

    def join(self, lattice: bytes, curve: bytes) -> bytes:
        """A share, or a secret, of its parts."""
        return lattice + curve if self.lattice_first else curve + lattice

    def split(self, side: str, share: bytes) -> tuple[bytes, bytes]:
        """ML-KEM's part of a side's share, and the curve's. ValueError for another length."""
        wanted = self.lattice_bytes(side) + self.point_bytes
        if len(share) != wanted:
            raise ValueError(
                f"a {side}'s share of {self.name} has {wanted:,} bytes, not {len(share):,}"
            )
        if self.lattice_first:
            return share[: -self.point_bytes], share[-self.point_bytes :]
        return share[self.point_bytes :], share[: self.point_bytes]


CLIENT, SERVER = "client", "server"
X25519MLKEM768 = TlsGroup(
    "X25519MLKEM768", 0x11EC, X25519, ML_KEM["ML-KEM-768"], 32, lattice_first=True
)
GROUPS: Mapping[str, TlsGroup] = {
    group.name: group
    for group in (
        X25519MLKEM768,
        TlsGroup("SecP256r1MLKEM768", 0x11EB, curve_named("P-256"), ML_KEM["ML-KEM-768"], 65),
        TlsGroup("SecP384r1MLKEM1024", 0x11ED, curve_named("P-384"), ML_KEM["ML-KEM-1024"], 97),
    )
}
"""All groups by name."""


@dataclass(frozen=True)
class HybridPrivateKey:
    """What a client keeps between its share and the secret. The repr shows no secret."""

    group: TlsGroup
    lattice: LatticePrivateKey
    curve: CurvePrivateKey

    def encode(self) -> bytes:
        """Both keys as PKCS #8 in PEM, ML-KEM's first."""
        return self.lattice.encode() + self.curve.encode()

    @classmethod
    def parse(cls, data: bytes, group: TlsGroup) -> Self:
        """From what `encode` gives. Raises KeyFileError for anything else, and other sets or
        curves.
        """
        blocks = [
            pem.write(block.label, block.content)
            for block in pem.blocks(data)
            if block.label == "PRIVATE KEY"
        ]
        if len(blocks) != 2:
            if not blocks:
                raise key_files.no_key(data, "private")
            raise KeyFileError(
                f"the file holds {len(blocks)} of the two private keys of {group.name}: name the"
                " one that was written with the client's share"
            )
        lattice = parse_private(blocks[0], {group.set.name: group.set})
        curve = curve_keys.parse_private(blocks[1])
        if curve.curve is not group.curve:
            raise KeyFileError(
                f"the second key in the file is of {curve.curve.name}, not of {group.curve.name}"
            )
        return cls(group, lattice, curve)


@dataclass(frozen=True)
class ServerAnswer:
    """The server's share, and the secret, which the repr does not show."""

    share: bytes = field(repr=False)
    secret: bytes = field(repr=False)


def offer(
    lattice: Calls, curves: CurveAccelerator, group: TlsGroup
) -> tuple[HybridPrivateKey, bytes]:
    """The client's new private key, and its share. ValueError as `ml_kem.generate`."""
    of_lattice, public = ml_kem.generate(lattice, group.set)
    of_curve = CurvePrivateKey.generate(group.curve)
    point = exchange.public_key(curves, of_curve).point
    return HybridPrivateKey(group, of_lattice, of_curve), group.join(public.key, point)


def answer(
    lattice: Calls, curves: CurveAccelerator, group: TlsGroup, client_share: bytes
) -> ServerAnswer:
    """The server's share and the secret, for a client's share.

    ValueError for a share of another length, a key with a number out of range, a point that is not
    on the curve, or one of low order: TLS ends with the alert illegal_parameter. Also as
    `ml_kem.encapsulate`.
    """
    key, point = group.split(CLIENT, client_share)
    public, peer = LatticePublicKey(group.set, key), CurvePublicKey(group.curve, point)
    own = CurvePrivateKey.generate(group.curve)
    secret = exchange.shared_secret(curves, own, peer)
    own_point = exchange.public_key(curves, own).point
    sent = ml_kem.encapsulate(lattice, public)
    share = group.join(sent.ciphertext, own_point)
    return ServerAnswer(share, group.join(sent.secret, secret))


def finish(
    lattice: Calls,
    curves: CurveAccelerator,
    private: HybridPrivateKey,
    server_share: bytes,
) -> bytes:
    """The secret, for the server's share. ValueError as `answer`, and as `ml_kem.decapsulate`."""
    group = private.group
    ciphertext, point = group.split(SERVER, server_share)
    peer = CurvePublicKey(group.curve, point)
    secret = exchange.shared_secret(curves, private.curve, peer)
    return group.join(ml_kem.decapsulate(lattice, private.lattice, ciphertext), secret)


def check_share(group: TlsGroup, side: str, share: bytes) -> None:
    """Raise ValueError for a side's share of another length, with a number out of range, or with a
    point that is not on the curve.
    """
    lattice, point = group.split(side, share)
    if side == CLIENT:
        group.set.check_public(lattice)
    group.curve.decode_point(point)
