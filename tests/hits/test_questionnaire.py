"""Questions about workers: read, asked, answered once, screening, counted, exported, forgotten."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from analysis.gold.report import make_report
from analysis.gold.runs import build_gold
from hits.campaigns.editing import duplicate_campaign
from hits.campaigns.questionnaires import set_questionnaire
from hits.exceptions import QuestionsRefused
from hits.models import Assignment, Campaign, Participation, QuestionnaireReply
from hits.questionnaires.answering import is_due, questionnaire_of, store_reply
from hits.questionnaires.counting import count_answers
from hits.questionnaires.questions import read_questionnaire
from hits.rating.joining import take_part
from hits.workers.forgetting import forget_worker
from tests.api.callers import caller
from tests.factories import make_campaign, make_hits, make_worker, rate_items
from tests.hits.worker.steps import enter, page, take
from tests.people import client_of, make_person
from tests.subprocesses import CHECKOUT

pytestmark = pytest.mark.django_db

EXAMPLE = Path(CHECKOUT) / "examples" / "questionnaires" / "languages.json"
NATIVE = {"kind": "native_language", "required": True, "accept": ["de", "da"]}
LEVEL = {"kind": "proficiency", "language": "de", "required": True}
AGE = {"key": "age", "kind": "number", "text": "Age?", "minimum": 16, "maximum": 120}
JOB = {"key": "job", "kind": "choice", "text": "Your job?", "options": ["Translator", "=Other"]}
HARD = {"key": "hard", "kind": "text", "text": "What was hard?", "when": "after"}
ALL = {"questions": [NATIVE, LEVEL, AGE, JOB, HARD]}
ANSWERS = {"native_language": "de", "proficiency_de": "fluent", "age": "33", "job": "=Other"}


def sent(answers: dict[str, str]) -> dict[str, str]:
    return {f"question-{key}": answer for key, answer in answers.items()}


def ask(campaign: Campaign, given: dict[str, Any] | None = None) -> Campaign:
    set_questionnaire(campaign=campaign, actor=None, given=ALL if given is None else given)
    return campaign


@pytest.fixture
def campaign() -> Campaign:
    return ask(make_hits(name="News"))


def reply_of(campaign: Campaign, name: str, **answers: Any) -> Participation:
    participation = take_part(campaign=campaign, worker=make_worker(name))
    return store_reply(participation=participation, moment="before", answers=answers)


# Reading -------------------------------------------------------------------------------------


def test_a_file_is_read_with_its_defaults():
    read = read_questionnaire(json.loads(EXAMPLE.read_text()), target_language="de")
    native, level, *_, hardest = read.questions
    assert (native.key, native.accept, level.key) == ("native_language", ("de",), "proficiency_en")
    assert [question.key for question in read.at("after")] == ["hardest"] and not hardest.required
    assert read_questionnaire(read.as_json(), target_language="xx") == read and read.screens
    assert read_questionnaire({}, target_language="de").as_json() == {}


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("x", "question 1: is not a JSON object"),
        ({"kind": "date"}, "kind: 'date' is not one of native_language, proficiency"),
        (NATIVE | {"text": "x"}, "text: a question of the kind native_language has no such field"),
        (NATIVE | {"accept": ["Elvish"]}, "accept: 'Elvish' is not a known language code"),
        (NATIVE | {"accept": "de"}, "accept: must be a list"),
        (NATIVE | {"required": False}, "accept: the question must be required"),
        (NATIVE | {"when": "after"}, "accept: only questions before the task"),
        (NATIVE | {"when": "later"}, "when: 'later' is neither before nor after"),
        (NATIVE | {"required": "yes"}, "required: must be true or false"),
        (LEVEL | {"accept": ["C1"]}, "accept: 'C1' is not one of native, fluent, good"),
        (LEVEL | {"language": "?"}, "language: '?' is not a known language code"),
        (AGE | {"text": " "}, "text: must be a text"),
        (AGE | {"text": "x" * 501}, "text: is longer than 500 characters"),
        (AGE | {"minimum": 5, "maximum": 1}, "minimum and maximum: 5 is larger than 1"),
        (AGE | {"maximum": "old"}, "minimum and maximum: must be whole numbers"),
        (AGE | {"accept": [18], "required": True}, "accept: must be the smallest and the largest"),
        (AGE | {"key": "Age!"}, "key: 'Age!' must be up to 40 small letters"),
        (JOB | {"options": ["One"]}, "options: must be a list of 2 to 50 texts"),
        (JOB | {"options": ["One", "One "]}, "options: two are the same"),
        (JOB | {"accept": ["Two"], "required": True}, "accept: 'Two' is not one of the options"),
    ],
)
def test_a_bad_question_is_refused_with_its_place(question: Any, reason: str):
    with pytest.raises(QuestionsRefused) as refusal:
        read_questionnaire({"questions": [question]}, target_language="de", name="q.json")
    assert reason in str(refusal.value) and "q.json" in str(refusal.value)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([], "is not a JSON object"),
        ({"questions": {}}, "is not a JSON object with a list"),
        ({"title": "x"}, "'title' is not known"),
        ({"language": "??"}, "language: '??'"),
        ({"questions": [AGE, AGE]}, "two questions have the key 'age'"),
        ({"questions": [HARD] * 31}, "has 31 questions; at most 30"),
    ],
)
def test_a_bad_file_is_refused(given: Any, reason: str):
    with pytest.raises(QuestionsRefused, match="The questions were not stored") as refusal:
        read_questionnaire(given, target_language="de")
    assert reason in str(refusal.value)


# Workers -------------------------------------------------------------------------------------


def test_questions_come_between_consent_and_practice(client: Client, campaign: Campaign):
    assert "a few questions about you" in client.get(campaign.get_absolute_url()).content.decode()
    worker = enter(client, campaign, qualified=False)
    questions = page("questions", campaign.code)
    for step in ("instructions", "check", "next_hit"):
        assert client.get(page(step, campaign.code)).url == questions
    assert client.get(page("practice", campaign.code, 1)).url == questions
    form = client.get(questions).content.decode()
    assert "What is your native language?" in form and "What was hard?" not in form
    answer = client.post(questions, sent(ANSWERS))
    assert answer.url == page("next_hit", campaign.code)
    assert client.get(answer.url).url == page("instructions", campaign.code)
    reply = QuestionnaireReply.objects.get(participation__worker=worker)
    assert reply.answers == ANSWERS | {"age": 33} and reply.moment == "before"
    # A second tab changes nothing.
    assert client.post(questions, sent(ANSWERS | {"age": "44"})).url == answer.url
    assert QuestionnaireReply.objects.get().answers["age"] == 33


def test_what_is_wrong_or_missing_is_said_at_the_question(client: Client, campaign: Campaign):
    enter(client, campaign, qualified=False)
    questions = page("questions", campaign.code)
    for wrong in (
        {"native_language": ""},
        {"native_language": "xx"},
        {"proficiency_de": "great"},
        {"age": "7"},
        {"age": "old"},
        {"job": "Pilot"},
    ):
        answer = client.post(questions, sent(ANSWERS | wrong))
        assert answer.status_code == 422
        assert answer.content.decode().count('class="problem" role="alert"') == 1, wrong
    assert not QuestionnaireReply.objects.exists()
    optional = {key: ANSWERS[key] for key in ("native_language", "proficiency_de")}
    assert client.post(questions, sent(optional)).status_code == 302
    assert QuestionnaireReply.objects.get().answers == optional


def test_who_does_not_fit_reads_the_same_whichever_answer_decided(client: Client):
    campaign = ask(
        make_hits(),
        {
            "questions": [
                NATIVE,
                LEVEL | {"accept": ["native"]},
                AGE | {"required": True, "accept": [18, None]},
                JOB | {"required": True, "accept": ["Translator"]},
            ]
        },
    )
    fitting = ANSWERS | {"proficiency_de": "native", "job": "Translator"}
    pages = set()
    for wrong in (
        {"native_language": "fr"},
        {"proficiency_de": "good"},
        {"age": "17"},
        {"job": "=Other"},
        {"native_language": "fr", "age": "17"},
    ):
        visitor = Client()
        enter(visitor, campaign, qualified=False)
        answer = visitor.post(page("questions", campaign.code), sent(fitting | wrong))
        assert answer.context["reason"] == "not_sought"
        pages.add(answer.content)
        # Nor later, on any page, or with better answers.
        visitor.post(page("questions", campaign.code), sent(fitting))
        for step in ("instructions", "check", "next_hit"):
            pages.add(visitor.get(page(step, campaign.code)).content)
    assert len(pages) == 1 and not Assignment.objects.exists()
    enter(client, campaign)
    assert client.post(page("questions", campaign.code), sent(fitting)).status_code == 302
    assert take(client, campaign)


def test_questions_added_later_do_not_stop_a_hit_under_way(client: Client):
    campaign = make_hits(min_ratings=3)
    enter(client, campaign)
    assignment = take(client, campaign)
    ask(campaign)
    assert client.get(page("rate", assignment.code)).status_code == 200
    assert client.get(page("next_hit", campaign.code)).url == page("rate", assignment.code)


def test_questions_after_the_task_come_with_the_submission_once(client: Client):
    campaign = ask(
        make_hits(n_segments=28, min_ratings=1), {"questions": [HARD | {"required": True}]}
    )
    enter(client, campaign)
    assignment = take(client, campaign)
    rate_items(assignment)
    finish = page("finish", assignment.code)
    assert "What was hard?" in client.get(finish).content.decode()
    assert client.post(finish, {"comment": "Hi"}).status_code == 422
    assignment.refresh_from_db()
    assert assignment.status == "in_progress"
    answer = client.post(finish, {"comment": "Hi", "question-hard": "Idioms\r\nand names"})
    assert answer.url == page("done", assignment.code)
    assert QuestionnaireReply.objects.get().answers == {"hard": "Idioms\nand names"}
    second = take(client, campaign)
    rate_items(second)
    assert "What was hard?" not in client.get(page("finish", second.code)).content.decode()


def test_the_database_keeps_one_reply_for_each_moment(campaign: Campaign):
    participation = reply_of(campaign, "alice", native_language="de")
    assert not is_due(participation, "before") and is_due(participation, "after")
    with pytest.raises(IntegrityError), transaction.atomic():
        QuestionnaireReply.objects.create(participation=participation, moment="before")
    with pytest.raises(IntegrityError), transaction.atomic():
        QuestionnaireReply.objects.create(participation=participation, moment="during")


def test_own_wording_has_its_language_and_direction(client: Client):
    campaign = ask(make_hits(target_language="en"), {"language": "ar", "questions": [AGE, LEVEL]})
    enter(client, campaign, qualified=False)
    html = client.get(page("questions", campaign.code)).content.decode()
    assert html.count('<div class="question" lang="ar" dir="rtl">') == 1
    assert 'id="id_question-age"' in html and "(optional)" in html


@pytest.mark.parametrize("language", ["fi", "ar", "zh-hant"])
def test_common_questions_are_in_the_interface_language(client: Client, language: str):
    campaign = ask(make_hits(interface_language=language), {"questions": [NATIVE, LEVEL]})
    enter(client, campaign, qualified=False)
    html = client.get(page("questions", campaign.code)).content.decode()
    assert "native language" not in html and "Fluently" not in html and "German" not in html


# Staff ---------------------------------------------------------------------------------------


def test_a_worker_s_page_and_the_counts_say_what_was_answered(campaign: Campaign):
    alice = reply_of(campaign, "alice", native_language="de", proficiency_de="fluent", age=33)
    reply_of(campaign, "bob", native_language="fr", proficiency_de="fluent", age=20)
    reply_of(campaign, "carol", native_language="de", proficiency_de="good", age=40)
    counts = count_answers(campaign)
    assert (counts.n_replies, counts.n_screened_out) == (3, 1)
    texts = {question.key: question.text for question in counts.questions}
    assert texts["native_language"] == "German: 2; French: 1"
    assert texts["proficiency_de"] == "Fluently: 2; Well: 1"
    assert texts["age"] == "20 to 40, median 33" and texts["hard"] == "0 texts"
    client = client_of("admin")
    html = client.get(reverse("campaign_worker", args=[campaign.code, alice.worker.code])).content
    assert "What is your native language?" in html.decode() and "German" in html.decode()


def test_the_report_has_the_counts(campaign: Campaign):
    reply_of(campaign, "alice", native_language="de", age=33)
    run = build_gold(campaign=campaign)
    report = make_report(run)
    assert report.answers is not None and report.answers.questions[0].text == "German: 1"
    url = reverse("campaign_report", args=[campaign.code])
    assert "German: 1" in client_of("admin").get(url).content.decode()


def test_an_export_has_pseudonyms_and_no_formulas(campaign: Campaign, tmp_path: Path):
    reply_of(campaign, "alice", native_language="de", age=33, job="=Other")
    call_command("export", "answers", "News", str(tmp_path / "a.csv"), stdout=StringIO())
    content = (tmp_path / "a.csv").read_text()
    assert "alice" not in content and content.count("\n") == 4
    assert "'=Other" in content and "native_language,de" in content


def test_forgetting_a_worker_deletes_the_answers(campaign: Campaign):
    participation = reply_of(campaign, "alice", native_language="fr")
    assert participation.is_screened_out
    assert forget_worker(worker=participation.worker, reason="She asked.")
    assert not QuestionnaireReply.objects.exists()


def test_the_privacy_notice_names_the_answers_only_if_there_are_questions(client: Client):
    text = "Your answers to our questions about you"
    for given, is_named in (({}, False), (ALL, True)):
        campaign = ask(make_hits(), given)
        privacy = client.get(page("privacy", campaign.code)).content.decode()
        assert (text in privacy) == is_named


def test_an_answered_question_can_go_but_not_change(campaign: Campaign):
    reply_of(campaign, "alice", native_language="de", age=33)
    with pytest.raises(QuestionsRefused, match="age: workers have already answered"):
        ask(campaign, {"questions": [AGE | {"text": "Years of work?"}]})
    ask(campaign, {"questions": [NATIVE | {"accept": ["fr"]}, AGE | {"required": True}]})
    ask(campaign, {})
    with pytest.raises(QuestionsRefused, match="under another key"):
        ask(campaign, {"questions": [AGE | {"text": "Years of work?"}]})


def test_a_duplicate_asks_the_same_and_has_no_answers(campaign: Campaign):
    reply_of(campaign, "alice", native_language="de")
    copy = duplicate_campaign(campaign=campaign, name="Copy", actor=make_person("superuser"))
    assert copy.questionnaire == campaign.questionnaire
    assert not QuestionnaireReply.objects.filter(participation__campaign=copy).exists()


def row(number: int, **fields: str) -> dict[str, str]:
    names = ("key", "kind", "when", "text", "options", "accept", "language", "minimum", "maximum")
    return {f"{number}-{name}": "" for name in names} | {
        f"{number}-{name}": value for name, value in fields.items()
    }


def test_the_form_stores_what_a_file_would():
    campaign, client = make_campaign(target_language="de"), client_of("admin")
    url = reverse("campaign_questionnaire", args=[campaign.code])
    form = {
        "language": "en",
        **row(1, kind="native_language", accept="de\r\nda", required="on"),
        **row(2, kind="number", text="Age?", minimum="16", accept="18\r\n-", required="on"),
        **row(3, kind="choice", when="after", text="Job?", options="A\r\nB", key="job"),
        **row(4),
    }
    assert client.post(url, form).status_code == 302
    campaign.refresh_from_db()
    native, age, job = questionnaire_of(campaign).questions
    assert native.accept == ("de", "da") and native.required
    assert age.accept == (18, None) and age.minimum == 16 and age.key == "question_2"
    assert job.options == ("A", "B") and job.when == "after" and job.text == "Job?"
    html = client.get(url).content.decode()
    assert "18\n-" in html and 'value="Job?"' in html
    bad = client.post(url, form | {"2-minimum": "young", "3-options": "A"})
    assert bad.status_code == 422
    problems = bad.content.decode()
    assert "question 2: minimum and maximum" in problems and "question 3: options" in problems
    assert 'value="young"' in problems
    removed = client.post(url, form | {"1-remove": "on", "2-remove": "on"})
    assert removed.status_code == 302
    campaign.refresh_from_db()
    assert [question.key for question in questionnaire_of(campaign).questions] == ["job"]


def test_a_file_is_uploaded_downloaded_and_removed():
    campaign, client = make_campaign(target_language="de"), client_of("admin")
    url = reverse("campaign_questionnaire", args=[campaign.code])
    file = SimpleUploadedFile("q.json", EXAMPLE.read_bytes())
    assert client.post(url, {"do": "upload", "file": file}).status_code == 302
    download = client.get(reverse("campaign_questionnaire_file", args=[campaign.code]))
    assert json.loads(download.content)["questions"][0]["accept"] == ["de"]
    for content, reason in ((b"{", "is not JSON"), (b"[]", "is not a JSON object")):
        file = SimpleUploadedFile("q.json", content)
        answer = client.post(url, {"do": "upload", "file": file})
        assert answer.status_code == 422 and reason in answer.content.decode()
    assert client.post(url, {"do": "upload"}).status_code == 422
    assert client.post(url, {"do": "remove"}).status_code == 302
    campaign.refresh_from_db()
    assert campaign.questionnaire == {}


def test_the_preview_shows_the_questions_and_stores_nothing(campaign: Campaign):
    client = client_of("admin")
    landing = client.get(reverse("preview_landing", args=[campaign.code])).content.decode()
    url = reverse("preview_questions", args=[campaign.code])
    assert url in landing and "Age?" in client.get(url).content.decode()
    finish = client.get(reverse("preview_finish", args=[campaign.code, 1])).content.decode()
    assert "What was hard?" in finish and not QuestionnaireReply.objects.exists()


def test_the_api_reads_replaces_and_lists(campaign: Campaign):
    admin, path = caller("admin"), f"/campaigns/{campaign.code}/questionnaire"
    alice = reply_of(campaign, "alice", native_language="de", age=33)
    before = admin.get(path).json()
    assert before["n_replies"] == 1 and before["counts"][0]["counts"] == [["German", 1]]
    [reply] = admin.get(f"{path}/replies").json()["items"]
    assert reply["worker"] == str(alice.worker.code) and reply["answers"]["age"] == 33
    refused = admin.send("put", path, {"questionnaire": {"questions": [AGE | {"text": "x"}]}})
    assert refused.status_code == 422 and "already answered" in refused.json()["detail"]
    assert admin.send("put", path, {"questionnaire": {}}).json()["questionnaire"] == {}


def run(*arguments: str) -> str:
    output = StringIO()
    call_command("questionnaire", *arguments, stdout=output)
    return output.getvalue()


def test_the_command_loads_prints_counts_and_removes(tmp_path: Path):
    make_campaign(name="Next", target_language="de")
    assert "Next: 5 questions, answered by 0 workers" in run("Next", "--load", str(EXAMPLE))
    assert json.loads(run("Next", "--print"))["questions"][2]["key"] == "translator"
    assert "0 questions" in run("Next", "--remove")
    with pytest.raises(CommandError, match="cannot be read"):
        run("Next", "--load", str(tmp_path / "none.json"))
    (tmp_path / "bad.json").write_text('{"questions": [{"kind": "date"}]}')
    with pytest.raises(CommandError, match=r"bad\.json: question 1: kind"):
        run("Next", "--load", str(tmp_path / "bad.json"))
