"""How long `coprime rsa verify` takes with what is kept, and with its Verilog written again.

    python -m bench.startup    # seconds of one processor, the least of some runs each

The simulation is compiled before. No page has these figures, since they are a machine's.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

from coprime.flow.cache import clear_cache
from coprime.rsa import keys

RUNS = 3
MESSAGE = b"a message"


def seconds(folder: Path) -> float:
    """What one verification takes: user time of the process."""
    words = "rsa verify --key public.pem --in message --signature signature".split()
    before = os.times().children_user
    subprocess.run(
        [sys.executable, "-m", "coprime", *words], cwd=folder, check=True, capture_output=True
    )
    return os.times().children_user - before


def main() -> None:
    key = keys.generate(2048, seed=1)
    pss = padding.PSS(padding.MGF1(hashes.SHA256()), 32)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "public.pem").write_bytes(keys.public_pem(key.public))
        (folder / "message").write_bytes(MESSAGE)
        signature = keys.library_key(key).sign(MESSAGE, pss, hashes.SHA256())
        (folder / "signature").write_bytes(signature)
        seconds(folder)
        kept = min(seconds(folder) for _ in range(RUNS))
        written = []
        for _ in range(RUNS):
            clear_cache(["verilog"])
            written.append(seconds(folder))
    print(f"kept {kept:.2f} s, written again {min(written):.2f} s: {kept / min(written):.2f}")


if __name__ == "__main__":
    main()
