"""The rankings of WMT15 through the front door: imported by command, ranked by a job, as the page shows them."""

import io
import re
from itertools import pairwise

import pytest
from django.core.management import call_command

from analysis.ranking.tables import systems_table
from analysis.stats.judgements import complete_tasks, expand
from benchmarks.official_rankings import swapped
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job, start_job
from hits.models import Campaign, Rank
from hits.ranking.arrays import load_rankings

from .locating import replication_data
from .test_wmt15_rankings import SEED, TOLERANCE
from .wmt15 import official_ranking, published_kappas

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

CODES = {"ces": "cs", "eng": "en", "deu": "de", "fin": "fi", "fre": "fr", "rus": "ru"}
PAIRS = tuple(
    pair
    for other in ("ces", "deu", "fin", "fre", "rus")
    for pair in (f"{other}-eng", f"eng-{other}")
)
# Where the official clusters are others, and why: see `test_wmt15_rankings`.
OTHER_CLUSTERS = {"ces-eng"}


def imported(pair: str) -> tuple[Campaign, str]:
    """Import a language pair; return the campaign and what the command says."""
    path = replication_data("wmt15-rankings", "wmt15.xml.gz")
    source, target = (CODES[code] for code in pair.split("-"))
    out = io.StringIO()
    call_command(
        "import_collection",
        str(path),
        format="appraise-rankings",
        name=pair,
        source_language=source,
        target_language=target,
        stdout=out,
    )
    return Campaign.objects.get(name=pair), out.getvalue()


def ranked(campaign: Campaign) -> dict:
    """Rank the systems in a job, as the page and the API do."""
    job = start_job(
        kind="rank_judgements",
        campaign=campaign,
        arguments={"lookup": "published", "seed": SEED},
    )
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error
    return job.result


def test_all_hits_tasks_and_judgements_arrive():
    n_hits = n_tasks = n_judgements = 0
    for pair in PAIRS:
        campaign, said = imported(pair)
        counts = re.search(r"Note: ([\d,]+) HITs with ([\d,]+) ranking tasks", said)
        n_hits += int(counts[1].replace(",", ""))
        n_tasks += int(counts[2].replace(",", ""))
        rows = load_rankings(campaign)
        n_judgements += len(expand(complete_tasks(rows)))
    assert (n_hits, n_tasks, n_judgements) == (9_669, 29_017, 540_107)
    assert Campaign.objects.count() == 10 and Rank.objects.exists()


@pytest.mark.parametrize("pair", PAIRS)
def test_the_official_ranking_and_the_published_kappa_come_out(pair):
    pytest.importorskip("numba")
    campaign, _ = imported(pair)
    facts = ranked(campaign)

    official = official_ranking(replication_data("wmt15-rankings"), pair)
    lines = [official[row["system"]] for row in facts["systems"]]
    assert len(lines) == len(official)
    for row, line in zip(facts["systems"], lines, strict=True):
        assert row["score"] == pytest.approx(line.score, abs=TOLERANCE)
    # The same order, but for systems whose official rank ranges overlap.
    assert not swapped(lines)
    same = [line.cluster for line in lines] == [row["cluster"] for row in facts["systems"]]
    assert same == (pair not in OTHER_CLUSTERS)
    ends = {place for place, (a, b) in enumerate(pairwise(lines)) if a.cluster != b.cluster}
    assert not same or systems_table(facts).lines_after == ends

    published = published_kappas(replication_data("wmt15-rankings"))
    found = {(row["counting"], row["between"]): row for row in facts["agreement"]}
    for between in ("inter", "intra"):
        row, expected = found["published", between], published[pair, "collapsed", between]
        printed = [f"{row[name]:.3f}" for name in ("p_agree", "p_chance", "kappa")]
        counts = [str(row[name]) for name in ("n_agree", "n_comparable", "n_ties", "n_labels")]
        assert [*printed, *counts] == list(expected.values())[3:], between
        # Ours next to it, with the word.
        assert found["strict", between]["kappa"] is not None and found["strict", between]["word"]
