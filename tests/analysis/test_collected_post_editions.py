"""Post-editions that a campaign's own editors made: their page, their export, and gold from them."""

import csv
import io
import zipfile
from pathlib import Path

import pytest
from django.urls import reverse

from analysis.exporting import ExportRefused, export
from analysis.exporting.post_editions import word_tags
from analysis.models import GoldUpload
from analysis.post_editions.collected import agreement_of_editors
from analysis.post_editions.measures import compute_targeted
from analysis.post_editions.reading import collected_post_editions
from hits.campaigns.simulation import simulate_workers
from hits.models import Campaign, PostEdition
from hits.post_editing.arrays import load_edited_outputs
from hits.post_editing.simulated import Editor
from hits.workers.trust import update_evidence
from tests.api.callers import caller
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


def test_they_are_the_results_of_a_campaign_that_edits(campaign: Campaign) -> None:
    address = reverse("post_editions", args=[campaign.code])
    client = client_of("researcher", campaign)
    page = client.get(reverse("campaign_results", args=[campaign.code]), follow=True)
    assert page.redirect_chain == [(address, 302)]
    assert reverse("campaign_metrics", args=[campaign.code]) in page.content.decode()


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


def members(content: bytes) -> dict[str, list[str]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name).decode().splitlines() for name in archive.namelist()}


def test_words_that_were_replaced_or_removed_are_bad() -> None:
    output, edited = (
        ["the", "old", "bridge", "is", "is", "closed"],
        ["The", "new", "bridge", "is", "closed"],
    )
    tags = list(word_tags(output, edited))
    # Of two equal words, either may be the one that was removed.
    assert tags[:3] + tags[5:] == ["OK", "BAD", "OK", "OK"]
    assert sorted(tags[3:5]) == ["BAD", "OK"]
    assert list(word_tags(["a"], [])) == ["BAD"]
    assert list(word_tags([], ["a"])) == []


def test_the_layouts_of_wmt_have_a_line_for_each_post_edition(
    campaign: Campaign, tmp_path: Path
) -> None:
    path = tmp_path / "edits.zip"
    summary = export(kind="post-editions", campaign=campaign, path=path, format="wmt-qe")
    files = members(path.read_bytes())
    assert list(files) == ["src", "mt", "pe", "hter", "mt_tok", "tags", "seconds", "names"]
    edits = list(load_edited_outputs(campaign, trusted_only=True))
    assert {len(lines) for lines in files.values()} == {len(edits)} == {summary.n_rows}
    assert files["pe"] == [edit.text for edit in edits]
    assert files["src"] == [edit.source for edit in edits]
    hter = {gold.name: gold for gold in compute_targeted(campaign=campaign, use="gold")}["HTER"]
    by_key = dict(
        zip(
            zip(hter.table["system"], hter.table["segment"], strict=True),
            hter.table["score"],
            strict=True,
        )
    )
    n_equal = 0
    for place, edit in enumerate(edits):
        words, tags = files["mt_tok"][place].split(), files["tags"][place].split()
        assert len(words) == len(tags) and set(tags) <= {"OK", "BAD"}
        # Gold counts the nearer of two post-editions.
        score = float(files["hter"][place])
        assert by_key[edit.systems[0], edit.segment] <= score + 1e-12
        n_equal += abs(by_key[edit.systems[0], edit.segment] - score) < 1e-12
        assert ("BAD" in tags) <= (score > 0)
    assert n_equal >= len(by_key)
    again = tmp_path / "again.zip"
    export(kind="post-editions", campaign=campaign, path=again, format="wmt-qe")
    assert again.read_bytes() == path.read_bytes()


def test_the_page_and_the_api_offer_the_layouts(campaign: Campaign) -> None:
    client = client_of("superuser")
    assert "wmt-ape" in client.get(reverse("post_editions", args=[campaign.code])).content.decode()
    url = reverse("result_export", args=[campaign.code, "post-editions", "wmt-ape"])
    answer = client.get(url)
    files = members(b"".join(answer.streaming_content))
    assert list(files) == ["src", "mt", "pe", "names"] and len(files["pe"]) > 30
    ada = caller("superuser", campaign)
    answer = ada.get(f"/campaigns/{campaign.code}/exports/post-editions", format="wmt-ape")
    assert members(b"".join(answer.streaming_content)) == files
    refused = ada.get(f"/campaigns/{campaign.code}/exports/ratings", format="wmt-qe")
    assert refused.status_code == 409


def test_the_layouts_are_for_post_editions_and_for_files(campaign: Campaign) -> None:
    with pytest.raises(ExportRefused, match="for post-editions, not for ratings"):
        export(kind="ratings", campaign=campaign, path="-", format="wmt-qe")
    with pytest.raises(ExportRefused, match="wmt-qe is binary"):
        export(kind="post-editions", campaign=campaign, path="-", format="wmt-qe")
