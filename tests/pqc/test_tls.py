"""Go's crypto/tls agrees on the secret of X25519MLKEM768: both sides of a handshake as far as the
ServerHello, after which Go's key log shows what it has derived from the secret (RFC 8446, 7.1).
"""

import hashlib
import hmac
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from coprime.catalog import choose, choose_calls
from coprime.device.accelerator import Accelerator
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import open_simulation
from coprime.pqc.hybrid import X25519MLKEM768, answer, finish, offer

SOURCE = Path(__file__).parent / "go" / "main.go"
SECONDS = 60
HANDSHAKE, CLIENT_HELLO, SERVER_HELLO = 22, 1, 2
GROUPS, ALGORITHMS, VERSIONS, KEY_SHARE = 10, 13, 43, 51
AES_128_GCM_SHA256, ECDSA_P256, TLS_1_3 = b"\x13\x01", b"\x04\x03", b"\x03\x04"
GROUP = X25519MLKEM768.number.to_bytes(2)


@pytest.fixture(scope="module")
def go(tmp_path_factory):
    if shutil.which("go") is None:
        pytest.skip("there is no Go (on Debian: apt-get install golang, 1.24 or later)")
    program = tmp_path_factory.mktemp("go") / "main"
    done = subprocess.run(
        ["go", "build", "-buildvcs=false", "-o", program, SOURCE],
        capture_output=True,
        text=True,
        check=False,
    )
    if "undefined: tls.X25519MLKEM768" in done.stderr:
        pytest.skip("this Go has no X25519MLKEM768: 1.24 or later has it")
    assert done.returncode == 0, done.stderr
    return program


@pytest.fixture(scope="module")
def engines():
    lattice, curves = choose_calls("lattice", {}), choose("compact", {"curves": "montgomery"})
    with open_simulation(lattice) as first, open_simulation(curves) as second:
        yield CallAccelerator(first, lattice.design.interface), Accelerator(second)


def sized(data, size=2):
    return len(data).to_bytes(size) + data


def extension(kind, data):
    return kind.to_bytes(2) + sized(data)


def message(kind, *parts, extensions):
    body = b"\x03\x03" + os.urandom(32) + b"".join(parts) + sized(b"".join(extensions))
    return bytes([kind]) + sized(body, 3)


def receive(connection):
    """A handshake message, which is a whole record."""
    head = read(connection, 5)
    assert head[0] == HANDSHAKE
    return read(connection, int.from_bytes(head[3:]))


def read(connection, size):
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        assert part, "the connection is closed"
        data += part
    return data


def send(connection, data):
    connection.sendall(bytes([HANDSHAKE]) + b"\x03\x01" + sized(data))


def parse(data):
    """Random bytes, session's number and extensions of a hello."""
    random, place = data[6:38], 38
    session = data[place + 1 : place + 1 + data[place]]
    place += 1 + len(session)
    if data[0] == CLIENT_HELLO:
        place += 2 + int.from_bytes(data[place : place + 2])  # suites
        place += 1 + data[place]  # compression
    else:
        place += 3
    place += 2
    extensions = {}
    while place < len(data):
        size = int.from_bytes(data[place + 2 : place + 4])
        kind = int.from_bytes(data[place : place + 2])
        extensions[kind] = data[place + 4 : place + 4 + size]
        place += 4 + size
    return random, session, extensions


def expand(secret, label, context):
    label = (32).to_bytes(2) + sized(b"tls13 " + label, 1) + sized(context, 1)
    return hmac.digest(secret, label + b"\1", "sha256")


def client_secret(secret, *hellos):
    """client_handshake_traffic_secret."""
    early = hmac.digest(bytes(32), bytes(32), "sha256")
    derived = expand(early, b"derived", hashlib.sha256().digest())
    handshake = hmac.digest(derived, secret, "sha256")
    return expand(handshake, b"c hs traffic", hashlib.sha256(b"".join(hellos)).digest())


def logged(lines, random):
    """What Go has derived for the client with these random bytes."""
    label = f"CLIENT_HANDSHAKE_TRAFFIC_SECRET {random.hex()} "
    (line,) = [one for one in lines if one.startswith(label)]
    return bytes.fromhex(line.removeprefix(label))


@pytest.mark.clients
def test_go_as_the_client(go, engines):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        with subprocess.Popen([go, "client", address], stdout=subprocess.PIPE, text=True) as peer:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(SECONDS)
                hello = receive(connection)
                random, session, extensions = parse(hello)
                shares = extensions[KEY_SHARE][2:]
                assert shares[:4] == GROUP + (1216).to_bytes(2)
                made = answer(*engines, X25519MLKEM768, shares[4 : 4 + 1216])
                reply = message(
                    SERVER_HELLO,
                    *(sized(session, 1), AES_128_GCM_SHA256, b"\0"),
                    extensions=[
                        extension(VERSIONS, TLS_1_3),
                        extension(KEY_SHARE, GROUP + sized(made.share)),
                    ],
                )
                send(connection, reply)
            found, _ = peer.communicate(timeout=SECONDS)
    assert logged(found.splitlines(), random) == client_secret(made.secret, hello, reply)


@pytest.mark.clients
def test_go_as_the_server(go, engines):
    private, share = offer(*engines, X25519MLKEM768)
    hello = message(
        CLIENT_HELLO,
        *(sized(b"", 1), sized(AES_128_GCM_SHA256), sized(b"\0", 1)),
        extensions=[
            extension(GROUPS, sized(GROUP)),
            extension(ALGORITHMS, sized(ECDSA_P256)),
            extension(VERSIONS, sized(TLS_1_3, 1)),
            extension(KEY_SHARE, sized(GROUP + sized(share))),
        ],
    )
    with subprocess.Popen([go, "server"], stdout=subprocess.PIPE, text=True) as peer:
        host, port = peer.stdout.readline().strip().split(":")
        with socket.create_connection((host, int(port)), SECONDS) as connection:
            send(connection, hello)
            reply = receive(connection)
        found, _ = peer.communicate(timeout=SECONDS)
    assert reply[0] == SERVER_HELLO
    answered = parse(reply)[2][KEY_SHARE]
    assert answered[:4] == GROUP + (1120).to_bytes(2)
    secret = finish(*engines, private, answered[4:])
    assert logged(found.splitlines(), parse(hello)[0]) == client_secret(secret, hello, reply)
