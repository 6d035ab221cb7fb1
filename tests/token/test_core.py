"""What a dump of the whole memory of a process has of a key: nothing after logging out."""

import os
import re
import signal
import subprocess

import pytest

from tests.openssl import openssl
from tests.token.tokens import PIN

pytestmark = pytest.mark.xdist_group("token")


def secrets_of(key):
    """The secret numbers of a key file, by their names."""
    text = openssl("rsa", "-in", key, "-text", "-noout").decode()
    found = re.findall(r"^(\w+):\n((?: +[0-9a-f:]+\n)+)", text, re.MULTILINE)
    numbers = {name: bytes.fromhex(re.sub(r"[\s:]", "", digits)) for name, digits in found}
    del numbers["modulus"]
    assert len(numbers) == 6
    return {name: number.lstrip(b"\0") for name, number in numbers.items()}


def found_in(dump, secrets):
    """The names of the numbers of which any 8 bytes are there, in either order of bytes."""
    return {
        name
        for name, number in secrets.items()
        for digits in (number, number[::-1])
        if any(digits[k : k + 8] in dump for k in range(len(digits) - 7))
    }


def test_nothing_of_a_key_is_left_in_a_child_and_after_logging_out(token, check, tmp_path):
    """Every byte of the process that can be read is searched, also what a core dump would omit.

    The child after fork has initialized the module; its parent's simulated engine held the key.
    """
    key = tmp_path / "key.pem"
    openssl("genrsa", "-traditional", "-out", key, "1024")
    openssl("rsa", "-in", key, "-outform", "DER", "-out", tmp_path / "key")
    token.tool("--login", "--pin", PIN, "--write-object", tmp_path / "key", "--type", "privkey")
    secrets = secrets_of(key)
    command = [check, token.module, "core"]
    with subprocess.Popen(
        command, env=token.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == b"signed\n"
        assert found_in(memory_of(process.pid), secrets)  # the search does find it
        process.stdin.write(b"\n")
        process.stdin.flush()
        child = int(process.stdout.readline())
        dump_of_child = memory_of(child)
        os.kill(child, signal.SIGKILL)
        assert process.stdout.readline() == b"logged out\n"
        dump = memory_of(process.pid)
        process.stdin.close()
    assert process.returncode == 0
    assert found_in(dump_of_child, secrets) == set()
    assert found_in(dump, secrets) == set()


def memory_of(process):
    """All memory of a process that it can write."""
    parts = []
    with (
        open(f"/proc/{process}/maps", encoding="ascii") as maps,  # noqa: PTH123
        open(f"/proc/{process}/mem", "rb", buffering=0) as memory,  # noqa: PTH123
    ):
        for line in maps:
            place, rights, *_ = line.split()
            if rights.startswith("rw"):
                start, end = (int(number, 16) for number in place.split("-"))
                memory.seek(start)
                parts.append(memory.read(end - start))
    return b"".join(parts)
