"""The RISC-V system: software alone, and the same processor with an accelerator."""

from collections.abc import Sequence

from coprime_evidence.papers.karatsuba import SOFTWARE, SYSTEM_MEGAHERTZ, SYSTEM_WORDS, SYSTEMS

from coprime.bus.kinds import Bus
from coprime.catalog import choose
from coprime.engine.contract import Command
from coprime.explore.system import measure_exponentiation
from coprime.rsa import keys
from coprime.runs.numbers import random_numbers
from coprime.soc.decryption import MESSAGE, SystemRun, encrypt, run_system

from .page import replace_part, table, thousands

PAGE, APPENDIX = "soc.md", "results.md"
SIZES = (512, 1024, 2048)
DESIGNS: Sequence[tuple[str, dict[str, str]]] = (
    ("fdfm", {}),
    ("compact", {"max_bits": "2048"}),
    ("montgomery-2csa", {}),
    ("karatsuba", {}),
    ("karatsuba", {"word": "64"}),
)
SHOWN = ("fdfm", 1024)
"""Whose console output is shown, with default settings."""
IDLE = choose("fdfm", {"max_bits": "64"})
"""The accelerator beside which software works alone: small, so that the simulation is fast."""


def measure() -> str:
    """Write the parts of soc.md, and the longer ones of results.md."""
    rows, once = [], []
    console = ""
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
            if not settings and (family, bits) == SHOWN:
                command = f"coprime soc {family} --bits {bits} --no-software"
                console = f"    {command}\n\n```\n{run.transcript}```\n"
    replace_part(PAGE, "console", console)
    head = ["bits", "system", "cycles", "engine", "input, start", "conversion, interrupt", "result"]
    replace_part(PAGE, "cycles", table([*head, "beside the engine", "times as fast"], rows))
    head = ["bits", "system", "software's constants", "driver's constants", "loading the key"]
    replace_part(APPENDIX, "once", table(head, once))
    replace_part(APPENDIX, "table 4", "\n".join(_table_4()))
    return ""


def _parts(run: SystemRun, alone: SystemRun) -> tuple[str, ...]:
    of, total, engine = run.cycles, run.accelerator, run.engine
    return (
        *(thousands(total), thousands(engine), thousands(of["ciphertext in, start"])),
        *(thousands(of["waiting"] - engine), thousands(of["result out"])),
        *(f"{(total - engine) / total:.2%}", f"{alone.software / total:.1f}"),
    )


def _table_4() -> list[str]:
    """KARATSUBA's Table 4: cycles of ours, and times at the paper's clock beside the paper's."""
    parts, times, commands = [], [], []
    for bits, word in SYSTEM_WORDS.items():
        settings = {
            "max_bits": str(bits),
            "word": str(word),
            "multipliers": "2",
            "exponentiator": "left-to-right",
        }
        numbers = random_numbers(Command.MODEXP, bits, 1, exponents="worst")
        for bus in Bus:
            done, alone = measure_exponentiation(choose("karatsuba", settings), bus, numbers)
            assert done.right
            assert alone.right
            if bus is Bus.AXI4_LITE:
                software = alone.software
                parts.append((thousands(bits), "software alone", thousands(software), *[""] * 5))
                times.append(_against(bits, "software alone", software, SOFTWARE[bits]))
            of, whole, engine = done.cycles, done.accelerator, done.engine
            loading = of["modulus in"] + of["exponent and base in, start"]
            parts.append(
                (
                    *(thousands(bits), bus.title, thousands(whole), thousands(engine)),
                    thousands(loading),
                    *(thousands(of["waiting"] - engine), thousands(of["result out"])),
                    f"{done.moving / whole:.2%}",
                )
            )
            published = SYSTEMS[bus][bits][2]
            row = _against(bits, bus.title, whole, published)
            times.append(
                (*row, f"{alone.software / whole:,.1f}", f"{SOFTWARE[bits] / published:.1f}")
            )
            words = " ".join(f"-p {name}={value}" for name, value in settings.items())
            option = "" if bus is Bus.AXI4_LITE else f" --bus {bus.value}"
            commands.append(
                f"    coprime soc karatsuba {words} --operation modexp --exponents worst"
                f" --bits {bits}{option}"
            )
    cycles = ["bits", "system", "cycles", "engine", "numbers in", "conversion, interrupt"]
    ours = ["bits", "system", "ours", "KARATSUBA's", "ours / KARATSUBA's"]
    return [
        table([*cycles, "result out", "beside the engine"], parts),
        f"The same at {SYSTEM_MEGAHERTZ} MHz, and as many times as fast as software:",
        "",
        table(
            [*ours, "times as fast", "KARATSUBA's"],
            [(*row, *[""] * (7 - len(row))) for row in times],
        ),
        "Commands, each with the software too:",
        "",
        *commands,
    ]


def _against(bits: int, system: str, cycles: int, published: float) -> tuple[str, ...]:
    milliseconds = cycles / SYSTEM_MEGAHERTZ / 1000
    times = (f"{milliseconds:,.2f} ms", f"{published:,.2f} ms")
    return (thousands(bits), system, *times, f"{milliseconds / published:.2f}")
