"""Campaigns that recruit through providers, and what their workers do."""

from typing import Any
from urllib.parse import urlsplit

from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from hits.models import Assignment, Campaign, Recruitment
from hits.rating.practice import Check, practice_for
from hits.recruiting.arrivals import save_recruitment
from hits.recruiting.providers.prolific import ProlificForm
from hits.recruiting.studies import create_study, publish_study
from hits.task_kinds import kind_of
from tests.factories import make_hits, rate_items
from tests.simulators.prolific import ProlificSimulator, Session

HOST = "http://testserver"
CODES = {"completed_code": "DONE1", "no_consent_code": "NOTHANKS", "screened_out_code": "NOTFIT"}


def make_prolific_campaign(
    prolific: ProlificSimulator, *, host: str = HOST, settings: Any = None, **fields: Any
) -> Campaign:
    """Make an open campaign of one HIT with a published study at Prolific."""
    campaign = make_hits(is_open=False, pay_per_hit="2.50", **fields)
    choose_prolific(campaign, **(settings or {}))
    recruitment = Recruitment.objects.get(campaign=campaign)
    landing_url = f"{host}{campaign.get_absolute_url()}"
    create_study(recruitment=recruitment, landing_url=landing_url, actor=None)
    recruitment.refresh_from_db()
    publish_study(recruitment=recruitment, actor=None)
    cache.clear()
    return Campaign.objects.get(pk=campaign.pk)


def choose_prolific(campaign: Campaign, **settings: Any) -> None:
    initial = {name: field.initial for name, field in ProlificForm().fields.items()}
    form = ProlificForm(initial | CODES | {"is_automatic": True, "study": ""} | settings)
    assert form.is_valid(), form.errors
    save_recruitment(campaign=campaign, provider="prolific", values=form.cleaned_data, actor=None)


def choose_panel(campaign: Campaign, **values: Any) -> None:
    values = {"panel": "acme", "id_parameter": "uid"} | values
    save_recruitment(campaign=campaign, provider="panel", values=values, actor=None)


def send(prolific: ProlificSimulator, session: Session, **changes: Any) -> tuple[Client, Any]:
    """Follow Prolific's link in a new browser; return the browser and its first response."""
    client = Client()
    return client, follow(client, prolific.launch_url(session, **changes))


def follow(client: Client, url: str) -> Any:
    parts = urlsplit(url)
    return client.get(f"{parts.path}?{parts.query}" if parts.query else parts.path)


def _check_of(campaign: Campaign) -> Check:
    kind = kind_of(campaign)
    return practice_for(campaign.target_language, kind.practice_task(campaign)).check


def right_answer(campaign: Campaign) -> str:
    return _check_of(campaign).right


def wrong_answer(campaign: Campaign) -> str:
    return next(
        option for option in _check_of(campaign).options if option != right_answer(campaign)
    )


def take_hit(client: Client, campaign: Campaign) -> Any:
    """Agree, answer the question and take a HIT; return the last response."""
    client.post(campaign.get_absolute_url())
    client.post(reverse("check", args=[campaign.code]), {"answer": right_answer(campaign)})
    return client.get(reverse("next_hit", args=[campaign.code]))


def begin(client: Client, campaign: Campaign) -> Assignment:
    answer = take_hit(client, campaign)
    assert answer.status_code == 302, answer.content.decode()
    return Assignment.objects.get(code=answer.url.split("/")[2])


def hand_in(client: Client, assignment: Assignment) -> Any:
    """Rate all items and submit the HIT; return the last response."""
    rate_items(assignment)
    client.post(reverse("finish", args=[assignment.code]), {"comment": ""})
    return client.get(reverse("done", args=[assignment.code]))


def recruitment_in(campaign: Campaign) -> Recruitment:
    return Recruitment.objects.select_related("campaign").get(campaign=campaign)


def at_work(prolific: ProlificSimulator, campaign: Campaign) -> tuple[Client, Session, Assignment]:
    session = prolific.join(recruitment_in(campaign).study)
    client, _ = send(prolific, session)
    return client, session, begin(client, campaign)
