"""How many published cases of each file run through the token's interface, as docs/token.md says.

That all of them pass is in test_ml_kem.py and test_ml_dsa.py, with the marker `vectors`.
"""

import re
from collections import Counter

from tests.lattice.published import published
from tests.pqc.test_page import DOCS
from tests.token import test_ml_dsa, test_ml_kem

WHOLE = {"ML-KEM": test_ml_kem.is_whole, "ML-DSA": test_ml_dsa.is_whole}
ROW = re.compile(r"^\| (ML-\w+), (.+?) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


def test_the_page_has_the_cases_of_each_file():
    found = {}
    for scheme, is_whole in WHOLE.items():
        counts = Counter(
            (file.name, is_whole(case)) for file in published(scheme) for case in file.cases
        )
        for name in dict.fromkeys(name for name, _ in counts):
            through, rest = counts[name, True], counts[name, False]
            found[scheme, name] = (through + rest, through, rest)
    rows = ROW.findall((DOCS / "token.md").read_text("utf-8"))
    assert {(scheme, name): tuple(map(int, rest)) for scheme, name, *rest in rows} == found
