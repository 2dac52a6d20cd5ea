"""Picture files: reproducible, described in words, safe in pages and spreadsheets."""

import csv
import hashlib
import io
import threading
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from da_platform.plots.rendering import FORMATS, Format, Picture, render, to_csv
from da_platform.plots.style import SIGNIFICANCE_SHADES, new_figure
from da_platform.plots.svg import HOVER, SVG

MAGIC = {"svg": b"<?xml", "png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-"}


def points(n: int = 7) -> Figure:
    figure = new_figure(3, 2)
    axes = figure.add_subplot()
    values = np.arange(n) / n
    axes.scatter(values, values**2, gid=HOVER)
    axes.set_title("a $5 metric_name")
    return figure


def picture(**changes: object) -> Picture:
    facts: dict = {
        "name": "points",
        "title": "Points & more",
        "alternative": "A curve that <rises>.",
        "draw": points,
        "columns": ["system", "score"],
        "rows": [["=cmd()", 0.1], ["b", None]],
        "size": (3, 2),
    }
    return Picture(**(facts | changes))


@pytest.mark.parametrize("fmt", FORMATS)
def test_the_same_picture_has_the_same_bytes(fmt: Format) -> None:
    first, second = picture().render(fmt), picture().render(fmt)
    assert first == second
    assert first.startswith(MAGIC[fmt])


def test_threads_do_not_affect_each_other() -> None:
    alone = hashlib.sha256(picture().render("svg")).hexdigest()
    digests: list[str] = []

    def draw() -> None:
        digests.append(hashlib.sha256(picture().render("svg")).hexdigest())

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert digests == [alone] * 4


def test_an_svg_describes_itself_in_words() -> None:
    root = ElementTree.fromstring(picture().render("svg"))
    assert root.findtext(f"{{{SVG}}}title") == "Points & more"
    assert root.findtext(f"{{{SVG}}}desc") == "A curve that <rises>."
    assert root.get("role") == "img"


def test_an_svg_has_no_inline_style_that_a_content_policy_blocks() -> None:
    root = ElementTree.fromstring(picture().render("svg"))
    assert not [
        element
        for element in root.iter()
        if "style" in element.attrib or element.tag.endswith("}style")
    ]
    assert "#0072b2" in picture(draw=coloured, size=(2, 2)).render("svg").decode()


def coloured() -> Figure:
    figure = new_figure(2, 2)
    figure.add_subplot().plot([0, 1], [0, 1], color="#0072B2")
    return figure


def test_every_point_has_its_text() -> None:
    texts = [f"segment {i} <b>\x00" for i in range(7)]
    root = ElementTree.fromstring(picture(hover=texts).render("svg"))
    titles = [point.findtext(f"{{{SVG}}}title") for point in root.iter(f"{{{SVG}}}use")]
    assert [text for text in titles if text] == [f"segment {i} <b>" for i in range(7)]


def test_texts_must_match_the_points() -> None:
    with pytest.raises(ValueError, match="`hover` has 3 texts for 7 points"):
        picture(hover=["a", "b", "c"]).render("svg")


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="`fmt`"):
        render(points(), "gif")  # type: ignore[arg-type]


def test_the_csv_has_all_digits_and_no_formulas() -> None:
    rows = list(csv.reader(io.StringIO(picture().csv().decode())))
    assert rows == [["system", "score"], ["'=cmd()", "0.1"], ["b", ""]]
    content = to_csv(["x", "y"], [[1 / 3, float("nan")], [3, np.float64(0.5)]]).decode()
    assert content == f"x,y\n{1 / 3!r},\n3,0.5\n"


def test_each_shade_of_significance_is_darker_than_the_one_before() -> None:
    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    steps = np.diff([lightness(colour) for colour in SIGNIFICANCE_SHADES])
    assert (steps < -40).all()
