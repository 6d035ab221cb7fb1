"""The RISC-V system: software alone, and the same processor with an accelerator."""

from collections.abc import Sequence

from coprime.catalog import choose
from coprime.rsa import keys
from coprime.soc.decryption import MESSAGE, SystemRun, encrypt, run_system

from .page import replace_part, table, thousands

PAGE = "soc.md"
SIZES = (512, 1024, 2048)
DESIGNS: Sequence[tuple[str, dict[str, str]]] = (
    ("fdfm", {}),
    ("compact", {"max_bits": "2048"}),
    ("montgomery-2csa", {}),
    ("karatsuba", {}),
    ("karatsuba", {"word": "64"}),
)
SHOWN = [(family, bits) for family in ("fdfm", "karatsuba") for bits in (1024, 2048)]
"""Whose console output is shown, with default settings."""
IDLE = choose("fdfm", {"max_bits": "64"})
"""The accelerator beside which software works alone: small, so that the simulation is fast."""


def measure() -> str:
    """Write the parts of the page; on the common page there is nothing of it."""
    rows, once = [], []
    consoles = {}
    for bits in SIZES:
        key = keys.generate(bits, seed=1)
        ciphertext = encrypt(key, MESSAGE)
        alone = run_system(IDLE, key, ciphertext, accelerator=False)
        assert alone.messages == [MESSAGE]
        rows.append((thousands(bits), "software alone", thousands(alone.software), *[""] * 6))
        for family, settings in DESIGNS:
            run = run_system(choose(family, settings), key, ciphertext, software=False)
            assert run.messages == [MESSAGE]
            assert run.engine == run.predicted
            assert run.interrupts == 1
            name = " ".join([f"`{family}", *(f"-p {one}={settings[one]}" for one in settings)])
            rows.append((thousands(bits), f"{name}`", *_parts(run, alone)))
            once.append(
                (
                    *(thousands(bits), f"{name}`"),
                    thousands(alone.cycles["constants for software"]),
                    thousands(run.cycles["constants of the key"]),
                    thousands(run.cycles["loading the key"]),
                )
            )
            if not settings and (family, bits) in SHOWN:
                command = f"coprime soc {family} --bits {bits} --no-software"
                consoles[family, bits] = f"    {command}\n\n```\n{run.transcript}```\n"
    replace_part(PAGE, "console", "\n".join(consoles[shown] for shown in SHOWN))
    head = ["bits", "system", "cycles", "engine", "input, start", "conversion, interrupt", "result"]
    replace_part(PAGE, "cycles", table([*head, "beside the engine", "times as fast"], rows))
    head = ["bits", "system", "software's constants", "driver's constants", "loading the key"]
    replace_part(PAGE, "once", table(head, once))
    return ""


def _parts(run: SystemRun, alone: SystemRun) -> tuple[str, ...]:
    of, total, engine = run.cycles, run.accelerator, run.engine
    return (
        *(thousands(total), thousands(engine), thousands(of["ciphertext in, start"])),
        *(thousands(of["waiting"] - engine), thousands(of["result out"])),
        *(f"{(total - engine) / total:.2%}", f"{alone.software / total:.1f}"),
    )
