"""Options of `coprime sweep`."""

from coprime.cli.options import Parser, add_workers
from coprime_evidence.sweeps.specification_names import SPECIFICATIONS


def add_options(parser: Parser) -> None:
    """Add the options of `coprime sweep`."""
    parser.add_argument(
        "specification",
        metavar="SPEC.toml",
        help=f"what to measure, or one of: {', '.join(SPECIFICATIONS)} (docs/sweeps.md)",
    )
    parser.path("-o", "--output", required=True, help="results: .parquet or .csv")
    parser.flag(
        "--update",
        "start from the rows of -o: those of other specifications stay, and of this one only those"
        " are measured whose designs or tools have changed",
    )
    cluster = parser.add_mutually_exclusive_group()
    add_workers(cluster)
    cluster.add_argument("--scheduler", metavar="ADDRESS", help="use an existing Dask cluster")
