"""Campaigns and annotations of Pearmut: read, and our ratings written in its layout."""

import json
from copy import deepcopy
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from hits.archives.decisions import Judgement
from hits.archives.service import CollectionSummary, import_collection
from hits.campaigns.building import build_hits
from hits.campaigns.importing import ImportSummary, import_campaign
from hits.campaigns.lifecycle import change_status
from hits.exceptions import ImportRefused
from hits.models import Assignment, Campaign, Rating, Recruitment, Segment
from hits.questionnaires.answering import questionnaire_of
from hits.rating.assignments import submit_assignment, take_assignment
from hits.rating.joining import take_part
from hits.side_by_side.saving import save_screen
from tests.factories import make_hits, make_worker, rate_items, sentence
from tests.hits.worker.steps import enter, page, post_rating, take
from tests.side_by_side.campaigns import side_campaign
from tests.subprocesses import CHECKOUT

pytestmark = pytest.mark.django_db

EXAMPLE = json.loads((Path(CHECKOUT) / "examples" / "pearmut" / "campaign.json").read_text())
ITEM = {"item_id": "x_#_0", "src": "Eins.", "tgt": {"alder": "One."}}


def imported(tmp_path: Path, content: Any, **options: Any) -> ImportSummary:
    path = tmp_path / "campaign.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    settings = {"name": "Bakery", "source_language": "de", "target_language": "en"} | options
    return import_campaign(path=path, **settings)


def with_info(**info: Any) -> dict[str, Any]:
    content = deepcopy(EXAMPLE)
    content["info"] |= info
    return content


def pool(*items: dict[str, Any]) -> dict[str, Any]:
    info = {"assignment": "single-stream", "protocol": "da"}
    return {"info": info, "campaign_id": "x", "data": [list(items)]}


def test_texts_documents_instructions_and_forms_are_taken_over(tmp_path: Path):
    summary = imported(tmp_path, EXAMPLE)
    campaign = summary.campaign
    assert (summary.n_systems, summary.n_segments, summary.n_outputs) == (2, 3, 5)
    segments = list(campaign.segments.values_list("name", "document", "source", "reference"))
    assert segments[0] == (
        "bakery_#_0",
        "bakery",
        "Die Bäckerei am Markt öffnet am Montag.",
        "The bakery on the market square opens on Monday.",
    )
    assert segments[2][1] == "weather"
    assert campaign.instructions == (
        "Rate how well each translation conveys the German text.\nTake your time.\n\n"
        "Evaluate translation from German to English."
    )
    native, age, job = questionnaire_of(campaign).questions
    assert (native.kind, native.text) == ("text", "What is your native language?")
    assert age.kind == "number" and job.options == ("Yes", "No") and job.required
    notes = " ".join(summary.notes)
    assert "1 of 6 outputs" in notes and "texts between the questions (1)" in notes


def test_own_instructions_come_first(tmp_path: Path):
    assert imported(tmp_path, EXAMPLE, instructions="Mine.").campaign.instructions == "Mine."


@pytest.mark.parametrize("assignment", ["single-stream", "dynamic"])
def test_a_pool_of_documents_is_read_too(tmp_path: Path, assignment: str):
    content = with_info(assignment=assignment)
    content["data"] = [document for task in content["data"] for document in task]
    assert imported(tmp_path, content).n_outputs == 5


def test_a_stored_campaign_has_its_tasks_by_user(tmp_path: Path):
    content = deepcopy(EXAMPLE)
    content["data"] = {f"user-{number}": task for number, task in enumerate(content["data"])}
    assert imported(tmp_path, content).n_outputs == 5


