"""`coprime soc`: a RISC-V system in simulation with firmware that uses an accelerator."""

import argparse

from coprime.bus.kinds import Bus
from coprime.catalog import (
    CALL_FAMILIES,
    FAMILIES,
    MODULUS,
    SUITE,
    CallChoice,
    Choice,
    choose_calls,
    choose_suite,
)
from coprime.rsa import fixed_keys, keys
from coprime.runs.numbers import random_key_lengths, random_lengths, random_numbers
from coprime.soc import decryption, encryption, exponentiation, ml_kem, secure_boot, suite
from coprime.soc.paddings import PADDINGS

from .arguments.soc import ML_KEM, MODEXP, SECURE_BOOT
from .key_files import load_private
from .options import (
    FAILED,
    chosen_engine,
    chosen_settings,
)
from .output import print_json
from .progress import announce, progress

_WITH_OPERATION = {
    "padding": "the padding in hardware",
    "exponent": "the public exponent of a test key",
}
"""Options that need --operation."""


def run(options: argparse.Namespace) -> int:
    """Simulate the system; 1 if a message or the cycles are wrong.

    Raises ValueError for options that exclude each other.
    """
    if options.family == SUITE:
        return _suite(options)
    if options.family in CALL_FAMILIES:
        return _calls(options)
    if options.operation in (ML_KEM, SECURE_BOOT) or options.set is not None:
        what = "secure boot" if options.operation == SECURE_BOOT else "ML-KEM"
        raise ValueError(f"{what} is for an engine of byte strings, and {options.family} is none")
    if options.alter is not None:
        raise ValueError(f"--alter is for images: add --operation {SECURE_BOOT}, with lattice")
    choice = chosen_engine(options, "the system")
    if options.operation == MODEXP:
        return _exponentiate(options, choice)
    if options.exponents is not None:
        raise ValueError(f"--exponents is for numbers without a key: add --operation {MODEXP}")
    if options.operation is not None:
        return _run_operation(options, choice)
    for name, what in _WITH_OPERATION.items():
        if getattr(options, name) is not None:
            raise ValueError(f"--{name} is {what}: add --operation encrypt or decrypt")
    if options.bits is None and options.key is None:
        raise ValueError("name a key: --bits N for a test key, or --key FILE")
    message = decryption.MESSAGE if options.message is None else options.message
    key = None if options.key is None else load_private(options)
    lengths = random_key_lengths(options.bits) if key is None else key.lengths
    choice = choice.family.choose(chosen_settings(options), lengths, others=FAMILIES.values())
    decryption.check_lengths(lengths, choice)
    key = key or keys.generate(options.bits, seed=options.seed)
    ciphertext = decryption.encrypt(key, message)
    with progress("simulating") as passed:
        done = decryption.run_system(
            choice,
            key,
            ciphertext,
            software=not options.no_software,
            bus=Bus(options.bus),
            progress=passed,
        )
    if options.json:
        print_json(done.record())
    else:
        print(done.transcript)
        print(done.table())
    ways = 1 if options.no_software else 2
    right = done.messages == [message] * ways
    return 0 if right and done.engine == done.predicted else FAILED


def _suite(options: argparse.Namespace) -> int:
    """All engines of a suite, used by firmware; 1 if a result or the cycles are wrong."""
    for name in ("operation", "set", "alter", "padding", "exponent", "exponents"):
        if getattr(options, name) is not None:
            raise ValueError(f"the firmware uses all engines of a suite: leave --{name} out")
    if options.no_software:
        raise ValueError(f"a {SUITE} is compared with no software: leave --no-software out")
    key = None if options.key is None else load_private(options)
    settings = chosen_settings(options)
    core = suite.rsa_core(choose_suite(settings))
    if core is None:
        for name in ("bits", "key", "message"):
            if getattr(options, name) is not None:
                raise ValueError(f"--{name} is for RSA: no engine of the suite has RSA_PRIVATE")
    bits = options.bits or suite.BITS
    lengths = random_key_lengths(bits) if key is None else key.lengths
    choice = choose_suite(settings, {} if core is None else {core: lengths})
    suite.check_suite(choice, lengths)
    announce(choice)
    with progress("simulating") as passed:
        done = suite.run_suite(
            *(choice, key or keys.generate(bits, seed=options.seed)),
            message=decryption.MESSAGE if options.message is None else options.message,
            seed=options.seed,
            bus=Bus(options.bus),
            progress=passed,
        )
    if options.json:
        print_json(done.record())
    else:
        print(done.table())
    return 0 if done.right else FAILED


def _calls(options: argparse.Namespace) -> int:
    """An engine of byte strings, used by firmware; 1 if a result or the cycles are wrong."""
    operation = options.operation
    if operation not in (ML_KEM, SECURE_BOOT):
        raise ValueError(
            f"{options.family} works on byte strings: add --operation {ML_KEM} or {SECURE_BOOT}"
        )
    for name in ("bits", "key", "passphrase_file", "message", "padding", "exponent", "exponents"):
        if getattr(options, name) is not None:
            option = name.replace("_", "-")
            raise ValueError(f"--{option} is for numbers: --operation {operation} takes --set")
    if options.no_software:
        raise ValueError(f"{operation} compares with no software: leave --no-software out")
    choice = choose_calls(options.family, chosen_settings(options))
    parameter_set = options.set or choice.design.interface.parameter_sets[0]
    done = (_ml_kem if operation == ML_KEM else _secure_boot)(options, choice, parameter_set)
    if options.json:
        print_json(done.record())
    else:
        print(done.table())
    return 0 if done.right else FAILED


