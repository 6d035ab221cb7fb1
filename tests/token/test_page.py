"""The examples of docs/token/, run as they are there, by a new user in a fresh folder."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.token.tokens import PIN

pytestmark = pytest.mark.xdist_group("token")

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "token"
PROVIDER = "usr/lib/*/ossl-modules/pkcs11.so"

# Programs, or patterns of files, and the packages of Debian that have them.
PACKAGES = {
    "pkcs11-tool": "opensc",
    "openssl": "openssl",
    "usr/lib/*/engines-3/pkcs11.so": "libengine-pkcs11-openssl",
    PROVIDER: "pkcs11-provider",
    "gnutls-cli": "gnutls-bin",
    "gnutls-serv": "gnutls-bin",
    "p11tool": "gnutls-bin",
    "ssh": "openssh-client",
    "usr/sbin/sshd": "openssh-server",
    "nginx": "nginx-light",
    "jarsigner": "openjdk-17-jdk-headless",
    "go": "golang, 1.25 or later",
    "gcc": "gcc",
    "cmsutil": "libnss3-tools",
    "selfserv": "libnss3-tools",
    "tstclnt": "libnss3-tools",
    "p11-kit": "p11-kit",
    "usr/lib/x86_64-linux-gnu/pkcs11/p11-kit-client.so": "p11-kit-modules",
    "unshare": "util-linux",
    "ip": "iproute2",
}
SETUP = "A token, a key and a certificate"
# A `sleep` of the page is for a server that starts; here it lasts until it is there.
WAIT = """
sleep() {
    for _ in $(seq 600); do
        if [ -S socket ] || (: < /dev/tcp/127.0.0.1/4433) 2> /dev/null; then return; fi
        command sleep 0.1
    done
}
"""
CONNECTED = "Verify return code: 0 (ok)"
VERIFIED = "CMS Verification successful"

# Of each example: what it needs, and what it prints.
EXAMPLES = {
    "pkcs11-tool": ((), ("Signature is valid", "No errors")),
    "OpenSSL with a provider": ((PROVIDER,), (VERIFIED, "\nhello\n", *2 * (CONNECTED,))),
    "OpenSSL with an engine": (
        ("gnutls-cli",),
        (VERIFIED, "\nhello", "TLS1.3", "TLS1.2", *2 * ("The certificate is trusted",)),
    ),
    "GnuTLS": (
        ("gnutls-serv", "p11tool"),
        ("public key in the token... ok", "Cipher is AES256-GCM-SHA384", *3 * (CONNECTED,)),
    ),
    "OpenSSH": (
        ("ssh", "usr/sbin/sshd"),
        (*2 * ("\nconnected\n",), "Card added", "Signing CA: RSA"),
    ),
    "nginx": (("nginx",), 2 * (CONNECTED,)),
    "Java": (("jarsigner",), ("rsa1, PrivateKeyEntry", *2 * ("jar signed",), "jar verified")),
    "Go": (("go", "gcc"), ("signature: ",)),
    "step": (("go", "gcc"), ("stored: CN=authority", "issued: SHA256-RSAPSS")),
    "NSS": (("cmsutil",), ("rsa1", VERIFIED, "\nhello\n")),
    "Python": ((), ()),
    "Keys on P-256 and Ed25519": (
        ("gnutls-cli", "gnutls-serv", "ssh"),
        ("TLS1.3", "The certificate is trusted", "ecdsa-sha2-nistp256", "ed25519", CONNECTED),
    ),
    "P-256 with OpenSSL's provider": ((PROVIDER,), 2 * (CONNECTED, "signature type: ECDSA")),
    "A server of NSS with a key on P-256": (
        ("selfserv", "tstclnt"),
        2 * (CONNECTED, "signature type: ECDSA"),
    ),
    "Several processes, and p11-kit server": (
        ("p11-kit", "usr/lib/x86_64-linux-gnu/pkcs11/p11-kit-client.so"),
        ("Private Key Object", "Certificate Object"),
    ),
}


def examples():
    """The commands before the examples, and those of each one, a page or a part of it, by name."""
    head, _, setup = (PAGES / "index.md").read_text().partition(f"\n## {SETUP}\n")
    named = {SETUP: commands_of(setup.partition("\n## ")[0])}
    for page in sorted(PAGES.glob("*.md")):
        if page.name not in (
            "index.md",
            "suites.md",
            "ml-dsa.md",
            "packaging.md",
        ):  # the last two: test_certificates.py, test_meson.py
            _, *parts = re.split(r"^##? (.+)\n", page.read_text(), flags=re.MULTILINE)
            pairs = zip(parts[::2], parts[1::2], strict=True)
            named |= {name: commands_of(part) for name, part in pairs}
    return commands_of(head), named


def commands_of(text):
    """The lines of the blocks, without their indent. Empty ones are kept inside a block."""
    blocks = re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", text + "\n", re.MULTILINE)
    return "".join(re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in blocks)


def need(name):
    """Skip without a program, or without a file."""
    found = [*Path("/").glob(name)] if "/" in name else shutil.which(name)
    if name == PROVIDER and "OPENSSL_MODULES" in os.environ:
        found = (Path(os.environ["OPENSSL_MODULES"]) / Path(name).name).exists()
    if not found:
        pytest.skip(f"there is no {Path(name).name} (on Debian: {PACKAGES[name]})")


class User:
    """A user with a folder, in which the module has been built, and who starts there."""

    def __init__(self, folder, *before):
        self.folder = folder
        self.commands = "".join(before)
        self.environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith("COPRIME_")},
            "HOME": str(folder),
            **{name: go(name) for name in ("GOENV", "GOPATH", "GOCACHE")},
        }

    def run(self, commands, *, alone=(), check=True):
        """What the commands print. `alone` is a command that runs others apart from the system."""
        script = self.folder / "commands"
        script.write_text(self.commands + commands)
        done = subprocess.run(
            [*alone, "bash", "-e", script],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=600,
            check=False,
        )
        assert not check or done.returncode == 0, done.stdout
        return done.stdout


def go(name):
    """A setting of Go, which follows HOME; without Go nothing."""
    if shutil.which("go") is None:
        return ""
    command = ["go", "env", name]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def prepared(module):
    """A user who has run the commands before the examples, and the first of them."""
    for name in ("pkcs11-tool", "openssl", "usr/lib/*/engines-3/pkcs11.so"):
        need(name)
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(module.parent, folder / "build" / "token")
        shutil.copytree(ROOT / "tests" / "token" / "go", folder / "tests" / "token" / "go")
        head, named = examples()
        user = User(folder, WAIT, head)
        user.run(named[SETUP])
        yield user


def alone():
    """Networks, processes and mounts of one's own: nothing of an example is left, or seen outside.

    /srv, /run and nginx's log are empty. Root stays root, with all users; others become root.
    """
    need("unshare")
    need("ip")
    ours = () if os.getuid() == 0 else ("-r",)
    command = ("unshare", *ours, "-n", "-m", "-p", "-f", "--kill-child", "--mount-proc")
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine allows no network of its own (unshare)")
    mounts = "for place in /srv /run /var/log/nginx; do"
    mounts += ' if [ -d "$place" ]; then mount -t tmpfs none "$place"; fi; done;'
    return (*command, "sh", "-c", f'{mounts} ip link set lo up; exec "$@"', "sh")


def test_all_examples_are_known():
    _, named = examples()
    assert set(named) == {SETUP, *EXAMPLES}
    assert all(named.values())


@pytest.mark.clients
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name == "OpenSSL with an engine" else pytest.mark.clients)
        for name in EXAMPLES
    ],
)
def test_an_example(prepared, tmp_path, name):
    needed, expected = EXAMPLES[name]
    for each in needed:
        need(each)
    if name in ("nginx", "OpenSSH") and os.getuid():
        pytest.skip("only root can start this server as the example needs it")
    user = User(prepared.folder, prepared.commands)
    apart = ()
    if name in ("Go", "step"):
        fetch_modules(user)
    elif name == "Python":
        user.environment["PATH"] = f"{python(tmp_path)}:{user.environment['PATH']}"
    else:
        apart = alone()
    before = sshd(user) if name == "OpenSSH" else ""
    said = "\n" + user.run(before + examples()[1][name], alone=apart)
    for text in expected:
        assert said.count(text) >= expected.count(text), said


def fetch_modules(user):
    """What the programs in Go import; skips without a network, and with an older Go."""
    said = user.run("cd tests/token/go; go mod download || echo FAILED")
    if "FAILED" in said:
        pytest.skip(f"go cannot fetch the modules: {said[-300:]}")


def python(folder):
    """The folder of a Python that has python-pkcs11."""
    made = folder / "python" / "bin"
    for command in (
        (sys.executable, "-m", "venv", folder / "python"),
        (made / "pip", "install", "-q", "--disable-pip-version-check", "python-pkcs11"),
    ):
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"pip cannot install python-pkcs11: {done.stderr[-200:]}")
    return made


SSHD = """
mkdir -p /run/sshd bin
ssh-keygen -q -t ed25519 -N '' -f host
ssh-keygen -D $M > authorized
printf '#!/bin/sh\\necho {pin}\\n' > ask
printf '#!/bin/sh\\nexec {ssh} -F {folder}/ssh_config "$@"\\n' > bin/ssh
chmod 700 ask bin/ssh
export SSH_ASKPASS=$PWD/ask SSH_ASKPASS_REQUIRE=force PATH=$PWD/bin:$PATH
cat > ssh_config <<'END'
Host server
HostName 127.0.0.1
Port 2222
User {user}
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
END
cat > sshd_config <<'END'
Port 2222
ListenAddress 127.0.0.1
HostKey {folder}/host
StrictModes no
AuthorizedKeysFile {folder}/authorized
PidFile none
UsePAM no
PermitRootLogin prohibit-password
END
/usr/sbin/sshd -f sshd_config
"""


def sshd(user):
    """Commands that start an SSH server, the `server` of the user's configuration of ssh, and type
    the PIN."""
    name = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
    return SSHD.format(pin=PIN, ssh=shutil.which("ssh"), folder=user.folder, user=name)
