"""ML-DSA in the C driver: its numbers are the engine's, each function makes its call, and what is
put before messages is what FIPS 204 says."""

import ctypes

import pytest

from coprime.bus import registers
from coprime.catalog import choose_calls
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import open_simulation
from coprime.engine.error_codes import Error
from coprime.flow.tools import run_tool
from coprime.model.lattice import ml_dsa as model
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS
from coprime.package.call_header import call_header
from tests.drivers.bindings import driver_of
from tests.drivers.harness import CALLS, DRIVER, DRIVERS, compile_c

ML_DSA = DRIVERS / "src" / "coprime_ml_dsa.c"
SLOTS = ("PK", "SIGNATURE", "MU", "MESSAGE", "SK", "XI", "RND")
MADE = ("KEY_PAIR", "SIGN", "VERIFY", "CHECK_KEY")
SIZE = 260
PROGRAM = """
#include "{source}"
#include "coprime_lattice.h"

{asserts}

int main(void)
{{
    return 0;
}}
"""


def test_its_numbers(tmp_path):
    interface = choose_calls("lattice", {"schemes": "ml-dsa"}).design.interface
    (tmp_path / "coprime_lattice.h").write_text(call_header("coprime_lattice", interface))
    pairs = [
        *((f"SLOT_{name}", f"COPRIME_LATTICE_SLOT_{name}") for name in SLOTS),
        *((name, f"COPRIME_LATTICE_CALL_ML_DSA_{name}") for name in MADE),
        ("COPRIME_ML_DSA_MU_BYTES", "COPRIME_LATTICE_BYTES_MU"),
        ("COPRIME_ML_DSA_SEED_BYTES", "COPRIME_LATTICE_BYTES_XI"),
        ("COPRIME_ML_DSA_RND_BYTES", "COPRIME_LATTICE_BYTES_RND"),
    ]
    asserts = "\n".join(
        f'_Static_assert((int){one} == (int){other}, "{one}");' for one, other in pairs
    )
    source = tmp_path / "ml_dsa.c"
    source.write_text(PROGRAM.format(source=ML_DSA, asserts=asserts))
    compile_c(tmp_path, "ml_dsa.o", "-c", f"-I{tmp_path}", source)


class Message(ctypes.Structure):
    """struct coprime_ml_dsa_message, which keeps what it points to."""

    _fields_ = (
        ("mu", ctypes.c_char_p),
        ("context", ctypes.c_char_p),
        ("context_size", ctypes.c_uint32),
        ("hash", ctypes.c_int),
        ("bytes", ctypes.c_char_p),
        ("size", ctypes.c_uint32),
    )


def message(data=b"", context=b"", number=0, mu=None):
    return Message(mu, context, len(context), number, data, len(data))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ml_dsa")
    flags = ("-shared", "-fPIC", "-O1")
    program = compile_c(folder, "ml_dsa.so", *flags, ML_DSA, CALLS, DRIVER)
    return ctypes.CDLL(str(program))


def prefix_of(library, one):
    found, size = ctypes.create_string_buffer(268), ctypes.c_uint32(77)
    error = library.coprime_ml_dsa_prefix(ctypes.byref(one), found, ctypes.byref(size))
    return error, found.raw[: size.value]


@pytest.mark.parametrize("context", [b"", b"\0", bytes(range(255))], ids=len)
def test_prefixes(library, context):
    assert prefix_of(library, message(b"text", context)) == (0, model.framed(b"", context))
    for name, (number, length) in model.PREHASHES.items():
        digest = bytes(length)
        whole = model.framed_digest(name, digest, context)
        assert prefix_of(library, message(digest, context, number)) == (0, whole[:-length])
        assert prefix_of(library, message(digest[1:], context, number))[0] == SIZE


def test_messages_that_are_refused(library):
    for wrong in (message(context=bytes(256)), message(b"", b"", 1), message(bytes(32), b"", 13)):
        assert prefix_of(library, wrong)[0] == SIZE


@pytest.mark.vectors
def test_keys_and_signatures(library):
    """On a simulated engine, beside the model: keys given and kept, all kinds of messages."""
    choice = choose_calls("lattice", {"schemes": "ml-dsa"})
    interface, one = choice.design.interface, ML_DSA_SETS[0]
    seed, rnd = bytes(range(32)), bytes(32)
    pk, sk = model.key_pair(one, seed)
    with open_simulation(choice) as device:
        CallAccelerator(device, interface).wipe()
        driver = driver_of(device)
        handle = ctypes.byref(driver)
        assert library.coprime_open(handle) == 0
        found, secret = (ctypes.create_string_buffer(size) for size in (len(pk), len(sk)))
        pair = library.coprime_ml_dsa_key_pair
        assert pair(handle, seed, found, len(pk), secret, len(sk)) == 0
        assert (found.raw, secret.raw) == (pk, sk)
        assert pair(handle, seed, found, len(pk) - 1, None, 0) == SIZE
        assert found.raw[:-1] == bytes(len(pk) - 1)
        digest = bytes(range(64))
        mu = model.representative_for(pk, model.framed(b"text", b"context"))
        signature = ctypes.create_string_buffer(one.signature_bytes)
        for text, framed in (
            (message(b"text", b"context"), model.framed(b"text", b"context")),
            (message(b"", b""), model.framed(b"")),
            (message(digest, b"", 3), model.framed_digest("SHA2-512", digest)),
            (message(mu=mu), model.framed(b"text", b"context")),
        ):
            given = ctypes.byref(text)
            sign = library.coprime_ml_dsa_sign
            assert sign(handle, sk, len(sk), given, rnd, signature, one.signature_bytes) == 0
            wanted = model.sign(one, sk, model.representative_for(pk, framed), rnd).signature
            assert signature.raw == wanted
            verify = library.coprime_ml_dsa_verify
            assert verify(handle, pk, len(pk), given, wanted, len(wanted)) == 0
            wrong = bytes([wanted[0] ^ 1]) + wanted[1:]
            assert verify(handle, pk, len(pk), given, wrong, len(wrong)) == Error.SIGNATURE
        check = library.coprime_ml_dsa_check_key
        assert check(handle, sk, len(sk), pk, len(pk)) == 0
        other = bytes([pk[0] ^ 1]) + pk[1:]
        assert check(handle, sk, len(sk), other, len(pk)) == Error.INVALID_KEY
        select = library.coprime_ml_dsa_select
        for number, each in enumerate(ML_DSA_SETS):
            assert select(handle, bytes(each.pk_bytes), each.pk_bytes) == 0
            assert device.read32(registers.PARAMETER_SET.address) == number
        assert select(handle, bytes(7), 7) == Error.UNSUPPORTED


def test_it_links_with_the_driver(tmp_path):
    source = tmp_path / "main.c"
    source.write_text(
        '#include "coprime_ml_dsa.h"\nint main(int count, char **words) { (void)words; return'
        " count > 9 ? coprime_ml_dsa_check_key(0, 0, 0, 0, 0) : 0; }\n"
    )
    run_tool("the test", [compile_c(tmp_path, "main", source, ML_DSA, CALLS, DRIVER)])
