"""Post-editions that a campaign's own editors made: their page, their export, and gold from them."""

import csv
import io
import json
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models.functions import Upper
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.experiments.tag_files import tags_of_edits
from analysis.exporting import ExportRefused, export
from analysis.metrics.catalogue import tokeniser_for, words_of
from analysis.models import GoldUpload
from analysis.post_editions.collected import agreement_of_editors
from analysis.post_editions.measures import compute_targeted
from analysis.post_editions.reading import collected_post_editions
from analysis.scores.raw_files import RawFile
from analysis.views import post_editions as views
from da_platform.files.problems import Problems
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.campaigns.simulation import simulate_workers
from hits.models import Campaign, PostEdition
from hits.post_editing.arrays import EditedOutput, load_edited_outputs
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
    export(kind="post-editions", campaign=campaign, path=tmp_path / "edits.csv", format="csv")
    with (tmp_path / "edits.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == PostEdition.objects.count() == 160
    assert {row["role"] for row in rows} == {"genuine", "bad_reference", "repeat", "reference"}
    assert all(row["post_edition"] and row["field_ms"] for row in rows)
    assert "simulation:" not in rows[0]["worker"]


def test_the_table_says_what_each_post_edition_says_about_its_output(
    campaign: Campaign, tmp_path: Path
) -> None:
    path = tmp_path / "edits.jsonl"
    export(kind="post-editions", campaign=campaign, path=path, format="jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    names = ("pet", "per", "hter", "hbleu", "hwer", "hper", "hcder")
    parquet = tmp_path / "edits.parquet"
    export(kind="post-editions", campaign=campaign, path=parquet, format="parquet")
    assert pq.read_table(parquet, columns=list(names)).to_pylist() == [
        {name: row[name] for name in names} for row in rows
    ]
    hidden = [row for row in rows if row["role"] != "genuine"]
    assert hidden and all(row[name] is None for row in hidden for name in names)
    genuine = [row for row in rows if row["role"] == "genuine" and row["is_trusted"]]
    edits = list(load_edited_outputs(campaign))
    assert len(genuine) == sum(edit.is_trusted for edit in edits) < len(edits)
    golds = compute_targeted(
        campaign=campaign, names=["TER", "BLEU", "WER", "PER", "CDER"], use="gold"
    )
    for gold in golds:
        name = {"PET-per-word": "per"}.get(gold.name, gold.name.lower())
        of_output: dict[tuple[str, str], list[float]] = {}
        for row in genuine:
            for system in row["systems"]:
                of_output.setdefault((system, row["segment"]), []).append(row[name])
        for system, segment, score in zip(
            *(gold.table[each] for each in ("system", "segment", "score")), strict=True
        ):
            scores = of_output[system, segment]
            if len(scores) == 1 or name in ("pet", "per"):
                assert score == pytest.approx(sum(scores) / len(scores)), (name, segment)


def test_the_page_and_the_api_list_hter_and_its_kin(campaign: Campaign) -> None:
    client, ada = client_of("superuser"), caller("superuser", campaign)
    answer = client.get(reverse("post_editions", args=[campaign.code]))
    text = answer.content.decode()
    assert all(f"{name}&nbsp;" in text for name in ("HBLEU", "HWER", "HPER", "HCDER"))
    assert "PER (s per word)" in text
    listed = ada.get(f"/campaigns/{campaign.code}/post-editions?limit=3").json()
    assert listed["count"] == answer.context["page"].paginator.count > 3
    rows = answer.context["rows"][:3]
    assert [row["hter"] for row in listed["items"]] == [row.measured.hter for row in rows]
    first = listed["items"][0]
    assert (first["editor"], first["is_trusted"]) == (rows[0].edit.worker_code, True)
    assert first["per"] == pytest.approx(rows[0].measured.seconds_per_word)


def test_a_page_of_post_editions_costs_the_same_however_many_there_are(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, page = client_of("superuser"), reverse("post_editions", args=[campaign.code])
    n_queries = []
    for size in (5, 50):
        monkeypatch.setattr(views, "EDITS_PER_PAGE", size)
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(page)
        assert len(answer.context["rows"]) == size
        n_queries.append(len(queries))
    assert n_queries[0] == n_queries[1]
    edits = list(load_edited_outputs(campaign))
    assert [row.edit for row in answer.context["rows"]] == edits[:50], "as all of them in order"
    found = client.get(page, {"search": edits[0].systems[0]}).context["page"].paginator.count
    assert found == sum(edits[0].systems[0] in edit.systems for edit in edits)


# Agreement between editors --------------------------------------------------------------------


def two_editors(campaign: Campaign) -> None:
    """Keep two post-editions of one output: `a b c d` and `a b x`, and two equal ones of another."""
    by_output: dict[int, list[EditedOutput]] = {}
    for edit in load_edited_outputs(campaign, trusted_only=True):
        by_output.setdefault(edit.translation, []).append(edit)
    first, second = [edits for edits in by_output.values() if len(edits) == 2][:2]
    kept = [(first[0], "a b c d"), (first[1], "A b x"), (second[0], "e f"), (second[1], "e f")]
    for edit, text in kept:
        PostEdition.objects.filter(assignment=edit.assignment, item=edit.item).update(text=text)
    pairs = {(edit.assignment, edit.item) for edit, _ in kept}
    for edit in load_edited_outputs(campaign):
        if (edit.assignment, edit.item) not in pairs:
            PostEdition.objects.filter(assignment=edit.assignment, item=edit.item).delete()


def test_agreement_is_the_hter_of_one_editor_against_the_other(
    campaign: Campaign, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two_editors(campaign)
    # `A b x` against `a b c d`: a word replaced and one missing of four, whatever the case; the other way, of three.
    by_hand = ((2 / 4 + 2 / 3) / 2 + 0) / 2
    agreement = agreement_of_editors(campaign)
    assert agreement.mean == pytest.approx(by_hand)
    assert (agreement.n_pairs, agreement.n_outputs, agreement.share_equal) == (2, 2, 0.5)
    call_command("measure_agreement", campaign.name)
    assert f"is {by_hand:.3f} on average; 50% of 2 pairs are identical" in capsys.readouterr().out
    call_command("measure_agreement", campaign.name, "--json")
    assert json.loads(capsys.readouterr().out)["mean"] == pytest.approx(by_hand)
    path = tmp_path / "pairs.csv"
    export(kind="editor-agreement", campaign=campaign, path=path, format="csv")
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    scores = sorted((float(row["hter"]), float(row["hter_of_other"])) for row in rows)
    assert scores[0] == (0, 0) and sorted(scores[1]) == pytest.approx([2 / 4, 2 / 3])
    assert all(row["editor"] != row["other"] for row in rows)


def test_agreement_is_measured_by_a_job_from_page_or_api(campaign: Campaign) -> None:
    two_editors(campaign)
    client, ada = client_of("researcher", campaign), caller("researcher", campaign)
    page, path = reverse("post_editions", args=[campaign.code]), f"/campaigns/{campaign.code}"
    assert ada.get(f"{path}/post-editions/agreement").status_code == 404
    assert "pairs are identical" not in client.get(page).content.decode()
    client.post(reverse("measure_editor_agreement", args=[campaign.code]))
    assert run_job(Job.objects.get().pk).state == "done"
    assert "50% of 2 pairs are identical" in client.get(page).content.decode()
    found = ada.get(f"{path}/post-editions/agreement").json()
    assert found["mean"] == pytest.approx(agreement_of_editors(campaign).mean)
    assert ada.post(f"{path}/post-editions/agreement").status_code == 202


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


def test_a_layout_and_a_word_experiment_tag_words_alike_when_case_is_ignored(
    campaign: Campaign, tmp_path: Path
) -> None:
    PostEdition.objects.filter(item__role=0).update(text=Upper("text"))
    path = tmp_path / "edits.zip"
    export(kind="post-editions", campaign=campaign, path=path, format="wmt-qe")
    files = members(path.read_bytes())
    words = words_of(tokeniser_for(campaign.target_language))
    outputs, edited = files["mt_tok"], [" ".join(words(text)) for text in files["pe"]]
    raw = [
        RawFile(name, "\n".join([*lines, ""]).encode())
        for name, lines in (("mt", outputs), ("pe", edited))
    ]
    tags = {
        ignore_case: tags_of_edits(*raw, Problems(), part="words", ignore_case=ignore_case)
        for ignore_case in (True, False)
    }
    as_lines = {
        ignore_case: [" ".join("BAD" if bad else "OK" for bad in line) for line in found.tags]
        for ignore_case, found in tags.items()
    }
    assert as_lines[True] == files["tags"] != as_lines[False]


def test_the_layouts_of_wmt_have_a_line_for_each_post_edition(
    campaign: Campaign, tmp_path: Path
) -> None:
    path = tmp_path / "edits.zip"
    summary = export(kind="post-editions", campaign=campaign, path=path, format="wmt-qe")
    files = members(path.read_bytes())
    assert list(files) == [
        *("src", "mt", "pe", "hter", "mt_tok", "tags", "seconds", "names", "editors")
    ]
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
    assert list(files) == ["src", "mt", "pe", "names", "editors"] and len(files["pe"]) > 30
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
