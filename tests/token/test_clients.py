"""Programs that people run, with a key in the token: each result is checked by another program.

Every signature and decryption here is made by the simulated engine. Programs load the module
themselves ("direct"), or use it through `p11-kit server`.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_ulong
from pathlib import Path

import pytest

from coprime.token.module import TokenError, TokenModule
from tests.openssl import openssl
from tests.token.cryptoki import DEVICE_ERROR, OK, TOKEN_NOT_RECOGNIZED
from tests.token.tokens import PIN, Token

pytestmark = [pytest.mark.xdist_group("token"), pytest.mark.clients]

KEY = f"pkcs11:token=t1;object=rsa1;type=private?pin-value={PIN}"
ENGINE = ("-engine", "pkcs11", "-keyform", "engine")
ENGINES = "/usr/lib/*/engines-3/pkcs11.so"


def need(program, package):
    """Skip without a program."""
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} (on Debian: apt-get install {package})")


def need_engine():
    need("openssl", "openssl")
    if not list(Path("/").glob(ENGINES[1:])):
        pytest.skip(
            "OpenSSL has no engine for PKCS #11"
            " (on Debian: apt-get install libengine-pkcs11-openssl)"
        )


def find_provider():
    """The folder of OpenSSL's pkcs11-provider, which OPENSSL_MODULES may name."""
    found = [*Path("/").glob("usr/lib/*/ossl-modules/pkcs11.so")]
    found += [*Path(os.environ.get("OPENSSL_MODULES", "/none")).glob("pkcs11.so")]
    if not found:
        pytest.skip(
            "OpenSSL has no provider for PKCS #11"
            " (on Debian: apt-get install pkcs11-provider, of Debian 12's backports)"
        )
    return found[-1].parent


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextlib.contextmanager
def running(command, environment, folder, port):
    """A server in the background, from when it listens on."""
    log = folder / "server.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [*map(str, command)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        ) as server,
    ):
        try:
            for _ in range(300):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                assert server.poll() is None, log.read_text()
                time.sleep(0.1)
            yield server
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGTERM)


@contextlib.contextmanager
def through_p11_kit(token, folder):
    """The same token, through the module that connects to a `p11-kit server`."""
    need("p11-kit", "p11-kit")
    modules = list(Path("/").glob("usr/lib/*/pkcs11/p11-kit-client.so"))
    if not modules:
        pytest.skip("there is no p11-kit-client.so (on Debian: apt-get install p11-kit-modules)")
    path = folder / "socket"
    command = ["p11-kit", "server", "-f", "--provider", token.module, "-n", path, "pkcs11:token=t1"]
    with subprocess.Popen(command, env=token.environment, stdout=subprocess.DEVNULL) as server:
        try:
            while not path.exists():
                assert server.poll() is None
                time.sleep(0.05)
            settings = {"P11_KIT_SERVER_ADDRESS": f"unix:path={path}"}
            yield Token(modules[0], token.folder, settings)
        finally:
            server.terminate()


@contextlib.contextmanager
def reached(way, token, folder):
    """The token as a client reaches it."""
    if way == "direct":
        yield token
    else:
        with through_p11_kit(token, folder) as client:
            yield client


@pytest.fixture(params=["direct", pytest.param("p11-kit", marks=pytest.mark.clients)])
def way(request):
    return request.param


@pytest.fixture
def client(way, keyed, tmp_path):
    """The token with the key pair, as a client reaches it."""
    with reached(way, keyed, tmp_path) as found:
        yield found


@pytest.fixture(scope="session")
def certificate(keyed, tmp_path_factory):
    """A certificate of the key, which the key itself has signed."""
    need_engine()
    path = tmp_path_factory.mktemp("certificate") / "cert.pem"
    subject = ("-subj", "/CN=localhost", "-days", "30")
    keyed.run("openssl", "req", "-new", "-x509", *ENGINE, "-key", KEY, *subject, "-out", path)
    assert openssl("verify", "-CAfile", path, path, check=False)
    return path


