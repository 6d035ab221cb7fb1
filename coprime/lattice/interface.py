"""The slots and calls of `lattice`: ML-KEM, FIPS 203."""

from collections.abc import Sequence
from functools import cache
from random import Random

from coprime.calls.interface import (
    Call,
    EngineInterface,
    InputRefusal,
    RedrawInput,
    Slot,
    Values,
)
from coprime.model.lattice import ml_kem_standard as standard
from coprime.model.lattice.ml_kem_sets import ML_KEM_SETS, POLYNOMIAL_BYTES, SEED_BYTES, MlKemSet

KEY_PAIR_CODE, ENCAPSULATE_CODE, DECAPSULATE_CODE, CHECK_KEY_CODE = range(40, 44)
BY_NAME = {parameter_set.name: parameter_set for parameter_set in ML_KEM_SETS}
FAMILY, FAMILY_NUMBER = "lattice", 12
PROGRAM_COUNTERS = ("sponge.sequencer.state", "arithmetic.sequencer.instruction_address")


def _slots(sets: Sequence[MlKemSet], *, readable: bool) -> tuple[Slot, ...]:
    seed = (SEED_BYTES,)
    ek = tuple(parameter_set.ek_bytes for parameter_set in sets)
    dk = tuple(parameter_set.dk_bytes for parameter_set in sets)
    c = tuple(parameter_set.ciphertext_bytes for parameter_set in sets)
    return (
        Slot(0, "d", "seed of a key pair", seed, secret=True),
        Slot(1, "z", "seed of the keys of refused ciphertexts", seed, secret=True),
        Slot(2, "ek", "encapsulation key: t, rho", ek, readable=True),
        Slot(
            *(3, "dk", "decapsulation key: s, ek, its hash, z", dk),
            secret=True,
            readable=readable,
        ),
        Slot(4, "m", "message of an encapsulation", seed, secret=True),
        Slot(5, "c", "ciphertext", c, readable=True),
        Slot(6, "key", "shared secret key K", seed, secret=True, readable=readable),
    )


def _seeds(*names: str) -> "_Draw":
    return _Draw(names)


class _Draw:
    """Inputs from a seed: seeds at random; ek, dk and c of a random key."""

    def __init__(self, names: Sequence[str]):
        self.names = names

    def __call__(self, parameter_set: str, random: Random) -> Values:
        parameters = BY_NAME[parameter_set]
        seeds = {name: random.randbytes(SEED_BYTES) for name in ("d", "z", "m")}
        ek, dk = standard.key_pair(parameters, seeds["d"], seeds["z"])
        values = {
            **seeds,
            "ek": ek,
            "dk": dk,
            "c": standard.encapsulate(parameters, ek, seeds["m"])[1],
        }
        return {name: values[name] for name in self.names}


def _key_pair(parameter_set: str, values: Values) -> Values:
    ek, dk = standard.key_pair(BY_NAME[parameter_set], values["d"], values["z"])
    return {"ek": ek, "dk": dk}


def _encapsulate(parameter_set: str, values: Values) -> Values:
    key, c = standard.encapsulate(BY_NAME[parameter_set], values["ek"], values["m"])
    return {"c": c, "key": key}


def _decapsulate(parameter_set: str, values: Values) -> Values:
    return {"key": standard.decapsulate(BY_NAME[parameter_set], values["dk"], values["c"])}


def _another(name: str) -> RedrawInput:
    """Draws another seed."""
    return lambda parameter_set, random, values: {name: random.randbytes(SEED_BYTES)}


def _another_key(parameter_set: str, random: Random, values: Values) -> Values:
    return _seeds("dk")(parameter_set, random)


def _another_ciphertext(parameter_set: str, random: Random, values: Values) -> Values:
    """For the same key."""
    parameters = BY_NAME[parameter_set]
    ek = values["dk"][POLYNOMIAL_BYTES * parameters.k :][: parameters.ek_bytes]
    return {"c": standard.encapsulate(parameters, ek, random.randbytes(SEED_BYTES))[1]}


def _altered(parameter_set: str, random: Random) -> Values:
    """dk and a ciphertext of which one bit is wrong."""
    values = _seeds("dk", "c")(parameter_set, random)
    place = random.randrange(8 * len(values["c"]))
    c = int.from_bytes(values["c"], "little") ^ 1 << place
    return {**values, "c": c.to_bytes(len(values["c"]), "little")}


def _accepted(parameter_set: str, values: Values) -> Values:
    return {"key": standard.decapsulation(BY_NAME[parameter_set], values["dk"], values["c"])[0]}


def _refused(parameter_set: str, values: Values) -> Values:
    return {"key": standard.decapsulation(BY_NAME[parameter_set], values["dk"], values["c"])[1]}


def _check(parameter_set: str, values: Values) -> Values:
    return {}


CALLS = (
    Call(
        *(KEY_PAIR_CODE, "ML_KEM_KEY_PAIR", "a key pair (FIPS 203, algorithm 19)"),
        inputs=("d", "z"),
        outputs=("ek", "dk"),
        draw=_seeds("d", "z"),
        redraws={"d": _another("d"), "z": _another("z")},
        reference=_key_pair,
        optional=frozenset({"d", "z"}),
        uses_up=frozenset({"d", "z"}),
    ),
    Call(
        *(ENCAPSULATE_CODE, "ML_KEM_ENCAPSULATE", "a key and its ciphertext (algorithm 20)"),
        inputs=("ek", "m"),
        outputs=("c", "key"),
        draw=_seeds("ek", "m"),
        redraws={"m": _another("m")},
        reference=_encapsulate,
        optional=frozenset({"m"}),
        uses_up=frozenset({"m"}),
    ),
    Call(
        *(DECAPSULATE_CODE, "ML_KEM_DECAPSULATE", "the key of a ciphertext (algorithm 21)"),
        inputs=("dk", "c"),
        outputs=("key",),
        draw=_seeds("dk", "c"),
        redraws={"dk": _another_key, "c": _another_ciphertext},
        reference=_decapsulate,
        refusal=InputRefusal(draw=_altered, refused=_refused, accepted=_accepted),
    ),
    Call(
        *(
            CHECK_KEY_CODE,
            "ML_KEM_CHECK_KEY",
            "checks of ek, dk, or both: those complete (7.2, 7.3)",
        ),
        inputs=(),
        outputs=(),
        draw=_seeds("ek", "dk"),
        reference=_check,
        if_complete=("ek", "dk"),
    ),
)


@cache
def ml_kem_interface(sets: tuple[MlKemSet, ...], *, readable: bool) -> EngineInterface:
    """With these parameter sets; dk and key can be read if `readable`."""
    return EngineInterface(
        family=FAMILY,
        family_number=FAMILY_NUMBER,
        slots=_slots(sets, readable=readable),
        calls=CALLS,
        parameter_sets=tuple(parameter_set.name for parameter_set in sets),
        program_counters=PROGRAM_COUNTERS,
    )
