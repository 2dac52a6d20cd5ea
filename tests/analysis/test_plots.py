"""Pictures of evaluations show their data and describe it in words."""

from xml.etree import ElementTree

import numpy as np
import pytest

from analysis.evaluation.rank_changes import rank_changes
from analysis.evaluation.results import RankChange
from analysis.plots.densities import densities
from analysis.plots.heat_maps import (
    correlation_map,
    shortened,
    significance_levels,
    significance_map,
    three_places,
)
from analysis.plots.scatter import MOST_HOVERED, scatter, standardised_scatter
from analysis.stats.quality_estimation import rescale_predictions
from da_platform.forks import in_forks
from da_platform.plots.rendering import Picture
from da_platform.plots.style import style
from da_platform.plots.svg import SVG

RNG = np.random.default_rng(1)
GOLD = RNG.normal(size=40)


def drawn(picture: Picture):
    with style():
        return picture.draw()


def test_significance_levels_are_05_01_and_001():
    p = np.array([[np.nan, 0.05, 0.049], [0.0099, 0.001, 0.0009]])
    assert significance_levels(p).tolist() == [[0, 0, 1], [2, 2, 3]]


def test_a_significance_map_marks_winners_and_keeps_the_order():
    p = np.array([[np.nan, 0.02], [0.98, np.nan]])
    picture = significance_map(["best", "worst"], [0.7, None], p, winners=["best"], gold_name="MQM")
    axes = drawn(picture).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["● best  .700", "worst  –"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["best", "worst"]
    assert picture.rows == [
        ("best", "worst", 0.7, None, 0.02, 0.02),
        ("worst", "best", None, 0.7, 0.98, 0.98),
    ]
    assert "Not outperformed by any other: best" in picture.alternative


def test_a_significance_map_is_shaded_by_the_adjusted_p_and_keeps_the_raw_one():
    p, adjusted = (
        np.array([[np.nan, 0.03], [0.97, np.nan]]),
        np.array([[np.nan, 0.06], [1, np.nan]]),
    )
    picture = significance_map(
        ["one", "two"], [0.7, 0.6], p, adjusted=adjusted, measure="SPA", test="permutation"
    )
    assert picture.rows[0] == ("one", "two", 0.7, 0.6, 0.03, 0.06)
    assert "0 differ significantly at .05 (permutation)" in picture.alternative
    assert "SPA" in picture.title


def test_44_metrics_have_room_for_their_names():
    names = [f"a-metric-with-a-name-{i}" for i in range(44)]
    figure = drawn(significance_map(names, [0.5] * 44, np.full((44, 44), 0.5)))
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    tops = sorted((box.y0, box.y1) for box in boxes)
    assert all(above[0] >= below[1] - 0.5 for below, above in zip(tops, tops[1:], strict=False))


def test_a_metric_that_never_varies_leaves_a_gap_in_the_map():
    picture = correlation_map(
        ["a", "b", "flat"], np.array([[1, 0.5, np.nan], [0.5, 1, np.nan], [np.nan] * 3])
    )
    assert picture.render("png").startswith(b"\x89PNG")
    assert picture.alternative.startswith("The most similar metrics are a and b (r = .500)")


def test_points_of_a_scatter_plot_name_their_segments():
    picture = scatter("chrF", GOLD * 2, GOLD, [f"segment {i}" for i in range(40)], r=1.0)
    root = ElementTree.fromstring(picture.render("svg"))
    texts = [point.findtext(f"{{{SVG}}}title") for point in root.iter(f"{{{SVG}}}use")]
    assert sum(bool(text and text.startswith("segment ")) for text in texts) == 40
    assert len(picture.rows) == 40 and "Pearson's r is 1.000" in picture.alternative


def test_only_a_sample_of_many_points_has_texts_but_all_are_in_the_data():
    n = MOST_HOVERED + 500
    scores = RNG.normal(size=n)
    picture = scatter("m", scores, scores, [str(i) for i in range(n)])
    assert len(picture.hover) == MOST_HOVERED and len(picture.rows) == n
    assert b"<image" in picture.render("svg")


def test_densities_integrate_to_one_even_for_constant_predictions():
    picture = densities(["wide", "flat"], [GOLD * 0.8, np.full(40, 0.1)], GOLD, errors=[0.2, None])
    by_series: dict[str, list[tuple[float, float]]] = {}
    for series, x, y in picture.rows:
        by_series.setdefault(series, []).append((x, y))
    for series, points in by_series.items():
        x, y = np.array(points).T
        # The tails of wide densities are cut off.
        assert np.trapezoid(y, x) == pytest.approx(1, abs=0.12), series
    assert "0.000 (flat)" in picture.alternative
    assert picture.render("pdf").startswith(b"%PDF")


def test_points_of_an_error_rate_rise_too():
    picture = scatter("TER", -GOLD, GOLD, [""] * 40, directions=(False, True), r=1.0)
    main = drawn(picture).axes[0]
    assert main.xaxis_inverted() and not main.yaxis_inverted()
    assert main.get_xlabel() == "TER (lower is better: axis reversed)"
    assert main.get_ylabel() == "gold"
    assert "Lower TER is better, so its axis is reversed" in picture.alternative
    # The data is as it was.
    assert picture.rows[0] == ("", -GOLD[0], GOLD[0])


def test_both_axes_are_reversed_if_predictions_and_gold_are_errors():
    picture = scatter("svr", GOLD, GOLD, [""] * 40, directions=(False, False), gold_name="HTER")
    main = drawn(picture).axes[0]
    assert main.xaxis_inverted() and main.yaxis_inverted()
    assert "Lower svr and HTER are better, so both axes are reversed" in picture.alternative


@pytest.mark.parametrize("higher", [True, False])
def test_the_line_of_a_standardised_scatter_has_the_slope_r(higher):
    scores = 100 + 7 * (GOLD + RNG.normal(size=40))
    picture = standardised_scatter("svr", scores, GOLD, [""] * 40, directions=(higher, higher))
    r = np.corrcoef(scores, GOLD)[0, 1]
    assert f"slope r = {r:.3f}" in picture.alternative
    lines = drawn(picture).axes[0].lines
    assert [line.get_slope() for line in lines] == pytest.approx([1, r])
    across, up = np.array([row[1:] for row in picture.rows]).T
    assert (across.mean(), up.std(ddof=1)) == pytest.approx((0, 1))
    assert np.sign(up[0]) == (1 if higher else -1) * np.sign(GOLD[0] - GOLD.mean())


def test_labels_are_drawn_as_bars_and_other_predictions_as_curves():
    labels = np.repeat([1.0, 2.0, 3.0], 20)
    continuous = labels + RNG.normal(size=60)
    picture = densities(["labels", "curve"], [labels, continuous], labels, gold_name="effort")
    left, right = drawn(picture).axes[:2]
    assert len(left.patches) == 6 and not left.lines
    assert len(right.patches) == 3 and len(right.lines) == 1
    shares = [row for row in picture.rows if row[0] == "effort"]
    assert shares == [("effort", value, pytest.approx(1 / 3)) for value in (1, 2, 3)]


def test_the_mae_trap_shows_predictions_as_submitted_and_rescaled():
    wide = GOLD * 3
    picture = densities(
        ["wide", "flat"],
        [wide, np.full(40, 0.1)],
        GOLD,
        rescaled=[rescale_predictions(wide, GOLD), np.full(40, np.nan)],
        errors=[1.5, 0.8],
        rescaled_errors=[0.4, None],
        higher_is_better=False,
        gold_name="HTER",
    )
    panels = drawn(picture).axes[:2]
    assert [panel.get_title() for panel in panels] == [
        "wide\nMAE 1.500, rescaled 0.400",
        "flat\nMAE 0.800",
    ]
    assert [len(panel.lines) for panel in panels] == [2, 1]
    assert all(panel.xaxis_inverted() for panel in panels)
    assert "1 of 1 have a smaller MAE" in picture.alternative
    assert "Lower HTER is better" in picture.alternative
    assert {row[0] for row in picture.rows} == {"HTER", "wide", "wide, rescaled", "flat"}


def test_an_outlier_does_not_stretch_the_axis():
    picture = densities(["wild"], [np.append(GOLD[1:], 1e6)], GOLD)
    assert max(x for _, x, _ in picture.rows) < 10


def test_rank_changes_are_counted_and_winners_are_bold():
    changes = [
        RankChange("a", 0.9, 0.1, 1, 3, wins_first=True, wins_second=False),
        RankChange("b", 0.8, 0.2, 2, 2, wins_first=False, wins_second=False),
        RankChange("c", None, 0.3, 3, 1, wins_first=False, wins_second=True),
    ]
    picture = rank_changes(changes, golds=("HTER", "DA"))
    assert [row[-1] for row in picture.rows] == [-2, 0, 2]
    assert "2 of 3 metrics change their rank" in picture.alternative
    bold = [t.get_text() for t in drawn(picture).axes[0].texts if t.get_fontweight() == "bold"]
    assert bold == ["1  a  .900", "1  c  .300"]


def test_pictures_drawn_in_parallel_are_the_same():
    same_place = RankChange("a", 0.9, 0.1, 1, 1, wins_first=False, wins_second=False)
    pictures = [
        rank_changes([same_place], golds=("x", "y")),
        correlation_map(["a", "b"], np.array([[1, 0.5], [0.5, 1]])),
    ]
    alone, in_parallel = (list(in_forks(Picture.render_all, pictures, n)) for n in (1, 2))
    assert in_parallel == alone


def test_names_and_numbers_are_shortened_for_pictures_only():
    assert shortened("x" * 40) == "x" * 27 + "…" and shortened("short") == "short"
    assert [three_places(x) for x in (0.5, -0.25, None, 1.0)] == [".500", "−.250", "–", "1.000"]
