"""The simulation behind the figure of the adaptive choice of pairs."""

from benchmarks.adaptive_ranking import CHOICES, follow, needed, picture_of


def test_needed_is_the_first_round_with_enough_pairs_told_apart():
    assert needed([(100, 0.5), (200, 0.95), (300, 0.9)]) == 200
    assert needed([(100, 0.5), (200, 0.6)]) == 200


def test_both_choices_begin_with_the_same_round_and_can_be_drawn():
    courses = {choice: [follow(choice, 1, 100)] for choice in CHOICES}
    [first], [second] = ([course[0] for course in own] for own in courses.values())
    assert first == second and 400 < first[0] < 600 and 0.3 < first[1] < 0.9
    rows = picture_of(courses, 600).rows
    assert rows[-1][0] == 600 and rows[-1][1] == first[1]
