"""The C driver on one simulated suite: secure boot and the key exchange of TLS."""

import random
import subprocess

import pytest
from cryptography.hazmat.primitives.asymmetric import x25519

from coprime.catalog import choose_suite
from coprime.cells.target import Target
from coprime.engine.error_codes import Error
from coprime.flow.kept_verilog import kept_suite
from coprime.flow.simulation import build_simulation
from coprime.model.lattice import ml_dsa, ml_kem
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS
from coprime.package.describe import describe
from tests.drivers.harness import DRIVERS, SANITIZERS, can_compile, compile_c

SETTINGS = {"compact.max_bits": "256", "compact.curves": "montgomery", "lattice.schemes": "both"}
SOURCES = ("", "_calls", "_call_cores", "_curves", "_named_curves", "_ml_kem", "_ml_dsa")
DSA = next(one for one in ML_DSA_SETS if one.name == "ML-DSA-65")
KEM = next(one for one in ML_KEM_SETS if one.name == "ML-KEM-768")


@pytest.mark.clients
def test_secure_boot_and_tls_with_one_accelerator(tmp_path):
    choice = choose_suite(SETTINGS)
    for name, text in describe(choice, Target.GENERIC).kind.made_headers.items():
        (tmp_path / name).write_text(text)
    library = build_simulation(kept_suite(choice), choice.module_name)
    program = compile_c(
        tmp_path,
        "suite",
        *(SANITIZERS if can_compile(tmp_path, *SANITIZERS) else ()),
        *(f"-I{tmp_path}", __file__.replace("test_suite.py", "suite.c")),
        *(DRIVERS / "src" / f"coprime{name}.c" for name in SOURCES),
        *(library, f"-Wl,-rpath,{library.parent}"),
    )
    draw = random.Random(1)
    pk, sk = ml_dsa.key_pair(DSA, draw.randbytes(32))
    image = draw.randbytes(1000)
    mu = ml_dsa.representative_for(pk, ml_dsa.framed(image))
    signature = ml_dsa.sign(DSA, sk, mu).signature
    ek, dk = ml_kem.key_pair(KEM, draw.randbytes(32), draw.randbytes(32))
    client, server = (
        x25519.X25519PrivateKey.from_private_bytes(draw.randbytes(32)) for _ in range(2)
    )
    share = ek + client.public_key().public_bytes_raw()
    lines = (pk, signature, image, share, server.private_bytes_raw(), draw.randbytes(32))
    done = subprocess.run(
        [program],
        input="".join(f"{one.hex()}\n" for one in lines),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    right, changed, answer, secret = done.stdout.splitlines()
    assert (int(right), int(changed)) == (Error.NONE, Error.SIGNATURE)
    ciphertext, point = bytes.fromhex(answer)[:-32], bytes.fromhex(answer)[-32:]
    assert point == server.public_key().public_bytes_raw()
    shared = client.exchange(server.public_key())
    assert bytes.fromhex(secret) == ml_kem.decapsulate(KEM, dk, ciphertext) + shared
