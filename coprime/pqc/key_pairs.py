"""Key pairs of a scheme on an accelerator, from their seeds."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from coprime.calls.interface import Values

from .accelerators import Calls, check_engine, check_set, wiping
from .key_sets import SEED_BYTES, KeySet
from .keys import KeyForm, LatticePrivateKey, LatticePublicKey


@dataclass(frozen=True)
class KeyPairCall:
    """The call that makes key pairs, with its slots.

    Parameters
    ----------
    name : of the call
    public, private : its outputs
    seeds : its inputs, of 32 bytes each, which the seed has in this order
    sets : the scheme's parameter sets
    """

    name: str
    public: str
    private: str
    seeds: tuple[str, ...]
    sets: Mapping[str, KeySet]

    def expand(
        self, accelerator: Calls, key: LatticePrivateKey, read: Collection[str] = ()
    ) -> Values:
        """What is to be read of the key pair of a seed; the rest stays in the engine. ValueError as
        `check_engine`, and for another scheme's key."""
        check_set(key.set, self.sets)
        check_engine(
            accelerator.interface, key.set, [name for name in read if name == self.private]
        )
        assert key.seed is not None
        values = {
            name: key.seed[SEED_BYTES * k :][:SEED_BYTES] for k, name in enumerate(self.seeds)
        }
        called = accelerator.call(self.name, values, parameter_set=key.set.name, read=read)
        return called.outputs

    def generate(
        self, accelerator: Calls, key_set: KeySet, form: KeyForm
    ) -> tuple[LatticePrivateKey, LatticePublicKey]:
        """A new key pair, whose private key consists of what the form has.

        ValueError as `check_engine`, and if the engine gives another private key than the seed's.
        """
        key = LatticePrivateKey.generate(key_set)
        expanded = form is not KeyForm.SEED
        read = [self.public, self.private] if expanded else [self.public]
        with wiping(accelerator):
            found = self.expand(accelerator, key, read)
        public = LatticePublicKey(key_set, found[self.public])
        if expanded:
            key = key.with_expanded(found[self.private]).in_form(form)
        return key, public
