"""The record of an operation: what it takes, what it gives, and its steps on every kind of lane.

An operation is one file of this folder, `name.py`, with the record `NAME`. Commands, required
operands, rules for lengths, what the front ends move, the drivers' jobs, the arguments of the
command line, the random operands and Python's result, testbench and data sheet follow from it.

What its numbers are in an engine's operands, its `Encoding` knows: keys, curves, pairs. They are in
`encodings/`.
"""

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any, ClassVar

from coprime.exponentiators.exponentiation import Exponentiation
from coprime.model.widths import residue_modulus
from coprime.multipliers.multiplication import Multiplication
from coprime.program.operands import TABLE, TABLE_T_COORDINATES, Context, Length, Operand
from coprime.program.steps import Step

from .encodings.radix import NumberEngine
from .lengths import Lengths

Numbers = Mapping[str, int]
"""The inputs of an operation by their names, 0 or more each, or its outputs."""


@dataclass(frozen=True)
class Machine:
    """The lanes that a list of steps is written for.

    Parameters
    ----------
    multiplication : what a product is
    lanes : 1 or 2
    exponentiation : of a lane that works alone
    randomizes : multiples of points by secret scalars begin with random coordinates
    hardened : random multiples of the order are added to these scalars, and the private key of
        ECDSA is in two shares from its first signature on
    """

    multiplication: Multiplication
    lanes: int
    exponentiation: Exponentiation
    randomizes: bool = False
    hardened: bool = False


@dataclass(frozen=True, kw_only=True)
class Arithmetic:
    """What decides which constants of a modulus an operation reads.

    Parameters
    ----------
    inverses : quotient digits have more than one bit, so that a modulus has an inverse
    montgomery : a product divides by R, so that a single one needs M_POWER
    checked : a private result is checked with the public exponent
    """

    inverses: bool
    montgomery: bool
    checked: bool = False


class Key(enum.Enum):
    """An RSA key that an operation takes the place of numbers from."""

    NONE = "none"
    PUBLIC = "public"
    """Its e and m, unless these are given as numbers."""
    PRIVATE = "private"
    """All but X, always: the operation works modulo its primes."""


@dataclass(frozen=True, kw_only=True)
class Input:
    """A number that an operation is given.

    Parameters
    ----------
    name : of the argument
    operand : where the engine has it
    meaning : for the command line's help
    public : an exponent that is no secret: random operands have 65537 for it
    is_scalar : an exponent that has as many bits as the modulus, or more
    is_nonce : a secret that each signature has its own of
    upper : of an operand that is two numbers, the second one
    stride, offset : bit k of the number is bit `stride` * k + `offset` of the operand, so that
        `stride` inputs share an operand
    """

    name: str
    operand: Operand
    meaning: str
    public: bool = False
    stride: int = 1
    offset: int = 0
    upper: bool = False
    is_scalar: bool = False
    is_nonce: bool = False

    @property
    def is_exponent(self) -> bool:
        """Whether its length is a length of its own; else it is that of the modulus."""
        return self.operand.is_exponent

    @property
    def is_modulus(self) -> bool:
        """Whether the others are taken modulo it."""
        return self.operand is Operand.M

    @property
    def is_secret(self) -> bool:
        """Whether it is a private key that is loaded as such."""
        return self.operand is Operand.SECRET

    def spread(self, value: int) -> int:
        """The number's bits, at 0 or more, at their places in the operand."""
        if self.stride == 1:
            return value
        bits = enumerate(reversed(f"{value:b}"))
        return sum(1 << (self.stride * k + self.offset) for k, bit in bits if bit == "1")


@dataclass(frozen=True, kw_only=True)
class Output:
    """A number that an operation gives.

    Parameters
    ----------
    name : of the number
    meaning : for people
    """

    name: str
    meaning: str


MOST_OUTPUTS = 2
"""Numbers that the engine's RESULT holds: one, or two as long as a prime each."""


class InputRole(enum.Enum):
    """What an input is to an attacker, who sees many operations."""

    MESSAGE = "message"
    """Differs from one operation to the next."""
    KEY = "key"
    EXPONENT = "exponent"
    """Of the key, as far as the rest of the key can stay."""
    NONCE = "nonce"


