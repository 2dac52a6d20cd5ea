"""Many processes change the same rows at once, on SQLite, PostgreSQL and behind PgBouncer."""

from collections import Counter

import pytest

from .scenarios import Facts, run_scenario

pytestmark = pytest.mark.xdist_group("concurrency")


def test_16_processes_claim_each_of_40_places_once(database_url):
    facts = run_scenario("claim_places", database_url)
    returned = Counter(facts["returned"])
    assert returned.pop(None) == 8
    assert set(returned) == set(facts["assignments"])
    assert len(returned) == 40 and set(returned.values()) == {1}
    assert facts["places_left"] == [0] * 5


def test_a_worker_in_8_tabs_gets_one_hit(database_url):
    facts = run_scenario("take_at_once", database_url)
    for codes in zip(*facts["returned"], strict=True):
        assert len(set(codes)) == 1 and codes[0] in facts["assignments"]
    assert len(facts["assignments"]) == 10
    assert sum(facts["places_left"]) == 30 - 10


def test_8_processes_double_clicking_100_items_leave_100_rows(database_url):
    facts = run_scenario("double_click", database_url)
    assert len(facts["stored"]) == 100
    assert all(returned == facts["stored"] for returned in facts["returned"])


def test_8_processes_editing_20_texts_leave_one_post_edition_of_each(database_url):
    facts = run_scenario("edit_double_click", database_url)
    texts = [text for text, _ in facts["stored"]]
    assert len(texts) == 20
    # The text, the counts and the answer are those of one and the same process.
    for place, (shown, (text, number)) in enumerate(
        zip(facts["shown"], facts["stored"], strict=True)
    ):
        assert text == f"{shown} by {number}"
        answers = [returned[place] for returned in facts["returned"]]
        assert {answer for answer, _ in answers} == {text}
        assert [is_new for _, is_new in answers].count(True) == 1
        assert answers[number] == [text, True]
    assert len({returned[-1][0] for returned in facts["returned"]} - {""}) == 1
    assert (facts["statuses"], facts["places_left"]) == (["submitted"], [0])


def test_8_processes_ranking_12_screens_store_whole_screens_of_one_of_them(database_url):
    facts = run_scenario("rank_double_click", database_url)
    assert facts["n_outputs"] == [len(rows) for rows in facts["stored"]] == [3] * 12
    for place, rows in enumerate(facts["stored"]):
        # The ranks, the reason and the time are those of one and the same process, and it alone was told that they are new.
        [number] = {elapsed for _, _, elapsed, _ in rows}
        ranks = [1 + (output * number + number) % 5 for output in range(3)]
        assert [rank for rank, *_ in rows] == (ranks if number else [None] * 3)
        assert {skip for _, skip, *_ in rows} == {"" if number else "hard"}
        assert sorted(shown for *_, shown in rows) == [1, 2, 3]
        are_new = [returned[place] for returned in facts["returned"]]
        assert are_new == [process == number for process in range(8)]
    assert len({returned[-1] for returned in facts["returned"]} - {""}) == 1
    assert (facts["statuses"], facts["places_left"][:1]) == (["submitted"], [0])


def test_4_processes_adding_a_round_add_it_once(database_url):
    facts = run_scenario("add_rounds_at_once", database_url)
    n_added = [int(outcome) for outcome in facts["outcomes"] if outcome.isdigit()]
    # The others came too late: nothing was lacking any more, or other HITs had been added meanwhile.
    assert sorted(n_added)[:-1] == [0] * (len(n_added) - 1) and max(n_added) > 0
    assert all("added to" in outcome for outcome in facts["outcomes"] if not outcome.isdigit())
    n_hits = facts["n_before"] + max(n_added)
    assert facts["numbers"] == list(range(1, n_hits + 1)) and facts["n_again"] == 0


