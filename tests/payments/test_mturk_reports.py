"""What Mechanical Turk tells of assignments, the odd row included."""

from decimal import Decimal

import pytest

from hits.exceptions import ProviderFailed
from hits.models import Recruitment, Submission
from hits.recruiting.providers.mturk import MTurkProvider
from tests.simulators.mturk import MTurk, TurkAssignment


def provider() -> MTurkProvider:
    return MTurkProvider(Recruitment(provider="mturk", settings={"hit_ids": ["HIT1"]}))


def hand_in(mturk: MTurk, name: str, status: str = "Submitted") -> None:
    mturk.assignments[name] = TurkAssignment(name, "ALICE", "HIT1", Decimal(1), status)


def test_handed_in_work_is_read_page_by_page(mturk: MTurk):
    for name in ("A1", "A2", "A3"):
        hand_in(mturk, name)
    assert [one.reference for one in provider().submissions()] == ["A1", "A2", "A3"]


def test_a_row_that_makes_no_sense_does_not_hide_the_others(mturk: MTurk):
    hand_in(mturk, "A1", "Pondering")
    hand_in(mturk, "A2", "Approved")
    told = provider().submissions()
    assert next(told).status == Submission.Status.APPROVED
    with pytest.raises(ProviderFailed, match="could not be read: 1.*'Pondering'"):
        next(told)


def test_an_unknown_status_of_one_is_said_to_be_so(mturk: MTurk):
    hand_in(mturk, "A1", "Pondering")
    with pytest.raises(ProviderFailed, match="unknown status: 'Pondering'"):
        provider().status_of(Submission(reference="A1"))
