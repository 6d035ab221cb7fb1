"""What other modules were bad at: check.c, also with the compiler's sanitizers."""

import contextlib
import os
import random
import shutil
import subprocess
import time

import pytest

from coprime.catalog import choose
from coprime.soc.serial_board import MODULE_NAME, serial_board_verilog
from coprime.soc.simulated_board import BoardTerminal, SimulatedBoard
from coprime.token import build
from tests.token.stored import Stored
from tests.token.tokens import OFFICER_PIN, PIN, compile_library

pytestmark = pytest.mark.xdist_group("token")

TESTS = (
    *(
        "life",
        "fork",
        "fork call",
        "fork-random",
        "fork-writing 100",
        "initialize 200",
        "close-login",
    ),
    *("threads 32", "threads 9 mixed", "end finalize", "end logout", "end close", "wait", "errors"),
)
FOUR_ENGINES = {"COPRIME_TOKEN_DEVICE": "sim,sim,sim,sim"}


@pytest.mark.matrix(quick=4)
@pytest.mark.covering(1)
@pytest.mark.parametrize("test", TESTS)
def test_check(sanitized, token, test):
    program, module = sanitized
    if test == "close-login":  # during a login, which must take a while
        stored = Stored.read(token.folder / "token")
        stored.derive_anew(OFFICER_PIN, PIN, log_n=17)
        stored.write(token.folder / "token")
    token.run(program, module, *test.split(), environment=FOUR_ENGINES)


@pytest.mark.covering(1)
@pytest.mark.parametrize("device", ["software", "sim-lattice,sim-lattice,software"])
def test_lattices(sanitized, token, device):
    """ML-KEM and ML-DSA in 16 threads, on two engines and in software."""
    program, module = sanitized
    token.run(program, module, "lattices", 2, environment={"COPRIME_TOKEN_DEVICE": device})


@pytest.fixture(scope="module")
def same_process(tmp_path_factory):
    """A C library that tells no child from its parent: same_process.c."""
    return compile_library(tmp_path_factory.mktemp("same"), "same_process")


@pytest.mark.parametrize("test", ["fork", "fork call", "fork-random", "fork-random call"])
def test_a_child_with_the_number_of_its_parent(check, token, same_process, test):
    """Each may be the first process of its namespace: the child still has nothing of the parent."""
    environment = FOUR_ENGINES | {"LD_PRELOAD": str(same_process)}
    token.run(check, token.module, *test.split(), environment=environment)


@pytest.mark.parametrize("test", ["fork", "fork-random"])
def test_a_child_where_memory_is_not_emptied(check, token, same_process, test):
    environment = FOUR_ENGINES | {"LD_PRELOAD": str(same_process), "REFUSE_WIPE": "1"}
    token.run(check, token.module, test, environment=environment)


