"""OpenSSL's command line, which is the other side of tests."""

import shutil
import subprocess

import pytest


def openssl(*arguments, check=True, data=None):
    """Run `openssl`; its output, or with check=False whether it succeeded. Skips without it."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no OpenSSL (on Debian: apt-get install openssl)")
    done = subprocess.run(
        ["openssl", *map(str, arguments)], input=data, capture_output=True, check=check
    )
    return done.stdout if check else done.returncode == 0
