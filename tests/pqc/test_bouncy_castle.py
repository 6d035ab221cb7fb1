"""Bouncy Castle reads keys of ML-KEM in every form, and we read what it writes."""

import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from coprime.pqc import keys
from coprime.pqc.key_sets import ML_KEM
from coprime.pqc.keys import KeyForm, LatticePrivateKey

SOURCE = Path(__file__).parent / "java" / "Forms.java"
ARTIFACT = "org.bouncycastle:bcprov-jdk18on:1.82"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    for tool, package in (("java", "default-jdk"), ("mvn", "maven")):
        if shutil.which(tool) is None:
            pytest.skip(f"there is no {tool} (on Debian: apt-get install {package})")
    folder = tmp_path_factory.mktemp("maven")
    command = ["mvn", "-q", "dependency:copy", f"-Dartifact={ARTIFACT}"]
    done = subprocess.run(
        [*command, f"-DoutputDirectory={folder}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"mvn cannot fetch {ARTIFACT}: {done.stdout[-200:]}")
    (found,) = folder.glob("*.jar")
    return found


@pytest.mark.clients
def test_every_form_of_every_set(library, tmp_path):
    cases = []
    for one in ML_KEM.values():
        key = LatticePrivateKey.generate(one).in_form(KeyForm.BOTH)
        for form in KeyForm:
            path = tmp_path / f"{one.name}-{form.value}.der"
            path.write_bytes(key.in_form(form).encode(None, Encoding.DER))
            cases.append((key, form, path))
    done = subprocess.run(
        ["java", "-cp", library, SOURCE, *(path for _, _, path in cases)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [bytes.fromhex(line) for line in done.stdout.split()]
    assert len(lines) == 3 * len(cases) == 27
    for number, (key, form, _) in enumerate(cases):
        expanded, public, private = lines[3 * number : 3 * number + 3]
        assert expanded == key.expanded
        assert keys.parse_public(public, ML_KEM) == key.software_public()
        assert public == key.software_public().encode(Encoding.DER)
        written = keys.parse_private(private, ML_KEM)
        assert written.software_public() == key.software_public()
        assert written.seed == (None if form is KeyForm.EXPANDED else key.seed)