@dataclass(frozen=True)
class Encoded:
    """The numbers of an operation as an engine takes them; its repr shows no secret.

    Parameters
    ----------
    lengths : in bits, of each length class of the operands
    operands : those that are loaded, with the constants of their moduli, but for X
    x : the operand X; 0 if there is none
    """

    lengths: Mapping[Length, int] = field(repr=False)
    operands: Mapping[Operand, int] = field(repr=False)
    x: int = field(repr=False)

    def among(self, operands: Collection[Operand]) -> dict[Operand, int]:
        """Those of these that it has."""
        every = {**self.operands, Operand.X: self.x}
        return {operand: value for operand, value in every.items() if operand in operands}


@dataclass(frozen=True)
class Source:
    """What other numbers of an operation are drawn from.

    Parameters
    ----------
    generator : for tests and measurements
    domain : gives another modulus or key, or the curve
    """

    generator: Random
    domain: Callable[[], Numbers]


class Encoding(ABC):
    """Where the numbers of an operation are: in operands, in a result; and what numbers it takes.

    Parameters
    ----------
    operation : the record

    Attributes
    ----------
    form (str): of the curve that the numbers are on; empty if there is none
    prime (bool): the modulus is a prime; of another one the result is not defined
    least_bits (int): of the shortest modulus
    usual_number (int): which operation with a key is assessed by default: the second one, before
        which the key stays loaded, or the first one
    """

    form: ClassVar[str] = ""
    prime: ClassVar[bool] = False
    least_bits: ClassVar[int] = 2
    usual_number: ClassVar[int] = 2

    def __init__(self, operation: "Operation"):
        self.operation = operation

    def check_names(self, numbers: Numbers) -> None:
        """Raise ValueError unless these are all inputs."""
        names = [given.name for given in self.operation.inputs]
        if numbers.keys() != {*names}:
            raise ValueError(
                f"{self.operation.name} takes {', '.join(names)}, not {', '.join(numbers)}"
            )

    @abstractmethod
    def modulus(self, numbers: Numbers) -> int:
        """The modulus, or the prime of the curve's field."""

    @property
    def gives_point(self) -> bool:
        """Whether the outputs are a point of a curve."""
        return False

    def too_large(self, numbers: Numbers) -> list[str]:
        """The inputs that should be below a modulus among these, which is not 0, and are not."""
        return []

    @abstractmethod
    def lengths(self, numbers: Numbers) -> Lengths:
        """How long an engine's numbers must be."""

    @abstractmethod
    def lengths_of(self, bits: int) -> Lengths:
        """The same of random numbers with a modulus, or a field, of so many bits."""

    @abstractmethod
    def encode(
        self, numbers: Numbers, engine: NumberEngine, *, exponent_length: int | None = None
    ) -> Encoded:
        """The operands of all inputs. ValueError for numbers that these cannot be."""

    def span(self, bits: int, half_bits: int) -> int:
        """Bits of X, and of a result, whose numbers have so many each."""
        return bits

    @abstractmethod
    def pack(self, outputs: Numbers, half_bits: int) -> int:
        """The outputs as they are read, as one number."""

    @abstractmethod
    def decode(self, value: int, half_bits: int) -> dict[str, int]:
        """The outputs, by their names, of a number that was read."""

    @abstractmethod
    def is_in_range(self, operands: Mapping[Operand, int], value: int, half_bits: int) -> bool:
        """Whether a result is below its modulus."""

    @abstractmethod
    def residue(self, operands: Mapping[Operand, int], value: int, x: int, width: int) -> int:
        """RESIDUE of a result for the input x, with digits of a width."""

    def is_consistent(self, operands: Mapping[Operand, int], value: int, half_bits: int) -> bool:
        """Whether a result whose residue is right can be the checked one."""
        return True

    def is_sound(
        self,
        operands: Mapping[Operand, int],
        value: int,
        x: int,
        residue: int,
        engine: NumberEngine,
    ) -> bool:
        """Whether RESIDUE, as it was read, shows that a result is the checked one, of this x."""
        width = engine.digit_width
        if residue % residue_modulus(width) != self.residue(operands, value, x, width):
            return False
        return self.is_consistent(operands, value, engine.half_bits)

    def of_key(self, key: Any) -> dict[str, int]:
        """The inputs that an RSA key has, but for x."""
        raise NotImplementedError

    def as_power(self, numbers: Numbers) -> tuple[Numbers, int] | None:
        """The inputs of MODEXP that give the same, and the exponent's length; None unless an RSA
        key determines the operation."""
        return None

    def private_key(self, numbers: Numbers) -> Any:
        """The private key of RSA among the numbers; None if there is none."""
        return None

    def identity(self, numbers: Numbers) -> tuple[object, ...]:
        """What measurements are told apart by: numbers, and those of a key; others would make what
        was measured count as out of date."""
        return dict(numbers), None

    # Numbers from a generator, for tests and measurements

    @abstractmethod
    def drawn(self, domain: Numbers, generator: Random, *, worst: bool = False) -> dict[str, int]:
        """All inputs, for a modulus, a key or a curve.

        The worst have all-ones secret exponents, which engines refuse that check private results.
        """

    def sample(self, given: Numbers, generator: Random) -> dict[str, int] | None:
        """All inputs, of a modulus m, two numbers x and y below it, and an exponent e.

        None if these are not enough.
        """
        return None

    @abstractmethod
    def names(self, role: InputRole) -> list[str]:
        """The inputs that have a role; none if the operation is given none."""

    @abstractmethod
    def another_message(self, numbers: Numbers, generator: Random) -> dict[str, int]:
        """The numbers of another operation with the same key."""

    @property
    def of_a_message(self) -> list[str]:
        """The inputs that differ from one operation to the next; none if no key stays loaded."""
        return self.names(InputRole.MESSAGE)

    @abstractmethod
    def redrawn(self, numbers: Numbers, names: list[str], source: Source) -> dict[str, int]:
        """The numbers with others of these names, of the same lengths."""

    def comparable(self, numbers: Numbers, names: list[str], source: Source) -> dict[str, int]:
        """The numbers, with which those that are `redrawn` have all lengths in common."""
        return dict(numbers)


