"""The simulation behind the figure of the adaptive choice of pairs."""

import pytest

from benchmarks.adaptive_ranking import CHOICES, Course, Look, follow, picture_of, shares_right


def test_the_share_of_right_campaigns_is_that_of_the_latest_look():
    courses = [
        Course([Look(100, 60, False), Look(200, 120, True)], 1.0),
        Course([Look(150, 90, False)], 1.0),
    ]
    (none, *_), (early, *_), (late, low, high) = shares_right(courses, [0, 150, 200])
    assert (none, early, late) == (0, 0, 0.5) and 0 < low < 0.5 < high < 1


def test_both_choices_begin_with_the_same_judgements_and_can_be_drawn():
    courses = {choice: [follow(choice, 1, 100)] for choice in CHOICES}
    first, second = (own[0].looks[0] for own in courses.values())
    assert first.n_judgements == pytest.approx(second.n_judgements, rel=0.15)
    assert picture_of(courses, 500).rows[-1][0] == 500


@pytest.mark.slow
def test_undecided_pairs_alone_give_the_true_clusters_with_fewer_judgements():
    campaigns = [follow("undecided", seed, 6_000) for seed in range(4)]
    assert all(campaign.looks[-1].is_right for campaign in campaigns)
    most = max(campaign.looks[-1].n_judgements for campaign in campaigns)
    assert not any(look.is_right for look in follow("random", 0, most).looks)
