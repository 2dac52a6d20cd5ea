"""Scores of whole documents, and places on screens, in exports."""

import pytest
from django.urls import reverse

from analysis.exporting import export
from analysis.gold.runs import build_gold
from analysis.stats.roles import Role
from hits.campaigns.behaviours import Behaviour
from hits.models import DocumentRating, Item, Rating
from tests.analysis.export_rows import read_back
from tests.documents.campaigns import document_campaign
from tests.side_by_side.campaigns import side_campaign
from tests.simulated_crowds import collect

pytestmark = pytest.mark.django_db


def exported(campaign, kind, path):
    export(kind=kind, campaign=campaign, path=path, format=path.suffix[1:])
    return read_back(path)


def test_every_score_of_a_whole_document_is_exported(tmp_path):
    campaign = document_campaign(scores_documents=True)
    collect(campaign, {Behaviour.HONEST: 2}, seed=1)
    expected = [
        {
            "hit": row.assignment.hit.number,
            "position": row.item.position,
            "role": Role(row.item.role).name.lower(),
            "document": row.item.translation.segment.document,
            "systems": sorted(system.name for system in row.item.translation.systems.all()),
            "n_segments": Item.objects.filter(hit=row.item.hit_id, run=row.item.run).count(),
            "score": row.score,
        }
        for row in DocumentRating.objects.order_by(
            "assignment__hit__number", "assignment_id", "item__position"
        )
    ]
    assert {row["n_segments"] for row in expected} <= set(range(2, 11)) and len(expected) > 10
    for format in ("csv", "tsv", "jsonl", "parquet"):
        rows = exported(campaign, "document-ratings", tmp_path / f"wholes.{format}")
        assert [{name: row[name] for name in expected[0]} for row in rows] == expected
        assert {row["assignment_status"] for row in rows} == {"submitted"}


def test_places_on_screens_are_exported_with_the_ratings(tmp_path):
    campaign = side_campaign()
    collect(campaign, {Behaviour.HONEST: 2}, seed=1)
    rows = exported(campaign, "ratings", tmp_path / "ratings.csv")
    places = Rating.objects.order_by(
        "assignment__hit__number", "assignment_id", "item__position"
    ).values_list("place", flat=True)
    assert [row["place"] for row in rows] == list(places)
    assert {1, 2, 3} <= set(places)


def test_the_page_offers_them_only_where_they_were_asked_for(admin_client):
    for asks in (True, False):
        campaign = document_campaign(scores_documents=asks)
        build_gold(campaign=campaign, minimum=1)
        text = admin_client.get(reverse("campaign_results", args=[campaign.code])).text
        assert ("Scores of whole documents" in text) == asks
