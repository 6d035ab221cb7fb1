"""Both sides of TLS 1.3 (RFC 8446), whose key exchange is somebody else's: shares and secret are
bytes that the caller makes.

One suite (AES_128_GCM_SHA256), certificates of P-256, one group; no HelloRetryRequest, no tickets,
no client's certificate. Raises TlsError for whatever the standard does not allow here.
"""

import hashlib
import hmac
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding

CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE, APPLICATION_DATA = 20, 21, 22, 23
CLIENT_HELLO, SERVER_HELLO, ENCRYPTED_EXTENSIONS = 1, 2, 8
CERTIFICATE, CERTIFICATE_VERIFY, FINISHED = 11, 15, 20
SERVER_NAME, SUPPORTED_GROUPS, SIGNATURE_ALGORITHMS, VERSIONS, KEY_SHARE = 0, 10, 13, 43, 51
SUITE, ECDSA_P256, TLS_1_3, CLOSE_NOTIFY = b"\x13\x01", b"\x04\x03", b"\x03\x04", b"\x01\x00"
LARGEST, TAG_BYTES = 1 << 14, 16
SIGNED = b" " * 64 + b"TLS 1.3, server CertificateVerify\0"


class TlsError(Exception):
    """What the other side sent is not a handshake that succeeds."""


def check(condition: object, text: str) -> None:
    if not condition:
        raise TlsError(text)


def vector(data: bytes, size: int = 2) -> bytes:
    return len(data).to_bytes(size) + data


def take(data: bytes, size: int) -> tuple[bytes, bytes]:
    """A vector whose length has `size` bytes, and the rest."""
    end = size + int.from_bytes(data[:size])
    check(len(data) >= end, "a message ends early")
    return data[size:end], data[end:]


def extension(kind: int, data: bytes) -> bytes:
    return kind.to_bytes(2) + vector(data)


def extensions_of(data: bytes) -> dict[int, bytes]:
    """By their numbers; `data` ends with them."""
    found, left = {}, take(data, 2)[0]
    while left:
        kind = int.from_bytes(left[:2])
        found[kind], left = take(left[2:], 2)
    return found


def expand(secret: bytes, label: bytes, context: bytes = b"", size: int = 32) -> bytes:
    """HKDF-Expand-Label of 7.1, for at most one hash."""
    info = size.to_bytes(2) + vector(b"tls13 " + label, 1) + vector(context, 1)
    return hmac.digest(secret, info + b"\1", "sha256")[:size]


class Protection:
    """Records in one direction under one traffic secret: 5.2, 5.3, 7.3."""

    def __init__(self, secret: bytes) -> None:
        self.secret, self.count = secret, 0
        self._cipher = AESGCM(expand(secret, b"key", size=16))
        self._iv = int.from_bytes(expand(secret, b"iv", size=12))

    def _nonce(self) -> bytes:
        self.count += 1
        return (self._iv ^ (self.count - 1)).to_bytes(12)

    def seal(self, kind: int, data: bytes) -> bytes:
        head = bytes([APPLICATION_DATA, 3, 3]) + (len(data) + 1 + TAG_BYTES).to_bytes(2)
        return head + self._cipher.encrypt(self._nonce(), data + bytes([kind]), head)

    def open(self, head: bytes, data: bytes) -> tuple[int, bytes]:
        inner = self._cipher.decrypt(self._nonce(), data, head).rstrip(b"\0")
        return inner[-1], inner[:-1]

    def finished(self, transcript: bytes) -> bytes:
        key = expand(self.secret, b"finished")
        return hmac.digest(key, hashlib.sha256(transcript).digest(), "sha256")


@dataclass(frozen=True)
class Identity:
    """What a server proves to be."""

    certificate: x509.Certificate
    private: ec.EllipticCurvePrivateKey

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(Encoding.DER)


