"""The report: its page in a browser, and its files."""

import base64
import csv
import json
import re
import subprocess
import sys

import pytest
from coprime_evidence.papers.published import tables
from coprime_evidence.papers.views import views
from coprime_evidence.report.plots import DARK, STYLE, pareto_front, plot_rows
from coprime_evidence.report.report import write_report
from coprime_evidence.report.side_by_side import compare
from coprime_evidence.report.verdict import judge

from coprime.catalog import FAMILIES
from tests.evidence.report.browser import Browser, find_chromium
from tests.evidence.report.samples import HOSTILE, SIZES, point, points_beside, sample_points

# The first report of a process takes seconds longer: it plans what the papers' trees would be.
pytestmark = pytest.mark.xdist_group("reports")

READY = "document.body.dataset.ready === 'yes'"


@pytest.fixture(scope="module")
def points():
    return sample_points()


@pytest.fixture(scope="module")
def folder(points, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_report(points, folder)
    return folder


@pytest.fixture(scope="module")
def every(points, tmp_path_factory):
    """A report in which no figure that can be measured is missing."""
    folder = tmp_path_factory.mktemp("every")
    write_report([*points, *points_beside(tables())], folder)
    return folder


@pytest.fixture(scope="module")
def browser():
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium on this machine (on Debian: apt-get install chromium)")
    with Browser(path) as one:
        yield one


@pytest.fixture
def page(browser, folder):
    browser.problems.clear()
    browser.requests.clear()
    browser.open(folder / "index.html")
    return browser


def choose(page, name, value):
    """Fill a field in as a user does, and wait until the plots are drawn again."""
    page.evaluate(
        f"(() => {{ const field = document.getElementById('filters').elements[{name!r}];"
        f"field.value = {str(value)!r};"
        "field.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    page.wait(READY)


def cells(page, column):
    """One column of the table of points."""
    return page.evaluate(
        "(() => { const heads = [...document.querySelectorAll('#points th:not([hidden]) button')];"
        f"const place = heads.findIndex((one) => one.dataset.column === {column!r});"
        "return [...document.querySelectorAll('#points tbody tr')]"
        ".map((line) => line.children[place].textContent); })()"
    )


def count(page):
    return page.evaluate("document.getElementById('count').textContent")


def marks(page, figure):
    """Number of points that are drawn: all, and those of the front."""
    script = f"[...document.querySelectorAll('#plot-{figure} .mark-symbol.role-mark')]"
    groups = page.evaluate(
        f"{script}.map((one) => [...one.children]"
        ".filter((mark) => mark.getAttribute('opacity') > 0).length)"
    )
    return [number for number in groups if number]


# --- The page -----------------------------------------------------------------------------------


@pytest.mark.clients
def test_page_asks_for_nothing_and_reports_no_error(page, folder):
    assert page.problems == []
    address = (folder / "index.html").as_uri()
    assert [one for one in page.requests if not one.startswith(("data:", "blob:"))] == [address]
    assert page.evaluate("document.querySelectorAll('.plot svg.marks').length") == 3


@pytest.mark.clients
@pytest.mark.parametrize("width", [420, pytest.param(1360, marks=pytest.mark.clients)])
def test_legends_are_not_cut(browser, tmp_path, width):
    """Every family's name ends within its plot, on a telephone, too."""
    write_report([point(family, 64, k + 1) for k, family in enumerate(FAMILIES)], tmp_path)
    with browser.emulating(width):
        browser.open(tmp_path / "index.html")
        room = browser.evaluate(
            "[...document.querySelectorAll('.plot svg.marks')].flatMap((svg) =>"
            "[...svg.querySelectorAll('.role-legend-label text')].map((text) =>"
            "svg.getBoundingClientRect().right - text.getBoundingClientRect().right))"
        )
    assert len(room) == 3 * len(FAMILIES)
    assert min(room) >= 0


CONTRAST = """(() => {
  const light = (colour) => {
    const parts = colour.match(/[0-9.]+/g).slice(0, 3).map((part) => part / 255);
    const [r, g, b] = parts.map((part) =>
      part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const card = light(getComputedStyle(document.querySelector('.card')).backgroundColor);
  const against = (selector, wanted) => [...document.querySelectorAll(selector)]
    .map((one) => getComputedStyle(one))
    .filter((style) => wanted(style) && style.fill.startsWith('rgb('))
    .map((style) => [light(style.fill), card].sort((a, b) => b - a))
    .map(([more, less]) => (more + 0.05) / (less + 0.05));
  const text = against('.plot svg text', (style) => style.stroke === 'none');
  const marks = against('.plot .mark-symbol path', (style) => style.opacity > 0);
  return [card, Math.min(...text), Math.min(...marks)];
})()"""


@pytest.mark.clients
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_plots_are_legible_on_a_light_and_a_dark_page(page, scheme):
    """By WCAG a text needs a contrast of 4.5, a mark on a dark page 3; light pages have Okabe's."""
    with page.emulating(scheme=scheme):
        card, text, marks = page.evaluate(CONTRAST)
    assert (card < 0.1) == (scheme == "dark")
    assert text >= 4.5
    assert marks >= (3 if scheme == "dark" else 2)


@pytest.mark.clients
def test_page_opens_on_one_target_and_operation(page):
    assert count(page) == "19 of 56 points"
    assert set(cells(page, "family")) == {"fdfm", "karatsuba"}
    assert "MHz" in page.evaluate("document.querySelector('#points thead').textContent")


@pytest.mark.clients
@pytest.mark.parametrize(
    ("name", "value", "number"),
    [
        ("bits", 256, 6),
        pytest.param("target", "xc7", 18, marks=pytest.mark.clients),
        pytest.param("target", "unit-gate", 18, marks=pytest.mark.clients),
        ("operation", "MODMUL", 1),
        ("max-dsp", 3, 10),
        pytest.param("max-dsp", 0, 0, marks=pytest.mark.clients),
        ("max-area", 600, 3),
        pytest.param("max-time", 0.02, 5, marks=pytest.mark.clients),
    ],
)
def test_filters(page, points, name, value, number):
    choose(page, name, value)
    assert count(page) == f"{number} of 56 points"
    assert len(cells(page, "family")) == number
    assert page.problems == []


def test_operation_brings_its_exponents_along(page):
    choose(page, "operation", "MODMUL")
    assert page.evaluate("document.getElementById('filters').elements.exponents.value") == "random"
    choose(page, "operation", "RSA_PRIVATE")
    assert page.evaluate("document.getElementById('filters').elements.exponents.value") == "worst"


def test_family_filter_and_reset(page):
    page.click("input[name=family]", 0)
    page.wait(READY)
    assert set(cells(page, "family")) == {"karatsuba"}
    page.click("button[type=reset]")
    page.wait("document.getElementById('count').textContent === '19 of 56 points'")


def test_budget_that_nothing_meets_says_so(page):
    choose(page, "max-area", 1)
    assert count(page) == "0 of 56 points"
    assert "No point passes" in page.evaluate("document.querySelector('.plot').textContent")


def test_target_without_dsp_slices_says_so(page):
    choose(page, "target", "unit-gate")
    assert "no figures for this plot" in page.evaluate(
        "document.getElementById('plot-dsp-cycles').textContent"
    )
    assert "unit gates" in page.evaluate("document.getElementById('plot-area-time').textContent")


@pytest.mark.parametrize("target", ["ecp5", "xc7"])
def test_front_on_the_page_is_the_front_in_python(page, points, target):
    """Two programs find the front: Vega on the page, ours for the CSV files."""
    choose(page, "target", target)
    rows, _ = plot_rows(points)
    chosen_rows = [
        row for row in rows if row["target"] == target and row["operation"] == "RSA_PRIVATE"
    ]
    for figure, x, y in (("area-time", "time", "area"), ("dsp-cycles", "count", "dsp")):
        front = pareto_front(chosen_rows, x, y)
        assert 0 < len(front) <= len(chosen_rows)
        assert marks(page, figure) == [len(chosen_rows), len(front)]


def test_a_point_in_a_plot_opens(page):
    choose(page, "bits", 1024)
    index = page.evaluate(
        "[...document.querySelectorAll('#plot-area-time .mark-symbol.role-mark path')]"
        ".findIndex((mark) => mark.getAttribute('opacity') > 0)"
    )
    page.click("#plot-area-time .mark-symbol.role-mark path", index)
    text = page.evaluate("document.getElementById('point').textContent")
    assert "RSA_PRIVATE, 1024 bits" in text
    assert "a device of ecp5" in text
    assert "coprime build " in text
    assert "coprime synth " in text
    chosen = page.evaluate("document.querySelectorAll('#points tr.chosen').length")
    assert chosen == 1


def test_a_row_opens_and_a_filter_closes_it(page):
    page.click("#points tbody tr", 2)
    assert "coprime build" in page.evaluate("document.getElementById('point').textContent")
    choose(page, "target", "xc7")
    assert "Choose a point" in page.evaluate("document.getElementById('point').textContent")


def test_commands_of_a_point(page):
    choose(page, "operation", "MODMUL")
    page.click("#points tbody tr")
    commands = page.evaluate(
        "[...document.querySelectorAll('#point code')].map((one) => one.textContent)"
    )
    assert commands == [
        "coprime build fdfm -p max_bits=64 --target ecp5 -o DIR",
        "coprime synth fdfm -p max_bits=64 -p width=2 --target ecp5 --route",
        "coprime run fdfm MODMUL -p max_bits=64 -p width=2 --bits 64 --seed 7",
    ]


def test_sorting(page):
    page.click("#points th button[data-column=lut]")
    luts = [int(text.replace(",", "")) for text in cells(page, "lut")]
    assert luts == sorted(luts)
    page.click("#points th button[data-column=lut]")
    luts = [int(text.replace(",", "")) for text in cells(page, "lut")]
    assert luts == sorted(luts, reverse=True)


def test_failed_points_stand_with_their_reason_as_text(page):
    assert HOSTILE in page.evaluate("document.getElementById('failed').textContent")
    assert page.evaluate("document.querySelectorAll('#failed img').length") == 0


def test_nothing_hangs_out_of_the_page(page):
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    labels = page.evaluate(
        "[...document.querySelectorAll('.plot')].every((plot) => {"
        "const box = plot.getBoundingClientRect();"
        "return [...plot.querySelectorAll('svg.marks text')].every((text) => {"
        "const own = text.getBoundingClientRect();"
        "return own.left >= box.left - 1 && own.right <= box.right + 1; }); })"
    )
    assert labels


OVERFLOW = """(() => {
  for (const one of document.querySelectorAll('details')) one.open = true;
  const narrow = innerWidth < 600;
  const inside = [...document.querySelectorAll('.cards td, .cards th, .picture img, .card p')]
    .filter((one) => one.offsetParent && (narrow || !one.closest('.scroll')));
  return [
    document.documentElement.scrollWidth - innerWidth,
    Math.max(...inside.map((one) => one.getBoundingClientRect().right)) - innerWidth,
  ];
})()"""


@pytest.mark.clients
@pytest.mark.parametrize("width", [420, pytest.param(1300, marks=pytest.mark.clients)])
def test_tables_and_plots_fit_the_page(browser, every, width):
    """Also on a telephone, where a table that does not fit becomes a card for each row."""
    with browser.emulating(width):
        browser.open(every / "index.html")
        page, inside = browser.evaluate(OVERFLOW)
        head = browser.evaluate("getComputedStyle(document.querySelector('.beside thead')).display")
    assert page <= 0
    assert inside <= 0
    assert (head == "none") == (width == 420)


def test_the_page_opens_with_a_verdict_on_each_paper(page, folder, points):
    first = page.evaluate("document.querySelector('main section').id")
    cards = page.evaluate(
        "[...document.querySelectorAll('#verdicts > .grid > .card')].map((one) => one.innerText)"
    )
    assert first == "verdicts"
    names = [view.paper.name for view in views()]
    assert [card.split("\n")[0] for card in cards] == names
    compared = [(one, compare(one, points)) for one in tables() if one.paper.name == "FDFM"]
    for sentence in judge(compared[0][0].paper, compared).sentences:
        assert sentence in cards[names.index("FDFM")].replace("\n", " ")


def test_a_view_is_drawn_for_each_paper(page, folder):
    for view in views():
        for panel in view.panels:
            name = f"{view.paper.name.lower()}-view-{panel.name}"
            image = f"document.querySelector('#{name} img')"
            page.wait(f"{image}.complete")
            assert page.evaluate(f"{image}.naturalWidth") > 250
            assert (folder / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
            lines = read_csv(folder / "figures" / f"{name}.csv")
            assert lines and all(line[panel.y_title] and line["place"] for line in lines)


@pytest.mark.clients
def test_what_is_derived_stands_apart(every):
    page = (every / "index.html").read_text()
    (table,) = re.findall(r'id="compression-table-7".*?</table>', page, re.DOTALL)
    heads = re.findall(r'class="group"[^>]*>([^<]+)', table)
    assert heads == ["Derived from the paper's other figures", "Ours"]
    assert 'data-label="Derived: Grown from its 32 bits"' in table
    derived = [line for line in read_csv(every / "papers.csv") if line["kind"] == "derived"]
    assert derived and all(line["derived"] and not line["measured"] for line in derived)


def test_papers_stand_beside_ours(page):
    text = page.evaluate("document.getElementById('fdfm-table-2').textContent")
    assert "33,067,148" in text
    assert "11.263 ms" in text
    image = "document.querySelector('#fdfm-figure-6 img')"
    page.wait(f"{image}.complete")
    assert page.evaluate(f"{image}.naturalWidth") > 300


# --- Files --------------------------------------------------------------------------------------


def read_csv(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_points_as_csv(folder, points):
    lines = read_csv(folder / "points.csv")
    assert len(lines) == len(points)
    assert json.loads(lines[0]["parameters"]) == dict(points[0].parameters)
    assert [line["lut"] for line in lines] == ["" if p.lut is None else str(p.lut) for p in points]


def test_figures_as_png_and_csv(folder):
    names = {path.name for path in (folder / "figures").iterdir()}
    for target in ("ecp5", "xc7"):
        for figure in ("area-time", "dsp-cycles", "product"):
            assert {f"{figure}-{target}.png", f"{figure}-{target}.csv"} <= names
    assert "dsp-cycles-unit-gate.png" not in names
    assert {"fdfm-figure-6.png", "bitserial-figure-3.png"} <= names
    for path in (folder / "figures").glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")
    lines = read_csv(folder / "figures" / "area-time-ecp5.csv")
    assert len(lines) == 19
    slow = [line for line in lines if line["bits"] == "64" and line["settings"].endswith("width 1")]
    assert [line["best"] for line in slow] == ["True", "False"]


@pytest.mark.clients
def test_plots_show_one_device(tmp_path):
    """Of two devices of a target the default one; and the part that has its own operation."""
    small, large = "LFE5U-25F-6 CABGA381", "LFE5U-85F-6 CABGA381"
    alone = {"part": "multiplier", "operation": "MULTIPLICATION", "exponents": "random"}
    points = [
        point("fdfm", 64, 1, device=large),
        point("fdfm", 64, 2, device=small),
        point("fdfm", 64, 3, device=small, **alone),
        point("fdfm", 64, 4, "xc7", **alone),
    ]
    write_report(points, tmp_path)
    for target, settings in (
        ("ecp5", "max_bits 64, width 2"),
        ("xc7", "max_bits 64, width 4"),
    ):
        (line,) = read_csv(tmp_path / "figures" / f"area-time-{target}.csv")
        assert line["settings"] == settings
    page = (tmp_path / "index.html").read_text()
    assert f'<option value="{small}" selected>' in page
    assert f'<option value="{large}">' in page


@pytest.mark.clients
def test_clusters_stand_by_themselves(browser, tmp_path):
    """Not among single engines: the page shows one part at a time, first the engines."""
    cluster = {"part": "cluster", "dsp": 8, "lut": 8000}
    points = [
        point("fdfm", 64, 1, "xc7"),
        point("fdfm", 64, 1, "xc7", cores=8, **cluster),
        point("fdfm", 64, 1, "xc7", cores=4, **cluster),
    ]
    page, *_ = write_report(points, tmp_path)
    for figure in ("area-time", "dsp-cycles", "product"):
        (line,) = read_csv(tmp_path / "figures" / f"{figure}-xc7.csv")
        assert line["settings"] == "max_bits 64, width 1"
    browser.problems.clear()
    browser.open(page)
    assert count(browser) == "1 of 3 points"
    choose(browser, "part", "cluster")
    assert sorted(cells(browser, "settings")) == [
        "cores 4, max_bits 64, width 1",
        "cores 8, max_bits 64, width 1",
    ]
    # Its area-time product is that of one core.
    product = 8000 * points[1].cycles
    assert cells(browser, "product") == [f"{product // 8:,}", f"{product // 4:,}"]
    browser.click("#points tbody tr")
    text = browser.evaluate("document.getElementById('point').textContent")
    assert "Cores8" in text
    assert "coprime synth cluster -p engine=fdfm -p cores=8 -p max_bits=64 -p width=1" in text
    assert browser.problems == []


def test_what_is_published_beside_what_is_measured_is_there(folder):
    """Of 320 cores the clock, which nothing here has; not in a row that nothing is beside."""
    page = (folder / "index.html").read_text()
    (table,) = re.findall(r'id="fdfm-table-1".*?</table>', page, re.DOTALL)
    assert "325.098" in table
    assert "34,635" in table
    (table,) = re.findall(r'id="fdfm-table-3".*?</table>', page, re.DOTALL)
    assert "447.027" in table
    assert "180 slices" in table
    assert "45.6" not in table


def test_papers_figure_of_several_columns(folder):
    page = (folder / "index.html").read_text()
    (picture,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)" alt="Figure 3', page)
    drawing = base64.b64decode(picture).decode()
    for line in ("Montgomery with one CSA: Published", "Redundant interleaved: Published"):
        assert line in drawing
    assert "Area-time products" in drawing


def test_every_colour_of_a_papers_figure_has_one_for_dark_pages(folder):
    page = (folder / "index.html").read_text()
    pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert pictures
    for picture in pictures:
        head, style, body = re.split("</?style>", base64.b64decode(picture).decode())
        assert "(prefers-color-scheme: dark)" in style
        drawn = set(re.findall(r' (?:fill|stroke)="([^"]+)"', head + body))
        assert drawn - {"none", "transparent"} <= set(DARK)


def test_every_family_has_a_colour_for_dark_pages():
    assert set(STYLE["range"]["category"]) <= set(DARK)


def test_a_family_has_a_colour_and_a_shape_of_its_own():
    colours, shapes = STYLE["range"]["category"], STYLE["range"]["symbol"]
    assert len(FAMILIES) <= len(set(colours)) == len(colours)
    assert len(FAMILIES) <= len(set(shapes)) == len(shapes)


def test_a_family_looks_the_same_in_every_report():
    def styles(families):
        _, (plotted,) = plot_rows([point(family, 64, 1) for family in families])
        *_, marks, _, _, _ = plotted.figures[0].spec["layer"]
        scales = [marks["encoding"][channel]["scale"] for channel in ("color", "shape")]
        assert scales[0]["domain"] == scales[1]["domain"] == list(plotted.families)
        colours, shapes = (one["range"] for one in scales)
        return dict(zip(plotted.families, zip(colours, shapes, strict=True), strict=True))

    every = styles(FAMILIES)
    assert list(every) == list(FAMILIES)
    assert styles(["ring", "compact"]) == {name: every[name] for name in ("compact", "ring")}


def test_legends_have_the_families_that_are_shown(page):
    page.click("input[name=family]", 0)
    page.wait(READY)
    legend = "[...document.querySelectorAll('#plot-area-time .role-legend-label text')]"
    assert page.evaluate(f"{legend}.map((one) => one.textContent)") == ["karatsuba"]
    page.click("button[type=reset]")
    page.wait("document.getElementById('count').textContent === '19 of 56 points'")


def test_least_product_is_best_in_its_csv(folder):
    lines = read_csv(folder / "figures" / "product-ecp5.csv")
    (product,) = [name for name in lines[0] if name.startswith("Area")]
    for bits in map(str, SIZES):
        own = [line for line in lines if line["Length of the modulus in bits"] == bits]
        best = min(own, key=lambda line: float(line[product]))
        assert [line for line in own if line["best"] == "True"] == [best]


def test_pareto_front():
    figures = [(1, 9), (2, 5), (2, 6), (3, 5), (4, 1), (4, 1)]
    rows = [{"id": n, "bits": 64, "x": x, "y": y} for n, (x, y) in enumerate(figures)]
    rows.append({"id": 9, "bits": 128, "x": 9, "y": 9})
    assert pareto_front(rows, "x", "y") == {0, 1, 4, 9}


@pytest.mark.clients
def test_same_results_make_the_same_report(folder, points, tmp_path):
    for path in write_report(points, tmp_path / "report"):
        twin = folder / path.relative_to(tmp_path / "report")
        assert path.read_bytes() == twin.read_bytes(), path.name


def test_tables_without_any_counterpart_are_folded(page):
    """Among the samples there is no multiplier of BITSERIAL; predictions need no sample."""

    def is_open(card):
        return page.evaluate(f"document.querySelector('#{card} details.table').open")

    assert not is_open("bitserial-table-1")
    assert is_open("fdfm-table-2")


def test_page_names_no_address_that_it_would_load(folder):
    text = (folder / "index.html").read_text()
    page = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(?!data:)', page)
    assert "default-src 'none'" in page
    assert str(folder) not in page


@pytest.mark.clients
def test_report_without_results(browser, tmp_path):
    begun = []
    written = write_report([], tmp_path / "new" / "report", progress=lambda *one: begun.append(one))
    assert [share for _, share in begun] == [k / len(begun) for k in range(len(begun))]
    assert begun[-1][0] == "the page"
    assert written[0] == tmp_path / "new" / "report" / "index.html"
    browser.problems.clear()
    browser.open(written[0])
    assert browser.problems == []
    assert "33,067,148" in browser.evaluate("document.body.textContent")


@pytest.mark.clients
def test_writes_without_network(folder, tmp_path):
    """In a network of its own, which has no way out."""
    script = (
        "import sys; from pathlib import Path; from coprime.explore.points import read_points; "
        "from coprime_evidence.report.report import write_report; "
        "write_report(read_points(Path(sys.argv[1])), Path(sys.argv[2]))"
    )
    command = ["unshare", "--net", "--map-root-user", sys.executable, "-c", script]
    try:
        subprocess.run([*command[:3], "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this machine does not let a process have a network of its own")
    subprocess.run([*command, folder / "points.csv", tmp_path / "report"], check=True, timeout=120)
    assert (tmp_path / "report" / "index.html").is_file()