@pytest.mark.parametrize("test", ["fork", "fork-random"])
def test_a_child_in_a_namespace_of_its_own(check, token, test):
    within = ("unshare", "-pf")
    if subprocess.run([*within, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine allows no namespaces of processes (unshare -p)")
    token.run(*within, check, token.module, test, "namespace", environment=FOUR_ENGINES)


def one_engine(token, keygen="device"):
    """One simulated engine, and where its keys are generated."""
    library = token.module.with_name(build.SIMULATION)
    return {"COPRIME_TOKEN_DEVICE": f"sim:{library}", "COPRIME_TOKEN_KEYGEN": keygen}


def test_forks_while_threads_wait_for_an_engine(check, token):
    """Without sanitizers: the one of threads may itself hang in the child of many threads."""
    token.run(check, token.module, "fork-signing", 5, environment=one_engine(token))


def test_a_child_forgets_the_engine_of_its_parent(check, token, faulty):
    """It does not close it: a thread of the parent may have been within it, with a lock."""
    engine = {
        "COPRIME_TOKEN_DEVICE": f"sim:{faulty}",
        "FAULTY_ENGINE": str(token.module.with_name(build.SIMULATION)),
    }
    token.run(check, token.module, "fork", environment=engine)


@pytest.mark.matrix
@pytest.mark.parametrize("keygen", ["device", "software"])
@pytest.mark.parametrize("how", ["close", "all", "logout", "own", "finalize"])
def test_a_generation_ends_with_its_session(sanitized, token, keygen, how):
    """By closing it, or all sessions; logging out in another one, or in its own; or C_Finalize."""
    program, module = sanitized
    environment = one_engine(token, keygen)
    print(token.run(program, module, "cancel", how, environment=environment))


@pytest.mark.clients
def test_nobody_waits_for_the_end_of_a_generation(sanitized, token):
    """One engine alone would generate such a key for minutes, and here signs meanwhile."""
    program, module = sanitized
    environment = one_engine(token)
    print(token.run(program, module, "generation", 32, 3072, 30, environment=environment))


def test_logging_out_under_load(sanitized, token, tmp_path):
    """32 threads sign on one engine: who waits for it has no turn any more, and nobody opens it
    again after logging out has closed it."""
    program, module = sanitized
    said = tmp_path / "said"
    environment = one_engine(token, "software") | {"COPRIME_TOKEN_DEBUG": str(said)}
    print(token.run(program, module, "logout", environment=environment))
    assert said.read_text().count("is opened") == 1


@pytest.mark.clients
def test_the_first_signature_is_as_fast_as_others(check, token):
    print(token.run(check, token.module, "first"))


@pytest.mark.clients
def test_several_engines_are_simulated_by_default(check, token, tmp_path):
    """As many as the process has processors, at most 8; none before it is needed."""
    processors = os.sched_getaffinity(0)

    def opened(*test, of=processors):
        said = tmp_path / "said"
        said.unlink(missing_ok=True)
        token.run(
            *(check, token.module, *test),
            environment={"COPRIME_TOKEN_DEBUG": str(said)},
            preexec_fn=lambda: os.sched_setaffinity(0, of),
        )
        return said.read_text().count("sim: is opened")

    assert opened("threads", 32) == min(len(processors), 8)
    assert opened("threads", 32, of={min(processors)}) == 1
    assert opened("faults", 3) == 1


@pytest.mark.xdist_group("token: thousands of uses")
@pytest.mark.clients
def test_ten_thousand_signatures(check, token):
    """By 16 threads on 8 engines: none lost, none wrong, none twice."""
    eight = {"COPRIME_TOKEN_DEVICE": ",".join(8 * ["sim"])}
    token.run(check, token.module, "threads", 10_000, environment=eight, timeout=1800)


SOFTWARE = {"COPRIME_TOKEN_DEVICE": "software"}


def test_uses_of_keys_of_every_kind(sanitized, token):
    """RSA, P-256, Ed25519, ML-KEM and ML-DSA by 16 threads, also with the sanitizers."""
    program, module = sanitized
    token.run(program, module, "threads", 100, "all", environment=SOFTWARE)


@pytest.mark.xdist_group("token: thousands of uses")
@pytest.mark.clients
def test_ten_thousand_uses_of_keys_of_every_kind(check, token):
    """None lost, none wrong, none twice; each signature verified, each secret compared."""
    test = ("threads", 10_000, "all")
    token.run(check, token.module, *test, environment=SOFTWARE, timeout=3600)


@pytest.mark.parametrize("kind", ["p256", "ed25519"])
@pytest.mark.parametrize("what", ["verify", pytest.param("sign", marks=pytest.mark.clients)])
def test_a_lack_of_memory_is_no_wrong_signature(check, token, what, kind):
    """check.c has each allocation of libcrypto fail once, and all after it."""
    environment = one_engine(token)
    print(token.run(check, token.module, "memory", what, kind, environment=environment))


@pytest.mark.parametrize("seed", [pytest.param(k, marks=pytest.mark.clients) for k in range(1, 9)])
def test_a_device_that_errs_gives_no_wrong_signature(check, token, faulty, seed):
    """check.c verifies each signature; one that fails leaves nothing in the caller's memory."""
    engine = {
        "COPRIME_TOKEN_DEVICE": f"sim:{faulty}",
        "FAULTY_ENGINE": str(token.module.with_name(build.SIMULATION)),
        "FAULTY_SEED": str(seed),
        "FAULTY_RATE": "1000",
    }
    count = 60 if seed == 1 else 400
    said = token.run(check, token.module, "faults", count, environment=engine)
    right, wrong = map(int, said.split())
    assert right + wrong == count
    assert right > count // 2
    assert wrong > 0


@pytest.mark.fuzz
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", range(1, 6))
def test_a_device_that_errs_gives_no_wrong_secret(check, token, faulty, seed):
    """A thousand times a secret is encapsulated and decapsulated, and one of an altered ciphertext:
    a right one, or none."""
    engine = {
        "COPRIME_TOKEN_DEVICE": f"sim:{faulty}",
        "FAULTY_ENGINE": str(token.module.with_name(build.LATTICE_SIMULATION)),
        "FAULTY_SEED": str(seed),
        "FAULTY_RATE": "4000",  # accesses; a decapsulation has some 300
    }
    test, count = ("faults", 1_000, "ml-kem"), 1_000
    said = token.run(check, token.module, *test, environment=engine, timeout=7200)
    right, wrong = map(int, said.split())
    assert right + wrong == count
    assert min(right, wrong) > count // 20


@pytest.mark.xdist_group("token: faults on curves")
@pytest.mark.clients
@pytest.mark.parametrize("kind", ["p256", "ed25519"])
def test_a_device_that_errs_gives_no_wrong_signature_on_a_curve(check, token, faulty, kind):
    engine = {
        "COPRIME_TOKEN_DEVICE": f"sim:{faulty}",
        "FAULTY_ENGINE": str(token.module.with_name(build.SIMULATION)),
        "FAULTY_SEED": "1",
        "FAULTY_RATE": "4000",  # accesses; a signature has some 1,500
    }
    count = 1_000 if kind == "p256" else 300  # docs/token.md has 5,000
    said = token.run(check, token.module, "faults", count, kind, environment=engine, timeout=7200)
    right, wrong = map(int, said.split())
    assert right + wrong == count
    assert min(right, wrong) > count // 10


def test_a_stale_result_is_no_signature(check, token, faulty):
    """An engine that says `done` and still has the result before: check.c finds no signature."""
    engine = {
        "COPRIME_TOKEN_DEVICE": f"sim:{faulty}",
        "FAULTY_ENGINE": str(token.module.with_name(build.SIMULATION)),
        "FAULTY_STALE": "3",
    }
    assert token.run(check, token.module, "faults", 6, environment=engine).split() == ["3", "3"]


@pytest.mark.parametrize("count", [10, pytest.param(200, marks=pytest.mark.clients)])
def test_killed_while_keys_are_written(check, token, count):
    """At a random moment: the token opens, and every key is there as a pair, or not at all."""
    before = token.folder.with_name("before")
    shutil.copytree(token.folder, before)
    generator = random.Random(23)
    made = 0
    for _ in range(count):
        with subprocess.Popen(
            [check, token.module, "generate"], env=token.environment, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout
            said = process.stdout.readline()
            time.sleep(generator.random() * 0.15)
            process.kill()
            made += (said + process.stdout.read()).count(b"made\n")
        listed = token.tool("--login", "--pin", PIN, "-O")
        private, public = (listed.count(f"{kind} Key Object") for kind in ("Private", "Public"))
        assert private == public
        assert private in (made, made + 1)  # the last one may be there before it is said
        made = private
        if made > 20:
            shutil.rmtree(token.folder)
            shutil.copytree(before, token.folder)
            made = 0


def test_another_process_makes_the_token_anew(token):
    """Who is logged in is logged out, and the keys are gone."""
    token.generate(bits=1024)
    listed = token.tool("--login", "--pin", PIN, "-O")
    assert "rsa1" in listed
    token.tool("--init-token", "--slot", "0", "--label", "t1", "--so-pin", "12345678")
    assert "rsa1" not in token.tool("-O")


def test_a_damaged_file_is_refused(token):
    path = token.folder / "token"
    content = path.read_bytes()
    for place in (0, 20, len(content) // 2, len(content) - 1):
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        assert "CKR_TOKEN_NOT_RECOGNIZED" in token.tool("-O", check=False)
    for length in (0, 10, len(content) - 1):
        path.write_bytes(content[:length])
        assert "CKR_TOKEN_NOT_RECOGNIZED" in token.tool("-O", check=False)
    path.write_bytes(content)
    token.tool("--login", "--pin", PIN, "-O")


def test_a_device_that_is_not_there(token):
    token.generate(bits=1024)
    sign = ("--login", "--pin", PIN, "--sign", "--id", "01", "-m", "RSA-PKCS")
    for device in ("uio:/dev/no-such-uio", "serial:/dev/null,9600", "sim:/no/such/library.so"):
        absent = {"COPRIME_TOKEN_DEVICE": device}
        said = token.tool(*sign, "-i", os.devnull, check=False, environment=absent)
        assert "CKR_DEVICE_ERROR" in said
    with contextlib.suppress(FileNotFoundError):
        (token.folder / "lock").unlink()
    said = token.tool("-L", check=False, environment={"COPRIME_TOKEN_DEVICE": "pci:0"})
    assert "CKR_FUNCTION_FAILED" in said


@pytest.mark.clients
def test_a_board_at_a_serial_port(token, tmp_path):
    clock, baud = 12_000_000, 3_000_000
    verilog = serial_board_verilog(choose("ring", {"max_bits": "1024"}), clock // baud)
    (tmp_path / "digest").write_bytes(bytes(range(20)))
    sign = ("--login", "--pin", PIN, "--sign", "--id", "01", "-m", "RSA-PKCS")
    token.generate(bits=1024)
    with (
        SimulatedBoard(verilog, MODULE_NAME, clock=clock, baud=baud) as board,
        BoardTerminal(board) as terminal,
    ):
        for number, device in enumerate((f"serial:{terminal.path},{baud}", "sim")):
            token.tool(
                *(*sign, "-i", tmp_path / "digest", "-o", tmp_path / f"signature{number}"),
                environment={"COPRIME_TOKEN_DEVICE": device},
            )
        assert board.busy
    assert (tmp_path / "signature0").read_bytes() == (tmp_path / "signature1").read_bytes()


def test_slots_of_a_file(token, tmp_path):
    (tmp_path / "token.conf").write_text(
        f"# two slots\nslot {token.folder} sim\n\nslot {tmp_path}/other sim,sim\n"
    )
    environment = {"COPRIME_TOKEN_DIR": "", "COPRIME_TOKEN_CONF": str(tmp_path / "token.conf")}
    said = token.tool("-L", environment=environment)
    assert "Slot 0" in said
    assert "Slot 1" in said
    assert "uninitialized" in said
    (tmp_path / "token.conf").write_text("slots\n")
    assert "CKR_FUNCTION_FAILED" in token.tool("-L", check=False, environment=environment)
