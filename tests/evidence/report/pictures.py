"""Pictures of the report of the measurements that come with Coprime.

    python -m tests.evidence.report.pictures
    python -m tests.evidence.report.pictures FOLDER

The first writes docs/images/report.png, the second the whole page, light and dark, on a wide screen
and on a telephone, as FOLDER/SCHEME-WIDTH-NUMBER.png.
"""

import itertools
import sys
import tempfile
from pathlib import Path

from coprime_evidence.report.report import write_report

from bench.page import DOCS
from coprime.explore.shipped import measured_points
from tests.evidence.report.browser import Browser, find_chromium

WIDTHS = (420, 1300)
SCHEMES = ("light", "dark")
PART = 2600
"""Pixels of a page in one picture."""
HEIGHT = 1390  # of docs/images/report.png


def main():
    path = find_chromium()
    if path is None:
        sys.exit("install Chromium (on Debian: apt-get install chromium)")
    with tempfile.TemporaryDirectory() as folder, Browser(path) as browser:
        page, *_ = write_report(measured_points(), Path(folder))
        if sys.argv[1:]:
            whole(browser, page, Path(sys.argv[1]))
        else:
            with browser.emulating(scheme="light"):
                browser.open(page)
                browser.screenshot(DOCS / "images" / "report.png", height=HEIGHT)


def whole(browser, page, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for scheme, width in itertools.product(SCHEMES, WIDTHS):
        with browser.emulating(width, scheme):
            browser.open(page)
            tall = browser.evaluate("document.documentElement.scrollHeight")
            for number, top in enumerate(range(0, tall, PART)):
                picture = folder / f"{scheme}-{width}-{number:02}.png"
                browser.screenshot(picture, top, min(PART, tall - top))


if __name__ == "__main__":
    main()
