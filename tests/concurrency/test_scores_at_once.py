"""When several people add scores of a metric at once, exactly one set is stored."""

import pytest

from .scenarios import run_scenario

pytestmark = pytest.mark.xdist_group("concurrency")


def test_the_same_file_added_at_once_is_stored_once(database_url):
    facts = run_scenario("add_the_same_scores", database_url)
    assert len(facts["outcomes"]) == 3
    assert all("M: 100 segment scores stored." in outcome for outcome in facts["outcomes"])
    assert (facts["n_metrics"], facts["stored"]) == (1, [1.0] * 100)


def test_only_one_of_several_different_files_is_stored(database_url):
    facts = run_scenario("add_different_scores", database_url)
    refused = [outcome for outcome in facts["outcomes"] if "stored." not in outcome]
    assert len(refused) == 2
    assert all("different segment scores of M already exist" in outcome for outcome in refused)
    assert facts["n_metrics"] == 1
    assert len(facts["stored"]) == 100 and len(set(facts["stored"])) == 1
