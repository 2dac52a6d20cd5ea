"""The pictures of the documentation: all there, in every look, and small enough."""

from tests.browser.gallery import FOLDER, GALLERY, LOOKS, SECTIONS, gallery_text

# Whoever clones the repository takes them along.
MOST_BYTES = 6_000_000


def test_every_page_has_its_pictures_and_every_picture_its_page():
    wanted = {name + ending for pages in SECTIONS.values() for name in pages for ending in LOOKS}
    assert {path.stem for path in FOLDER.glob("*.png")} == wanted


def test_the_gallery_shows_them_all():
    assert GALLERY.read_text(encoding="utf-8") == gallery_text()


def test_they_are_small_enough():
    assert sum(path.stat().st_size for path in FOLDER.glob("*.png")) < MOST_BYTES
