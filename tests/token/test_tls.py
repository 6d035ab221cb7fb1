"""TLS 1.3 with programs of others, in which the token makes shares and secrets."""

import pytest

from coprime.pqc.hybrid import CLIENT, GROUPS, SERVER
from tests.pqc.tls_peers import Server, connect_to, go_peer, openssl_peer, serve_to
from tests.token import cryptoki as c
from tests.token.conftest import opened_session
from tests.token.test_curves import X25519, octets

pytestmark = [pytest.mark.xdist_group("token"), pytest.mark.clients]

SHOWN = {c.KEY_TYPE: c.GENERIC_SECRET, c.SENSITIVE: False, c.EXTRACTABLE: True}
"""The secrets go into TLS's key schedule, which the program computes."""
SETS = {"ML-KEM-768": 2, "ML-KEM-1024": 3}
PARAMETERS = {
    "X25519": bytes.fromhex(X25519),
    "P-256": bytes.fromhex("06082a8648ce3d030107"),
    "P-384": bytes.fromhex("06052b81040022"),
}


@pytest.fixture(scope="module", params=["software", "sim,sim-lattice"])
def session(request, module, ready, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls") / "token"
    with opened_session(module, ready, folder, request.param) as opened:
        yield opened


@pytest.fixture(scope="module", params=[go_peer, openssl_peer], ids=["go", "openssl"])
def peer(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("peer"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    return Server.make(tmp_path_factory.mktemp("server"))


class OfToken:
    """Both sides of a group: keys and secrets are objects of the session."""

    def __init__(self, session, group):
        self.session, self.group = session, group
        self.is_x = group.curve.name == "X25519"

    def curve_pair(self):
        """A point, and the handle of its private key."""
        kind = c.EC_MONTGOMERY_KEY_PAIR_GEN if self.is_x else c.EC_KEY_PAIR_GEN
        public = {c.EC_PARAMS: PARAMETERS[self.group.curve.name]}
        public, private = self.session.generate(kind, public, {c.DERIVE: True})
        found = self.session.get(public, c.EC_POINT)
        point = found[-self.group.point_bytes :]
        assert found in (point, octets(point))
        return point, private

    def value(self, handle):
        return self.session.get(handle, c.VALUE)

    def offer(self):
        public, private = self.session.generate(
            c.ML_KEM_KEY_PAIR_GEN, {c.PARAMETER_SET: SETS[self.group.set.name]}, {}
        )
        own, of_curve = self.curve_pair()

        def finish(share):
            ciphertext, point = self.group.split(SERVER, share)
            first = self.session.decapsulate(private, ciphertext, SHOWN)
            second = self.session.derive(of_curve, point, SHOWN)
            return self.group.join(self.value(first), self.value(second))

        return self.group.join(self.value(public), own), finish

    def answer(self, share):
        key, point = self.group.split(CLIENT, share)
        public = self.session.create(
            {c.CLASS: c.PUBLIC_KEY, c.KEY_TYPE: c.ML_KEM, c.VALUE: key}
            | {c.PARAMETER_SET: SETS[self.group.set.name]}
        )
        ciphertext, first = self.session.encapsulate(public, SHOWN)
        own, private = self.curve_pair()
        second = self.session.derive(private, point, SHOWN)
        secret = self.group.join(self.value(first), self.value(second))
        return self.group.join(ciphertext, own), secret


@pytest.mark.parametrize("name", GROUPS)
def test_the_token_is_the_client(session, peer, server, name):
    connect_to(peer, server, GROUPS[name], OfToken(session, GROUPS[name]).offer)


@pytest.mark.parametrize("name", GROUPS)
def test_the_token_is_the_server(session, peer, server, name):
    serve_to(peer, server, GROUPS[name], OfToken(session, GROUPS[name]).answer)
