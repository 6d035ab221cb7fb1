"""TLS 1.3 with programs of others, whose secret our engines agree on: the handshake, and data in
both directions.
"""

import ctypes
import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

from coprime.catalog import choose, choose_calls
from coprime.device.accelerator import Accelerator
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import open_simulation
from coprime.engine.contract import Error
from coprime.package.call_header import call_header
from coprime.pqc import hybrid
from coprime.pqc.hybrid import GROUPS, X25519MLKEM768
from tests.drivers.bindings import driver_of
from tests.drivers.harness import CALLS, CURVES, DRIVER, DRIVERS, ROOT, compile_c
from tests.integers import IntegerCurves
from tests.pqc.references import ReferenceCalls
from tests.pqc.tls13 import TlsError
from tests.pqc.tls_peers import Server, connect_to, go_peer, openssl_peer, serve_to

pytestmark = [pytest.mark.clients, pytest.mark.timeout(1200)]
FORMS = {"montgomery": X25519MLKEM768.curve, "weierstrass": GROUPS["SecP384r1MLKEM1024"].curve}
"""The longest curve of each form of the groups."""
every_group = pytest.mark.parametrize("name", GROUPS)


@pytest.fixture(scope="module", params=[go_peer, openssl_peer], ids=["go", "openssl"])
def peer(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("peer"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    return Server.make(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="module")
def engines():
    """Gives the engines of a group: simulated ones, opened once."""
    lattice = choose_calls("lattice", {})
    with ExitStack() as stack:
        calls = CallAccelerator(
            stack.enter_context(open_simulation(lattice)), lattice.design.interface
        )
        opened = {}

        def of(name):
            form = "montgomery" if name == X25519MLKEM768.name else "weierstrass"
            if form not in opened:
                chosen = choose("compact", {"curves": form}, FORMS[form].lengths)
                opened[form] = Accelerator(stack.enter_context(open_simulation(chosen)))
            return calls, opened[form]

        yield of


def client_of(group, lattice, curves):
    def offer():
        private, share = hybrid.offer(lattice, curves, group)
        return share, lambda found: hybrid.finish(lattice, curves, private, found)

    return offer


def server_of(group, lattice, curves):
    def answer(share):
        made = hybrid.answer(lattice, curves, group, share)
        return made.share, made.secret

    return answer


@every_group
def test_our_engines_are_the_client(peer, server, engines, name):
    connect_to(peer, server, GROUPS[name], client_of(GROUPS[name], *engines(name)))


@every_group
def test_our_engines_are_the_server(peer, server, engines, name):
    serve_to(peer, server, GROUPS[name], server_of(GROUPS[name], *engines(name)))


def command(folder, text):
    subprocess.run([sys.executable, "-m", "coprime", *text.split()], cwd=folder, check=True)


def test_the_command_line_is_the_client(peer, server, tmp_path):
    def finish(share):
        (tmp_path / "server_share").write_bytes(share)
        words = "finish --private client.pem --peer server_share -o secret"
        command(tmp_path, f"x25519-mlkem768 {words}")
        return (tmp_path / "secret").read_bytes()

    def offer():
        command(tmp_path, "x25519-mlkem768 offer -o client_share --private client.pem")
        return (tmp_path / "client_share").read_bytes(), finish

    connect_to(peer, server, X25519MLKEM768, offer)


def test_the_command_line_is_the_server(peer, server, tmp_path):
    def answer(share):
        (tmp_path / "client_share").write_bytes(share)
        words = "answer --peer client_share -o server_share --secret secret"
        command(tmp_path, f"x25519-mlkem768 {words}")
        return (tmp_path / "server_share").read_bytes(), (tmp_path / "secret").read_bytes()

    serve_to(peer, server, X25519MLKEM768, answer)


class Firmware:
    """docs/examples/key_share.c, in this process, with the registers of two simulated engines."""

    def __init__(self, folder, lattice, curves):
        header = folder / "coprime_lattice.h"
        header.write_text(call_header("coprime_lattice", lattice.interface))
        sources = (ROOT / "docs" / "examples" / "key_share.c", DRIVER, CALLS, *CURVES)
        arguments = ("-shared", "-fPIC", "-O1", f"-I{folder}", *sources)
        more = DRIVERS / "src" / "coprime_ml_kem.c"
        self._library = ctypes.CDLL(str(compile_c(folder, "key_share.so", *arguments, more)))
        self._drivers = [driver_of(one._device) for one in (lattice, curves)]
        self._on = (ctypes.c_uint8 * 4096)()
        places = (ctypes.c_void_p * 2)(*map(ctypes.addressof, self._drivers))
        ctypes.memmove(self._on, places, ctypes.sizeof(places))
        assert self._library.key_shares_open(self._on) == 0

    def call(self, name, *arguments):
        return getattr(self._library, name)(self._on, *arguments)

    def offer(self):
        own, share = os.urandom(64 + 32), ctypes.create_string_buffer(1216)
        assert self.call("offer", own, share) == 0

        def finish(found):
            secret = ctypes.create_string_buffer(64)
            assert len(found) == 1120
            assert self.call("finish", own, found, secret) == 0
            return secret.raw

        return share.raw, finish

    def answer(self, found):
        share, secret = (ctypes.create_string_buffer(size) for size in (1120, 64))
        assert len(found) == 1216
        assert self.call("answer", os.urandom(64), found, share, secret) == 0
        return share.raw, secret.raw


@pytest.fixture(scope="module")
def firmware(engines, tmp_path_factory):
    return Firmware(tmp_path_factory.mktemp("firmware"), *engines(X25519MLKEM768.name))


def test_firmware_is_the_client(peer, server, firmware):
    connect_to(peer, server, X25519MLKEM768, firmware.offer)


def test_firmware_is_the_server(peer, server, firmware):
    serve_to(peer, server, X25519MLKEM768, firmware.answer)


def test_firmware_refuses_wrong_shares(firmware):
    share, _ = firmware.offer()
    output, secret = (ctypes.create_string_buffer(b"x" * 1120) for _ in "ab")
    for wrong, error in (
        (b"\xff" * 3 + share[3:], Error.INVALID_KEY),
        (share[:-32] + bytes(32), Error.POINT),
    ):
        assert firmware.call("answer", bytes(64), wrong, output, secret) == error
        assert secret.raw[:64] == bytes(64)


def test_another_secret_ends_the_handshake(peer, server):
    """One wrong bit, so that the handshakes above show that the secrets are equal."""
    group, of = X25519MLKEM768, (ReferenceCalls(), IntegerCurves())

    def changed(secret):
        return bytes([secret[0] ^ 1]) + secret[1:]

    def offer():
        share, finish = client_of(group, *of)()
        return share, lambda found: changed(finish(found))

    def answer(share):
        made, secret = server_of(group, *of)(share)
        return made, changed(secret)

    with pytest.raises(Exception) as found:
        connect_to(peer, server, group, offer)
    assert type(found.value).__name__ == "InvalidTag"
    with pytest.raises((TlsError, OSError)):
        serve_to(peer, server, group, answer)
