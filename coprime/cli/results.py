"""The points that `--results` names."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from coprime.explore.points import Point, check_format, read_points, unproved, versions


def chosen_points(
    options: argparse.Namespace, default: Callable[[], Sequence[Point]]
) -> tuple[Sequence[Point], str]:
    """Read the points of --results, or `default` ones that come with Coprime, and whose they are.

    Raises ValueError, with the command that makes it, if there is no such file.
    """
    path: Path | None = options.results
    if path is None:
        points, where = default(), "the measurements that come with Coprime"
    elif path.is_file():
        points, where = read_points(path), str(path)
    else:
        check_format(path)  # of a folder, too: the command below would refuse such a name
        raise ValueError(f"there is no file {path}; make it: coprime sweep all -o {path}")
    return points, f"from {where}: {versions(points)}{unproved(points)}"
