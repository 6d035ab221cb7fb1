"""The slots and calls of `lattice`: ML-DSA, FIPS 204."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from random import Random

from coprime.calls.interface import (
    Call,
    EngineInterface,
    InputRefusal,
    OutputVerdict,
    RedrawInput,
    Slot,
    Values,
)
from coprime.model.lattice import ml_dsa as model
from coprime.model.lattice import ml_dsa_masks as masks
from coprime.model.lattice.ml_dsa_sets import HASH_BYTES, ML_DSA_SETS, SEED_BYTES, MlDsaSet

from .interface import FAMILY, FAMILY_NUMBER, PROGRAM_COUNTERS

KEY_PAIR_CODE, SIGN_CODE, VERIFY_CODE, CHECK_KEY_CODE = range(44, 48)
ML_DSA_BY_NAME = {parameter_set.name: parameter_set for parameter_set in ML_DSA_SETS}
_DRAWN_MESSAGE = 61
"""Bytes of a message that is drawn, with its prefix."""


def _slots(sets: Sequence[MlDsaSet], *, verify_only: bool, readable: bool) -> tuple[Slot, ...]:
    pk = tuple(parameter_set.pk_bytes for parameter_set in sets)
    sk = tuple(parameter_set.sk_bytes for parameter_set in sets)
    signature = tuple(parameter_set.signature_bytes for parameter_set in sets)
    public = (
        Slot(0, "pk", "public key: rho, t1", pk, readable=True),
        Slot(1, "signature", "a signature: c~, z, hints", signature, readable=True),
        Slot(2, "mu", "representative of a message, computed outside", (HASH_BYTES,)),
        Slot(3, "message", "message after its prefix and context (M')", (0,), streamed=True),
    )
    if verify_only:
        return public
    seed = (SEED_BYTES,)
    text = "private key: rho, K, tr, s1, s2, t0"
    return (
        *public,
        Slot(4, "sk", text, sk, secret=True, readable=readable),
        Slot(5, "xi", "seed of a key pair", seed, secret=True),
        Slot(6, "rnd", "what a signature is hedged with; zeros: deterministic", seed, secret=True),
    )


@cache
def _signed(parameter_set: str, seed: bytes, message: bytes, iterations: int) -> Values:
    """A key pair, mu and a signature of so many iterations, so that simulations are short."""
    parameters = ML_DSA_BY_NAME[parameter_set]
    pk, sk = model.key_pair(parameters, seed)
    mu = model.representative_for(pk, message)
    rnd = seed
    while True:
        rnd = model.hashed(rnd, SEED_BYTES)
        try:
            done = model.sign(parameters, sk, mu, rnd, iterations)
        except RuntimeError:
            continue
        if done.iterations == iterations:
            values = {"xi": seed, "rnd": rnd, "pk": pk, "sk": sk, "mu": mu, "message": message}
            return {**values, "signature": done.signature}


class _Draw:
    """Inputs from a seed, with a signature of so many iterations."""

    def __init__(self, *names: str, iterations: int = 1):
        self.names, self.iterations = names, iterations

    def __call__(
        self, parameter_set: str, random: Random, message_bytes: int = _DRAWN_MESSAGE
    ) -> Values:
        seed = random.randbytes(SEED_BYTES)
        if self.names == ("xi",):
            return {"xi": seed}
        message = model.framed(random.randbytes(message_bytes))[:message_bytes]
        values = _signed(parameter_set, seed, message, self.iterations)
        return {name: values[name] for name in self.names}


def _another(name: str, size: int) -> RedrawInput:
    """Draws other random bytes."""
    return lambda parameter_set, random, values: {name: random.randbytes(size)}


def _another_key(parameter_set: str, random: Random, values: Values) -> Values:
    pair = model.key_pair(ML_DSA_BY_NAME[parameter_set], random.randbytes(SEED_BYTES))
    return dict(zip(("pk", "sk"), pair, strict=True))


def _altered(parameter_set: str, random: Random) -> Values:
    """A signature with a wrong bit, of which one byte in a hundred is in its hints."""
    values = _Draw("pk", "signature", "mu")(parameter_set, random)
    wrong = bytearray(values["signature"])
    wrong[random.randrange(len(wrong))] ^= 1 << random.randrange(8)
    return {**values, "signature": bytes(wrong)}


def _key_pair(parameter_set: str, values: Values) -> Values:
    pk, sk = model.key_pair(ML_DSA_BY_NAME[parameter_set], values["xi"])
    return {"pk": pk, "sk": sk}


def _sign(parameter_set: str, values: Values) -> Values:
    mu = values.get("mu")
    if mu is None:
        mu = model.representative(values["sk"][64:128], values["message"])
    parameters = ML_DSA_BY_NAME[parameter_set]
    return {"signature": model.sign(parameters, values["sk"], mu, values["rnd"]).signature}


def _judge(
    parameter_set: str, values: Values, found: Values, others: Sequence[tuple[Values, Values]]
) -> OutputVerdict:
    """Whether a signature is valid, and whether its mask y is weak, or in part that of others with
    another challenge; with the same one z - z' has no y."""
    parameters, signature = ML_DSA_BY_NAME[parameter_set], found["signature"]
    size = parameters.challenge_bytes
    valid = model.verify(parameters, values["pk"], values["mu"], signature)
    y = masks.mask_of(parameters, values["sk"], signature)
    known = (
        masks.mask_of(parameters, own["sk"], made["signature"])
        for own, made in others
        if made["signature"][:size] != signature[:size]
    )
    common = any(masks.have_in_common(y, other) for other in known)
    return OutputVerdict(valid, masks.is_weak(parameters, y) or common)