class Connection:
    """A socket with records, the transcript of the handshake, and then the data."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.transcript, self._pending = b"", b""
        self.reading: Protection | None = None
        self.writing: Protection | None = None

    def _bytes(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self._stream.recv(size - len(data))
            check(part, "the connection is closed")
            data += part
        return data

    def _record(self) -> tuple[int, bytes]:
        while True:
            head = self._bytes(5)
            data = self._bytes(int.from_bytes(head[3:]))
            if head[0] != CHANGE_CIPHER_SPEC:  # for middleboxes, without a meaning
                break
        if self.reading is None:
            kind = head[0]
        else:
            check(head[0] == APPLICATION_DATA, f"a record of type {head[0]} is not protected")
            kind, data = self.reading.open(head, data)
        check(kind != ALERT or data == CLOSE_NOTIFY, f"alert {data.hex()}")
        return kind, data

    def write(self, kind: int, data: bytes) -> None:
        for start in range(0, len(data), LARGEST):
            part = data[start : start + LARGEST]
            if self.writing is None:
                self._stream.sendall(bytes([kind, 3, 3]) + vector(part))
            else:
                self._stream.sendall(self.writing.seal(kind, part))

    def send(self, kind: int, body: bytes) -> None:
        """A message of the handshake."""
        message = bytes([kind]) + vector(body, 3)
        self.transcript += message
        self.write(HANDSHAKE, message)

    def receive(self, kind: int) -> bytes:
        """The body of the next message, which must be of this kind."""
        while len(self._pending) < 4 or len(self._pending) < 4 + int.from_bytes(self._pending[1:4]):
            found, data = self._record()
            check(found == HANDSHAKE, f"a record of type {found} in the handshake")
            self._pending += data
        size = 4 + int.from_bytes(self._pending[1:4])
        message, self._pending = self._pending[:size], self._pending[size:]
        check(message[0] == kind, f"message {message[0]} instead of {kind}")
        self.transcript += message
        return message[4:]

    def receive_data(self, size: int) -> bytes:
        """So many bytes of data; tickets are ignored."""
        data = b""
        while len(data) < size:
            kind, part = self._record()
            check(kind in (APPLICATION_DATA, HANDSHAKE), "the other side has closed")
            data += part if kind == APPLICATION_DATA else b""
        check(len(data) == size, "more data than was to come")
        return data

    def send_data(self, data: bytes) -> None:
        self.write(APPLICATION_DATA, data)

    def close(self) -> None:
        self.write(ALERT, CLOSE_NOTIFY)

    def derive(self, secret: bytes, label: bytes) -> bytes:
        return expand(secret, label, hashlib.sha256(self.transcript).digest())


class Schedule:
    """The secrets of a connection, after the ServerHello and after the server's Finished: 7.1."""

    def __init__(self, connection: Connection, exchanged: bytes) -> None:
        self._connection = connection
        nothing = hashlib.sha256().digest()
        early = hmac.digest(bytes(32), bytes(32), "sha256")
        handshake = hmac.digest(expand(early, b"derived", nothing), exchanged, "sha256")
        self.client = Protection(connection.derive(handshake, b"c hs traffic"))
        self.server = Protection(connection.derive(handshake, b"s hs traffic"))
        self._main = hmac.digest(expand(handshake, b"derived", nothing), bytes(32), "sha256")

    def application(self) -> tuple[Protection, Protection]:
        """The client's and the server's protection of data."""
        derive = self._connection.derive
        return (
            Protection(derive(self._main, b"c ap traffic")),
            Protection(derive(self._main, b"s ap traffic")),
        )


Answer = Callable[[bytes], tuple[bytes, bytes]]
"""The server's share and the secret, of the client's share."""


