"""The sequencer of a lane, in components; each has its twin on integers in the same file."""

from .sequencer import Sequencer

__all__ = ["Sequencer"]
