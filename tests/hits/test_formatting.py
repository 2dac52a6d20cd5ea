"""Plain text by an admin becomes paragraphs and lists; markup in it is shown as text."""

import re

from hypothesis import given
from hypothesis import strategies as st

from hits.templatetags.text_formatting import format_text


def test_blank_lines_separate_paragraphs_and_marks_make_lists():
    text = "One\ntwo\r\n\r\n- a\n* b\n\n1. first\n2) second\n\nEnd"
    assert format_text(text) == (
        "<p>One<br>two</p>\n<ul><li>a</li><li>b</li></ul>\n"
        "<ol><li>first</li><li>second</li></ol>\n<p>End</p>"
    )


def test_a_list_can_follow_its_heading_and_blank_text_is_empty():
    assert format_text("Mind:\n- a") == "<p>Mind:</p>\n<ul><li>a</li></ul>"
    assert format_text(" \n\n ") == ""


@given(st.text(alphabet=st.sampled_from("<>&\"'-*1. \n\tab/script=")))
def test_markup_in_the_text_is_escaped(text):
    tags = set(re.findall(r"<[^>]*>", format_text(text)))
    allowed = {f"<{slash}{tag}>" for tag in ("p", "ul", "ol", "li") for slash in ("", "/")}
    assert tags <= allowed | {"<br>"}
