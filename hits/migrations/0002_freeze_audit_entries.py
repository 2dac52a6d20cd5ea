"""Entries of the audit log can be added and read; the database refuses everything else."""

from django.db import migrations

SQLITE = [
    f"""
    CREATE TRIGGER audit_entry_refuses_{event.lower()} BEFORE {event} ON hits_auditentry
    BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END
    """
    for event in ("UPDATE", "DELETE")
]
POSTGRESQL = [
    """
    CREATE FUNCTION audit_entry_refuses() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE integrity_constraint_violation USING MESSAGE = 'The audit log is append-only.'; END $$
    """,
    """
    CREATE TRIGGER audit_entry_refuses BEFORE UPDATE OR DELETE ON hits_auditentry
    FOR EACH ROW EXECUTE FUNCTION audit_entry_refuses()
    """,
]
UNDO = {
    "sqlite": [
        "DROP TRIGGER audit_entry_refuses_update",
        "DROP TRIGGER audit_entry_refuses_delete",
    ],
    "postgresql": [
        "DROP TRIGGER audit_entry_refuses ON hits_auditentry",
        "DROP FUNCTION audit_entry_refuses",
    ],
}


def freeze(apps, schema_editor):
    statements = {"sqlite": SQLITE, "postgresql": POSTGRESQL}[schema_editor.connection.vendor]
    for statement in statements:
        schema_editor.execute(statement)


def thaw(apps, schema_editor):
    for statement in UNDO[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("hits", "0001_initial")]
    operations = [migrations.RunPython(freeze, thaw)]
