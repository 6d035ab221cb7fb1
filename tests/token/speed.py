"""Signatures by kind: with the simulated engine, with SoftHSM, and in cycles of the engine.

    python -m tests.token.speed    # prints the table of docs/token.md, "Speed"

The time of the processor that SoftHSM takes for a signature is the reciprocal of what one busy core
makes in a second. The engine's cycles are those that each simulation is compared with.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from coprime.catalog import family_named
from coprime.ec.edwards import ED25519
from coprime.ec.weierstrass import curve_named
from coprime.engine.contract import Command
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import numbers_on, random_numbers
from coprime.token import build
from coprime.token.module import TokenModule
from tests.token.tokens import LABEL, OFFICER_PIN, PIN, compile_check

SOFTHSM = "/usr/lib/softhsm/libsofthsm2.so"
KINDS = {"rsa": "RSA-2048", "p256": "P-256", "ed25519": "Ed25519"}
COUNT, SOFTHSM_COUNT = 10, 1000
MHZ = 100


def engine_cycles(kind: str) -> int:
    """Cycles of the engine for a signature: of Ed25519 for its two operations."""
    family, settings = build.ENGINE
    design = family_named(family).choose(settings).design
    if kind == "rsa":
        operands = random_numbers(Command.RSA_PRIVATE, 2048, 1, checked=True)
        return predict_operation(design, Command.RSA_PRIVATE, operands).cycles
    curve = curve_named("P-256") if kind == "p256" else ED25519
    commands = {
        "p256": (Command.ECDSA_SIGN,),
        "ed25519": (Command.ED_BASE_MULTIPLY, Command.ED_FINISH),
    }
    return sum(
        predict_operation(design, command, numbers_on(command, curve, 1)).cycles
        for command in commands[kind]
    )


def signing_time(check: Path, module: Path, count: int, kind: str) -> float:
    """The processor's seconds for one signature, by check.c."""
    command = [check, module, "speed", str(count), kind]
    return float(subprocess.check_output(command, text=True).split()[0])


def make_token(folder: Path) -> Path:
    """The module, and a token that the environment names."""
    module, _ = build.build_token(folder)
    os.environ["COPRIME_TOKEN_DIR"] = str(folder / "token")
    os.environ["COPRIME_TOKEN_DEVICE"] = f"sim:{folder / build.SIMULATION}"
    loaded = TokenModule(module)
    with loaded.running():
        loaded.initialize(0, LABEL, OFFICER_PIN.encode(), PIN.encode())
    return module


def make_softhsm(folder: Path) -> None:
    """A token of SoftHSM that the environment names."""
    (folder / "tokens").mkdir()
    (folder / "softhsm.conf").write_text(f"directories.tokendir = {folder}/tokens\n")
    os.environ["SOFTHSM2_CONF"] = str(folder / "softhsm.conf")
    pins = ("--pin", PIN, "--so-pin", OFFICER_PIN)
    command = ["softhsm2-util", "--init-token", "--free", "--label", LABEL, *pins]
    subprocess.check_call(command, stdout=subprocess.DEVNULL)


def row(kind: str, times: Sequence[float]) -> str:
    """A line of the page's table; `times` are SoftHSM's and the token's."""
    cycles = engine_cycles(kind)
    softhsm, own = times
    cells = (KINDS[kind], f"{1 / softhsm:,.0f}", f"{own * 1e3:.0f} ms", f"{cycles:,}")
    return f"| {' | '.join(cells)} | {MHZ * 1e6 / cycles:,.0f} a second |"


def main() -> None:
    if not Path(SOFTHSM).exists():
        sys.exit(f"there is no {SOFTHSM} (on Debian: apt-get install softhsm2)")
    with TemporaryDirectory() as name:
        folder = Path(name)
        check, module = compile_check(folder), make_token(folder)
        make_softhsm(folder)
        for kind in KINDS:
            softhsm = signing_time(check, Path(SOFTHSM), SOFTHSM_COUNT, kind)
            print(row(kind, (softhsm, signing_time(check, module, COUNT, kind))), flush=True)


if __name__ == "__main__":
    main()
