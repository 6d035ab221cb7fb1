"""A process that writes objects into a token and acknowledges each: `python -m tests.token.writer
MODULE NAME COUNT`. It prints `NAME-NUMBER` once C_CreateObject has returned."""

import sys
from pathlib import Path

from coprime.token.module import TokenModule
from tests.token import cryptoki
from tests.token.cryptoki import open_session


def main() -> None:
    path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    module = TokenModule(Path(path))
    with module.running(), open_session(module) as session:
        session.login()
        print("ready", flush=True)
        for number in range(count):
            made = f"{name}-{number}"
            session.create(
                {
                    cryptoki.CLASS: cryptoki.SECRET_KEY,
                    cryptoki.KEY_TYPE: cryptoki.GENERIC_SECRET,
                    cryptoki.TOKEN: True,
                    cryptoki.LABEL: made.encode(),
                    cryptoki.VALUE: made.encode(),
                    cryptoki.SENSITIVE: False,
                    cryptoki.EXTRACTABLE: True,
                }
            )
            print(made, flush=True)


if __name__ == "__main__":
    main()
