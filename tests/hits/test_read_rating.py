"""`read_rating` reads what our pages send without the form, and leaves everything else to the form."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.hit_sizes import MAX_HIT_SIZE
from hits.models import SCORE_MAX
from hits.rating.forms import MAX_MS, RatingForm, read_rating

CODE = "0b0f7f8a-3c2d-4e5f-8a9b-0c1d2e3f4a5b"
SENT = {"score": "70", "position": "3", "item": CODE, "elapsed_ms": "40", "active_ms": "30"}


def test_it_reads_what_our_pages_send():
    expected = {"score": 70, "position": 3, "item": UUID(CODE), "elapsed_ms": 40, "active_ms": 30}
    form = RatingForm(SENT)
    assert form.is_valid() and read_rating(SENT) == form.cleaned_data == expected


# Near the limits, in other scripts, with signs, spaces and leading zeros, empty, or anything else.
numbers = st.one_of(
    st.integers(-2, MAX_HIT_SIZE + 2).map(str),
    st.integers(MAX_MS - 2, MAX_MS + 2).map(str),
    st.sampled_from(
        ["", " 7", "7 ", "+7", "007", "7.0", "1e2", "٧", "७", "7\n", "1_0", "0x7", "²"]
    ),
    st.text(max_size=4),
)
codes = st.one_of(
    st.uuids().flatmap(lambda code: st.sampled_from([str(code), code.hex, str(code).upper()])),
    st.sampled_from(["", f"{{{CODE}}}", f" {CODE}", f"{CODE}\n", f"urn:uuid:{CODE}", CODE[:-1]]),
    st.text(max_size=40),
)


fields = dict.fromkeys(["score", "position", "elapsed_ms", "active_ms"], numbers) | {"item": codes}


@given(st.fixed_dictionaries({}, optional=fields))
def test_what_it_accepts_the_form_accepts_with_the_same_result(sent):
    rating = read_rating(sent)
    form = RatingForm(sent)
    assert rating is None or (form.is_valid() and form.cleaned_data == rating)


@pytest.mark.parametrize(
    "change",
    [
        {"score": str(SCORE_MAX + 1)},
        {"score": "-1"},
        {"position": "0"},
        {"position": str(MAX_HIT_SIZE + 1)},
        {"active_ms": "41"},
        {"elapsed_ms": str(MAX_MS + 1)},
        {"item": CODE[:-1]},
    ],
)
def test_invalid_values_are_left_to_the_form(change):
    assert not RatingForm(SENT | change).is_valid()
    assert read_rating(SENT | change) is None


@pytest.mark.parametrize("missing", ["elapsed_ms", "active_ms"])
def test_a_rating_without_times_is_left_to_the_form(missing):
    sent = {name: value for name, value in SENT.items() if name != missing}
    assert read_rating(sent) is None