def handshake(port, certificate, *options):
    """OpenSSL's client to a server; what it says."""
    done = subprocess.run(
        [
            *("openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-verify_return_error"),
            *("-CAfile", str(certificate), *options),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.stdout.decode("utf-8", "replace")


@pytest.mark.clients
def test_a_request_of_openssl(client, certificate, tmp_path):
    request = tmp_path / "request.pem"
    client.run("openssl", "req", "-new", *ENGINE, "-key", KEY, "-subj", "/CN=x", "-out", request)
    assert openssl("req", "-in", request, "-verify", "-noout", check=False)


@pytest.mark.parametrize("padding", ["pkcs1", "oaep"])
def test_cms_is_decrypted(client, certificate, tmp_path, padding):
    enveloped = tmp_path / "enveloped.pem"
    options = ("-aes256", "-recip", certificate, "-keyopt", f"rsa_padding_mode:{padding}")
    openssl("cms", "-encrypt", *options, "-out", enveloped, data=b"a message")
    decrypt = ("-decrypt", "-in", enveloped, "-recip", certificate, *ENGINE, "-inkey", KEY)
    assert "a message" in client.run("openssl", "cms", *decrypt)


def test_cms_is_signed(client, certificate, tmp_path):
    message, signed = tmp_path / "message", tmp_path / "signed.pem"
    message.write_text("a message")
    sign = ("-sign", "-signer", certificate, *ENGINE, "-inkey", KEY, "-in", message)
    client.run("openssl", "cms", *sign, "-out", signed)
    assert openssl("cms", "-verify", "-in", signed, "-CAfile", certificate, check=False)


@pytest.mark.clients
def test_tls_of_openssl(client, certificate, tmp_path):
    """The server's signature is the engine's; GnuTLS and OpenSSL verify it."""
    need("gnutls-cli", "gnutls-bin")
    port = free_port()
    serve = ("openssl", "s_server", *ENGINE, "-key", KEY, "-cert", certificate)
    command = (*serve, "-accept", f"127.0.0.1:{port}", "-www")
    with running(command, client.environment, tmp_path, port):
        for version in ("tls1_2", "tls1_3"):
            assert "Verify return code: 0 (ok)" in handshake(port, certificate, f"-{version}")
        for version in ("TLS1.2", "TLS1.3"):
            said = gnutls(client, port, certificate, f"NORMAL:-VERS-ALL:+VERS-{version}")
            assert version in said


PROVIDER = """
openssl_conf = start
[start]
providers = all
[all]
default = on
pkcs11 = token
[on]
activate = 1
[token]
pkcs11-module-path = {}
activate = 1
[req]
distinguished_name = none
[none]
"""


@pytest.fixture
def provider(client, tmp_path):
    """The token, as OpenSSL reaches it by pkcs11-provider."""
    folder, path = find_provider(), tmp_path / "provider.cnf"
    path.write_text(PROVIDER.format(client.module))
    settings = {"OPENSSL_CONF": str(path), "OPENSSL_MODULES": str(folder)}
    return Token(client.module, client.folder, {**client.settings, **settings})


def test_a_request_by_the_provider(provider, tmp_path):
    request = tmp_path / "request.pem"
    provider.run("openssl", "req", "-new", "-key", KEY, "-subj", "/CN=x", "-out", request)
    assert openssl("req", "-in", request, "-verify", "-noout", check=False)


@pytest.mark.parametrize("padding", ["pkcs1", "oaep"])
def test_cms_by_the_provider(provider, certificate, tmp_path, padding):
    enveloped, signed = tmp_path / "enveloped.pem", tmp_path / "signed.pem"
    options = ("-aes256", "-recip", certificate, "-keyopt", f"rsa_padding_mode:{padding}")
    openssl("cms", "-encrypt", *options, "-out", enveloped, data=b"a message")
    decrypt = ("-decrypt", "-in", enveloped, "-recip", certificate, "-inkey", KEY)
    assert "a message" in provider.run("openssl", "cms", *decrypt)
    sign = ("-sign", "-signer", certificate, "-inkey", KEY, "-in", certificate, "-out", signed)
    provider.run("openssl", "cms", *sign)
    assert openssl("cms", "-verify", "-in", signed, "-CAfile", certificate, check=False)


@pytest.mark.parametrize("digests", [{}, {"oaep_md": "sha256"}, {"mgf1_md": "sha256"}])
def test_oaep_by_the_provider(provider, certificate, tmp_path, digests):
    """Also where its user names one digest, or none: then OpenSSL's defaults are meant."""
    encrypted = tmp_path / "encrypted"
    settings = {"padding_mode": "oaep", **digests}
    options = [
        each for name, text in settings.items() for each in ("-pkeyopt", f"rsa_{name}:{text}")
    ]
    public = ("-encrypt", "-certin", "-inkey", certificate, *options, "-out", encrypted)
    openssl("pkeyutl", *public, data=b"a message")
    private = ("-decrypt", "-inkey", KEY, *options, "-in", encrypted)
    assert "a message" in provider.run("openssl", "pkeyutl", *private)


@pytest.fixture
def p256(token, tmp_path):
    """A token with a key on P-256, and its certificate, which it has signed itself and the token
    keeps; its URI, and the certificate's file."""
    need_engine()
    make = ("--keypairgen", "--key-type", "EC:prime256v1", "--label", "p256", "--id", "02")
    token.tool("--login", "--pin", PIN, *make)
    key, path = KEY.replace("rsa1", "p256"), tmp_path / "p256.pem"
    subject = ("-subj", "/CN=localhost", "-days", "30")
    token.run("openssl", "req", "-new", "-x509", *ENGINE, "-key", key, *subject, "-out", path)
    openssl("x509", "-in", path, "-outform", "DER", "-out", tmp_path / "p256.der")
    write = ("--write-object", tmp_path / "p256.der", "--type", "cert", "--id", "02")
    token.tool("--login", "--pin", PIN, *write, "--label", "p256")
    return token, key, path


@pytest.mark.clients
def test_p256_by_the_provider(p256, tmp_path):
    """A request, and handshakes of TLS, with signatures that OpenSSL verifies."""
    token, key, certificate = p256
    folder, path, request = find_provider(), tmp_path / "provider.cnf", tmp_path / "request.pem"
    path.write_text(PROVIDER.format(token.module))
    settings = {"OPENSSL_CONF": str(path), "OPENSSL_MODULES": str(folder)}
    make = ("req", "-new", "-key", key, "-subj", "/CN=x", "-out", request)
    token.run("openssl", *make, environment=settings)
    assert openssl("req", "-in", request, "-verify", "-noout", check=False)
    port = free_port()
    serve = ("openssl", "s_server", "-key", key, "-cert", certificate, "-www")
    command = (*serve, "-accept", f"127.0.0.1:{port}")
    with running(command, token.environment | settings, tmp_path, port):
        for version in ("-tls1_2", "-tls1_3"):
            said = handshake(port, certificate, version)
            assert "Verify return code: 0 (ok)" in said
            assert "Peer signature type: ECDSA" in said


SELFSERV = """
ip link set lo up
certutil -N -d sql:nss --empty-password
modutil -dbdir sql:nss -add coprime -libfile "$MODULE" -force
certutil -A -d sql:nss -n trusted -t C,C,C -i "$CERT"
selfserv -d sql:nss -n t1:p256 -w "$PIN" -p 4433 -V tls1.2:tls1.3 &
server=$!
until echo | openssl s_client -connect 127.0.0.1:4433 >/dev/null 2>&1; do
  kill -0 $server || exit 1
  sleep 0.1
done
for version in 1_2 1_3; do
  echo | openssl s_client -connect 127.0.0.1:4433 -tls$version -CAfile "$CERT" -verify_return_error
done
mkdir empty
certutil -N -d sql:empty --empty-password
for folder in nss empty; do
  printf 'GET / HTTP/1.0\\r\\n\\r\\n' |
    tstclnt -4 -h localhost -p 4433 -d sql:$folder -V tls1.3:tls1.3 -Q && echo "$folder: connected"
done
kill $server
"""


@pytest.mark.clients
def test_a_server_of_nss_on_p256(p256, tmp_path):
    """In a network of its own, as selfserv listens on all interfaces. OpenSSL's and NSS's clients
    verify its signatures; a client that does not trust the certificate does not connect."""
    need("ip", "iproute2")
    need("selfserv", "libnss3-tools")
    if subprocess.run(["unshare", "-rn", "true"], check=False).returncode:
        pytest.skip("this machine allows no network of its own (unshare -rn)")
    token, _, certificate = p256
    (tmp_path / "nss").mkdir()
    names = {"MODULE": str(token.module), "CERT": str(certificate), "PIN": PIN}
    said = token.run("unshare", "-rn", "sh", "-c", SELFSERV, environment=names, cwd=tmp_path)
    assert said.count("Verify return code: 0 (ok)") == 2
    assert said.count("Peer signature type: ECDSA") == 2
    assert "nss: connected" in said
    assert "empty: connected" not in said


def test_tls_by_the_provider(provider, certificate, tmp_path):
    port = free_port()
    serve = ("openssl", "s_server", "-key", KEY, "-cert", certificate)
    command = (*serve, "-accept", f"127.0.0.1:{port}", "-www")
    with running(command, provider.environment, tmp_path, port):
        for version in ("-tls1_2", "-tls1_3"):
            assert "Verify return code: 0 (ok)" in handshake(port, certificate, version)


def test_asynchronous_jobs_that_end_at_once(keyed, certificate, tmp_path):
    """OpenSSL runs the handshake as jobs that an engine may pause; this one never does."""
    port = free_port()
    serve = ("openssl", "s_server", *ENGINE, "-key", KEY, "-cert", certificate, "-async")
    command = (*serve, "-accept", f"127.0.0.1:{port}", "-www")
    with running(command, keyed.environment, tmp_path, port):
        for version in ("-tls1_2", "-tls1_3"):
            assert "Verify return code: 0 (ok)" in handshake(port, certificate, version)


def test_a_key_of_a_file_beside_the_engine(keyed, certificate, tmp_path):
    """OpenSSL's engine is loaded, and the key is none of the token's."""
    data, signature = tmp_path / "data", tmp_path / "signature"
    data.write_bytes(b"data")
    openssl("genrsa", "-out", tmp_path / "key", "1024")
    openssl("rsa", "-in", tmp_path / "key", "-pubout", "-out", tmp_path / "public")
    sign = ("-engine", "pkcs11", "-sha256", "-sign", tmp_path / "key", "-out", signature, data)
    keyed.run("openssl", "dgst", *sign)
    verify = ("-verify", tmp_path / "public", "-signature", signature, data)
    assert openssl("dgst", "-sha256", *verify, check=False)
    foreign = ("-keyform", "engine", "-sign", KEY.replace("object=rsa1", "object=another"))
    options = ("-engine", "pkcs11", "-sha256", *foreign, data)
    assert "rror" in keyed.run("openssl", "dgst", *options, check=False)


def gnutls(token, port, certificate, priority):
    """GnuTLS's client to a server, which must be trusted; what it says."""
    client = ("--x509cafile", certificate, "-p", port, "--priority", priority, "localhost")
    said = token.run("gnutls-cli", *client, package="gnutls-bin", stdin=subprocess.DEVNULL)
    assert "The certificate is trusted" in said
    assert "Handshake was completed" in said
    return said


GNUTLS = """
ip link set lo up
gnutls-serv --provider="$MODULE" --x509keyfile "$KEY" --x509certfile "$CERT" -p 4433 --http &
server=$!
until echo | openssl s_client -connect 127.0.0.1:4433 >/dev/null 2>&1; do
  kill -0 $server || exit 1
  sleep 0.1
done
for version in 1.2 1.3; do
  echo | openssl s_client -connect 127.0.0.1:4433 -tls${version%.*}_${version#*.} -CAfile "$CERT"
done
echo | openssl s_client -connect 127.0.0.1:4433 -tls1_2 -cipher AES256-GCM-SHA384 -CAfile "$CERT"
kill $server
"""


def test_tls_of_gnutls(client, certificate):
    """In a network of its own, as gnutls-serv listens on all interfaces. Also without ECDHE."""
    need("ip", "iproute2")
    if subprocess.run(["unshare", "-rn", "true"], check=False).returncode:
        pytest.skip("this machine allows no network of its own (unshare -rn)")
    names = {"MODULE": str(client.module), "KEY": KEY, "CERT": str(certificate)}
    need("gnutls-serv", "gnutls-bin")
    said = client.run("unshare", "-rn", "sh", "-c", GNUTLS, environment=names)
    assert said.count("Verify return code: 0 (ok)") >= 3
    assert "Cipher is AES256-GCM-SHA384" in said


def test_p11tool(client):
    url = "pkcs11:token=t1;object=rsa1;type=private"
    arguments = (f"--provider={client.module}", "--login", "--batch", "--test-sign", url)
    said = client.run("p11tool", *arguments, package="gnutls-bin", environment={"GNUTLS_PIN": PIN})
    assert "public key in the token... ok" in said


def test_a_login_with_openssh(client, tmp_path):
    need("ssh", "openssh-client")
    if not Path("/usr/sbin/sshd").exists():
        pytest.skip("there is no sshd (on Debian: apt-get install openssh-server)")
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    port, user = (
        free_port(),
        subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip(),
    )
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "host"], check=True
    )
    public = client.run("ssh-keygen", "-D", client.module)
    assert public.startswith("ssh-rsa ")
    (tmp_path / "authorized").write_text(public)
    (tmp_path / "ask").write_text(f"#!/bin/sh\necho {PIN}\n")
    (tmp_path / "ask").chmod(0o700)
    (tmp_path / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {tmp_path}/host\nStrictModes no\n"
        f"AuthorizedKeysFile {tmp_path}/authorized\nPidFile none\nUsePAM no\n"
        "PermitRootLogin prohibit-password\n"
    )
    serve = ("/usr/sbin/sshd", "-D", "-e", "-f", tmp_path / "config")
    ask = {"SSH_ASKPASS": str(tmp_path / "ask"), "SSH_ASKPASS_REQUIRE": "force"}
    options = ("-F", "none", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null")
    with running(serve, os.environ, tmp_path, port):
        connect = (*options, "-I", client.module, "-p", port, f"{user}@127.0.0.1", "echo", "here")
        assert "here\n" in client.run("ssh", *connect, environment=ask)


@pytest.fixture
def certified(way, token, certificate, keyed, tmp_path):
    """A token with the key and its certificate, as a client reaches it."""
    shutil.copytree(keyed.folder, token.folder, dirs_exist_ok=True)
    openssl("x509", "-in", certificate, "-outform", "DER", "-out", tmp_path / "cert.der")
    write = ("--write-object", tmp_path / "cert.der", "--type", "cert", "--id", "01")
    token.tool("--login", "--pin", PIN, *write, "--label", "rsa1")
    with reached(way, token, tmp_path) as client:
        yield client


@pytest.fixture
def java(certified, tmp_path):
    """The token as Java reaches it, and Java's arguments for it."""
    need("keytool", "openjdk-17-jdk-headless")
    settings = f"name=CP\nlibrary={certified.module}\nslotListIndex=0\n"
    (tmp_path / "java.cfg").write_text(settings)
    store = ("-keystore", "NONE", "-storetype", "PKCS11", "-storepass", PIN)
    return certified, ("-addprovider", "SunPKCS11", "-providerarg", tmp_path / "java.cfg", *store)


@pytest.mark.clients
@pytest.mark.parametrize("algorithm", ["SHA256withRSA", "RSASSA-PSS"])
def test_a_jar_is_signed(java, tmp_path, algorithm):
    client, options = java
    jar = tmp_path / "a.jar"
    (tmp_path / "file").write_text("content")
    client.run("jar", "cf", jar, "-C", tmp_path, "file")
    client.run("jarsigner", *options, "-sigalg", algorithm, jar, "rsa1")
    assert "jar verified" in client.run("jarsigner", "-verify", jar)


@pytest.mark.clients
def test_java_makes_keys(java):
    """Imported from software, and generated in the token as a session's and copied."""
    client, options = java
    make = ("-genkeypair", "-keyalg", "RSA", "-keysize", "2048", "-dname", "CN=j")
    client.run("keytool", *options, *make, "-alias", "imported")
    client.run("keytool", *options, *make, "-alias", "made", "-providername", "SunPKCS11-CP")
    listed = client.run("keytool", *options, "-list")
    for name in ("rsa1", "imported", "made"):
        assert f"{name}, PrivateKeyEntry" in listed


@pytest.fixture
def nss(certified, certificate, tmp_path):
    """The token as NSS reaches it, and the arguments of its programs; it trusts the certificate."""
    (tmp_path / "nss").mkdir()
    (tmp_path / "pin").write_text(f"{PIN}\n")
    database = ("-d", f"sql:{tmp_path}/nss")
    certified.run("certutil", "-N", *database, "--empty-password", package="libnss3-tools")
    add = ("-add", "coprime", "-libfile", certified.module, "-force")
    certified.run("modutil", "-dbdir", database[1], *add, package="libnss3-tools")
    certified.run("certutil", "-A", *database, "-n", "trusted", "-t", "C,C,C", "-i", certificate)
    return certified, (*database, "-f", tmp_path / "pin")


@pytest.mark.clients
def test_nss(nss, certificate, tmp_path):
    """A signature, and a decryption, of CMS."""
    client, options = nss
    assert "rsa1" in client.run("certutil", "-K", *options, "-h", "t1")
    (tmp_path / "message").write_text("a message")
    sign = ("-S", *options, "-N", "t1:rsa1", "-i", tmp_path / "message", "-o", tmp_path / "signed")
    client.run("cmsutil", *sign)
    verify = ("-verify", "-inform", "DER", "-in", tmp_path / "signed", "-CAfile", certificate)
    assert openssl("cms", *verify, check=False)
    encrypt = ("-aes256", "-outform", "DER", "-out", tmp_path / "enveloped", certificate)
    openssl("cms", "-encrypt", *encrypt, data=b"a message")
    assert "a message" in client.run("cmsutil", "-D", *options, "-i", tmp_path / "enveloped")


@pytest.mark.clients
def test_nss_makes_a_key(nss, tmp_path):
    client, options = nss
    (tmp_path / "noise").write_bytes(os.urandom(64))
    make = ("-S", *options, "-h", "t1", "-z", tmp_path / "noise", "-g", "2048", "-x")
    client.run("certutil", *make, "-n", "another", "-s", "CN=another", "-t", "C,C,C")
    assert "t1:another" in client.run("certutil", "-K", *options, "-h", "t1")


@pytest.fixture(scope="module")
def go_programs(tmp_path_factory):
    """The programs in the folder go, which import what go.mod names."""
    need("go", "golang, 1.25 or later")
    need("gcc", "gcc")
    folder, source = tmp_path_factory.mktemp("go"), Path(__file__).with_name("go")
    for command in (("mod", "download"), ("build", "-buildvcs=false", "-o", folder, "./...")):
        done = subprocess.run(
            ["go", *map(str, command)], cwd=source, capture_output=True, text=True, check=False
        )
        if done.returncode and command[0] == "mod":
            pytest.skip(f"go cannot fetch the modules: {done.stderr[-300:]}")
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.clients
def test_crypto11(client, go_programs):
    """Each result is checked by Go's own crypto/rsa."""
    arguments = (client.module, "t1", "rsa1")
    said = client.run(go_programs / "crypto11", *arguments, environment={"PIN": PIN})
    assert said.count("signed: ") == 4
    assert said.count("decrypted: ") == 3


@pytest.mark.clients
def test_crypto11_on_p256(way, token, tmp_path, go_programs):
    """It generates a key, whose signatures Go's crypto/ecdsa verifies, and keeps a certificate."""
    with reached(way, token, tmp_path) as client:
        arguments = (client.module, "t1", "made")
        said = client.run(go_programs / "ecdsa", *arguments, environment={"PIN": PIN})
    assert said.count("signed: ECDSA") == 2
    assert "certified: CN=localhost ECDSA-SHA256" in said


@pytest.mark.clients
@pytest.mark.parametrize(
    ("kind", "signature"), [("rsa", "SHA256-RSAPSS"), ("p256", "ECDSA-SHA256")]
)
def test_the_kms_of_step(way, token, tmp_path, go_programs, kind, signature):
    """It generates a key, and keeps a certificate in the token."""
    with reached(way, token, tmp_path) as client:
        arguments = (client.module, "t1", kind)
        said = client.run(go_programs / "step", *arguments, environment={"PIN": PIN})
    assert "stored: CN=authority" in said
    assert f"issued: {signature}" in said
    assert said.count("issued: ") == 2


def sign_many(client, folder, count):
    """Sign in many processes at once; the signatures, of which all must be the same."""
    (folder / "data").write_bytes(b"data")

    def sign(number):
        output = folder / f"signature{number}"
        options = ("--sign", "--id", "01", "-m", "SHA256-RSA-PKCS", "-i", folder / "data")
        client.tool("--login", "--pin", PIN, *options, "-o", output)
        return output.read_bytes()

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(sign, range(count)))


