"""Incomplete grids and random samples when a campaign is created, on the page, over the API and by command."""

import io
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import override_settings
from django.urls import reverse

from hits.campaigns.building import build_hits
from hits.campaigns.sampling import sampled_translations
from hits.models import Campaign, CampaignDraft, Item
from tests.api.callers import caller
from tests.people import client_of

pytestmark = pytest.mark.django_db

N_SEGMENTS, N_SAMPLE = 60, 40
EXAMPLE = Path(settings.BASE_DIR) / "examples" / "demo-de-en" / "campaign"
SYSTEMS = ("alder", "birch", "cedar")
BASICS = {"name": "Grid", "source_language": "de", "target_language": "en", "task": "reference"}
SETTINGS = {"hit_size": "40", "min_ratings": "2", "pay_per_hit": "1", "currency": "EUR"}
SETTINGS |= {"lease_minutes": "60", "degradation": "balanced", "trust_rule": "guarded"}
SETTINGS |= {"drift": "count", "seed": "7", "sample_size": f"{N_SAMPLE}", "sample_choice": "random"}


@pytest.fixture(autouse=True)
def _uploads(tmp_path):
    with override_settings(UPLOADS_DIR=tmp_path / "uploads"):
        yield


def grid() -> bytes:
    """Another system for each segment, except that the first has all of them."""
    rows = [("segment", "system", "reference", "translation")]
    references = lines_of("references")
    for number in range(N_SEGMENTS):
        systems = SYSTEMS if number == 0 else [SYSTEMS[number % len(SYSTEMS)]]
        for system in systems:
            text = f"{lines_of(f'systems/{system}')[number]} {number}"
            rows.append((f"s{number}", system, references[number], text))
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def lines_of(name: str) -> list[str]:
    return (EXAMPLE / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def table() -> SimpleUploadedFile:
    return SimpleUploadedFile("grid.tsv", grid())


def by_page() -> None:
    client = client_of("admin")
    client.post(reverse("new_campaign"), BASICS)
    code = CampaignDraft.objects.get().code
    refused = client.post(reverse("draft_files", args=[code]), {"package": table()})
    # 60 x 3 outputs, less the 62 there are.
    assert "missing translations (118)" in refused.content.decode()
    mend = reverse("draft_mend", args=[code])
    assert client.post(mend, {"allow_missing_translations": "on"}).status_code == 302
    assert client.post(reverse("draft_settings", args=[code]), SETTINGS).status_code == 302
    check = reverse("draft_check", args=[code])
    page = client.get(check).content.decode()
    assert "<dd>40, " in page and "118 of 180 outputs" in page
    client.post(check)


def by_api() -> None:
    api = caller("admin")
    refused = api.upload("/campaigns", BASICS | SETTINGS | {"package": table()})
    assert refused.status_code == 422
    assert "--allow-missing-translations: missing translations (118)" in refused.json()["detail"]
    fields = BASICS | SETTINGS | {"allow_missing_translations": True, "package": table()}
    made = api.upload("/campaigns", fields)
    assert made.status_code == 201, made.content


def by_command(folder) -> None:
    path = folder / "grid.tsv"
    path.write_bytes(grid())
    options = ["--name", "Grid", "--from", "de", "--to", "en", "--seed", "7", "--hit-size", "40"]
    options += ["--sample", f"{N_SAMPLE}", "--allow-missing-translations", "--min-ratings", "2"]
    call_command("import_campaign", str(path), *options, stdout=io.StringIO())


def test_an_incomplete_grid_is_sampled_alike_however_it_is_created(tmp_path):
    drawn = []
    for create in (by_page, by_api, lambda: by_command(tmp_path)):
        create()
        campaign = Campaign.objects.get(name="Grid")
        assert (campaign.sample_size, campaign.seed) == (N_SAMPLE, 7)
        assert campaign.systems.count() == 3 and campaign.segments.count() == N_SEGMENTS
        sample = sampled_translations(campaign)
        build_hits(campaign=campaign)
        items = Item.objects.filter(hit__campaign=campaign, partner=None)
        assert set(items.values_list("translation", flat=True)) == sample
        names = items.values_list("translation__segment__name", "translation__text")
        drawn.append(sorted(set(names)))
        Campaign.objects.filter(pk=campaign.pk).update(name=f"Grid {len(drawn)}")
    assert len(drawn[0]) == N_SAMPLE and drawn[0] == drawn[1] == drawn[2]