def test_tutorials_checks_scripts_and_spans_are_left_out_and_named(tmp_path: Path):
    content = deepcopy(EXAMPLE)
    check = ITEM | {"item_id": "check", "validation": {"alder": {"score": [0, 20]}}}
    content["data"][0][0].append(check)
    content["data"][0][0][0]["error_spans"] = {"alder": [{"start_i": 0, "end_i": 1}]}
    content["data_welcome"].append([ITEM | {"skippable": True}])
    content["data_welcome"][0].append({"text": "x", "form": "script", "script": "return 1"})
    content["data_random"] = [[check]]
    summary = imported(tmp_path, content)
    assert summary.n_segments == 3
    [note] = [note for note in summary.notes if note.startswith("left out")]
    for what in (
        "tutorial items and attention checks (2)",
        "items' error spans (1)",
        "scripts that collect data about devices (1)",
        "documents of attention checks (1)",
    ):
        assert what in note


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "line 1: is not JSON"),
        ("[]", "is not a campaign of Pearmut: it has no 'info'"),
        ({"info": {}, "campaign_id": "x"}, "it has no 'data'"),
        (with_info(protocol="ESA"), "the protocol ESA needs error spans"),
        (with_info(protocol="cESA"), "the protocol cESA needs error spans"),
        (with_info(protocol="MQM"), "the protocol MQM needs error spans with categories"),
        (with_info(protocol="XSTS"), "the protocol 'XSTS' is not known; only DA can be imported"),
        (with_info(protocol=None), "has no protocol"),
        (with_info(assignment="random"), "the assignment 'random' is not task-based"),
        (with_info(sliders=[{"name": "Fluency"}]), "has its own sliders"),
        (with_info(textfield="prefilled"), "asks for post-editions"),
        (pool(ITEM | {"tgt": "One."}), "document 1, item 1: tgt is not an object"),
        (pool(ITEM | {"tgt": {"alder": 1}}), "tgt has an output that is not a text"),
        (pool(ITEM | {"src": 1}), "src is not a text"),
        (pool({"tgt": {"alder": "One."}}), "has neither src nor ref"),
        (pool(ITEM | {"src": "<img src='assets/a.png' />"}), "table with a column media"),
        (pool(ITEM, ITEM | {"src": "Zwei."}), "item 2: has another source or reference"),
        (pool(ITEM, ITEM | {"tgt": {"alder": "Two."}}), "has another output of 'alder'"),
        (pool(ITEM | {"tgt": {"alder": "One.\nTwo."}}), "the translation by 'alder' (document 1"),
        (pool(), "document 1: is not a list of items"),
    ],
)
def test_what_cannot_be_imported_is_refused_with_its_place(
    tmp_path: Path, content: Any, reason: str
):
    with pytest.raises(ImportRefused) as refusal:
        imported(tmp_path, content, task="source")
    assert reason in str(refusal.value)
    assert not Campaign.objects.exists()


def test_workers_who_would_see_references_need_them(tmp_path: Path):
    with pytest.raises(ImportRefused, match="has no ref, which workers would see"):
        imported(tmp_path, pool(ITEM))


def test_the_command_detects_the_format(tmp_path: Path):
    path = tmp_path / "campaign.json"
    path.write_text(json.dumps(EXAMPLE))
    arguments = [str(path), "--name", "Bakery", "--from", "de", "--to", "en"]
    call_command("import_campaign", *arguments, stdout=StringIO())
    assert Campaign.objects.get().segments.count() == 3


# Annotations ---------------------------------------------------------------------------------


def annotation(user: str = "carol", place: Any = 0, **fields: Any) -> dict[str, Any]:
    """A document of two items with the outputs of two models, scored in ten seconds."""
    items = [ITEM | {"item_id": f"x_#_{n}", "tgt": {"a": "A.", "b": "B."}} for n in range(2)]
    scores = [{"a": {"score": 70 + n}, "b": {"score": 20 + n}} for n in range(2)]
    actions = [{"time": 1_700_000_000.5, "action": "load"}, {"time": 1_700_000_010.5}]
    row = {"annotation": scores, "actions": actions, "item": items}
    return row | {"user_id": user, "item_i": place} | fields


def collected(tmp_path: Path, *rows: Any, name: str = "out.jsonl") -> CollectionSummary:
    path = tmp_path / name
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines))
    return import_collection(
        paths=[path],
        format="pearmut",
        name="Collected",
        source_language="de",
        target_language="en",
        task="source",
        min_ratings=1,
        judgement=Judgement(trusts_all=True),
    )


