"""A rating as our pages write it is read without the form; whatever else is sent, the form decides."""

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
    read = {"score": 70, "position": 3, "item": UUID(CODE), "elapsed_ms": 40, "active_ms": 30}
    form = RatingForm(SENT)
    assert form.is_valid() and read_rating(SENT) == form.cleaned_data == read


# Near the limits, in other scripts, with signs, spaces and zeros in front, empty, or anything at all.
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


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "score": numbers,
            "position": numbers,
            "item": codes,
            "elapsed_ms": numbers,
            "active_ms": numbers,
        },
    )
)
def test_whatever_it_accepts_the_form_accepts_and_reads_alike(sent):
    read = read_rating(sent)
    form = RatingForm(sent)
    assert read is None or (form.is_valid() and form.cleaned_data == read)


@pytest.mark.parametrize(
    "changed",
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
def test_what_the_form_refuses_is_left_to_it(changed):
    assert not RatingForm(SENT | changed).is_valid()
    assert read_rating(SENT | changed) is None


@pytest.mark.parametrize("left_out", ["elapsed_ms", "active_ms"])
def test_a_rating_without_times_is_left_to_the_form(left_out):
    sent = {name: value for name, value in SENT.items() if name != left_out}
    assert read_rating(sent) is None