def _public_key(parameter_set: str, values: Values) -> Values:
    return {"pk": model.public_of(ML_DSA_BY_NAME[parameter_set], values["sk"])}


def _nothing(parameter_set: str, values: Values) -> Values:
    return {}


CALLS = (
    Call(
        *(KEY_PAIR_CODE, "ML_DSA_KEY_PAIR", "a key pair (FIPS 204, algorithm 6)"),
        inputs=("xi",),
        outputs=("pk", "sk"),
        draw=_Draw("xi"),
        redraws={"xi": _another("xi", SEED_BYTES)},
        reference=_key_pair,
        optional=frozenset({"xi"}),
        uses_up=frozenset({"xi"}),
    ),
    Call(
        *(SIGN_CODE, "ML_DSA_SIGN", "a signature of mu, or of a message (algorithm 7)"),
        inputs=("sk", "rnd"),
        outputs=("signature",),
        draw=_Draw("sk", "rnd", "pk", "mu"),
        redraws={
            "sk": _another_key,
            "rnd": _another("rnd", SEED_BYTES),
            "mu": _another("mu", HASH_BYTES),
        },
        draw_stream=_Draw("sk", "rnd", "pk", "message", iterations=2),
        varies="Cycles of ML_DSA_SIGN depend on how many iterations a signature takes: these are of"
        " one that takes a single one, while 4.25, 5.1 and 3.85 are expected (FIPS 204, table 1).",
        reference=_sign,
        if_complete=("pk", "mu", "message"),
        alternatives=(("mu", "message"),),
        optional=frozenset({"rnd"}),
        uses_up=frozenset({"rnd", "mu"}),
        judge=_judge,
    ),
    Call(
        *(VERIFY_CODE, "ML_DSA_VERIFY", "check a signature of mu, or of a message (algorithm 8)"),
        inputs=("pk", "signature"),
        outputs=(),
        draw=_Draw("pk", "signature", "mu"),
        draw_stream=_Draw("pk", "signature", "message"),
        reference=_nothing,
        if_complete=("mu", "message"),
        alternatives=(("mu", "message"),),
        uses_up=frozenset({"mu"}),
        refusal=InputRefusal(draw=_altered, refused=_nothing, accepted=_nothing),
    ),
    Call(
        *(CHECK_KEY_CODE, "ML_DSA_CHECK_KEY", "check sk, and pk where it is complete, and give pk"),
        inputs=("sk",),
        outputs=("pk",),
        draw=_Draw("sk", "pk"),
        reference=_public_key,
        if_complete=("pk",),
    ),
)


@cache
def ml_dsa_interface(
    sets: tuple[MlDsaSet, ...], *, verify_only: bool, readable: bool, check_signatures: bool = True
) -> EngineInterface:
    """With these parameter sets; perhaps without private keys; sk can be read if `readable`;
    signatures are perhaps verified before they can be read."""
    calls = [replace(call, checked=call.code == SIGN_CODE and check_signatures) for call in CALLS]
    return EngineInterface(
        family=FAMILY,
        family_number=FAMILY_NUMBER,
        slots=_slots(sets, verify_only=verify_only, readable=readable),
        calls=tuple(call for call in calls if call.code == VERIFY_CODE or not verify_only),
        parameter_sets=tuple(parameter_set.name for parameter_set in sets),
        # How often a signature is rejected, and half bytes of s1 and s2, depend on secrets.
        constant_time=verify_only,
        program_counters=PROGRAM_COUNTERS,
    )