def serve(stream: Any, identity: Identity, group: int, answer: Answer) -> Connection:
    """The server's side of a handshake, in which the client has to offer a share of the group."""
    connection = Connection(stream)
    hello = connection.receive(CLIENT_HELLO)
    session, rest = take(hello[34:], 1)
    suites, rest = take(rest, 2)
    check(SUITE in (suites[k : k + 2] for k in range(0, len(suites), 2)), "no common suite")
    found = extensions_of(take(rest, 1)[1])
    check(TLS_1_3 in found.get(VERSIONS, b""), "the client has no TLS 1.3")
    shares, offered = take(found[KEY_SHARE], 2)[0], {}
    while shares:
        number = int.from_bytes(shares[:2])
        offered[number], shares = take(shares[2:], 2)
    check(group in offered, f"the client offers the groups {sorted(offered)}")
    share, secret = answer(offered[group])
    extensions = extension(VERSIONS, TLS_1_3)
    extensions += extension(KEY_SHARE, group.to_bytes(2) + vector(share))
    parts = (b"\3\3", os.urandom(32), vector(session, 1), SUITE, b"\0", vector(extensions))
    connection.send(SERVER_HELLO, b"".join(parts))
    schedule = Schedule(connection, secret)
    connection.reading, connection.writing = schedule.client, schedule.server
    connection.send(ENCRYPTED_EXTENSIONS, vector(b""))
    connection.send(CERTIFICATE, b"\0" + vector(vector(identity.der, 3) + vector(b""), 3))
    signed = SIGNED + hashlib.sha256(connection.transcript).digest()
    signature = identity.private.sign(signed, ec.ECDSA(hashes.SHA256()))
    connection.send(CERTIFICATE_VERIFY, ECDSA_P256 + vector(signature))
    connection.send(FINISHED, schedule.server.finished(connection.transcript))
    reading, connection.writing = schedule.application()
    wanted = schedule.client.finished(connection.transcript)
    check(connection.receive(FINISHED) == wanted, "the client's Finished is wrong")
    connection.reading = reading
    return connection


def connect(
    stream: Any,
    server: x509.Certificate,
    group: int,
    share: bytes,
    finish: Callable[[bytes], bytes],
) -> Connection:
    """The client's side of a handshake with the server that has this certificate."""
    connection = Connection(stream)
    name = vector(b"\0" + vector(b"localhost"))
    parts = (
        extension(SERVER_NAME, name),
        extension(SUPPORTED_GROUPS, vector(group.to_bytes(2))),
        extension(SIGNATURE_ALGORITHMS, vector(ECDSA_P256)),
        extension(VERSIONS, vector(TLS_1_3, 1)),
        extension(KEY_SHARE, vector(group.to_bytes(2) + vector(share))),
    )
    head = b"\3\3" + os.urandom(32) + vector(b"", 1) + vector(SUITE) + vector(b"\0", 1)
    connection.send(CLIENT_HELLO, head + vector(b"".join(parts)))
    hello = connection.receive(SERVER_HELLO)
    rest = take(hello[34:], 1)[1]
    check(rest[:3] == SUITE + b"\0", "the server has chosen another suite")
    found = extensions_of(rest[3:])
    check(found.get(VERSIONS) == TLS_1_3, "the server has no TLS 1.3")
    chosen = found[KEY_SHARE]
    check(int.from_bytes(chosen[:2]) == group, "the server has chosen another group")
    schedule = Schedule(connection, finish(take(chosen[2:], 2)[0]))
    connection.reading, connection.writing = schedule.server, schedule.client
    connection.receive(ENCRYPTED_EXTENSIONS)
    entries = take(connection.receive(CERTIFICATE)[1:], 3)[0]
    der = server.public_bytes(Encoding.DER)
    check(take(entries, 3)[0] == der, "the server has another certificate")
    signed = SIGNED + hashlib.sha256(connection.transcript).digest()
    verify = connection.receive(CERTIFICATE_VERIFY)
    check(verify[:2] == ECDSA_P256, "the server signs with another algorithm")
    public: Any = server.public_key()
    public.verify(take(verify[2:], 2)[0], signed, ec.ECDSA(hashes.SHA256()))
    wanted = schedule.server.finished(connection.transcript)
    check(connection.receive(FINISHED) == wanted, "the server's Finished is wrong")
    writing, connection.reading = schedule.application()
    connection.send(FINISHED, schedule.client.finished(connection.transcript))
    connection.writing = writing
    return connection