@pytest.mark.clients
def test_processes_share_a_token(keyed, tmp_path):
    signatures = sign_many(keyed, tmp_path, 8)
    assert len({*signatures}) == 1


@pytest.mark.clients
@pytest.mark.parametrize("count", [8, pytest.param(80, marks=pytest.mark.clients)])
def test_processes_share_a_token_through_p11_kit(keyed, tmp_path, count):
    with through_p11_kit(keyed, tmp_path) as client:
        signatures = sign_many(client, tmp_path, count)
    assert len({*signatures}) == 1


@contextlib.contextmanager
def nginx(token, certificate, folder, *, user=None, variables=("COPRIME_TOKEN_DIR",)):
    """nginx with these variables for its workers, which run as this user; its port and its log."""
    need("nginx", "nginx-light")
    need_engine()
    port, log = free_port(), folder / "log"
    variables = ("PKCS11_MODULE_PATH", "COPRIME_TOKEN_DEBUG", *variables)
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {log}; worker_processes 2;\n"
        f"{f'user {user};' if user else ''}\n"
        f"{' '.join(f'env {name};' for name in variables)} ssl_engine pkcs11; events {{}}\n"
        "http { access_log off; server {\n"
        f"listen 127.0.0.1:{port} ssl; ssl_protocols TLSv1.2 TLSv1.3;\n"
        f'ssl_certificate {certificate}; ssl_certificate_key "engine:pkcs11:{KEY}";\n'
        'location / { return 200 "served"; } } }\n'
    )
    command = ("nginx", "-e", log, "-c", folder / "nginx.conf")
    environment = token.environment | {"COPRIME_TOKEN_DEBUG": "1"}
    with running(command, environment, folder, port):
        yield port, log


