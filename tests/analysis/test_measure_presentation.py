"""Effects of presentation on the ratings of simulated workers, with the command."""

import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.gold.presentation import (
    document_scores,
    effect_of_context,
    places_in_documents,
    places_on_screens,
)
from analysis.gold.presentation_pictures import pictures_of
from analysis.gold.presentation_tables import tables_of
from analysis.gold.runs import build_gold
from da_platform.jobs.running import run_job, start_job
from hits.campaigns.behaviours import Behaviour
from hits.models import DocumentRating, SystemOutput
from tests.documents.campaigns import document_campaign
from tests.factories import make_hits
from tests.people import browser_of, make_person
from tests.side_by_side.campaigns import side_campaign
from tests.simulated_crowds import collect

pytestmark = pytest.mark.django_db

CROWD = {Behaviour.HONEST: 6}


def rated(make, **settings):
    campaign = make(min_ratings=3, hit_size=100, **settings)
    collect(campaign, CROWD, seed=2)
    return campaign


def measured(*arguments):
    out = StringIO()
    call_command("measure_presentation", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.fixture
def in_documents():
    return rated(document_campaign, n_segments=50, scores_documents=True)


def test_places_on_screens_do_not_matter_to_simulated_workers():
    campaign = rated(side_campaign, n_segments=30)
    effect = places_on_screens(campaign)
    assert effect is not None and set(effect.places) == {1, 2, 3}
    # Orders follow from random codes, so a p-value below 0.01 comes once in a hundred runs.
    assert effect.pvalue > 0.001 and effect.n_units > 60
    assert abs(effect.means).max() < 0.5
    assert places_in_documents(campaign) is None
    facts = measured(campaign.name)
    assert facts["screens"]["pvalue"] == effect.pvalue and facts["documents"] is None


def test_places_in_documents_are_counted_from_the_first_segment(in_documents):
    effect = places_in_documents(in_documents)
    assert effect is not None and effect.places.tolist() == [1, 2, 3, 4, 5]
    assert effect.n_units >= 10 and effect.pvalue > 0.001
    assert places_on_screens(in_documents) is None


def test_the_gold_of_a_document_is_the_mean_of_its_segments(in_documents):
    run = build_gold(campaign=in_documents, minimum=1)
    rows = document_scores(run)
    row = rows[0]
    outputs = SystemOutput.objects.filter(
        segment__document=row["document"], system__name=row["system"]
    )
    scores = run.scores.filter(translation__in=outputs.values("translation"), is_complete=True)
    assert row["n_segments"] == scores.count() == 5
    assert row["z"] == pytest.approx(np.mean(scores.values_list("z", flat=True)))
    wholes = DocumentRating.objects.filter(
        item__role=0,
        item__translation__segment__document=row["document"],
        item__translation__outputs__system__name=row["system"],
    )
    assert row["n_wholes"] == wholes.count()
    assert row["whole"] == pytest.approx(np.mean(wholes.values_list("score", flat=True)))


def test_context_is_compared_over_the_same_texts(in_documents):
    alone = rated(make_hits, n_segments=50)
    runs = [build_gold(campaign=campaign, minimum=1) for campaign in (in_documents, alone)]
    effect = effect_of_context(*runs)
    assert effect.systems.tolist() == ["system-a", "system-b"]
    assert effect.n.sum() == 100 and effect.n_documents == 10
    facts = measured(in_documents.name, "--against", alone.name)
    assert facts["context"]["differences"] == pytest.approx(effect.differences.tolist())
    assert len(facts["document_scores"]) == 20
    out = StringIO()
    call_command("measure_presentation", in_documents.name, "--against", alone.name, stdout=out)
    assert "Against" in out.getvalue() and "Places in a document" in out.getvalue()


def test_gold_is_needed_for_a_comparison():
    with pytest.raises(CommandError, match="build_gold"):
        measured(document_campaign().name, "--against", make_hits().name)


def test_other_texts_are_refused():
    one, other = document_campaign(), make_hits()
    for number, system in enumerate(other.systems.all()):
        system.name = f"other {number}"
        system.save(update_fields=["name"])
    for campaign in (one, other):
        build_gold(campaign=campaign, minimum=1)
    with pytest.raises(CommandError, match="no output with the same text"):
        measured(one.name, "--against", other.name)


def measured_by_job(campaign, user, **arguments):
    job = start_job(
        kind="measure_presentation", campaign=campaign, arguments=arguments, started_by=user
    )
    run_job(job.pk)
    job.refresh_from_db()
    return job


def test_the_page_shows_what_the_job_measured(in_documents, admin_user, admin_client):
    alone = rated(make_hits, n_segments=50)
    for campaign in (in_documents, alone):
        build_gold(campaign=campaign, minimum=1)
    results = admin_client.get(reverse("campaign_results", args=[in_documents.code])).text
    page = reverse("presentation_effects", args=[in_documents.code])
    assert page in results and "Not measured yet" in admin_client.get(page).text
    assert page not in admin_client.get(reverse("campaign_results", args=[alone.code])).text
    start = reverse("measure_presentation", args=[in_documents.code])
    address = admin_client.post(start, {"against": str(alone.code)}).url
    job = in_documents.jobs.get(kind="measure_presentation")
    assert str(job.code) in address and job.arguments == {"against": str(alone.code)}
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.error
    text = admin_client.get(page).text
    assert job.result["signature"].replace("<", "&lt;") in text
    assert "Scores by place in the document" in text and f"The same texts in {in_documents}" in text
    table = reverse("presentation_table", args=[in_documents.code, "context", "csv"])
    content = admin_client.get(table).text.splitlines()
    assert content[0].startswith("system,z here,z there,difference,95% interval low")
    difference = float(content[1].split(",")[3])
    assert difference == pytest.approx(job.result["context"]["differences"][0])
    for fmt in ("svg", "csv"):
        picture = reverse("presentation_picture", args=[in_documents.code, "context", fmt])
        assert admin_client.get(picture).status_code == 200
    absent = reverse("presentation_table", args=[in_documents.code, "screen-places", "csv"])
    assert admin_client.get(absent).status_code == 404
    report = admin_client.get(reverse("campaign_report", args=[in_documents.code])).text
    assert "How translations were shown" in report and "up to 10 segments by one system" in report
    assert "was tested" not in report and "Deviations of z-scores" in report
    pdf = admin_client.get(reverse("campaign_report_pdf", args=[in_documents.code]))
    assert pdf.content.startswith(b"%PDF")


def test_another_campaign_has_to_be_visible(in_documents):
    researcher = make_person("researcher", in_documents)
    alone = make_hits()
    build_gold(campaign=alone, minimum=1)
    client = browser_of(researcher)
    start = reverse("measure_presentation", args=[in_documents.code])
    client.post(start, {"against": str(alone.code)})
    assert not in_documents.jobs.filter(kind="measure_presentation").exists()
    job = measured_by_job(in_documents, researcher, against=str(alone.code))
    assert job.state == "failed" and "may not see it" in job.error


def test_texts_shown_alone_have_no_effects_to_measure(admin_user):
    job = measured_by_job(make_hits(), admin_user)
    assert job.state == "failed" and "shown alone" in job.error


def test_side_by_side_the_table_has_a_row_for_each_place(admin_user):
    campaign = rated(side_campaign, n_segments=30)
    facts = measured_by_job(campaign, admin_user).result
    (table,) = tables_of(facts).values()
    (picture,) = pictures_of(facts).values()
    assert [row[0].value for row in table.rows] == [1, 2, 3]
    assert [row[1].value for row in table.rows] == facts["screens"]["means"]
    assert facts["screens"]["signature"] in table.note and "place 1" in picture.alternative
