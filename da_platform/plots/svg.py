"""Prepare an SVG for a page: add descriptions and hover texts, and remove inline styles.

A strict content policy blocks `style` attributes and elements, and everything would turn black. All of
Matplotlib's styles have equivalent attributes, which are allowed.
"""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from defusedxml.ElementTree import fromstring

# The id (`gid`) of the collection of points with hover texts.
HOVER = "hover-points"

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"

# Matplotlib sets these for all elements in one style element.
_FOR_ALL = {"stroke-linejoin": "round", "stroke-linecap": "butt"}


def finish_svg(
    drawn: bytes, *, title: str = "", alternative: str = "", hover: Sequence[str] = ()
) -> bytes:
    """Return Matplotlib's SVG with title, description and hover texts, and without inline styles."""
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = fromstring(drawn)
    _drop(root, f"{{{SVG}}}metadata")
    _drop(root, f"{{{SVG}}}style")
    root.attrib.update(_FOR_ALL)
    for element in root.iter():
        _unstyle(element)
    if hover:
        _tell(root, hover)
    _describe(root, title, alternative)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def _drop(root: ElementTree.Element, tag: str) -> None:
    for parent in root.iter():
        for child in parent.findall(tag):
            parent.remove(child)


def _unstyle(element: ElementTree.Element) -> None:
    """Turn `style="fill: red"` into `fill="red"`."""
    for declaration in element.attrib.pop("style", "").split(";"):
        name, _, value = declaration.partition(":")
        if value.strip():
            element.set(name.strip(), value.strip())


def _describe(root: ElementTree.Element, title: str, alternative: str) -> None:
    root.set("role", "img")
    described = [("title", title), ("desc", alternative)]
    for place, (tag, text) in enumerate((tag, text) for tag, text in described if text):
        element = ElementTree.Element(f"{{{SVG}}}{tag}")
        element.text = _printable(text)
        root.insert(place, element)


def _tell(root: ElementTree.Element, hover: Sequence[str]) -> None:
    """Give each point of the collection its text, in drawing order."""
    group = next((element for element in root.iter() if element.get("id") == HOVER), None)
    points = [] if group is None else list(group.iter(f"{{{SVG}}}use"))
    if len(points) != len(hover):
        raise ValueError(f"`hover` has {len(hover)} texts for {len(points)} points")
    for point, text in zip(points, hover, strict=True):
        ElementTree.SubElement(point, f"{{{SVG}}}title").text = _printable(text)


def hover_points(svg: bytes) -> list[tuple[float, float, str]]:
    """Return where each point with a hover text is, as shares of width and height, and the text."""
    root = fromstring(svg)
    _, _, width, height = map(float, root.get("viewBox", "0 0 1 1").split())
    return [
        (
            float(point.get("x", 0)) / width,
            float(point.get("y", 0)) / height,
            point.findtext(f"{{{SVG}}}title", ""),
        )
        for group in root.iter()
        if group.get("id") == HOVER
        for point in group.iter(f"{{{SVG}}}use")
    ]


def _printable(text: str) -> str:
    """Remove control characters that XML does not allow."""
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "", text)
