"""Gold for evaluations: from files, from a campaign, or pooled."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from analysis.gold.runs import build_gold
from analysis.models import GoldScore
from analysis.scores.errors import ScoresRefused
from analysis.scores.gold_tables import (
    campaign_gold,
    gold_from_scores,
    pool_gold,
    pool_scores,
    read_gold,
    system_gold,
)
from analysis.scores.mt_metrics_eval import human_scores, read_human_scores, read_metric_folder
from analysis.scores.raw_files import RawFile
from analysis.scores.reading import read_scores
from analysis.scores.score_tables import align
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import SystemOutput
from hits.workers.trust import weigh_pending
from tests.factories import make_hits

NAN = float("nan")


def read(text, **options):
    chosen = {"kind": "da", "higher_is_better": True} | options
    return read_gold(RawFile("gold.tsv", text.encode()), **chosen)


def refusal(text, **options):
    with pytest.raises(ScoresRefused) as refused:
        read(text, **options)
    return str(refused.value)


# From files -----------------------------------------------------------------------------------


def test_a_table_of_gold_may_lack_scores():
    gold = read(
        "system\tsegment\tscore\nA\t1\t0.5\nA\t2\tNA\n", kind="hter", higher_is_better=False
    )
    assert gold.keys == (("A", "1"), ("A", "2")) and not gold.higher_is_better
    assert_array_equal(gold.scores, [0.5, NAN])
    assert gold.signature.startswith("gold:hter|file:sha256=")


def test_none_in_mt_metrics_eval_means_no_score():
    gold = read("A\tNone\nA\t-2\nB\t0\nB\tNone\n", kind="mqm")
    assert_array_equal(gold.scores, [NAN, -2, 0, NAN])


def test_a_space_separated_table_can_name_its_column_human():
    gold = read("LP SYSTEM SID HUMAN\ncs-en JHU 1 0.25\ncs-en FDA 101 -0.1\n")
    assert gold.keys == (("JHU", "1"), ("FDA", "101"))


def test_gold_repeated_for_every_metric_is_read_once():
    text = "METRIC\tSID\tSCORE\tHUMAN\nx\t1\t9\t0.5\nx\t2\t9\t0.25\ny\t1\t8\t0.5\ny\t2\t8\t0.25\n"
    gold = read(text)
    assert gold.keys == (("", "1"), ("", "2"))
    assert_array_equal(gold.scores, [0.5, 0.25])
    assert "line 4: segment 1 has a different gold score on line 2" in refusal(
        text.replace("y\t1\t8\t0.5", "y\t1\t8\t0.75")
    )


def test_documents_are_kept():
    gold = read("document\tsystem\tsegment\tscore\nx\tA\t1\t1\ny\tA\t2\t2\n")
    assert gold.documents == ("x", "y")


def test_one_column_of_several_can_be_chosen():
    text = "system\tsegment\tMQM\tHTER\nA\t1\t-5\t0.5\nA\t2\t0\t0.25\n"
    assert_array_equal(read(text, column="HTER").scores, [0.5, 0.25])
    assert "|column:HTER|" in read(text, column="HTER").signature
    assert "choose the one with gold: MQM, HTER" in refusal(text)
    assert "has no column 'DA', only MQM, HTER" in refusal(text, column="DA")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("system\tsegment\tscore\nA\t1\tgood\n", "line 2: the gold score 'good' is not a finite"),
        ("system\tsegment\tscore\nA\t1\tinf\n", "line 2: the gold score 'inf' is not a finite"),
        ("system\tsegment\tscore\nA\t1\tNA\n", "gold.tsv: has no gold scores"),
        (
            "system\tsegment\tscore\nA\t1\t1\nA\t1\t1\n",
            "line 3: segment 1 by A already has a gold score on line 2",
        ),
        ("", "gold.tsv: is empty"),
        ("what is this", "line 1: has neither a header"),
    ],
)
def test_bad_gold_is_refused_with_line_and_reason(text, reason):
    assert reason in refusal(text)


def test_an_unknown_kind_of_gold_is_refused():
    assert "'guess' is not a kind of gold" in refusal("A\t1\nB\t2\n", kind="guess")


# From a campaign ------------------------------------------------------------------------------


@pytest.fixture
def run(db):
    campaign = make_hits(n_segments=35, hit_size=100, min_ratings=2, name="cs-en")
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 2}, seed=1)
    weigh_pending()
    return build_gold(campaign=campaign)


def test_a_gold_run_has_a_row_for_every_output(run, django_assert_num_queries):
    incomplete = GoldScore.objects.filter(run=run).order_by("pk").first()
    GoldScore.objects.filter(pk=incomplete.pk).update(is_complete=False, raw=None, z=None)
    run.campaign.name  # noqa: B018 - fetched before queries are counted
    with django_assert_num_queries(2):
        gold = campaign_gold(run)
    assert len(gold.keys) == 70 and np.isnan(gold.scores).sum() == 1
    output = SystemOutput.objects.get(system__name="system-b", segment__name="segment-9")
    z = GoldScore.objects.get(run=run, translation=output.translation).z
    assert gold.scores[gold.keys.index(("system-b", "segment-9"))] == z
    assert (gold.kind, gold.higher_is_better, gold.level) == ("da", True, "segment")
    assert gold.keys[0][1] == "segment-1" and gold.n_ratings.max() == 2
    assert "|use:z|version:" in gold.signature


def test_systems_that_share_a_translation_have_a_row_each(run):
    first, second = SystemOutput.objects.filter(segment__name="segment-3")
    SystemOutput.objects.filter(pk=second.pk).update(translation=first.translation)
    gold = campaign_gold(run)
    rows = [place for place, key in enumerate(gold.keys) if key[1] == "segment-3"]
    assert len(rows) == 2 and len(set(gold.scores[rows])) == 1


def test_raw_scores_can_be_used_instead(run):
    gold = campaign_gold(run, use="raw")
    assert np.nanmin(gold.scores) >= 0 and np.nanmax(gold.scores) > 5
    with pytest.raises(ValueError, match="`use`"):
        campaign_gold(run, use="ranks")


def test_metric_scores_can_serve_as_gold():
    hter = read_scores(RawFile("HTER.tsv", b"A\t0.5\nA\t0.25\n"), directions=False).tables[0]
    gold = gold_from_scores(hter, kind="hter")
    assert gold.kind == "hter" and not gold.higher_is_better and gold.keys == hter.keys
    with pytest.raises(ValueError, match="direction"):
        gold_from_scores(replace(hter, higher_is_better=None), kind="hter")


def test_system_gold_is_the_mean_over_scored_segments():
    gold = read("A\t1\nA\t2\nA\tNone\nB\t5\nB\tNone\nB\tNone\nC\tNone\nC\tNone\nC\tNone\n")
    systems = system_gold(gold)
    assert systems.keys == (("A", ""), ("B", ""), ("C", "")) and systems.level == "system"
    assert_array_equal(systems.scores, [1.5, 5, NAN])
    with pytest.raises(ValueError, match="segment level"):
        system_gold(systems)


# Pooled ---------------------------------------------------------------------------------------


def test_pooled_sets_keep_equal_names_apart():
    czech, german = read("A\t1\nA\t2\n"), read("A\t3\nA\tNone\n")
    gold = pool_gold([czech, german], names=["cs-en", "de-en"])
    assert gold.keys == (("A", "cs-en/1"), ("A", "cs-en/2"), ("A", "de-en/1"), ("A", "de-en/2"))
    assert gold.origins == ("cs-en", "cs-en", "de-en", "de-en")
    assert_array_equal(gold.scores, [1, 2, 3, NAN])
    assert "pooled" in gold.notes[0] and gold.signature.startswith("pooled:2|")


def test_a_metric_is_pooled_like_its_gold():
    names = ["cs-en", "de-en"]
    gold = pool_gold([read("A\t1\nA\t2\n"), read("A\t3\nA\t4\n")], names=names)
    tables = [
        read_scores(RawFile("M.seg.score", text), directions=True).tables[0]
        for text in (b"A\t10\nA\t20\n", b"A\t30\nA\t40\n")
    ]
    rows = align([pool_scores(tables, names=names)], gold)
    assert_array_equal(rows.scores, [[10, 20, 30, 40]])
    assert rows.origins == ("cs-en", "cs-en", "de-en", "de-en")


def test_pooled_sets_keep_systems_apart():
    golds = [read("A\t1\nB\t2\n"), read("A\t3\nB\t4\n")]
    assert pool_gold(golds, names=["x", "y"]).keys[2] == ("y/A", "")


def test_gold_of_different_kinds_or_directions_is_not_pooled():
    text = "A\t1\nA\t2\n"
    with pytest.raises(ScoresRefused, match="differ in kind"):
        pool_gold([read(text), read(text, kind="mqm")], names=["x", "y"])
    with pytest.raises(ScoresRefused, match="differ in higher is better"):
        pool_gold([read(text), read(text, higher_is_better=False)], names=["x", "y"])
    with pytest.raises(ScoresRefused, match="a different name"):
        pool_gold([read(text), read(text)])
    with pytest.raises(ScoresRefused, match="at least two"):
        pool_gold([read(text)])


def test_campaigns_are_pooled_by_name(run):
    other = make_hits(n_segments=35, hit_size=100, min_ratings=2, name="de-en")
    simulate_workers(campaign=other, crowd={Behaviour.HONEST: 2}, seed=2)
    weigh_pending()
    golds = [campaign_gold(gold_run) for gold_run in (run, build_gold(campaign=other))]
    gold = pool_gold(golds)
    assert len(gold.keys) == 140 and set(gold.origins) == {"cs-en, gold 1", "de-en, gold 1"}


# Folders of mt-metrics-eval -------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "wmt"
    for path, text in {
        "metric-scores/en-de/BLEU-refA.seg.score": "A\t1\nA\t2\nB\t3\nB\t4\n",
        "metric-scores/en-de/BLEU-refA.sys.score": "A\t1.5\nB\t3.5\n",
        "metric-scores/en-de/TER.seg.score": "A\t-1\nA\t-2\nB\t-3\nB\t-4\n",
        "human-scores/en-de.mqm.seg.score": "A\t-5\nA\tNone\nB\t0\nB\t-1\n",
        "documents/en-de.docs": "news\tdoc-1\nnews\tdoc-2\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def test_a_folder_has_all_metrics_and_gold_with_documents(folder):
    files = read_metric_folder(folder, language_pair="en-de", directions=True)
    assert [file.tables[0].name for file in files] == ["BLEU-refA", "TER"]
    assert list(human_scores(folder, language_pair="en-de")) == ["mqm"]
    gold = read_human_scores(
        folder, language_pair="en-de", name="mqm", kind="mqm", higher_is_better=True
    )
    assert gold.documents == ("doc-1", "doc-2", "doc-1", "doc-2")
    assert align([file.tables[0] for file in files], gold).scores.shape == (2, 3)


def test_a_folder_can_have_system_scores(folder):
    (file,) = read_metric_folder(folder, language_pair="en-de", level="system")
    assert file.tables[0].level == "system" and file.suggestions["BLEU-refA"].higher_is_better


def test_every_bad_file_of_a_folder_is_named(folder):
    for name in ("BLEU-refA", "TER"):
        (folder / f"metric-scores/en-de/{name}.seg.score").write_text("A\tx\nA\t1\n")
    with pytest.raises(ScoresRefused) as refused:
        read_metric_folder(folder, language_pair="en-de")
    assert "BLEU-refA.seg.score, line 1" in str(refused.value)
    assert "TER.seg.score, line 1" in str(refused.value)


def test_missing_parts_of_a_folder_are_refused_by_name(folder):
    with pytest.raises(ScoresRefused, match="has no folder metric-scores/cs-en"):
        read_metric_folder(folder, language_pair="cs-en")
    with pytest.raises(ScoresRefused, match="no segment scores 'da' for en-de, only: mqm"):
        read_human_scores(
            folder, language_pair="en-de", name="da", kind="da", higher_is_better=True
        )
    (folder / "documents/en-de.docs").write_text("news\tdoc-1\n")
    with pytest.raises(ScoresRefused, match="has 1 lines for 2 segments"):
        read_human_scores(
            folder, language_pair="en-de", name="mqm", kind="mqm", higher_is_better=True
        )