@pytest.mark.clients
def test_nginx(keyed, certificate, tmp_path):
    user = "root" if os.getuid() == 0 else None
    with nginx(keyed, certificate, tmp_path, user=user) as (port, _):
        for version in ("-tls1_2", "-tls1_3"):
            assert "Verify return code: 0 (ok)" in handshake(port, certificate, version)


@pytest.mark.parametrize(
    ("variables", "error", "reason"),
    [
        (("COPRIME_TOKEN_DIR",), "Device error", "cannot be opened: Permission denied"),
        ((), "token not recognized", "there is no token"),  # that variable is not for the workers
    ],
)
def test_a_worker_of_nginx_that_cannot_read_the_token(
    keyed, certificate, tmp_path, variables, error, reason
):
    """The worker is `nobody`. The handshake ends with an error, at once; the log has the reason."""
    if os.getuid():
        pytest.skip("nginx gives its workers another user only if root starts it")
    opened = nginx(keyed, certificate, tmp_path, variables=variables)
    with opened as (port, log):
        client = ssl.create_default_context(cafile=certificate)
        with (
            socket.create_connection(("127.0.0.1", port), timeout=10) as connection,
            pytest.raises(ssl.SSLError, match="internal error"),
        ):
            client.wrap_socket(connection, server_hostname="localhost")
    assert re.search(f"SSL_do_handshake.. failed .*{error}", log.read_text()), log.read_text()
    said = (tmp_path / "server.log").read_text() + log.read_text()
    assert re.search(rf"coprime token .*/token:? {reason}", said), said


