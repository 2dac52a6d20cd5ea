from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from hits.people.second_factor import authenticator_of, reset


class Command(BaseCommand):
    help = (
        "Turn off two-step login for someone who lost their phone and recovery codes, when no superuser can do it "
        "on their page. They then log in with the password alone. It is recorded in the audit log and safe to run twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--reason", default="by command", help="for the audit log")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError("There is no user with that name.")
        was_on = authenticator_of(user) is not None
        reset(user=user, actor=None, reason=options["reason"])
        self.stdout.write("Two-step login is off." if was_on else "It was not on.")
