"""Certificates, requests and CMS signatures by keys of ML-DSA in the token, read by others."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import Encoding

from coprime.cli import main
from coprime.encodings import pem
from coprime.token.ml_dsa import SETS
from tests.cli.command import run
from tests.pqc.tls_peers import node_js
from tests.token.test_page import ROOT, commands_of
from tests.token.tokens import PIN, Token

pytestmark = pytest.mark.xdist_group("token")

FOLDER = Path(__file__).parent
MESSAGE = b"firmware, version 7\n"
ARTIFACTS = [f"org.bouncycastle:{name}-jdk18on:1.82" for name in ("bcprov", "bcutil", "bcpkix")]
NODE = """
const crypto = require("crypto");
const fs = require("fs");
const certificate = new crypto.X509Certificate(fs.readFileSync(process.argv[2]));
console.log(certificate.publicKey.asymmetricKeyType, certificate.verify(certificate.publicKey));
"""
every_set = pytest.mark.parametrize("name", SETS)


@pytest.fixture(scope="module")
def made(module, ready, tmp_path_factory):
    """The folder with what the command line has made with a key of each set."""
    folder = tmp_path_factory.mktemp("certificates")
    shutil.copytree(ready, folder / "token")
    token = Token(module, folder / "token", {"COPRIME_TOKEN_DEVICE": "software"})
    (folder / "pin").write_text(PIN)
    (folder / "message").write_bytes(MESSAGE)
    common = ("--module", module, "--pin-file", folder / "pin")

    def command(verb, name, *words):
        arguments = ("token", verb, "--label", name, *common, *words)
        assert main([str(one) for one in arguments]) == 0

    with pytest.MonkeyPatch.context() as patch:
        for name, text in token.environment.items():
            if name.startswith("COPRIME_TOKEN_"):
                patch.setenv(name, text)
        for name in SETS:
            subject = ("--subject", f"CN={name},O=Coprime")
            certificate, source = folder / f"{name}.pem", folder / "message"
            command("keygen", name, "--set", name)
            command("certificate", name, *subject, "-o", certificate)
            command("certificate", name, *subject, "--ca", "-o", folder / f"{name}.ca.pem")
            command("request", name, *subject, "-o", folder / f"{name}.csr.pem")
            given = ("--certificate", certificate, "--in", source)
            command("cms", name, *given, "--der", "-o", folder / f"{name}.cms")
            command("cms", name, *given, "--der", "--detached", "-o", folder / f"{name}.p7s")
    return folder


@every_set
def test_the_cryptography_package_verifies_them(made, name):
    for file, is_ca in ((f"{name}.pem", False), (f"{name}.ca.pem", True)):
        found = x509.load_pem_x509_certificate((made / file).read_bytes())
        found.verify_directly_issued_by(found)
        assert found.subject.rfc4514_string() == f"CN={name},O=Coprime"
        assert found.extensions.get_extension_for_class(x509.BasicConstraints).value.ca is is_ca
        usage = found.extensions.get_extension_for_class(x509.KeyUsage).value
        assert (usage.key_cert_sign, usage.digital_signature) == (is_ca, not is_ca)
        assert (found.not_valid_after_utc - found.not_valid_before_utc).days == 365
        der = found.public_bytes(Encoding.DER)
        other = x509.load_der_x509_certificate(changed(der))
        with pytest.raises(InvalidSignature):
            other.verify_directly_issued_by(other)
    asked = x509.load_pem_x509_csr((made / f"{name}.csr.pem").read_bytes())
    assert asked.is_signature_valid
    assert asked.public_key() == found.public_key()
    der = changed(asked.public_bytes(Encoding.DER))
    assert not x509.load_der_x509_csr(der).is_signature_valid


def changed(der):
    """One bit of the signature is another one."""
    return der[:-9] + bytes([der[-9] ^ 1]) + der[-8:]


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    return node_js(tmp_path_factory.mktemp("node"))


@pytest.mark.clients
@every_set
def test_openssl_verifies_certificates(made, node, tmp_path, name):
    (tmp_path / "verify.js").write_text(NODE)

    def verify(path):
        command = [node, tmp_path / "verify.js", path]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert verify(made / f"{name}.pem") == f"{name.lower()} true"
    found = x509.load_pem_x509_certificate((made / f"{name}.pem").read_bytes())
    other = tmp_path / "other.der"
    other.write_bytes(changed(found.public_bytes(Encoding.DER)))
    assert verify(other) == f"{name.lower()} false"


@pytest.mark.clients
@pytest.mark.timeout(1800)
@every_set
def test_openssl_verifies_all(made, newer_openssl, tmp_path, name):
    def accepts_certificate(path):
        words = ("-partial_chain", "-check_ss_sig", "-trusted", path, path)
        return newer_openssl.accepts("verify", *words)

    def accepts_message(path, *words):
        trusted = ("-CAfile", made / f"{name}.pem", "-purpose", "any")
        given = ("cms", "-verify", "-binary", "-inform", "DER", "-in", path, *trusted)
        output = tmp_path / "output"
        return newer_openssl.accepts(*given, *words, "-out", output) and output.read_bytes()

    for end in (".pem", ".ca.pem"):
        assert accepts_certificate(made / f"{name}{end}")
        assert not accepts_certificate(altered(made / f"{name}{end}", tmp_path))
    request = made / f"{name}.csr.pem"
    assert newer_openssl.accepts("req", "-verify", "-noout", "-in", request)
    assert not newer_openssl.accepts("req", "-verify", "-noout", "-in", altered(request, tmp_path))
    assert accepts_message(made / f"{name}.cms") == MESSAGE
    content = ("-content", made / "message")
    assert accepts_message(made / f"{name}.p7s", *content) == MESSAGE
    other = tmp_path / "other"
    other.write_bytes(MESSAGE + b" ")
    assert not accepts_message(made / f"{name}.p7s", "-content", other)
    other.write_bytes(changed((made / f"{name}.cms").read_bytes()))
    assert not accepts_message(other)


def altered(path, folder):
    """A file in PEM with a bit of its signature changed."""
    (block,) = pem.blocks(path.read_bytes())
    (folder / "altered.pem").write_bytes(pem.write(block.label, changed(block.content)))
    return folder / "altered.pem"


@pytest.mark.clients
@pytest.mark.timeout(1800)
def test_openssl_certifies_keys(made, module, newer_openssl, tmp_path, monkeypatch):
    """An authority of OpenSSL's signs our request; the token's CMS with that certificate is valid
    under the authority."""
    monkeypatch.setenv("COPRIME_TOKEN_DIR", str(made / "token"))
    monkeypatch.setenv("COPRIME_TOKEN_DEVICE", "software")
    for name in SETS:
        certify(made, module, newer_openssl, tmp_path, name)


def certify(made, module, newer_openssl, tmp_path, name):
    authority, key, issued, signed, output = (
        tmp_path / one for one in ("ca.pem", "ca.key", "issued.pem", "signed", "output")
    )
    subject = ("-subj", "/CN=authority", "-addext", "basicConstraints=critical,CA:TRUE")
    new = ("-newkey", name, "-noenc", "-keyout", key)
    newer_openssl("req", "-x509", *new, *subject, "-out", authority)
    given = ("-in", made / f"{name}.csr.pem", "-CA", authority, "-CAkey", key, "-days", 30)
    newer_openssl("x509", "-req", *given, "-out", issued)
    common = ("--module", module, "--pin-file", made / "pin", "--label", name, "-o", signed)
    words = ("token", "cms", *common, "--certificate", issued, "--in", made / "message", "--der")
    assert main([str(one) for one in words]) == 0
    checked = ("-inform", "DER", "-in", signed, "-CAfile", authority, "-purpose", "any")
    newer_openssl("cms", "-verify", "-binary", *checked, "-out", output)
    assert output.read_bytes() == MESSAGE


@pytest.fixture(scope="module")
def bouncy_castle(tmp_path_factory):
    """The jar files, as a class path."""
    for tool, package in (("java", "default-jdk"), ("mvn", "maven")):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool} (on Debian: apt-get install {package})")
    folder = tmp_path_factory.mktemp("maven")
    for one in ARTIFACTS:
        command = ["mvn", "-q", "dependency:copy", f"-Dartifact={one}"]
        command += [f"-DoutputDirectory={folder}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"mvn cannot fetch {one}: {done.stdout[-200:]}")
    return ":".join(map(str, sorted(folder.glob("*.jar"))))


@pytest.mark.clients
@every_set
def test_bouncy_castle_verifies_all(made, bouncy_castle, tmp_path, name):
    def verify(*words):
        source = FOLDER / "java" / "Verify.java"
        command = ["java", "-cp", bouncy_castle, source, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    message = made / "message"
    right = [made / f"{name}{end}" for end in (".pem", ".csr.pem", ".cms", ".p7s")]
    assert verify(*right, message) == ["certificate", "request", "signature", "detached"]
    wrong = tmp_path / "message"
    wrong.write_bytes(MESSAGE + b" ")
    assert verify(*right, wrong) == ["certificate", "request", "signature"]
    cms = tmp_path / "changed.cms"
    cms.write_bytes(changed(right[2].read_bytes()))
    assert verify(*right[:2], cms, right[3], message) == ["certificate", "request", "detached"]


def test_what_is_refused(made, module, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("COPRIME_TOKEN_DIR", str(made / "token"))
    monkeypatch.setenv("COPRIME_TOKEN_DEVICE", "software")
    common = ("--module", module, "--pin-file", made / "pin")
    output = ("-o", tmp_path / "new")

    def refuses(text, verb, label, *words):
        found = run(capsys, "token", verb, "--label", label, *common, *words)
        assert found == (2, "", f"coprime: {text}\n")
        assert not (tmp_path / "new").exists()

    refuses("the token has a key of ML-DSA with the label 'ML-DSA-44'", "keygen", "ML-DSA-44")
    text = "the token has no private key of ML-DSA with the label 'x'"
    refuses(text, "certificate", "x", "--subject", "CN=x", *output)
    refuses(
        "--subject 'x' is no name such as CN=device,O=company",
        *("request", "ML-DSA-44", "--subject", "x", *output),
    )
    other = made / "ML-DSA-65.pem"
    refuses(
        f"--certificate {other} is of another key than 'ML-DSA-44'",
        *("cms", "ML-DSA-44", "--certificate", other, "--in", made / "message", *output),
    )
    refuses(
        f"--certificate {made / 'message'}: the file holds no certificate",
        *("cms", "ML-DSA-44", "--certificate", made / "message", "--in", other, *output),
    )
    text = f"-o {tmp_path}/none/new: there is no folder {tmp_path}/none; make it: mkdir -p"
    refuses(
        f"{text} {tmp_path}/none",
        *("request", "ML-DSA-44", "--subject", "CN=x", "-o", tmp_path / "none" / "new"),
    )
    monkeypatch.setenv("COPRIME_TOKEN_DEVICE", "sim")
    refuses(
        "the token's device does not do this: see COPRIME_TOKEN_DEVICE in docs/token.md",
        *("certificate", "ML-DSA-44", "--subject", "CN=x", *output),
    )


@pytest.mark.clients
def test_the_page(module, tmp_path):
    """All commands of docs/token/ml-dsa.md in their order, then its example in Python."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "token").symlink_to(module.parent)
    page = (ROOT / "docs" / "token" / "ml-dsa.md").read_text("utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": path}

    def execute(*command):
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)

    execute("bash", "-ec", commands_of(page))
    execute(sys.executable, "-c", example)
    assert pem.blocks((tmp_path / "message.cms").read_bytes())[0].label == "CMS"
