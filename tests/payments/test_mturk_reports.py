"""Reading Mechanical Turk's list of assignments, including malformed rows."""

from decimal import Decimal

import pytest

from hits.exceptions import ProviderFailed
from hits.models import Recruitment, Submission
from hits.recruiting.providers.mturk import MTurkProvider
from tests.simulators.mturk import MTurk, TurkAssignment


def provider() -> MTurkProvider:
    return MTurkProvider(Recruitment(provider="mturk", settings={"hit_ids": ["HIT1"]}))


def submit(mturk: MTurk, name: str, status: str = "Submitted") -> None:
    mturk.assignments[name] = TurkAssignment(name, "ALICE", "HIT1", Decimal(1), status)


def test_submitted_work_is_read_page_by_page(mturk: MTurk):
    for name in ("A1", "A2", "A3"):
        submit(mturk, name)
    assert [submission.reference for submission in provider().submissions()] == ["A1", "A2", "A3"]


def test_an_unreadable_row_does_not_hide_the_others(mturk: MTurk):
    submit(mturk, "A1", "Pondering")
    submit(mturk, "A2", "Approved")
    submissions = provider().submissions()
    assert next(submissions).status == Submission.Status.APPROVED
    with pytest.raises(ProviderFailed, match="could not be read: 1.*'Pondering'"):
        next(submissions)


def test_an_unknown_status_is_an_error_that_quotes_it(mturk: MTurk):
    submit(mturk, "A1", "Pondering")
    with pytest.raises(ProviderFailed, match="unknown status: 'Pondering'"):
        provider().status_of(Submission(reference="A1"))
