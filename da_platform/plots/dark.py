"""Let an SVG follow dark mode on screen. Files for papers stay as they are.

The colours of the common style are swapped by a style sheet inside the SVG, whose hash its content policy names, and
in pixels by a second copy of an image. Where a style sheet is not read, the SVG looks as it does on paper.
"""

import base64
import hashlib
import io
from copy import copy
from xml.etree import ElementTree

import numpy as np
from defusedxml.ElementTree import fromstring

from .rendering import PNG_LEVEL
from .style import COLOURS, INK, LINE, PAPER, QUIET, SIGNIFICANCE_SHADES
from .svg import SVG, XLINK

_DARK_SERIES = ("#5aaee0", "#f0883e", "#37c29b", "#dd9cc2", "#9bd3f5", "#f2bd4a", "#ffffff")
# The more significant, the lighter, so that it stands out as on paper.
_DARK_SHADES = ("#1e232b", "#1f4468", "#3f83b8", "#c6e4ff")
DARK = {
    INK: "#eef1f5",
    QUIET: "#b4bcc9",
    LINE: "#46505f",
    PAPER: "#1e232b",
    **dict(zip(COLOURS, _DARK_SERIES, strict=True)),
    **dict(zip(SIGNIFICANCE_SHADES, _DARK_SHADES, strict=True)),
}
# Classes of the two copies of an image.
_ON_PAPER, _IN_DARK = "on-paper", "in-dark"


def _style_sheet() -> str:
    rules = [
        f'[{part}="{light.lower()}"] {{ {part}: {dark}; }}'
        for light, dark in DARK.items()
        for part in ("fill", "stroke")
    ]
    rules += [f".{_ON_PAPER} {{ display: none; }}", f".{_IN_DARK} {{ display: inline; }}"]
    return f"@media screen and (prefers-color-scheme: dark) {{ {' '.join(rules)} }}"


STYLE_SHEET = _style_sheet()
_HASH = base64.b64encode(hashlib.sha256(STYLE_SHEET.encode()).digest()).decode()
# For a response with such an SVG.
POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; img-src data:; frame-ancestors 'none'"


def follow_dark_mode(svg: bytes) -> bytes:
    """Return an SVG of `finish_svg` that turns dark where the page is dark."""
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = fromstring(svg)
    for parent in list(root.iter()):
        for image in parent.findall(f"{{{SVG}}}image"):
            _add_dark_copy(parent, image)
    sheet = ElementTree.Element(f"{{{SVG}}}style")
    sheet.text = STYLE_SHEET
    # After the title, which has to be the first child.
    root.insert(1 if len(root) and root[0].tag == f"{{{SVG}}}title" else 0, sheet)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def _add_dark_copy(parent: ElementTree.Element, image: ElementTree.Element) -> None:
    """Add a dark copy of an image, unless it has none of the common colours."""
    address = f"{{{XLINK}}}href"
    kind, _, content = image.get(address, "").partition(",")
    recoloured = _recoloured(base64.b64decode(content))
    if recoloured is None:
        return
    dark = copy(image)
    dark.attrib = dict(image.attrib) | {
        "id": f"{image.get('id', 'image')}-dark",
        "class": _IN_DARK,
        "display": "none",
        address: f"{kind},{base64.b64encode(recoloured).decode()}",
    }
    image.set("class", _ON_PAPER)
    parent.insert(list(parent).index(image) + 1, dark)


def _recoloured(content: bytes) -> bytes | None:
    """Return a PNG with the exact common colours swapped; None if it has none of them."""
    from PIL import Image

    with Image.open(io.BytesIO(content)) as picture:
        pixels = np.array(picture.convert("RGBA"))
    swapped = pixels.copy()
    # One number for each colour: comparing three channels takes much longer.
    red, green, blue, alpha = np.moveaxis(pixels, -1, 0)
    colours = (red.astype(np.uint32) << 16) | (green.astype(np.uint32) << 8) | blue
    for light, dark in DARK.items():
        places = (colours == int(light.removeprefix("#"), 16)) & (alpha > 0)
        swapped[places, :3] = _rgb(dark)
    if (swapped == pixels).all():
        return None
    buffer = io.BytesIO()
    Image.fromarray(swapped).save(buffer, format="PNG", compress_level=PNG_LEVEL)
    return buffer.getvalue()


def _rgb(colour: str) -> list[int]:
    return list(bytes.fromhex(colour.removeprefix("#")))