def test_annotations_become_a_finished_collection_with_its_texts(tmp_path: Path):
    summary = collected(tmp_path, annotation(), annotation("david", 1))
    assert (summary.n_workers, summary.n_trusted, summary.n_ratings) == (2, 2, 8)
    assert not any("contain no texts" in note for note in summary.notes)
    campaign = summary.campaign
    assert list(campaign.segments.values_list("name", "document", "source")) == [
        ("x_#_0", "x", "Eins."),
        ("x_#_1", "x", "Eins."),
    ]
    rating = Rating.objects.filter(item__translation__text="A.").order_by("pk").first()
    assert rating is not None and rating.score == 70 and rating.elapsed_ms == 2_500
    assert rating.received_at.isoformat() == "2023-11-14T22:13:30.500000+00:00"
    run = build_gold_of(campaign)
    assert run.n_scored == 4


def build_gold_of(campaign: Campaign) -> Any:
    from analysis.gold.runs import build_gold

    return build_gold(campaign=campaign, minimum=1)


def test_the_last_row_counts_and_resets_and_tutorials_do_not(tmp_path: Path):
    again = annotation(annotation=[{"a": {"score": 1}, "b": {"score": None}}] * 2)
    summary = collected(
        tmp_path,
        annotation(),
        again,
        annotation("david", 3),
        annotation("david", 3, annotation="RESET"),
        annotation("erin", "welcome_0"),
    )
    assert summary.n_ratings == 2 and set(Rating.objects.values_list("score", flat=True)) == {1}
    [note] = [note for note in summary.notes if note.startswith("left out")]
    assert "scored again (1)" in note and "reset (1)" in note and "without a score (2)" in note


def test_a_download_holds_several_campaigns(tmp_path: Path):
    content = json.dumps({"one": [annotation()], "two": [annotation("david")]})
    assert collected(tmp_path, content, name="annotations.json").n_workers == 2


