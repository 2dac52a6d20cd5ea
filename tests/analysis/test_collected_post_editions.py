"""Post-editions that a campaign's own editors made: their page, their export, and gold from them."""

import csv
from pathlib import Path

import pytest
from django.urls import reverse

from analysis.exporting import export
from analysis.models import GoldUpload
from analysis.post_editions.collected import agreement_of_editors
from analysis.post_editions.measures import compute_targeted
from analysis.post_editions.reading import collected_post_editions
from hits.campaigns.simulation import simulate_workers
from hits.models import Campaign, PostEdition
from hits.post_editing.simulated import Editor
from hits.workers.trust import update_evidence
from tests.factories import make_hits
from tests.people import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    campaign = make_hits(task="edit", hit_size=20, min_ratings=2, n_segments=28, shows="source")
    simulate_workers(
        campaign=campaign,
        crowd={Editor.CAREFUL: 4},
        hits_per_worker=2,
        seed=1,
        after_hit=lambda assignment: update_evidence(assignment=assignment),
    )
    return campaign


def test_the_page_shows_editions_word_by_word_and_the_table_exports_them(
    campaign: Campaign, tmp_path: Path
) -> None:
    page = client_of("superuser").get(reverse("post_editions", args=[campaign.code]))
    text = page.content.decode()
    assert "<del>" in text and "<ins>" in text
    agreement = agreement_of_editors(campaign)
    assert agreement.n_pairs > 10 and agreement.mean is not None and agreement.mean < 0.5
    export(kind="post-editions", campaign=campaign, path=tmp_path / "edits.csv", format="csv")
    with (tmp_path / "edits.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == PostEdition.objects.count() == 160
    assert {row["role"] for row in rows} == {"genuine", "bad_reference", "repeat", "reference"}
    assert all(row["post_edition"] and row["field_ms"] for row in rows)
    assert "simulation:" not in rows[0]["worker"]


def test_gold_is_computed_from_the_editions_of_trusted_editors(campaign: Campaign) -> None:
    edited = collected_post_editions(campaign)
    assert edited.most == 2 and edited.texts.keys() == edited.seconds.keys()
    stored = compute_targeted(campaign=campaign, use="gold")
    assert "HTER" in {row.name for row in stored} and "PET" in {row.name for row in stored}
    assert all(isinstance(row, GoldUpload) for row in stored)


def test_before_anyone_has_edited_the_page_says_so() -> None:
    campaign = make_hits(task="edit", hit_size=20, min_ratings=1, n_segments=28)
    page = client_of("superuser").get(reverse("post_editions", args=[campaign.code]))
    assert "No post-editions yet" in page.content.decode()
