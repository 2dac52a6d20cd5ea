"""Empty the audit log, which is append-only, after tests that commit."""

from django.db import connection


def empty_audit_log() -> None:
    with connection.cursor() as cursor:
        if connection.vendor != "sqlite":
            cursor.execute("TRUNCATE hits_auditentry")
            return
        cursor.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'hits_auditentry'"
        )
        triggers = cursor.fetchall()
        for name, _ in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
        cursor.execute("DELETE FROM hits_auditentry")
        for _, statement in triggers:
            cursor.execute(statement)
