"""Systems ranked by documents: by the means of their segments, and by the scores of the whole."""

import numpy as np
import pytest
from django.urls import reverse
from numpy.testing import assert_allclose
from scipy.stats import t

from analysis.gold.document_ranking import MEANS, WHOLE, rank_by_documents
from analysis.gold.documents import document_rows
from analysis.gold.ranking import rank_systems
from analysis.gold.runs import build_gold
from hits.campaigns.behaviours import Behaviour
from hits.models import DocumentRating, Participation, Rating
from tests.api.callers import caller
from tests.documents.campaigns import document_campaign
from tests.people import client_of
from tests.simulated_crowds import collect

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    campaign = document_campaign(min_ratings=3, hit_size=100, n_segments=50, scores_documents=True)
    # Documents of one to seven segments, so that they weigh differently than segments do.
    for segment in campaign.segments.all():
        segment.document = f"article-{int(np.sqrt(segment.position))}"
        segment.save(update_fields=["document"])
    collect(campaign, {Behaviour.HONEST: 6}, seed=2)
    return build_gold(campaign=campaign, minimum=1)


def means_by_system(rows):
    return {name: np.mean([z for own, z in rows if own == name]) for name, _ in rows}


def test_each_document_counts_once(run):
    ranking = rank_by_documents(run)
    rows = [(row["system_name"], row["z"]) for row in document_rows(run) if row["z"] is not None]
    expected = means_by_system(rows)
    assert {row["system"]: row["z"] for row in ranking.rows} == pytest.approx(expected)
    by_segment = {row["system"]: row["z"] for row in rank_systems(run).rows}
    assert not np.allclose([expected[name] for name in by_segment], list(by_segment.values()))
    # The interval is that of a mean over documents.
    best = ranking.rows[0]
    own = np.array([z for name, z in rows if name == best["system"]])
    assert best["n_segments"] == len(own)
    error = own.std(ddof=1) / np.sqrt(len(own))
    half = t.ppf(0.975, len(own) - 1) * error
    assert_allclose([best["low"], best["high"]], [best["z"] - half, best["z"] + half])
    assert "unit:document" in ranking.signature and ranking.interval_over == "documents"


def test_the_scores_of_the_whole_are_ranked_too(run):
    ranking = rank_by_documents(run, unit=WHOLE)
    [worker] = Participation.objects.order_by("pk")[:1].values_list("worker", flat=True)
    scores = Rating.objects.filter(assignment__worker=worker).values_list("score", flat=True)
    mean, sd = np.mean(scores), np.std(scores, ddof=1)
    DocumentRating.objects.exclude(assignment__worker=worker).delete()
    own = DocumentRating.objects.filter(item__role=0).values_list(
        "item__translation__outputs__system__name", "item__translation__segment__document", "score"
    )
    by_document = {}
    for system, document, score in own:
        by_document.setdefault((system, document), []).append((score - mean) / sd)
    rows = [(system, np.mean(values)) for (system, _), values in by_document.items()]
    alone = rank_by_documents(run, unit=WHOLE)
    assert {row["system"]: row["z"] for row in alone.rows} == pytest.approx(means_by_system(rows))
    assert len(ranking.rows) == 2
    DocumentRating.objects.all().delete()
    assert rank_by_documents(run, unit=WHOLE) is None


def test_page_and_api_give_both(run):
    campaign = run.campaign
    page = client_of("researcher", campaign).get(
        reverse("campaign_documents", args=[campaign.code])
    )
    for unit in (MEANS, WHOLE):
        ranking = rank_by_documents(run, unit=unit)
        assert f"Systems by {ranking.ranked_by}" in page.text
        answer = caller("researcher", campaign).get(
            f"/campaigns/{campaign.code}/gold/{run.number}/ranking", unit=unit
        )
        assert answer.json()["signature"] == ranking.signature
        assert [row["system"] for row in answer.json()["systems"]] == [
            row["system"] for row in ranking.rows
        ]