def _ml_kem(options: argparse.Namespace, choice: CallChoice, parameter_set: str) -> ml_kem.MlKemRun:
    """A key pair and its use. ValueError as `check_ml_kem`, and with --alter."""
    if options.alter is not None:
        raise ValueError(f"--alter is for images: add --operation {SECURE_BOOT}")
    ml_kem.check_ml_kem(choice, parameter_set)
    announce(choice)
    with progress("simulating") as passed:
        return ml_kem.run_ml_kem(
            choice, parameter_set, seed=options.seed, bus=Bus(options.bus), progress=passed
        )


def _secure_boot(
    options: argparse.Namespace, choice: CallChoice, parameter_set: str
) -> secure_boot.BootRun:
    """A start with an image. ValueError as `check_secure_boot`."""
    secure_boot.check_secure_boot(choice, parameter_set)
    announce(choice)
    with progress("simulating") as passed:
        return secure_boot.run_secure_boot(
            *(choice, parameter_set),
            altered=options.alter or secure_boot.ALTERED[0],
            seed=options.seed,
            bus=Bus(options.bus),
            progress=passed,
        )


def _run_operation(options: argparse.Namespace, choice: Choice) -> int:
    """Encrypt or decrypt with padding in hardware; 1 if the result or the cycles are wrong."""
    if options.no_software:
        raise ValueError("--operation compares with no software: leave --no-software out")
    if options.bus != Bus.AXI4_LITE.value:
        raise ValueError("encrypt and decrypt are on axi4-lite, as in the thesis: leave --bus out")
    key = _key_for(options, choice)
    if options.padding is None:
        padding = encryption.default_padding(key.bits)
    else:
        padding = PADDINGS[options.padding]
    encryption.check_padding(padding, key.bits)
    message = options.message
    if message is None:
        message = decryption.MESSAGE[: max(0, encryption.longest_message(padding, key.bits))]
    encryption.check_message(message, padding, key.bits)
    settings = chosen_settings(options)
    if MODULUS in choice.values:
        settings[MODULUS] = f"{key.n:#x}"
        choice = choice.family.choose(settings)
        announce(choice)
    else:
        lengths = key.lengths
        choice = choice.family.choose(settings, lengths, others=FAMILIES.values())
    encryption.check_design(choice, key, padding)
    with progress("simulating") as passed:
        done = encryption.run_system(
            choice,
            key,
            message,
            decrypts=options.operation == "decrypt",
            padding=padding,
            progress=passed,
        )
    if options.json:
        print_json(done.record())
    else:
        print(done.transcript)
        print(done.table())
    return 0 if done.right else FAILED


def _exponentiate(options: argparse.Namespace, choice: Choice) -> int:
    """Exponentiate on the accelerator and in software; 1 if a result or the cycles are wrong."""
    for name in ("key", "passphrase_file", "message", "padding", "exponent"):
        if getattr(options, name) is not None:
            option = name.replace("_", "-")
            raise ValueError(f"--{option} is for RSA: --operation {MODEXP} takes --bits")
    fixed = choice.design.capabilities.fixed_modulus
    if options.bits is None and fixed is None:
        raise ValueError("name the length of the modulus and the exponent: --bits N")
    bits = options.bits if fixed is None or options.bits else fixed.bit_length()
    lengths = random_lengths(exponentiation.COMMAND, bits)
    choice = choice.family.choose(chosen_settings(options), lengths, others=FAMILIES.values())
    exponentiation.check_exponentiation(lengths, choice)
    numbers = random_numbers(
        *(exponentiation.COMMAND, bits, options.seed),
        exponents=options.exponents or "random",
        modulus=fixed,
    )
    with progress("simulating") as passed:
        done = exponentiation.run_exponentiation(
            choice,
            numbers["x"],
            numbers["e"],
            numbers["m"],
            bus=Bus(options.bus),
            software=not options.no_software,
            progress=passed,
        )
    if options.json:
        print_json(done.record())
    else:
        print(done.firmware.transcript)
        print(done.table())
    return 0 if done.right else FAILED


def _key_for(options: argparse.Namespace, choice: Choice) -> encryption.SystemKey:
    """The key of --key, a test key of --bits, or the exponents for the modulus of -p."""
    named = chosen_settings(options).get(MODULUS) if MODULUS in choice.values else None
    if options.key is not None:
        if options.exponent is not None:
            raise ValueError("--key has its public exponent: leave --exponent out")
        key = load_private(options)
        if named is not None and choice.design.capabilities.fixed_modulus != key.n:
            raise ValueError(f"-p {MODULUS}= is not the key's modulus: leave one of them out")
        return key
    if options.bits is not None:
        if named is not None:
            raise ValueError(f"--bits makes a key with its own modulus: leave -p {MODULUS}= out")
        return encryption.test_key(options.bits, options.exponent, seed=options.seed)
    if named is None:
        with_modulus = f", or a modulus with -p {MODULUS}=" if MODULUS in choice.values else ""
        raise ValueError(f"name a key: --bits N for a test key, --key FILE{with_modulus}")
    fixed = choice.design.capabilities.fixed_modulus
    assert fixed is not None
    return fixed_keys.key_of(fixed, options.exponent)
