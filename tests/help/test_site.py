"""`make docs`: the same pages as a site."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from da_platform.help import pages
from tests.subprocesses import CHECKOUT, environment

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site with the options of the Makefile, where a warning is an error."""
    recipe = re.search(r"-m sphinx (.+) docs site$", (CHECKOUT / "Makefile").read_text(), re.M)
    assert recipe and "-W" in recipe[1].split()
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", *recipe[1].split(), "docs", str(folder)]
    process = subprocess.run(
        command, cwd=CHECKOUT, env=environment(), capture_output=True, text=True, timeout=300
    )
    assert (process.returncode, process.stderr) == (0, "")
    return folder


def test_every_page_has_the_anchors_of_the_help(site: Path):
    for name in pages.files():
        html = (site / f"{name}.html").read_text(encoding="utf-8")
        for section in pages.page(name, root="/help/").sections[1:]:
            assert f'id="{section.anchor}"' in html, f"{name}#{section.anchor}"


def test_nothing_is_fetched_from_elsewhere(site: Path):
    for path in site.rglob("*.html"):
        fetched = re.findall(
            r'<(?:script|link|img|iframe)[^>]+(?:src|href)="((?:https?:)?//[^"]+)"',
            path.read_text(encoding="utf-8"),
        )
        assert fetched == [], path
    for path in site.rglob("*.css"):
        assert not re.search(r"@import|url\([\"']?(?:https?:)?//", path.read_text()), path
