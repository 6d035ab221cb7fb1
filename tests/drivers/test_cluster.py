"""The C driver's clusters and its pool: many threads on a simulated cluster, checked in C."""

import subprocess

import pytest

from coprime.catalog import choose
from coprime.ec.samples import SHORT_WEIERSTRASS
from coprime.engine.contract import Command, Error, Operand
from coprime.flow.parts import FRONT_END, NODE, cluster_verilog
from coprime.flow.simulation import Chain, build_simulation
from coprime.model.curve_points import multiple
from coprime.operations.encodings.rsa_key import key_numbers
from coprime.rsa import keys
from tests.drivers.harness import (
    CLUSTER,
    CURVES,
    DRIVER,
    DRIVERS,
    SANITIZERS,
    can_compile,
    compile_c,
)

SOURCES = (DRIVER, CLUSTER, DRIVERS / "src" / "coprime_pool.c")
CORES = 3
KEYS = [keys.generate(64 + 8 * k, seed=k) for k in range(5)]
NUMBERS = ("n", "d", "p", "q", "dp", "dq", "qinv")


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Compile cluster.c with a cluster of an engine, and with these flags."""
    folder = tmp_path_factory.mktemp("cluster")

    def build_one(engine, *flags):
        choice = choose("cluster", {"engine": engine, "cores": str(CORES), "max_bits": "129"})
        library = build_simulation(cluster_verilog(choice), Chain(FRONT_END, NODE, CORES))
        source = __file__.replace("test_cluster.py", "cluster.c")
        program = f"{engine}{len(flags)}{''.join(flags)[11:18].replace(',', '')}"
        return compile_c(
            folder,
            program,
            *("-D_GNU_SOURCE", "-pthread", *flags, source, *SOURCES),
            *(library, f"-Wl,-rpath,{library.parent}"),
        )

    return build_one


def run(program, threads, jobs, *more):
    text = f"{len(KEYS)}\n"
    for key in KEYS:
        numbers = (getattr(key, name) for name in NUMBERS)
        text += "\n".join(f"{n.to_bytes((n.bit_length() + 7) // 8, 'big').hex()}" for n in numbers)
        text += "\n"
    command = [program, CORES, threads, jobs, 1, *more]
    done = subprocess.run(
        [*map(str, command)], input=text, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("engine", "threads"),
    [
        ("compact", 8),
        pytest.param("fdfm", 8, marks=pytest.mark.matrix),
        pytest.param("compact", 1, marks=pytest.mark.matrix),
    ],
)
def test_no_result_is_lost_or_wrong(build, engine, threads):
    assert run(build(engine), threads, 60) == [60, 0, 0, CORES]


@pytest.mark.matrix
@pytest.mark.parametrize("engine", ["compact", pytest.param("fdfm", marks=pytest.mark.matrix)])
def test_a_core_whose_results_are_wrong_is_out_of_service(build, engine):
    """`compact` by its residue, `fdfm` by the public exponent; its jobs are done by others."""
    assert run(build(engine), 8, 60, 1) == [60, 0, 0, CORES - 1]


@pytest.mark.matrix
@pytest.mark.parametrize("flags", [SANITIZERS, ("-fsanitize=thread", "-g")])
def test_sanitizers(build, tmp_path, flags):
    if not can_compile(tmp_path, *flags):
        pytest.skip("the compiler has no such sanitizer")
    assert run(build("compact", *flags), 8, 60) == [60, 0, 0, CORES]
    assert run(build("compact", *flags), 8, 30, 2) == [30, 0, 0, CORES - 1]


@pytest.mark.matrix
def test_thousands_of_jobs(build):
    assert run(build("compact"), 16, 5_000) == [5_000, 0, 0, CORES]


@pytest.mark.xdist_group("weierstrass")  # which have the same places of numbers
@pytest.mark.matrix
@pytest.mark.parametrize("k", [5, 0])
def test_a_curve_on_a_core(tmp_path, k):
    """A cluster has commands with codes over 7, too."""
    settings = {"engine": "compact", "curves": "weierstrass", "cores": "2", "max_bits": "1024"}
    choice = choose("cluster", settings)
    library = build_simulation(cluster_verilog(choice), Chain(FRONT_END, NODE, 2))
    program = compile_c(
        tmp_path,
        "cluster_curve",
        *(__file__.replace("test_cluster.py", "cluster_curve.c"), DRIVER, CLUSTER, *CURVES),
        *(library, f"-Wl,-rpath,{library.parent}"),
    )
    curve = SHORT_WEIERSTRASS
    numbers = (curve.p, curve.n, curve.a, curve.b, *curve.base, k)
    done = subprocess.run(
        [program, *(f"{one:x}" for one in numbers)], capture_output=True, text=True, check=True
    )
    error, x, y = done.stdout.split()
    expected = multiple(*curve.base, k, **curve.numbers) if k else (0, 0)
    assert (int(x, 16), int(y, 16)) == expected
    assert int(error) == (0 if k else Error.OPERAND_RANGE)


@pytest.mark.matrix
def test_lean_nodes(tmp_path):
    """They decrypt, and refuse the public operation, with which the pool would check the result."""
    choice = choose("cluster", {"node": "lean", "cores": "2", "max_bits": "64"})
    library = build_simulation(cluster_verilog(choice), Chain(FRONT_END, NODE, 2))
    program = compile_c(
        tmp_path,
        "cluster_lean",
        *("-D_GNU_SOURCE", "-pthread", __file__.replace("test_cluster.py", "cluster_lean.c")),
        *(*SOURCES, library, f"-Wl,-rpath,{library.parent}"),
    )
    key, x = KEYS[0], 12345
    engine = choice.core.design.capabilities
    numbers = {"x": x, **key_numbers(key)}
    constants = Command.RSA_PRIVATE.operation.encoding.encode(numbers, engine).operands
    names = ("P_POWER", "Q_POWER", "CRT_P", "CRT_Q", "M_INVERSE", "P_INVERSE", "Q_INVERSE")
    numbers = [*(getattr(key, name) for name in NUMBERS), x]
    numbers += [constants[Operand[name]] for name in names]
    done = subprocess.run(
        [program, *(f"{one:x}" for one in numbers)], capture_output=True, text=True, check=True
    )
    expected = pow(x, key.d, key.n)
    computed, first, public, checked, unchecked, in_service = done.stdout.splitlines()
    assert int(computed) == Error.UNSUPPORTED  # without MODMUL
    assert first == f"0 {expected:016x}"
    assert int(public) == Error.UNSUPPORTED
    assert checked == f"{int(Error.UNSUPPORTED)} {0:016x}"
    assert unchecked == f"0 {expected:016x}"
    assert int(in_service) == 2
