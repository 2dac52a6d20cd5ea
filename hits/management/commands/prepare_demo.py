from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from da_platform.operation.migrating import migrate_if_needed
from hits.campaigns.demo import make_first_admin, prepare_demo_campaign, start_examples
from hits.management.base import password_lines


class Command(BaseCommand):
    # System checks load every page, which the server does next anyway.
    requires_system_checks: list[str] = []
    help = (
        "Migrate the database, create the demo campaign and the first admin if they do not exist, "
        "and print what to open."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="the port to print")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEBUG:
            raise CommandError("The demo is for development: set DA_DEBUG=1.")
        # Called here because a second start of Django would take seconds.
        migrate_if_needed()
        campaign = prepare_demo_campaign()
        admin = make_first_admin()
        start_examples()
        site = f"http://127.0.0.1:{options['port']}"
        self.stdout.write("\nThe platform is starting. Open\n", ending="")
        if campaign:
            self.stdout.write(
                f"  {site}{campaign.get_absolute_url()}\n"
                "      as a worker: rate translations of the demo campaign\n",
                ending="",
            )
        self.stdout.write(
            f"  {site}{reverse('home')}\n      as an admin: campaigns and their progress\n"
        )
        if admin:
            self.stdout.write(password_lines(*admin))
        self.stdout.write("Stop with Ctrl-C. Everything is kept for the next start.\n")
