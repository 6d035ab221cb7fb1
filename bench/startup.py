"""Processor time of commands, as multiples of what Python alone takes.

    python -m bench.startup    # the table in docs/commands.md, in a minute or two

Each is the median of some processes, user and system time, and so is Python's, in the same run:
the machine's speed cancels out. Where no byte code may be written, each process compiles what it
imports. `rsa verify` is shown with the Verilog that is kept, and written again; its simulation is
compiled before.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

from coprime.flow.cache import clear_cache
from coprime.rsa import keys

from .page import table

RUNS = 7
VERIFICATIONS = 3  # they take seconds each
MESSAGE = b"a message"
COMMANDS = (
    "--help",
    "build --help",
    "run --help",
    "choose --help",
    "ec sign --help",
    "buildx",
    "build fdfm -p max_bits=1 -o x",
    "completion bash",
    "list",
    "cache",
    "choose --target xc7 --bits 2048",
    "choose --target xc7 --operation ECDSA_SIGN --curve P-256",
)
VERIFY = "rsa verify --key public.pem --in message --signature signature"


def seconds(*words: str, folder: Path | None = None) -> float:
    """What one process of Python takes."""
    before = os.times()
    subprocess.run([sys.executable, *words], cwd=folder, check=False, capture_output=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def measure(command: str, folder: Path, runs: int = RUNS) -> float:
    """The median of some runs."""
    return median(seconds("-m", "coprime", *command.split(), folder=folder) for _ in range(runs))


def prepare(folder: Path) -> None:
    """Write a signature, and compile the simulation that verifies it."""
    key = keys.generate(2048, seed=1)
    pss = padding.PSS(padding.MGF1(hashes.SHA256()), 32)
    (folder / "public.pem").write_bytes(keys.public_pem(key.public))
    (folder / "message").write_bytes(MESSAGE)
    signature = keys.library_key(key).sign(MESSAGE, pss, hashes.SHA256())
    (folder / "signature").write_bytes(signature)
    seconds("-m", "coprime", *VERIFY.split(), folder=folder)


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        os.environ["COPRIME_CACHE"] = str(folder / "cache")
        prepare(folder)
        alone = median(seconds("-c", "pass") for _ in range(RUNS))
        rows = [(f"`coprime {one}`", measure(one, folder)) for one in COMMANDS]
        rows.append(("`coprime rsa verify`, 2048 bits", measure(VERIFY, folder, VERIFICATIONS)))
        written = []
        for _ in range(VERIFICATIONS):
            clear_cache(["verilog"])
            written.append(seconds("-m", "coprime", *VERIFY.split(), folder=folder))
        rows.append(("the same, its Verilog written again", median(written)))
    print(
        table(["command", "times Python alone"], [(name, f"{t / alone:.1f}") for name, t in rows])
    )
    print(f"\nPython alone: {alone:.3f} s")


if __name__ == "__main__":
    main()
