from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.signature import signature
from da_platform import __version__


def test_facts_are_in_the_given_order_and_the_version_is_last():
    assert (
        signature(qc=("paired-t", "p<0.05"), min=15, seed=7)
        == f"qc:paired-t,p<0.05|min:15|seed:7|version:{__version__}"
    )


def test_none_is_left_out():
    assert signature(seed=None) == f"version:{__version__}"


def test_numbers_are_written_plainly():
    assert signature(ci=("t", 0.95), n=3.0).startswith("ci:t,0.95|n:3|")


@settings(deadline=None)
@given(st.text())
def test_a_signature_can_always_be_split_again(text):
    parts = signature(made=text, seed=1).split("|")
    assert len(parts) == 3
    assert all(part.count(":") == 1 for part in parts)
