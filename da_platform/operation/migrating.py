"""Bring the database of a platform on one's own machine up to date."""

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def migrate_if_needed() -> None:
    """Migrate, in development only: in production, people decide when."""
    if settings.DEBUG and _has_pending_migrations():
        call_command("migrate", verbosity=0)


def _has_pending_migrations() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
