"""How engines, and their registers, refuse a command or an access: the codes."""

import enum

ERROR_BITS = 5


class Error(enum.IntEnum):
    """How a command or an access was refused. Codes 1 to 7, 14, 16 and 19 are an engine's."""

    NONE = 0
    UNSUPPORTED = 1
    """This engine does not know the command."""
    LENGTH_ZERO = 2
    """The modulus, or a prime that the command needs, has length 0 or is shorter than the engine's
    smallest length; or, where CAPABILITIES.EQUAL_PRIMES is 1, than the other prime."""
    LENGTH_OVER = 3
    """A length is over the engine's maximum; or, where RSA_PRIVATE blinds exponents, a prime's is
    too near to the modulus's."""
    EXPONENT_LENGTH = 4
    """The exponent has length 0, or is too long for an engine that counts it down; or, where
    CAPABILITIES.CHECKED is 1, RSA_PRIVATE has a public exponent longer than the longest prime."""
    MODULUS_ZERO = 5
    """The modulus, or a prime, is zero."""
    MODULUS_EVEN = 6
    """The modulus, or a prime, is even."""
    OPERAND_RANGE = 7
    """An operand is not below the modulus."""
    BUSY = 8
    """A command or a write while another command runs; the running one is not disturbed."""
    OPERAND_MISSING = 9
    """The command needs an operand, or a slot, that is not complete."""
    KEY_OVERRUN = 10
    """More words were written to an operand or a slot, or read from a slot, than it holds."""
    KEY_EXCESS = 11
    """An operand has bits above its declared length."""
    INPUT_CLIPPED = 12
    """The input's length is over the modulus's; it was clipped to that."""
    ADDRESS = 13
    """A word address, or a number of an operand, a slot or a parameter set, that does not exist."""
    MODULUS_SHORT = 14
    """The modulus, or a prime, has fewer bits than its length, which must be exact where
    DIGITS.RADIX is 0."""
    CANCELLED = 15
    """The command was ended by CANCEL before it had a result; a cluster's only."""
    MODULUS_FIXED = 16
    """The modulus is not the one that the engine is made for, see CAPABILITIES.FIXED_MODULUS."""
    PADDING = 17
    """The padding of a decrypted message, or of a signature, is wrong; or its digest is."""
    PADDING_LENGTH = 18
    """The modulus is too short for the padding."""
    FAULT = 19
    """Where CAPABILITIES.CHECKED is 1: the result of RSA_PRIVATE is not a root of its input, from a
    fault or a key whose numbers do not belong together, or a state of the multiplier does not
    exist; the engine's memory was wiped. Or not all digits of the input reached the engine."""

    POINT = 20
    """A point is not on its curve, or a result is the point at infinity."""
    SIGNATURE = 21
    """A signature is wrong."""
    SLOT_LENGTH = 22
    """A slot has another length with this parameter set; or a part of a stream that another one
    follows is not a multiple of 4 bytes; or an output of no bytes is asked for."""
    NOT_READY = 23
    """The engine has neither taken nor given a word in time, or no command takes or gives the
    stream."""
    INVALID_KEY = 24
    """A key is wrong: a coefficient of an encapsulation key is not below the modulus, or the hash
    in a decapsulation key differs from that of its encapsulation key."""
    SOURCE = 25
    """The source of random bytes has failed a test, and the command waited for some; everything was
    wiped."""