def error_of(module, name, *arguments):
    """The code that a function of the module returns; all arguments are numbers or pointers."""
    try:
        module.call(name, *(c_ulong(each) if isinstance(each, int) else each for each in arguments))
    except TokenError as error:
        return error.code
    return OK


def test_a_session_opens_without_a_token(module, tmp_path, monkeypatch):
    """libp11 would wait for ever after an error of C_OpenSession; C_Login has it."""
    (tmp_path / "unreadable").mkdir()
    (tmp_path / "unreadable" / "token").symlink_to("token")
    loaded, handle, reads, writes, user = TokenModule(module), c_ulong(), 4, 6, 1
    for name, error in (("none", TOKEN_NOT_RECOGNIZED), ("unreadable", DEVICE_ERROR)):
        monkeypatch.setenv("COPRIME_TOKEN_DIR", str(tmp_path / name))
        with loaded.running():
            for flags, expected in ((writes, error), (reads, OK)):
                opened = error_of(loaded, "C_OpenSession", 0, flags, None, None, byref(handle))
                assert opened == expected
            assert error_of(loaded, "C_Login", handle, user, PIN.encode(), len(PIN)) == error


@pytest.mark.clients
def test_threads_that_initialize_at_once(keyed):
    threads = ("--test-threads", "P1ILGISLT0", "--test-threads", "P2ILGISLT0")
    assert "Coprime" in keyed.tool("--use-locking", *threads, "-L")


def test_a_server_without_a_terminal_and_without_a_pin_ends(keyed, certificate, tmp_path):
    """It says that there is no PIN, and does not wait for one."""
    key = KEY.partition("?")[0]
    command = ["openssl", "req", "-new", *ENGINE, "-key", key, "-subj", "/CN=x"]
    done = subprocess.run(
        [sys.executable, "-c", f"import os; os.setsid(); os.execvp('openssl', {command})"],
        env=keyed.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode
