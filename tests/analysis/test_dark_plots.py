"""Plots on pages follow dark mode; files for papers do not."""

import base64
import hashlib
import io
import re

import numpy as np
import pytest
from defusedxml.ElementTree import fromstring
from PIL import Image

from analysis.plots.heat_maps import correlation_map, significance_map
from analysis.plots.scatter import scatter
from da_platform.plots.dark import DARK, POLICY, STYLE_SHEET, follow_dark_mode
from da_platform.plots.rendering import pixels
from da_platform.plots.style import INK, PAPER, SIGNIFICANCE_SHADES
from da_platform.plots.svg import SVG, XLINK, hover_points

P = np.array([[np.nan, 0.0001], [0.9, np.nan]])
MAP = significance_map(["a", "b"], [0.5, 0.1], P)
SCATTER = scatter("m", np.arange(5.0), np.arange(5.0), list("abcde"))


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG defines it."""
    parts = np.array(list(bytes.fromhex(colour.removeprefix("#")))) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(first: str, second: str) -> float:
    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


def images(svg: bytes) -> list:
    return list(fromstring(svg).iter(f"{{{SVG}}}image"))


def colours(image) -> set[str]:
    content = base64.b64decode(image.get(f"{{{XLINK}}}href").partition(",")[2])
    with Image.open(io.BytesIO(content)) as picture:
        found = np.unique(np.array(picture.convert("RGB")).reshape(-1, 3), axis=0)
    return {f"#{bytes(colour.tolist()).hex()}" for colour in found}


def test_a_file_for_a_paper_has_no_style_sheet():
    assert b"<style" not in MAP.render("svg")


def test_on_screen_the_style_sheet_is_the_one_that_its_policy_allows():
    svg = follow_dark_mode(MAP.render("svg"))
    [sheet] = fromstring(svg).iter(f"{{{SVG}}}style")
    digest = base64.b64encode(hashlib.sha256(sheet.text.encode()).digest()).decode()
    assert sheet.text == STYLE_SHEET and f"'sha256-{digest}'" in POLICY


def test_every_colour_of_the_style_is_readable_in_dark_mode():
    for light, dark in DARK.items():
        if light not in (PAPER, "#c6ccd6", *SIGNIFICANCE_SHADES):
            assert contrast(dark, DARK[PAPER]) > 4.5, light
    assert contrast(DARK[INK], DARK[PAPER]) > 12
    shades = [luminance(DARK[shade]) for shade in SIGNIFICANCE_SHADES]
    assert shades == sorted(shades)


def test_the_pixels_of_a_map_have_a_dark_copy():
    paper, dark = images(follow_dark_mode(MAP.render("svg")))
    assert (paper.get("class"), dark.get("class")) == ("on-paper", "in-dark")
    # Where the style sheet is not read, only the copy for paper is shown.
    assert dark.get("display") == "none" and paper.get("display") is None
    assert colours(paper) == {SIGNIFICANCE_SHADES[0], SIGNIFICANCE_SHADES[3]}
    assert colours(dark) == {DARK[SIGNIFICANCE_SHADES[0]], DARK[SIGNIFICANCE_SHADES[3]]}


def test_a_map_in_its_own_colours_is_not_copied():
    picture = correlation_map(["a", "b"], np.array([[1, 0.5], [0.5, 1]]))
    svg = follow_dark_mode(picture.render("svg"))
    assert len(images(svg)) == len(images(picture.render("svg")))


def test_points_can_be_found_in_the_figure():
    points = hover_points(SCATTER.render("svg"))
    assert [label.partition(":")[0] for _, _, label in points] == list("abcde")
    assert all(0 < x < 1 and 0 < y < 1 for x, y, _ in points)
    # To the right and up.
    assert points == sorted(points) and points[0][1] > points[-1][1]


@pytest.mark.parametrize("picture", [MAP, SCATTER], ids=lambda picture: picture.name)
def test_the_size_is_known_before_it_is_drawn(picture):
    svg = picture.render("svg").decode()
    width, height = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', svg).groups()
    assert (round(float(width) / 0.75), round(float(height) / 0.75)) == picture.pixels
    assert picture.pixels == pixels(picture.size)