LaneSteps = Callable[[Machine], Sequence[Sequence[Step]]]
"""Makes an operation's list of steps for each lane that has a part in it, the leading one first.

Operations with equal lists share them.
"""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation.

    Parameters
    ----------
    name : of the command
    code : of the command, 1 to 63: published, and never used again
    doc : what the register map says of the command
    encoding_of : its encoding; of one on a curve operands as long as M, and the result, are two
        numbers as long as P
    formula : the result in the terms of `inputs`, for people
    inputs : what it is given, but for a private RSA key
    outputs : what it gives: one number, or on a curve two
    key : what it takes from an RSA key
    result : Python's result, of the inputs by their names: a number, or a tuple of several, in the
        order of `outputs`; None: random numbers are in it (`is_right`)
    is_product : it multiplies, and no more
    wipes : it computes nothing, and clears the engine: the front end's and the sequencer's own
    reads : the operands that it reads, constants of the moduli included
    uses_up : the operands that it uses up, beside X, on an engine that is `checked`
    has_comb : it multiplies the base point by a table of its multiples
    moduli : what CURRENT is in its steps, one after the other; of two lanes the first takes the
        last one, and the second the one before
    blinds : its scalar is blinded, in an engine that is hardened
    checks : it has a check of its result; RSA_PRIVATE's is with the public exponent
    optional : only engines that are built for it have it
    setting : the parameter that builds it in, and its value; None: the one of its name, and 1
    settings : other parameters that it needs, and their values
    is_right : whether a result is right, where it draws random numbers
    lanes, banked : its steps on lanes of one memory, and of two banks: either or both, unless it
        `wipes`

    Raises ValueError for a record that leaves open what the operation is, what it reads or what it
    gives.
    """

    name: str
    code: int
    doc: str
    encoding_of: Callable[["Operation"], Encoding]
    formula: str = ""
    inputs: tuple[Input, ...] = ()
    outputs: tuple[Output, ...] = ()
    key: Key = Key.NONE
    result: Callable[..., int | tuple[int, ...]] | None = None
    is_product: bool = False
    wipes: bool = False
    reads: Callable[[Arithmetic], frozenset[Operand]] | None = None
    uses_up: frozenset[Operand] = frozenset()
    has_comb: bool = False
    moduli: tuple[Context, ...] = ()
    blinds: bool = False
    checks: bool = False
    optional: bool = False
    setting: tuple[str, str] | None = None
    settings: tuple[tuple[str, str], ...] = ()
    is_right: Callable[..., bool] | None = None
    lanes: LaneSteps | None = None
    banked: LaneSteps | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for what no default may decide."""
        problem = self._problem()
        if problem:
            raise ValueError(f"{self.name} {problem}")

    def _problem(self) -> str:
        classes = self.is_product + self.is_private + (self.is_power or self.on_curve)
        if self.computes == self.wipes:
            return "must have steps, or wipe, and not both"
        if self.wipes:
            return "gives nothing" if self.outputs else ""
        if classes != 1:
            return "must be one of: a product, a private operation, a power or one on a curve"
        most = MOST_OUTPUTS if self.on_curve else 1
        if not 1 <= len(self.outputs) <= most:
            some = "one output or two" if self.on_curve else "one output"
            return f"must have {some}, not {len(self.outputs)}"
        if not (self.result or self.is_right):
            return "must have a result of Python's, or a check of its own"
        if self.moduli and self.reads is None:
            return "must say what it reads, as it works modulo P or Q"
        if self.has_comb and Operand.TABLE_0 not in self.operands:
            return "has a comb, and no table"
        return ""

    def results(self, numbers: Mapping[str, int]) -> dict[str, int]:
        """Python's results of the inputs, by the names of the outputs.

        ValueError if `result` makes more or fewer.
        """
        assert self.result is not None
        found = self.result(**numbers)
        values = found if isinstance(found, tuple) else (found,)
        if len(values) != len(self.outputs):
            names = ", ".join(output.name for output in self.outputs)
            raise ValueError(f"{self.name} gives {names}, and its record makes {len(values)}")
        return {output.name: value for output, value in zip(self.outputs, values, strict=True)}

    def expected(self, numbers: Mapping[str, int], half_bits: int) -> int:
        """Python's result of the inputs, as it is read."""
        return self.encoding.pack(self.results(numbers), half_bits)

    def accepts(self, numbers: Numbers, outputs: Numbers) -> bool:
        """Whether these are right outputs of the inputs: Python's, or ones that random numbers can
        have led to."""
        if self.is_right is not None:
            return self.is_right(tuple(outputs.values()), **numbers)
        return outputs == self.results(numbers)

    @cached_property
    def encoding(self) -> Encoding:
        """What its numbers are in an engine."""
        return self.encoding_of(self)

    @property
    def curve(self) -> str:
        """The form of the curve modulo P that it works on, whose base point has order Q."""
        return self.encoding.form if self.moduli and not self.is_private else ""

    @property
    def on_curve(self) -> bool:
        """Whether it works on a curve modulo P whose points have order Q."""
        return bool(self.curve)

    @property
    def computes(self) -> bool:
        """Whether it has a result."""
        return self.lanes is not None or self.banked is not None

    @property
    def is_private(self) -> bool:
        """Whether it works modulo the primes of a private key."""
        return self.key is Key.PRIVATE

    @property
    def given(self) -> tuple[Input, ...]:
        """The inputs that people give one by one; none where most numbers are those of a key."""
        return () if self.is_private else self.inputs

    @property
    def has_check(self) -> bool:
        """Whether an engine that is `checked` gives its result only after a check, and RESIDUE."""
        return self.is_private or self.checks

    @property
    def exponents(self) -> tuple[Input, ...]:
        """The inputs that are exponents."""
        return tuple(input_ for input_ in self.inputs if input_.is_exponent)

    @property
    def is_power(self) -> bool:
        """Whether it scans an exponent modulo the whole modulus."""
        return bool(self.exponents)

    @property
    def has_secret_exponent(self) -> bool:
        """Whether its cycles may depend on an exponent that is secret."""
        secret = Operand.SECRET in self.operands
        return self.is_private or secret or any(not exponent.public for exponent in self.exponents)

    def used_up(self, held: Collection[Operand], *, checked: bool = True) -> frozenset[Operand]:
        """The operands that it uses up on an engine that holds these; a private one only on an
        engine that is `checked`, but for the table.

        But for a product every operation makes a table of its own; that one needs the room of the
        third numbers.
        """
        if not self.computes:
            return self.uses_up
        table = TABLE_T_COORDINATES if self.is_product else tuple(TABLE)
        own = self.uses_up if checked or not self.is_private else frozenset[Operand]()
        return own | {*table} & set(held)

    @property
    def operands(self) -> frozenset[Operand]:
        """Those of its inputs."""
        return frozenset(input_.operand for input_ in self.inputs)

    def required(self, arithmetic: Arithmetic) -> frozenset[Operand]:
        """The operands that it reads, X included."""
        if self.reads is not None:
            return self.reads(arithmetic)
        constants = {Operand.M_INVERSE} if arithmetic.inverses else set()
        if arithmetic.montgomery or self.is_power:
            constants.add(Operand.M_POWER)
        return self.operands | constants


def among(command: Any, commands: Iterable[int]) -> Any:
    """Whether a command, a signal or an integer, is one of these: 1 bit, or 0 or 1."""
    found: Any = 0
    for place, candidate in enumerate(sorted(commands)):
        is_one = command == candidate
        found = found | is_one if place else is_one
    return int(found) if isinstance(found, bool) else found
