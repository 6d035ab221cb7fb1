"""The exponentiators by name."""

from enum import Enum


class Exponentiator(Enum):
    """How X ^ E is made of products: COMPRESSION (Vassoler 2023), section 2.3."""

    LEFT_TO_RIGHT = "left-to-right"
    """Algorithm 4: for each bit of E, from the highest, a square, and a product by X if it is 1."""
    RIGHT_TO_LEFT = "right-to-left"
    """Algorithm 5: for each bit of E, from the lowest, X is squared, and a product by it if it is
    1."""
    M_ARY = "m-ary"
    """Algorithm 7: for each window of E, squares, and a product by a power of X if it is not 0."""
    FIXED_WINDOW = "fixed-window"
    """As m-ary, with a product for a window of zeros too."""
    SLIDING_WINDOW = "sliding-window"
    """Algorithm 8: windows that begin with a 1; zeros between them are only squared."""
    REPEATED = "repeated"
    """Algorithm 3: E products by X."""

    @property
    def has_window(self) -> bool:
        """Whether it takes windows of E, and has a table of powers."""
        return self in (
            Exponentiator.M_ARY,
            Exponentiator.FIXED_WINDOW,
            Exponentiator.SLIDING_WINDOW,
        )


EXPONENTIATORS = tuple(algorithm.value for algorithm in Exponentiator)  # names of the algorithms

BLINDINGS = ("none", "all")
"""What random numbers hide in a private operation from measurements of power or radiation: nothing,
or the base, the exponent, the parts of the result and its check."""