def test_4_processes_taking_a_look_take_one_whatever_is_submitted_meanwhile(database_url):
    facts = run_scenario("look_at_once", database_url)
    # Some may have come when it was concluded already.
    assert 1 in facts["outcomes"]
    assert all(outcome == 1 or "not due yet" in outcome for outcome in facts["outcomes"])
    assert facts["n_seen"] == facts["n_counted"] > 0 and facts["n_seen_after"] == 0
    assert facts["n_submitted"] == 4
    assert facts["parts"] == [1, 2] and facts["numbers"] == list(
        range(1, len(facts["numbers"]) + 1)
    )
    # However often its gold was computed, it was from the same ratings.
    assert len(facts["ratings"]) == 1


def test_8_processes_submitting_get_one_completion_code(database_url):
    facts = run_scenario("submit_at_once", database_url)
    assert all(returned == facts["stored"] for returned in facts["returned"])
    assert len(set(facts["stored"])) == 5 and "" not in facts["stored"]
    assert facts["places_left"] == [0]


def test_releasing_while_others_submit_keeps_the_places_right(database_url):
    facts = run_scenario("release_and_submit", database_url)
    assert facts["statuses"] == ["submitted"] * 16
    assert facts["n_released"] == facts["n_late"]
    assert facts["places_left"] == [20 - 16]


def test_8_sweeps_release_each_place_once(database_url):
    facts = run_scenario("release_at_once", database_url)
    assert facts["n_released"] == 16
    assert facts["statuses"] == ["expired"] * 16
    assert facts["places_left"] == [20]


def test_releasing_while_others_raise_min_ratings_keeps_the_places_right(database_url):
    facts = run_scenario("edit_and_release", database_url)
    assert facts["statuses"] == ["expired"] * 16
    assert facts["places_left"] == [facts["min_ratings"]] * 4


def test_a_late_worker_in_8_tabs_takes_one_place_back(database_url):
    facts = run_scenario("renew_at_once", database_url)
    for codes in facts["returned"]:
        assert set(codes) <= set(facts["assignments"])
    assert facts["statuses"] == ["submitted"] * 10
    assert facts["places_left"] == [30 - 10]


def test_a_worker_in_8_tabs_does_not_exceed_the_limit(database_url):
    facts = run_scenario("limit_at_once", database_url)
    assert facts["n_hits"] == [2] * 5
    assert facts["statuses"] == ["submitted"] * 10


def test_of_8_decisions_about_a_held_hit_one_takes_effect(database_url):
    facts = run_scenario("decide_holds_at_once", database_url)
    assert [sum(outcomes) for outcomes in zip(*facts["outcomes"], strict=True)] == [1] * 6
    assert_decided_once(facts)


def test_a_decision_and_the_chores_do_not_both_take_effect(database_url):
    facts = run_scenario("decide_and_discard_overdue", database_url)
    assert sum(sum(outcomes) for outcomes in facts["outcomes"]) == 6
    assert_decided_once(facts)


def assert_decided_once(facts: Facts) -> None:
    """Every held HIT has one decision, which is the one stored, and every HIT offers the right places."""
    decisions = dict(facts["decisions"])
    assert len(facts["decisions"]) == len(decisions) == 6
    assert [decisions[code] for code in facts["assignments"]] == facts["holds"]
    assert set(facts["holds"]) <= {"counted", "discarded"}
    assert facts["n_wrong_places"] == 0


def test_4_processes_building_leave_one_set_of_hits(database_url):
    facts = run_scenario("build_at_once", database_url)
    assert facts["built"].count("2") == 1 and facts["n_after_building"] == 2
    assert sum("already has HITs" in outcome for outcome in facts["built"]) == 3
    assert facts["rebuilt"] == ["2"] * 4
    assert facts["numbers"] == [1, 2] and facts["n_items"] == 80


@pytest.mark.slow
def test_workers_weighed_by_8_processes_are_judged_as_if_one_by_one(database_url):
    facts = run_scenario("weigh_at_once", database_url)
    assert facts["failures"] == []
    assert facts["n_unweighed"] == 0
    trust = Counter(trust for _, trust in facts["verdicts"])
    # The readers, and none of the scripts; one HIT of 40 items proves nobody.
    assert trust["reliable"] == 6
    assert facts["verdicts_recomputed"] == facts["verdicts"]
    assert (facts["n_evidence_changed"], facts["n_hits_settled"]) == (0, 0)