def test_rows_before_documents_have_one_item(tmp_path: Path):
    row = annotation(annotation={"a": {"score": 5}}, item=[ITEM | {"tgt": {"a": "A."}}])
    assert collected(tmp_path, row).n_ratings == 1


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("{", "out.jsonl, line 1: is not JSON"),
        ({"item_i": 1}, "has no user_id"),
        (annotation(item=None), "has no items"),
        (annotation(item=[ITEM]), "has 2 annotations of 1 items"),
        (annotation(actions=[{"time": 1e12}]), "has no actions with times in seconds"),
        (annotation(annotation=[{"a": {"score": 70.5}}] * 2), "the score 70.5 of 'a' is not"),
        (annotation(annotation=[{"a": {"score": 101}}] * 2), "the score 101 of 'a' is not"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(tmp_path: Path, row: Any, reason: str):
    with pytest.raises(ImportRefused) as refusal:
        collected(tmp_path, row)
    assert reason in str(refusal.value)


# Our ratings in that layout ------------------------------------------------------------------


def test_a_campaign_is_imported_rated_and_exported_as_annotations(tmp_path: Path):
    """Documents, forms and instructions in; whole documents out, as Pearmut writes them."""
    content = deepcopy(EXAMPLE)
    documents = content["data"] = [
        [
            {
                "item_id": f"doc{number}_#_{place}",
                "src": f"Satz {number} {place} {sentence(number + place)}.",
                "tgt": {
                    model: f"Sentence {number} {place} of {model} {sentence(number * place)}."
                    for model in ("alder", "birch")
                },
            }
            for place in range(4)
        ]
        for number in range(5)
    ]
    content["data"] = [documents]
    campaign = imported(
        tmp_path, content, task="source", presentation="document", hit_size=40
    ).campaign
    assert campaign.instructions and campaign.questionnaire["questions"]
    build_hits(campaign=campaign)
    Recruitment.objects.create(campaign=campaign, is_open=True)
    change_status(campaign=campaign, to=Campaign.Status.OPEN)
    client = Client()
    enter(client, campaign)
    native, age, job = (
        f"question-{question.key}" for question in questionnaire_of(campaign).questions
    )
    answers = {native: "English", age: "33", job: "Yes"}
    assert client.post(page("questions", campaign.code), answers).status_code == 302
    assignment = take(client, campaign)
    for position in range(1, 41):
        score = 10 + position
        assert post_rating(client, assignment, position, score=score).status_code == 200
    client.post(page("finish", assignment.code))
    path = tmp_path / "out.jsonl"
    call_command("export", "ratings", "Bakery", str(path), format="pearmut", stdout=StringIO())
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    genuine = assignment.hit.items.filter(role=0)
    assert len(rows) == genuine.values("run").distinct().count() < genuine.count()
    shown = {item["item_id"]: item for document in documents for item in document}
    for row in rows:
        # Neighbours of one document, with what the model made of them.
        names = [item["item_id"] for item in row["item"]]
        numbers = [int(name.rpartition("_")[2]) for name in names]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert len({name.partition("_")[0] for name in names}) == 1
        for item, scores in zip(row["item"], row["annotation"], strict=True):
            assert item["src"] == shown[item["item_id"]]["src"]
            assert all(text == shown[item["item_id"]]["tgt"][m] for m, text in item["tgt"].items())
            assert set(scores) == set(item["tgt"])
    summary = collected(tmp_path, *rows)
    assert summary.n_ratings == genuine.count()
    assert set(summary.campaign.segments.values_list("document", flat=True)) <= {
        f"doc{number}" for number in range(5)
    }


def test_outputs_of_a_screen_are_models_of_one_item(tmp_path: Path):
    campaign = side_campaign(name="Beside")
    Segment.objects.filter(campaign=campaign).update(document="talk")
    alice = make_worker("alice")
    take_part(campaign=campaign, worker=alice)
    assignment = take_assignment(campaign=campaign, worker=alice)
    assert isinstance(assignment, Assignment)
    items = assignment.hit.items.order_by("position")
    for screen in items.values_list("screen", flat=True).distinct().order_by("screen"):
        codes = items.filter(screen=screen).values_list("code", flat=True)
        save_screen(assignment=assignment, position=screen, scores=dict.fromkeys(codes, 40))
    submit_assignment(assignment=assignment)
    path = tmp_path / "beside.jsonl"
    call_command("export", "ratings", "Beside", str(path), format="pearmut", stdout=StringIO())
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    genuine = items.filter(role=0)
    assert len(rows) == genuine.values("screen").distinct().count()
    assert max(len(row["annotation"][0]) for row in rows) == 3
    # Its segments are not named after their document.
    assert all(row["item"][0]["item_id"].startswith("talk_#_") for row in rows)
    assert collected(tmp_path, *rows).n_ratings == genuine.count()


def test_ratings_are_written_as_annotations_and_read_back(tmp_path: Path):
    campaign = make_hits(name="Ours")
    alice = make_worker("alice")
    take_part(campaign=campaign, worker=alice)
    assignment = take_assignment(campaign=campaign, worker=alice)
    assert isinstance(assignment, Assignment)
    rate_items(assignment)
    submit_assignment(assignment=assignment)
    path = tmp_path / "ours.jsonl"
    call_command("export", "ratings", "Ours", str(path), format="pearmut", stdout=StringIO())
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    genuine = assignment.hit.items.filter(role=0)
    assert len(rows) == genuine.count() < assignment.hit.size
    assert "alice" not in path.read_text() and rows[0]["user_id"].startswith("w")
    first = genuine.order_by("position").first()
    assert first is not None
    assert first.text in rows[0]["item"][0]["tgt"].values() and rows[0]["item"][0]["src"]
    summary = collected(tmp_path, *rows)
    assert summary.n_ratings == len(rows) and summary.n_workers == 1
    scores = assignment.ratings.filter(item__role=0).values_list("score", flat=True)
    read = Rating.objects.filter(assignment__hit__campaign=summary.campaign)
    assert sorted(read.values_list("score", flat=True)) == sorted(scores)
