import json
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from hits.exceptions import DecisionRefused
from hits.management.base import CommandWithExamples, campaign_named
from hits.models import Assignment, Campaign
from hits.people.access import Level, has_level
from hits.workers.held_hits import (
    HoldChoice,
    decide_holds_as_seen,
    held_hits,
    held_hits_with,
    preview_hold,
)


class Command(CommandWithExamples):
    help = (
        "List the HITs of a campaign that are held for impossible times, or decide whether they count. "
        "It is safe to run twice."
    )
    examples = """examples:
  manage.py decide_held news
  manage.py decide_held news --count CODE --reason "Checked with the worker" --as ann
  manage.py decide_held news --discard all --reason "A script" --as ann"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        choices = parser.add_mutually_exclusive_group()
        choices.add_argument(
            "--count", nargs="+", metavar="CODE", help="count these HITs; all: every held one"
        )
        choices.add_argument(
            "--discard", nargs="+", metavar="CODE", help="do not count these HITs; all: as above"
        )
        parser.add_argument("--reason", default="", help="for the audit log")
        parser.add_argument(
            "--as", dest="username", default="", help="the admin of the campaign who decides"
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        codes = options["count"] or options["discard"]
        if not codes:
            self._list(campaign, as_json=options["json"])
            return
        choice = HoldChoice.COUNT if options["count"] else HoldChoice.DISCARD
        hits = _hits_named(campaign, codes)
        preview = preview_hold(campaign=campaign, hits=hits, choice=choice)
        try:
            decided = decide_holds_as_seen(
                preview=preview,
                seen=preview.fingerprint,
                actor=_admin_named(options["username"], campaign),
                reason=options["reason"],
            )
        except DecisionRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        if options["json"]:
            counts = {"n_decided": decided.n_decided, "n_changed": decided.n_changed}
            self.stdout.write(json.dumps({"campaign": campaign.name, **counts}))
            return
        self.stdout.write(f"{decided.n_decided} of {len(hits)} HITs decided about.")

    def _list(self, campaign: Campaign, *, as_json: bool) -> None:
        rows = [
            {
                "code": str(assignment.code),
                "hit": assignment.hit.number,
                "worker": str(assignment.worker),
                "hold": assignment.hold,
                "reason": assignment.hold_reason,
            }
            for assignment in held_hits(campaign)
        ]
        if as_json:
            self.stdout.write(json.dumps(rows, ensure_ascii=False, indent=2))
            return
        for row in rows:
            self.stdout.write(
                f"{row['code']}  HIT {row['hit']}  {row['worker']}  {row['hold']}: {row['reason']}"
            )
        self.stdout.write(f"{len(rows)} HITs are or were held.")


def _hits_named(campaign: Campaign, codes: list[str]) -> list[Assignment]:
    if codes == ["all"]:
        return list(held_hits(campaign).filter(hold=Assignment.Hold.HELD).order_by("pk"))
    try:
        wanted = {UUID(code) for code in codes}
    except ValueError as error:
        raise CommandError("A code is the one that the list shows.") from error
    hits = held_hits_with(campaign, list(wanted))
    if len(hits) != len(wanted):
        raise CommandError("Some of these HITs are not held in this campaign.")
    return hits


def _admin_named(username: str, campaign: Campaign) -> User:
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None or not has_level(user, Level.ADMIN, campaign):
        raise CommandError("Name the admin of the campaign who decides: --as USERNAME.")
    return user
