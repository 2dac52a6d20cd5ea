import uuid

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import hits.languages
import hits.models.campaigns
import hits.task_facts

# Entries of the audit log can be added and read; the database refuses everything else.
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
    initial = True

    dependencies = [
        ("otp_totp", "0003_add_timestamps"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Assignment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("in_progress", "In progress"),
                            ("expired", "Expired"),
                            ("returned", "Returned"),
                            ("submitted", "Submitted"),
                        ],
                        default="in_progress",
                        max_length=11,
                    ),
                ),
                ("started_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField(help_text="The place is reserved until then.")),
                ("submitted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "is_late",
                    models.BooleanField(
                        default=False, help_text="Submitted after its place was given away."
                    ),
                ),
                ("completion_code", models.CharField(blank=True, max_length=32)),
                ("comment", models.TextField(blank=True)),
                (
                    "is_rejected",
                    models.BooleanField(default=False, help_text="Payment was refused."),
                ),
                (
                    "hold",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("held", "Held for a decision"),
                            ("counted", "Counted after all"),
                            ("discarded", "Not counted"),
                        ],
                        max_length=9,
                    ),
                ),
                ("hold_reason", models.TextField(blank=True)),
                ("held_at", models.DateTimeField(blank=True, null=True)),
                (
                    "evidence_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When its ratings were weighed, if they were.",
                        null=True,
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Campaign",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("name", models.CharField(max_length=100, unique=True)),
                (
                    "source_language",
                    models.CharField(
                        max_length=35, validators=[hits.languages.validate_language_code]
                    ),
                ),
                (
                    "target_language",
                    models.CharField(
                        max_length=35, validators=[hits.languages.validate_language_code]
                    ),
                ),
                (
                    "task",
                    models.CharField(
                        choices=hits.task_facts.task_choices, default="reference", max_length=20
                    ),
                ),
                (
                    "shows",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("reference", "The reference"),
                            ("source", "The source"),
                            ("both", "The source and the reference"),
                            ("nothing", "Nothing"),
                        ],
                        help_text="What workers see next to a translation. Blank: as the task says.",
                        max_length=9,
                    ),
                ),
                (
                    "presentation",
                    models.CharField(
                        choices=[
                            ("alone", "One at a time"),
                            ("document", "In their document"),
                            ("side", "Several outputs side by side"),
                        ],
                        default="alone",
                        help_text="For rating: how translations are shown.",
                        max_length=8,
                    ),
                ),
                (
                    "run_length",
                    models.PositiveSmallIntegerField(
                        default=10,
                        help_text="In documents: the most segments that a worker rates in a row.",
                        validators=[
                            django.core.validators.MinValueValidator(2),
                            django.core.validators.MaxValueValidator(20),
                        ],
                    ),
                ),
                (
                    "scores_documents",
                    models.BooleanField(
                        default=False,
                        help_text="In documents: also ask for a score of the whole after the last segment.",
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("open", "Open"),
                            ("paused", "Paused"),
                            ("closed", "Closed"),
                        ],
                        default="draft",
                        max_length=6,
                    ),
                ),
                ("hit_size", models.PositiveSmallIntegerField(default=100)),
                (
                    "outputs_per_screen",
                    models.PositiveSmallIntegerField(
                        default=5,
                        help_text="For ranking, and for rating side by side: how many outputs of a segment are shown together, from 2 to 5.",
                        validators=[
                            django.core.validators.MinValueValidator(2),
                            django.core.validators.MaxValueValidator(5),
                        ],
                    ),
                ),
                (
                    "output_choice",
                    models.CharField(
                        choices=[
                            ("random", "Random"),
                            ("undecided", "Overlapping rank ranges first"),
                        ],
                        default="random",
                        help_text="For ranking: which outputs are shown together.",
                        max_length=9,
                    ),
                ),
                (
                    "judgements_per_pair",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="For ranking: the most trusted judgements that a pair of systems gets. Blank: each output once.",
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                (
                    "min_ratings",
                    models.PositiveSmallIntegerField(
                        default=15,
                        help_text="Trusted ratings that each translation needs.",
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                (
                    "sample_size",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Translations to rate, drawn at random; the others are kept. Blank: all.",
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                (
                    "sample_choice",
                    models.CharField(
                        choices=[
                            ("random", "At random"),
                            ("stratified", "At random, spread evenly over lengths and documents"),
                            ("differing", "More often where the systems’ texts differ"),
                            (
                                "metrics",
                                "More often where metrics differ between systems or contradict each other",
                            ),
                        ],
                        default="random",
                        help_text="Which translations are drawn, if not all are rated.",
                        max_length=10,
                    ),
                ),
                (
                    "n_looks",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="For rating: divide the work into this many parts, test the ranking after each, and stop when it is decided. Blank: never.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(2),
                            django.core.validators.MaxValueValidator(10),
                        ],
                    ),
                ),
                (
                    "looks_goal",
                    models.CharField(
                        choices=[
                            ("ranking", "Systems: until pairs are told apart"),
                            ("gold", "Translations: until scores are precise enough"),
                        ],
                        default="ranking",
                        max_length=7,
                    ),
                ),
                (
                    "looks_width",
                    models.FloatField(
                        default=0.25,
                        help_text="For scores of translations: the standard error, in z, at which a score is certain enough.",
                        validators=[
                            django.core.validators.MinValueValidator(0.01),
                            django.core.validators.MaxValueValidator(2),
                        ],
                    ),
                ),
                (
                    "looks_alpha",
                    models.FloatField(
                        default=0.05,
                        help_text="The chance of any wrong conclusion, over all pairs of systems and all looks.",
                        validators=[
                            django.core.validators.MinValueValidator(0.001),
                            django.core.validators.MaxValueValidator(0.2),
                        ],
                    ),
                ),
                (
                    "looks_spending",
                    models.CharField(
                        choices=[
                            ("obrien_fleming", "Strict early (O'Brien-Fleming)"),
                            ("pocock", "Nearly the same at every look, as Pocock"),
                        ],
                        default="obrien_fleming",
                        max_length=14,
                    ),
                ),
                (
                    "looks_least_chance",
                    models.FloatField(
                        default=0.1,
                        help_text="Pairs with a lower chance of being decided by the last look get no more ratings.",
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(0.9),
                        ],
                    ),
                ),
                (
                    "stopped_at",
                    models.DateTimeField(
                        blank=True,
                        editable=False,
                        help_text="When the last look ended the collection.",
                        null=True,
                    ),
                ),
                (
                    "seed",
                    models.BigIntegerField(
                        default=hits.models.campaigns.new_seed,
                        help_text="The same texts and seed produce the same HITs.",
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(9223372036854775807),
                        ],
                    ),
                ),
                (
                    "merges_near_identical",
                    models.BooleanField(
                        default=False,
                        help_text="Rate translations that differ only in case, punctuation or white space once.",
                    ),
                ),
                (
                    "interface_language",
                    models.CharField(
                        blank=True,
                        choices=hits.models.campaigns.interface_languages,
                        help_text="For buttons and messages. Blank: the target language, or English if it is not available.",
                        max_length=35,
                    ),
                ),
                ("instructions", models.TextField(blank=True)),
                (
                    "guidance",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        editable=False,
                        help_text="Its own statement, examples, practice, question and buttons: see hits.guidance_files.",
                    ),
                ),
                (
                    "questionnaire",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        editable=False,
                        help_text="Questions about workers, before or after the task: see hits.questionnaires.",
                    ),
                ),
                (
                    "run_by",
                    models.CharField(
                        blank=True,
                        help_text="Who runs it, as workers see it. Blank: the platform's name for all campaigns.",
                        max_length=200,
                    ),
                ),
                (
                    "contact",
                    models.CharField(
                        blank=True,
                        help_text="Where workers can write to. Blank: the platform's address for all campaigns.",
                        max_length=200,
                    ),
                ),
                (
                    "pay_per_hit",
                    models.DecimalField(
                        decimal_places=2,
                        default=0,
                        max_digits=8,
                        validators=[django.core.validators.MinValueValidator(0)],
                    ),
                ),
                (
                    "currency",
                    models.CharField(
                        default="USD", help_text="ISO 4217, such as EUR.", max_length=3
                    ),
                ),
                (
                    "spending_cap",
                    models.DecimalField(
                        blank=True,
                        decimal_places=2,
                        help_text="No more HITs are handed out once this much is owed. Blank: no cap.",
                        max_digits=12,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(0)],
                    ),
                ),
                (
                    "lease_minutes",
                    models.PositiveIntegerField(
                        default=180,
                        help_text="How long a worker may take for a HIT before its place is offered to someone else.",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(43200),
                        ],
                    ),
                ),
                (
                    "degradation",
                    models.CharField(
                        choices=[
                            ("balanced", "Balanced: a script that compares texts cannot spot them"),
                            ("published", "Published: as in Graham et al. (2017)"),
                        ],
                        default="balanced",
                        max_length=9,
                    ),
                ),
                (
                    "shows_gray_references",
                    models.BooleanField(
                        default=False,
                        help_text="With balanced degradation: also rate a few references that equal the gray text.",
                    ),
                ),
                (
                    "trust_rule",
                    models.CharField(
                        choices=[
                            ("guarded", "Guarded: pairs and agreement decide, for or against"),
                            (
                                "published",
                                "Published: the test of the pairs decides after every HIT",
                            ),
                        ],
                        default="guarded",
                        max_length=9,
                    ),
                ),
                (
                    "drift",
                    models.CharField(
                        choices=[
                            ("count", "Count all their ratings"),
                            ("since", "Leave out their ratings since then"),
                            ("all", "Leave out all their ratings"),
                        ],
                        default="count",
                        max_length=5,
                    ),
                ),
                (
                    "max_hits_per_worker",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        default=10,
                        help_text="Blank: no limit.",
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                (
                    "records_signals",
                    models.BooleanField(
                        default=True,
                        help_text="Record how items were rated (counts of clicks and keys) and mark shared devices.",
                    ),
                ),
                (
                    "has_canary",
                    models.BooleanField(
                        default=False,
                        help_text="Hide an instruction on the page that only a program would follow.",
                    ),
                ),
                (
                    "has_media",
                    models.BooleanField(
                        default=False,
                        editable=False,
                        help_text="Some sources are pictures, sounds or videos.",
                    ),
                ),
                (
                    "is_archive",
                    models.BooleanField(
                        default=False,
                        editable=False,
                        help_text="Collected elsewhere and imported when finished. Texts may be missing.",
                    ),
                ),
                (
                    "is_example",
                    models.BooleanField(
                        default=False,
                        editable=False,
                        help_text="Made by the platform to look at, with simulated workers.",
                    ),
                ),
                ("removed_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "checks",
                    models.ForeignKey(
                        editable=False,
                        help_text="The campaign whose post-editions are checked here, by other workers.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="checked_in",
                        to="hits.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="ForgottenMark",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("mark", models.CharField(editable=False, max_length=64, unique=True)),
            ],
        ),
        migrations.CreateModel(
            name="Translation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("fingerprint", models.BinaryField(max_length=16)),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Segment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "position",
                    models.PositiveIntegerField(help_text="Place in the test set, from 1."),
                ),
                (
                    "name",
                    models.CharField(help_text="The segment's id in the test set.", max_length=200),
                ),
                ("document", models.CharField(blank=True, max_length=200)),
                ("source", models.TextField(blank=True)),
                ("reference", models.TextField(blank=True)),
                (
                    "second_reference",
                    models.TextField(
                        blank=True,
                        help_text="Another reference or a paraphrase. Rated as a hidden item, never shown in gray.",
                    ),
                ),
                (
                    "is_archived",
                    models.BooleanField(
                        default=False,
                        help_text="Part of an archive: HITs collected elsewhere need not have our layout.",
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="segments",
                        to="hits.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
            },
        ),
        migrations.CreateModel(
            name="SystemOutput",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "own_text",
                    models.TextField(
                        help_text="The system's exact text, if near-identical outputs were merged.",
                        null=True,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Authenticator",
            fields=[],
            options={
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("otp_totp.totpdevice",),
        ),
        migrations.CreateModel(
            name="InputSignals",
            fields=[
                (
                    "assignment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="signals",
                        serialize=False,
                        to="hits.assignment",
                    ),
                ),
                ("items", models.JSONField(default=list)),
                ("n_items_without_input", models.PositiveSmallIntegerField(default=0)),
                ("n_items_scripted", models.PositiveSmallIntegerField(default=0)),
                ("n_items_unfocused", models.PositiveSmallIntegerField(default=0)),
                ("n_comment_pastes", models.PositiveSmallIntegerField(default=0)),
                (
                    "followed_canary",
                    models.BooleanField(
                        help_text="Whether the hidden instruction was followed; empty: there was none.",
                        null=True,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="KeptCounts",
            fields=[
                (
                    "campaign",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="kept_counts",
                        serialize=False,
                        to="hits.campaign",
                    ),
                ),
                (
                    "counted_at",
                    models.DateTimeField(db_index=True, default=django.utils.timezone.now),
                ),
                (
                    "asked_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When someone last viewed them, to within a few minutes.",
                        null=True,
                    ),
                ),
                ("status", models.JSONField(help_text="What the list of campaigns shows.")),
                ("overview", models.JSONField(help_text="What the dashboard shows.")),
            ],
            options={
                "verbose_name_plural": "kept counts",
            },
        ),
        migrations.CreateModel(
            name="CampaignDraft",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "created_at",
                    models.DateTimeField(db_index=True, default=django.utils.timezone.now),
                ),
                ("basics", models.JSONField(default=dict, help_text="Name, languages and task.")),
                ("options", models.JSONField(default=dict, help_text="How to read the files.")),
                ("settings", models.JSONField(default=dict)),
                (
                    "files",
                    models.JSONField(
                        default=list, help_text="Names and sizes of the uploaded files."
                    ),
                ),
                (
                    "job_code",
                    models.UUIDField(blank=True, help_text="The job that imports it.", null=True),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="drafts",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="HIT",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("number", models.PositiveIntegerField(help_text="Place in the campaign, from 1.")),
                ("size", models.PositiveSmallIntegerField()),
                (
                    "places_left",
                    models.PositiveIntegerField(help_text="Workers who can still take it."),
                ),
                (
                    "part",
                    models.PositiveSmallIntegerField(
                        default=1, help_text="With looks: after which of them it was added, from 1."
                    ),
                ),
                (
                    "is_archived",
                    models.BooleanField(
                        default=False,
                        help_text="Part of an archive: HITs collected elsewhere need not have our layout.",
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="hits",
                        to="hits.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["campaign", "number"],
            },
        ),
        migrations.AddField(
            model_name="assignment",
            name="hit",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="assignments",
                to="hits.hit",
            ),
        ),
        migrations.CreateModel(
            name="ImportReport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "options",
                    models.JSONField(
                        default=dict, help_text="Options that were not at their default."
                    ),
                ),
                ("notes", models.JSONField(default=list)),
                ("n_mends", models.PositiveIntegerField(default=0)),
                (
                    "mends",
                    models.JSONField(
                        default=list, help_text="File, line and what was mended; up to a limit."
                    ),
                ),
                (
                    "campaign",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="import_report",
                        to="hits.campaign",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Invite",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("token_hash", models.CharField(editable=False, max_length=64, unique=True)),
                ("label", models.CharField(blank=True, max_length=100)),
                ("is_personal", models.BooleanField(default=True)),
                ("max_uses", models.PositiveIntegerField(blank=True, null=True)),
                ("n_uses", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invites",
                        to="hits.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "position",
                    models.PositiveSmallIntegerField(help_text="Place in the HIT, from 1."),
                ),
                (
                    "screen",
                    models.PositiveSmallIntegerField(
                        help_text="From 1; items with the same number are shown together."
                    ),
                ),
                (
                    "run",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Items with the same number are segments of one document, shown one after another.",
                        null=True,
                    ),
                ),
                (
                    "role",
                    models.PositiveSmallIntegerField(
                        choices=[
                            (0, "genuine"),
                            (1, "bad reference"),
                            (2, "repeat"),
                            (3, "reference"),
                        ]
                    ),
                ),
                ("text", models.TextField(blank=True)),
                (
                    "is_archived",
                    models.BooleanField(
                        default=False,
                        help_text="Part of an archive: HITs collected elsewhere need not have our layout.",
                    ),
                ),
                (
                    "hit",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="hits.hit",
                    ),
                ),
                (
                    "partner",
                    models.ForeignKey(
                        blank=True,
                        help_text="The genuine item whose score this one is compared with.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="qc_items",
                        to="hits.item",
                    ),
                ),
                (
                    "translation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="items",
                        to="hits.translation",
                    ),
                ),
            ],
            options={
                "ordering": ["hit", "position"],
            },
        ),
        migrations.CreateModel(
            name="DocumentRating",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "assignment_id",
                        "item_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "received_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="By the server's clock."
                    ),
                ),
                (
                    "elapsed_ms",
                    models.PositiveIntegerField(help_text="From shown to answered.", null=True),
                ),
                (
                    "active_ms",
                    models.PositiveIntegerField(
                        help_text="Of that, with the page in view.", null=True
                    ),
                ),
                ("score", models.PositiveSmallIntegerField()),
                (
                    "assignment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)ss",
                        to="hits.assignment",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)ss",
                        to="hits.item",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Look",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "number",
                    models.PositiveSmallIntegerField(help_text="Counts from 1 in its campaign."),
                ),
                (
                    "share",
                    models.FloatField(
                        help_text="How much of what was planned is rated, from 0 to 1."
                    ),
                ),
                ("began_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("concluded_at", models.DateTimeField(blank=True, null=True)),
                (
                    "is_last",
                    models.BooleanField(
                        default=False,
                        help_text="It ended the collection: nothing is open, or nothing is left to rate.",
                    ),
                ),
                ("result", models.JSONField(default=dict)),
                ("assignments", models.ManyToManyField(related_name="looks", to="hits.assignment")),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="looks",
                        to="hits.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["campaign", "number"],
            },
        ),
        migrations.CreateModel(
            name="MediaFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "name",
                    models.CharField(help_text="The file's path in the upload.", max_length=200),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("image", "Picture"),
                            ("audio", "Sound"),
                            ("video", "Video"),
                            ("captions", "Captions"),
                        ],
                        max_length=8,
                    ),
                ),
                ("content_type", models.CharField(max_length=40)),
                ("n_bytes", models.PositiveIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="media_files",
                        to="hits.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "level",
                    models.CharField(
                        choices=[("researcher", "Researcher"), ("admin", "Admin")], max_length=10
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        blank=True,
                        help_text="Blank: every campaign, including future ones.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="hits.campaign",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Participation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "consented_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="Empty for work that was collected elsewhere.",
                        null=True,
                    ),
                ),
                (
                    "n_check_tries",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Wrong answers to the question about the instructions."
                    ),
                ),
                (
                    "qualified_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When the practice and the question were completed.",
                        null=True,
                    ),
                ),
                (
                    "screened_out_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When the answers to the questionnaire were not those the campaign looks for.",
                        null=True,
                    ),
                ),
                (
                    "trust",
                    models.CharField(
                        choices=[
                            ("unproven", "Unproven"),
                            ("reliable", "Reliable"),
                            ("drifting", "Drifting"),
                            ("unreliable", "Unreliable"),
                        ],
                        default="unproven",
                        max_length=10,
                    ),
                ),
                (
                    "drifted_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When a drifting worker submitted the first HIT of the earliest failed window.",
                        null=True,
                    ),
                ),
                (
                    "decision",
                    models.CharField(
                        blank=True,
                        choices=[("excluded", "Excluded"), ("reinstated", "Reinstated")],
                        max_length=10,
                    ),
                ),
                ("decision_reason", models.TextField(blank=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="participations",
                        to="hits.campaign",
                    ),
                ),
                (
                    "invite",
                    models.ForeignKey(
                        blank=True,
                        help_text="The link with which the worker agreed to take part.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="participations",
                        to="hits.invite",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Evidence",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("submission", "A submitted HIT"),
                            ("recomputation", "Recomputed"),
                        ],
                        default="submission",
                        max_length=13,
                    ),
                ),
                ("computed_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("unproven", "Unproven"),
                            ("reliable", "Reliable"),
                            ("drifting", "Drifting"),
                            ("unreliable", "Unreliable"),
                        ],
                        max_length=10,
                    ),
                ),
                ("n_hits", models.PositiveIntegerField()),
                ("n_pairs", models.PositiveIntegerField()),
                ("mean_difference", models.FloatField(null=True)),
                ("t", models.FloatField(null=True)),
                ("p", models.FloatField(null=True)),
                ("wilcoxon_p", models.FloatField(null=True)),
                ("n_repeats", models.PositiveIntegerField()),
                ("repeat_mean_difference", models.FloatField(null=True)),
                ("repeat_mean_absolute_difference", models.FloatField(null=True)),
                ("repeat_p", models.FloatField(null=True)),
                ("window_n_pairs", models.PositiveIntegerField()),
                ("window_p", models.FloatField(null=True)),
                ("mean_genuine", models.FloatField(null=True)),
                ("mean_bad_reference", models.FloatField(null=True)),
                ("mean_reference", models.FloatField(null=True)),
                ("fastest_hit_seconds", models.FloatField(null=True)),
                ("longest_run", models.PositiveIntegerField()),
                ("n_rejected", models.PositiveIntegerField()),
                ("has_scores_flag", models.BooleanField()),
                ("has_time_flag", models.BooleanField()),
                ("has_sequence_flag", models.BooleanField()),
                ("has_rejection_flag", models.BooleanField()),
                ("n_agreement_items", models.PositiveIntegerField(default=0)),
                ("agreement_r", models.FloatField(null=True)),
                ("agreement_p", models.FloatField(null=True)),
                ("likeness_measure", models.CharField(blank=True, max_length=20)),
                ("likeness_r", models.FloatField(null=True)),
                ("has_likeness_flag", models.BooleanField(default=False)),
                ("median_gap_seconds", models.FloatField(null=True)),
                ("share_fast", models.FloatField(null=True)),
                ("claimed_seconds", models.FloatField(null=True)),
                ("passed_seconds", models.FloatField(null=True)),
                ("n_held_hits", models.PositiveIntegerField(default=0)),
                (
                    "drifted_at",
                    models.DateTimeField(
                        help_text="When the first HIT of the earliest failed window was submitted.",
                        null=True,
                    ),
                ),
                ("details", models.JSONField(default=dict)),
                ("signature", models.TextField()),
                (
                    "assignment",
                    models.ForeignKey(
                        help_text="The HIT it follows, or the latest one if it was recomputed.",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="evidence",
                        to="hits.assignment",
                    ),
                ),
                (
                    "participation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="evidence",
                        to="hits.participation",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="PaymentRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("approve", "Pay per HIT"),
                            ("bonus", "Bonuses"),
                            ("reject", "Rejection"),
                        ],
                        max_length=7,
                    ),
                ),
                (
                    "is_by_hand",
                    models.BooleanField(
                        default=False,
                        help_text="Paid outside the platform, from a list, and marked here.",
                    ),
                ),
                ("n_payments", models.PositiveIntegerField()),
                ("total", models.DecimalField(decimal_places=2, max_digits=12)),
                ("currency", models.CharField(max_length=3)),
                (
                    "digest",
                    models.CharField(help_text="Of the list that was confirmed.", max_length=64),
                ),
                ("confirmed_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="payment_runs",
                        to="hits.campaign",
                    ),
                ),
                (
                    "confirmed_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="PayRule",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("flat", "Bonus for every submitted HIT"),
                            ("adjustment", "Adjustment for one HIT"),
                            ("partial", "Share of the pay for HITs left unfinished"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "amount",
                    models.DecimalField(
                        blank=True,
                        decimal_places=2,
                        max_digits=8,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(0)],
                    ),
                ),
                ("reason", models.CharField(help_text="Shown to the worker.", max_length=500)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                (
                    "assignment",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pay_rules",
                        to="hits.assignment",
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pay_rules",
                        to="hits.campaign",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Payment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("key", models.CharField(max_length=64, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("approve", "Pay per HIT"),
                            ("bonus", "Bonuses"),
                            ("reject", "Rejection"),
                        ],
                        max_length=7,
                    ),
                ),
                ("amount", models.DecimalField(decimal_places=2, max_digits=8)),
                ("currency", models.CharField(max_length=3)),
                ("message", models.TextField(blank=True, help_text="Shown to the worker.")),
                ("category", models.CharField(blank=True, max_length=40)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("planned", "Planned"),
                            ("sending", "Being sent"),
                            ("sent", "Paid"),
                            ("failed", "Failed"),
                            ("unknown", "Unknown"),
                            ("withdrawn", "Withdrawn"),
                            ("written_off", "Written off"),
                        ],
                        default="planned",
                        max_length=11,
                    ),
                ),
                ("n_sends", models.PositiveSmallIntegerField(default=0)),
                ("prepared", models.CharField(blank=True, max_length=200)),
                ("reference", models.CharField(blank=True, max_length=200)),
                ("problem", models.TextField(blank=True)),
                ("sending_at", models.DateTimeField(blank=True, null=True)),
                ("settled_at", models.DateTimeField(blank=True, null=True)),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="payments",
                        to="hits.assignment",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="payments",
                        to="hits.paymentrun",
                    ),
                ),
                (
                    "rule",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="payments",
                        to="hits.payrule",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="PostEdition",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "assignment_id",
                        "item_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "received_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="By the server's clock."
                    ),
                ),
                (
                    "elapsed_ms",
                    models.PositiveIntegerField(help_text="From shown to answered.", null=True),
                ),
                (
                    "active_ms",
                    models.PositiveIntegerField(
                        help_text="Of that, with the page in view.", null=True
                    ),
                ),
                ("text", models.TextField(blank=True)),
                (
                    "field_ms",
                    models.PositiveIntegerField(
                        help_text="In the text field, with the page in view: the post-editing time.",
                        null=True,
                    ),
                ),
                (
                    "keys",
                    models.PositiveIntegerField(
                        help_text="Keys pressed in the text field.", null=True
                    ),
                ),
                ("pastes", models.PositiveIntegerField(null=True)),
                (
                    "pasted",
                    models.PositiveIntegerField(
                        help_text="Characters pasted that were neither in the text nor above it.",
                        null=True,
                    ),
                ),
                (
                    "assignment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)ss",
                        to="hits.assignment",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)ss",
                        to="hits.item",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ProviderEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("provider", models.CharField(max_length=8)),
                ("event_id", models.CharField(max_length=200)),
                (
                    "received_at",
                    models.DateTimeField(db_index=True, default=django.utils.timezone.now),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        models.F("provider"),
                        models.F("event_id"),
                        name="provider_event_is_heard_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("provider", ""), _negated=True),
                            models.Q(("event_id", ""), _negated=True),
                        ),
                        name="provider_event_has_an_id",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="QuestionnaireReply",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "moment",
                    models.CharField(
                        choices=[("before", "Before the task"), ("after", "After the task")],
                        max_length=6,
                    ),
                ),
                ("answers", models.JSONField(default=dict)),
                ("answered_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "participation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="replies",
                        to="hits.participation",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "questionnaire replies",
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Rank",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "assignment_id",
                        "item_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "received_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="By the server's clock."
                    ),
                ),
                (
                    "elapsed_ms",
                    models.PositiveIntegerField(help_text="From shown to answered.", null=True),
                ),
                (
                    "active_ms",
                    models.PositiveIntegerField(
                        help_text="Of that, with the page in view.", null=True
                    ),
                ),
                (
                    "rank",
                    models.PositiveSmallIntegerField(
                        help_text="1 is best. Empty: skipped.", null=True
                    ),
                ),
                (
                    "place",
                    models.PositiveSmallIntegerField(
                        help_text="Where the output stood on this worker's screen, from 1."
                    ),
                ),
                (
                    "skip",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("hard", "I do not understand the texts"),
                            ("language", "The texts are not in the right language"),
                            ("broken", "The texts are not shown properly"),
                            ("other", "Another reason"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "assignment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)ss",
                        to="hits.assignment",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)ss",
                        to="hits.item",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RateCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64)),
                (
                    "began_at",
                    models.DateTimeField(db_index=True, help_text="When the window began."),
                ),
                ("n", models.PositiveIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("key", "began_at"), name="rate_is_counted_once_per_window"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Rating",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "assignment_id",
                        "item_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "received_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="By the server's clock."
                    ),
                ),
                (
                    "elapsed_ms",
                    models.PositiveIntegerField(help_text="From shown to answered.", null=True),
                ),
                (
                    "active_ms",
                    models.PositiveIntegerField(
                        help_text="Of that, with the page in view.", null=True
                    ),
                ),
                ("score", models.PositiveSmallIntegerField()),
                (
                    "place",
                    models.PositiveSmallIntegerField(
                        help_text="Where the text stood on this worker's screen, from 1. Empty if it was alone.",
                        null=True,
                    ),
                ),
                (
                    "assignment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)ss",
                        to="hits.assignment",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)ss",
                        to="hits.item",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Recruitment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "provider",
                    models.CharField(
                        choices=[
                            ("link", "Invite links"),
                            ("prolific", "Prolific"),
                            ("panel", "Another panel"),
                            ("mturk", "Mechanical Turk"),
                        ],
                        default="link",
                        max_length=8,
                    ),
                ),
                (
                    "is_open",
                    models.BooleanField(
                        default=False, help_text="Anyone with the campaign's address may take part."
                    ),
                ),
                ("settings", models.JSONField(blank=True, default=dict)),
                (
                    "study",
                    models.CharField(
                        blank=True,
                        help_text="The provider's id of our study, if there is one.",
                        max_length=100,
                    ),
                ),
                (
                    "n_places",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="The number of places last sent to the provider. It never decreases.",
                    ),
                ),
                (
                    "is_held",
                    models.BooleanField(
                        default=False,
                        help_text="The study is paused or was never started, because the campaign lets nobody in.",
                    ),
                ),
                ("synced_at", models.DateTimeField(blank=True, null=True)),
                (
                    "campaign",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="recruitment",
                        to="hits.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="SampleChance",
            fields=[
                (
                    "translation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="sample_chance",
                        serialize=False,
                        to="hits.translation",
                    ),
                ),
                ("chance", models.FloatField()),
            ],
        ),
        migrations.CreateModel(
            name="EditionToCheck",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="editions_to_check",
                        to="hits.assignment",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="editions_to_check",
                        to="hits.item",
                    ),
                ),
                (
                    "translation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="editions",
                        to="hits.translation",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="translation",
            name="segment",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="translations",
                to="hits.segment",
            ),
        ),
        migrations.AddField(
            model_name="segment",
            name="captions",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="captioned_segments",
                to="hits.mediafile",
            ),
        ),
        migrations.AddField(
            model_name="segment",
            name="media",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="segments",
                to="hits.mediafile",
            ),
        ),
        migrations.CreateModel(
            name="System",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="systems",
                        to="hits.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.AddField(
            model_name="translation",
            name="systems",
            field=models.ManyToManyField(
                related_name="translations", through="hits.SystemOutput", to="hits.system"
            ),
        ),
        migrations.AddField(
            model_name="systemoutput",
            name="segment",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="outputs",
                to="hits.segment",
            ),
        ),
        migrations.AddField(
            model_name="systemoutput",
            name="system",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="outputs",
                to="hits.system",
            ),
        ),
        migrations.AddField(
            model_name="systemoutput",
            name="translation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="outputs",
                to="hits.translation",
            ),
        ),
        migrations.CreateModel(
            name="TextReport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("gray", "The gray text makes no sense"),
                            ("display", "The text is not displayed properly"),
                            ("offensive", "It is offensive or contains private information"),
                            ("other", "Something else"),
                        ],
                        max_length=9,
                    ),
                ),
                ("reported_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="text_reports",
                        to="hits.assignment",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="text_reports",
                        to="hits.item",
                    ),
                ),
            ],
            options={
                "ordering": ["-reported_at", "-pk"],
            },
        ),
        migrations.CreateModel(
            name="Worker",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "provider",
                    models.CharField(
                        help_text="The provider, such as link or prolific.", max_length=20
                    ),
                ),
                ("external_id", models.CharField(max_length=200)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "forgotten_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When everything that could identify the worker was removed.",
                        null=True,
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("provider"), models.F("external_id"), name="worker_is_known_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("forgotten_at", None),
                            ("external_id__startswith", "forgotten-"),
                            _connector="OR",
                        ),
                        name="worker_forgotten_has_no_id",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("provider", ""), _negated=True),
                            models.Q(("external_id", ""), _negated=True),
                        ),
                        name="worker_has_an_id",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Submission",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "reference",
                    models.CharField(
                        help_text="The provider's id: a Prolific session, an MTurk assignment.",
                        max_length=200,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("active", "Active"),
                            ("awaiting", "Awaiting review"),
                            ("approved", "Approved"),
                            ("rejected", "Rejected"),
                            ("returned", "Returned"),
                            ("timed_out", "Timed out"),
                            ("screened", "Screened out"),
                        ],
                        default="active",
                        max_length=9,
                    ),
                ),
                (
                    "is_verified",
                    models.BooleanField(default=False, help_text="The arrival was signed."),
                ),
                ("arrived_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "reported_at",
                    models.DateTimeField(
                        blank=True, help_text="When the provider last reported on it.", null=True
                    ),
                ),
                (
                    "assignment",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="submission",
                        to="hits.assignment",
                    ),
                ),
                (
                    "recruitment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="submissions",
                        to="hits.recruitment",
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="submissions",
                        to="hits.worker",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.AddField(
            model_name="participation",
            name="worker",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="participations",
                to="hits.worker",
            ),
        ),
        migrations.AddField(
            model_name="invite",
            name="worker",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="invites",
                to="hits.worker",
            ),
        ),
        migrations.CreateModel(
            name="DeviceSighting",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("cookie", "Same browser"),
                            ("address", "Same kind of browser at the same address"),
                        ],
                        max_length=7,
                    ),
                ),
                ("mark", models.CharField(max_length=64)),
                ("first_seen_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="device_sightings",
                        to="hits.campaign",
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="device_sightings",
                        to="hits.worker",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                ("action", models.CharField(max_length=40)),
                ("reason", models.TextField(blank=True)),
                ("details", models.JSONField(default=dict)),
                (
                    "actor",
                    models.ForeignKey(
                        help_text="Empty if the platform itself acted.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="audit_entries",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="audit_entries",
                        to="hits.campaign",
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="audit_entries",
                        to="hits.worker",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.AddField(
            model_name="assignment",
            name="worker",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="assignments",
                to="hits.worker",
            ),
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("name", models.CharField(help_text="What it is for.", max_length=100)),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("scopes", models.JSONField(default=list)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("name", ""), _negated=True), name="api_token_has_a_name"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("expires_at__gt", models.F("created_at"))),
                        name="api_token_expires_after_its_making",
                    ),
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("name", ""), _negated=True), name="campaign_name_is_not_empty"
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("task", ""), _negated=True), name="campaign_has_a_task"
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("shows__in", ["", "reference", "source", "both", "nothing"])),
                name="campaign_shows_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("presentation__in", ["alone", "document", "side"])),
                name="campaign_presentation_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("presentation", "alone"),
                    ("task__in", ["reference", "source", "fluency"]),
                    _connector="OR",
                ),
                name="campaign_presents_ratings_only",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("run_length__gte", 2), ("run_length__lte", 20)),
                name="campaign_runs_are_2_to_20_segments",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("scores_documents", False), ("presentation", "document"), _connector="OR"
                ),
                name="campaign_scores_documents_it_shows",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["draft", "open", "paused", "closed"])),
                name="campaign_status_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("hit_size__gte", 1), ("hit_size__lte", 200)),
                    models.Q(("hit_size__gte", 1), ("is_archive", True)),
                    _connector="OR",
                ),
                name="campaign_hit_size_is_possible",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_archive", False), ("status", "closed"), _connector="OR"),
                name="campaign_is_closed_if_archive",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("removed_at", None),
                    models.Q(("is_example", True), ("status", "closed")),
                    _connector="OR",
                ),
                name="campaign_is_removed_only_if_example",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("degradation__in", ["balanced", "published"])),
                name="campaign_degradation_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("trust_rule__in", ["guarded", "published"])),
                name="campaign_trust_rule_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("drift__in", ["count", "since", "all"])),
                name="campaign_drift_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("max_hits_per_worker", None), ("max_hits_per_worker__gte", 1), _connector="OR"
                ),
                name="campaign_limit_per_worker_is_positive",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("outputs_per_screen__gte", 2), ("outputs_per_screen__lte", 5)),
                name="campaign_shows_2_to_5_outputs",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("output_choice__in", ["random", "undecided"])),
                name="campaign_output_choice_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("judgements_per_pair", None), ("judgements_per_pair__gte", 1), _connector="OR"
                ),
                name="campaign_needs_a_judgement_per_pair",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("n_looks", None),
                    models.Q(("n_looks__gte", 2), ("n_looks__lte", 10)),
                    _connector="OR",
                ),
                name="campaign_looks_are_possible",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("looks_goal__in", ["ranking", "gold"])),
                name="campaign_goal_of_looks_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("looks_width__gt", 0)),
                name="campaign_width_of_looks_is_positive",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("looks_alpha__gt", 0), ("looks_alpha__lt", 1)),
                name="campaign_level_of_looks_is_a_chance",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("looks_least_chance__gte", 0), ("looks_least_chance__lt", 1)),
                name="campaign_least_chance_is_a_chance",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("looks_spending__in", ["obrien_fleming", "pocock"])),
                name="campaign_spending_of_looks_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("stopped_at", None), ("n_looks__isnull", False), _connector="OR"
                ),
                name="campaign_is_stopped_by_looks",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("sample_size", None), ("sample_size__gte", 1), _connector="OR"),
                name="campaign_sample_is_not_empty",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("sample_choice__in", ["random", "stratified", "differing", "metrics"])
                ),
                name="campaign_sample_choice_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("min_ratings__gte", 1)), name="campaign_needs_a_rating"
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("seed__gte", 0)), name="campaign_seed_is_not_negative"
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("pay_per_hit__gte", 0)), name="campaign_pay_is_not_negative"
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("spending_cap", None), ("spending_cap__gte", 0), _connector="OR"
                ),
                name="campaign_cap_is_not_negative",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("lease_minutes__gte", 1)), name="campaign_lease_is_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("lease_minutes__lte", 43200)),
                name="campaign_lease_is_not_endless",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("source_language", ""), _negated=True),
                    models.Q(("target_language", ""), _negated=True),
                ),
                name="campaign_languages_are_named",
            ),
        ),
        migrations.AddConstraint(
            model_name="hit",
            constraint=models.UniqueConstraint(
                models.F("campaign"), models.F("number"), name="hit_number_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="hit",
            constraint=models.CheckConstraint(
                condition=models.Q(("number__gte", 1)), name="hit_number_counts_from_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="hit",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("size__gte", 1), ("size__lte", 200)),
                    models.Q(("is_archived", True), ("size__gte", 1)),
                    _connector="OR",
                ),
                name="hit_size_is_possible",
            ),
        ),
        migrations.AddConstraint(
            model_name="hit",
            constraint=models.CheckConstraint(
                condition=models.Q(("part__gte", 1)), name="hit_part_counts_from_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="hit",
            constraint=models.CheckConstraint(
                condition=models.Q(("places_left__gte", 0)), name="hit_places_are_not_negative"
            ),
        ),
        migrations.AddConstraint(
            model_name="documentrating",
            constraint=models.CheckConstraint(
                condition=models.Q(("score__gte", 0), ("score__lte", 100)),
                name="document_rating_is_0_to_100",
            ),
        ),
        migrations.AddConstraint(
            model_name="look",
            constraint=models.UniqueConstraint(
                models.F("campaign"), models.F("number"), name="look_number_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="look",
            constraint=models.UniqueConstraint(
                models.F("campaign"),
                condition=models.Q(("concluded_at", None)),
                name="look_is_the_only_one_under_way",
            ),
        ),
        migrations.AddConstraint(
            model_name="look",
            constraint=models.UniqueConstraint(
                models.F("campaign"),
                condition=models.Q(("is_last", True)),
                name="look_is_the_only_last_one",
            ),
        ),
        migrations.AddConstraint(
            model_name="look",
            constraint=models.CheckConstraint(
                condition=models.Q(("number__gte", 1)), name="look_number_counts_from_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="look",
            constraint=models.CheckConstraint(
                condition=models.Q(("share__gt", 0), ("share__lte", 1)),
                name="look_share_is_a_share",
            ),
        ),
        migrations.AddConstraint(
            model_name="look",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("is_last", False), ("concluded_at__isnull", False), _connector="OR"
                ),
                name="look_is_last_once_concluded",
            ),
        ),
        migrations.AddConstraint(
            model_name="mediafile",
            constraint=models.UniqueConstraint(
                models.F("campaign"), models.F("name"), name="media_name_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="mediafile",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["image", "audio", "video", "captions"])),
                name="media_kind_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(
                models.F("user"), models.F("campaign"), name="member_has_one_level_in_a_campaign"
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(
                models.F("user"),
                condition=models.Q(("campaign", None)),
                name="member_has_one_level_everywhere",
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.CheckConstraint(
                condition=models.Q(("level__in", ["researcher", "admin"])),
                name="membership_level_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="evidence",
            constraint=models.UniqueConstraint(
                models.F("assignment"),
                condition=models.Q(("origin", "submission")),
                name="evidence_is_weighed_once_for_each_hit",
            ),
        ),
        migrations.AddConstraint(
            model_name="evidence",
            constraint=models.CheckConstraint(
                condition=models.Q(("origin__in", ["submission", "recomputation"])),
                name="evidence_origin_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="paymentrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["approve", "bonus", "reject"])),
                name="payment_run_kind_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="paymentrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("total__gte", 0)), name="payment_run_total_is_not_negative"
            ),
        ),
        migrations.AddConstraint(
            model_name="paymentrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("n_payments__gte", 1)), name="payment_run_has_payments"
            ),
        ),
        migrations.AddConstraint(
            model_name="payrule",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("amount__gt", 0),
                        ("amount__isnull", False),
                        ("assignment", None),
                        ("kind", "flat"),
                    ),
                    models.Q(
                        ("amount__gt", 0),
                        ("amount__isnull", False),
                        ("assignment__isnull", False),
                        ("kind", "adjustment"),
                    ),
                    models.Q(("amount", None), ("assignment", None), ("kind", "partial")),
                    _connector="OR",
                ),
                name="pay_rule_has_what_its_kind_needs",
            ),
        ),
        migrations.AddConstraint(
            model_name="payrule",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="pay_rule_has_a_reason"
            ),
        ),
        migrations.AddConstraint(
            model_name="payrule",
            constraint=models.UniqueConstraint(
                models.F("campaign"),
                condition=models.Q(("kind", "partial"), ("withdrawn_at", None)),
                name="pay_rule_is_partial_once",
            ),
        ),
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(fields=["run", "state"], name="payment_of_run_by_state"),
        ),
        migrations.AddConstraint(
            model_name="payment",
            constraint=models.UniqueConstraint(
                models.F("assignment"),
                condition=models.Q(
                    ("kind__in", ["approve", "reject"]),
                    models.Q(("state__in", ["failed", "withdrawn"]), _negated=True),
                ),
                name="payment_approves_or_rejects_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="payment",
            constraint=models.UniqueConstraint(
                models.F("assignment"),
                models.F("rule"),
                condition=models.Q(("rule", None), _negated=True),
                name="payment_follows_a_rule_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="payment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "state__in",
                        [
                            "planned",
                            "sending",
                            "sent",
                            "failed",
                            "unknown",
                            "withdrawn",
                            "written_off",
                        ],
                    )
                ),
                name="payment_state_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="payment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("amount__gte", 0), ("kind", "approve"), ("rule", None)),
                    models.Q(("amount__gt", 0), ("kind", "bonus"), ("rule__isnull", False)),
                    models.Q(
                        ("amount", 0),
                        ("kind", "reject"),
                        ("rule", None),
                        models.Q(("message", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="payment_has_what_its_kind_needs",
            ),
        ),
        migrations.AddConstraint(
            model_name="payment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "sending"), _negated=True),
                    ("sending_at__isnull", False),
                    _connector="OR",
                ),
                name="payment_is_sending_since_a_moment",
            ),
        ),
        migrations.AddConstraint(
            model_name="payment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state__in", ["planned", "sending"]), ("settled_at", None)),
                    models.Q(
                        models.Q(("state__in", ["planned", "sending"]), _negated=True),
                        ("settled_at__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="payment_is_settled_with_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="questionnairereply",
            constraint=models.UniqueConstraint(
                models.F("participation"), models.F("moment"), name="worker_replies_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="questionnairereply",
            constraint=models.CheckConstraint(
                condition=models.Q(("moment__in", ["before", "after"])),
                name="reply_moment_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="rank",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("rank__gte", 1), ("rank__isnull", False), ("skip", "")),
                    models.Q(("rank", None), models.Q(("skip", ""), _negated=True)),
                    _connector="OR",
                ),
                name="rank_is_at_least_1_unless_skipped",
            ),
        ),
        migrations.AddConstraint(
            model_name="rank",
            constraint=models.CheckConstraint(
                condition=models.Q(("skip__in", ["", "hard", "language", "broken", "other"])),
                name="rank_skip_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="rank",
            constraint=models.CheckConstraint(
                condition=models.Q(("place__gte", 1)), name="rank_place_counts_from_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="rating",
            constraint=models.CheckConstraint(
                condition=models.Q(("score__gte", 0), ("score__lte", 100)),
                name="rating_is_0_to_100",
            ),
        ),
        migrations.AddConstraint(
            model_name="rating",
            constraint=models.CheckConstraint(
                condition=models.Q(("place", None), ("place__gte", 1), _connector="OR"),
                name="rating_place_counts_from_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="recruitment",
            constraint=models.CheckConstraint(
                condition=models.Q(("provider__in", ["link", "prolific", "panel", "mturk"])),
                name="recruitment_provider_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="recruitment",
            constraint=models.UniqueConstraint(
                models.F("provider"),
                models.F("study"),
                condition=models.Q(("study", ""), _negated=True),
                name="study_is_of_one_campaign",
            ),
        ),
        migrations.AddConstraint(
            model_name="samplechance",
            constraint=models.CheckConstraint(
                condition=models.Q(("chance__gt", 0), ("chance__lte", 1)),
                name="sample_chance_is_a_probability",
            ),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.UniqueConstraint(
                models.F("hit"), models.F("position"), name="item_position_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.UniqueConstraint(
                models.F("hit"),
                models.F("translation"),
                condition=models.Q(("is_archived", False), ("role", 0)),
                name="item_is_genuine_once_in_a_hit",
            ),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.UniqueConstraint(
                models.F("partner"),
                condition=models.Q(("is_archived", False)),
                name="item_has_one_qc_item",
            ),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("position__gte", 1), ("position__lte", 200)),
                    models.Q(("is_archived", True), ("position__gte", 1)),
                    _connector="OR",
                ),
                name="item_position_is_in_the_hit",
            ),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.CheckConstraint(
                condition=models.Q(("screen__gte", 1), ("screen__lte", models.F("position"))),
                name="item_screen_is_in_the_hit",
            ),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("run", None),
                    models.Q(("run__gte", 1), ("run__lte", models.F("position"))),
                    _connector="OR",
                ),
                name="item_run_is_in_the_hit",
            ),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.CheckConstraint(
                condition=models.Q(("role__in", [0, 1, 2, 3])), name="item_role_is_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("partner", None), ("role", 0)),
                    models.Q(
                        models.Q(("role", 0), _negated=True),
                        models.Q(
                            ("partner__isnull", False), ("is_archived", True), _connector="OR"
                        ),
                    ),
                    _connector="OR",
                ),
                name="item_has_a_partner_unless_genuine",
            ),
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.CheckConstraint(
                condition=models.Q(("partner", models.F("id")), _negated=True),
                name="item_is_not_its_own_partner",
            ),
        ),
        migrations.AddConstraint(
            model_name="editiontocheck",
            constraint=models.UniqueConstraint(
                models.F("assignment"),
                models.F("item"),
                models.F("translation"),
                name="edition_is_checked_once_in_a_campaign",
            ),
        ),
        migrations.AddConstraint(
            model_name="segment",
            constraint=models.UniqueConstraint(
                models.F("campaign"), models.F("position"), name="segment_position_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="segment",
            constraint=models.UniqueConstraint(
                models.F("campaign"), models.F("name"), name="segment_name_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="segment",
            constraint=models.CheckConstraint(
                condition=models.Q(("position__gte", 1)), name="segment_position_counts_from_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="segment",
            constraint=models.CheckConstraint(
                condition=models.Q(("name", ""), _negated=True), name="segment_name_is_not_empty"
            ),
        ),
        migrations.AddConstraint(
            model_name="segment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("reference", ""), ("source", ""), _negated=True),
                    ("is_archived", True),
                    ("media__isnull", False),
                    _connector="OR",
                ),
                name="segment_has_a_text",
            ),
        ),
        migrations.AddConstraint(
            model_name="segment",
            constraint=models.CheckConstraint(
                condition=models.Q(("captions", None), ("media__isnull", False), _connector="OR"),
                name="segment_captions_belong_to_media",
            ),
        ),
        migrations.AddConstraint(
            model_name="system",
            constraint=models.UniqueConstraint(
                models.F("campaign"), models.F("name"), name="system_name_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="system",
            constraint=models.CheckConstraint(
                condition=models.Q(("name", ""), _negated=True), name="system_name_is_not_empty"
            ),
        ),
        migrations.AddConstraint(
            model_name="translation",
            constraint=models.UniqueConstraint(
                models.F("segment"),
                models.F("fingerprint"),
                name="translation_is_unique_in_its_segment",
            ),
        ),
        migrations.AddConstraint(
            model_name="systemoutput",
            constraint=models.UniqueConstraint(
                models.F("system"), models.F("segment"), name="system_has_one_output_per_segment"
            ),
        ),
        migrations.AddConstraint(
            model_name="textreport",
            constraint=models.UniqueConstraint(
                models.F("assignment"), models.F("item"), name="text_is_reported_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="textreport",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason__in", ["gray", "display", "offensive", "other"])),
                name="text_report_reason_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.UniqueConstraint(
                models.F("recruitment"), models.F("reference"), name="submission_is_known_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.CheckConstraint(
                condition=models.Q(("reference", ""), _negated=True), name="submission_has_an_id"
            ),
        ),
        migrations.AddConstraint(
            model_name="submission",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "status__in",
                        [
                            "active",
                            "awaiting",
                            "approved",
                            "rejected",
                            "returned",
                            "timed_out",
                            "screened",
                        ],
                    )
                ),
                name="submission_status_is_known",
            ),
        ),
        migrations.AddIndex(
            model_name="participation",
            index=models.Index(
                fields=["campaign", "decision", "trust"], name="participation_by_state"
            ),
        ),
        migrations.AddConstraint(
            model_name="participation",
            constraint=models.UniqueConstraint(
                models.F("campaign"), models.F("worker"), name="worker_participates_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="participation",
            constraint=models.CheckConstraint(
                condition=models.Q(("n_check_tries__lte", 2)),
                name="participation_check_has_two_tries",
            ),
        ),
        migrations.AddConstraint(
            model_name="participation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("trust__in", ["unproven", "reliable", "drifting", "unreliable"])
                ),
                name="participation_trust_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="participation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("decision", ""), ("decision_reason", "")),
                    models.Q(
                        ("decision__in", ["excluded", "reinstated"]),
                        models.Q(("decision_reason", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="participation_decision_has_a_reason",
            ),
        ),
        migrations.AddConstraint(
            model_name="invite",
            constraint=models.CheckConstraint(
                condition=models.Q(("token_hash", ""), _negated=True), name="invite_has_a_hash"
            ),
        ),
        migrations.AddConstraint(
            model_name="invite",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("max_uses", None), ("n_uses__lte", models.F("max_uses")), _connector="OR"
                ),
                name="invite_is_not_overused",
            ),
        ),
        migrations.AddConstraint(
            model_name="invite",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("is_personal", True), ("max_uses", 1)),
                    models.Q(("is_personal", False), ("worker", None)),
                    _connector="OR",
                ),
                name="invite_is_for_one_if_personal",
            ),
        ),
        migrations.AddConstraint(
            model_name="invite",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("expires_at", None),
                    ("expires_at__gt", models.F("created_at")),
                    _connector="OR",
                ),
                name="invite_expires_after_its_making",
            ),
        ),
        migrations.AddConstraint(
            model_name="devicesighting",
            constraint=models.UniqueConstraint(
                models.F("campaign"),
                models.F("kind"),
                models.F("mark"),
                models.F("worker"),
                name="device_is_noted_once_per_worker",
            ),
        ),
        migrations.AddConstraint(
            model_name="devicesighting",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["cookie", "address"])), name="device_kind_is_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="devicesighting",
            constraint=models.CheckConstraint(
                condition=models.Q(("mark", ""), _negated=True), name="device_has_a_mark"
            ),
        ),
        migrations.AddConstraint(
            model_name="auditentry",
            constraint=models.CheckConstraint(
                condition=models.Q(("action", ""), _negated=True),
                name="audit_entry_names_its_action",
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("evidence_at", None), ("status", "submitted")),
                fields=["id"],
                name="assignment_to_weigh",
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("status", "in_progress")),
                fields=["expires_at"],
                name="assignment_to_expire",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(
                models.F("hit"), models.F("worker"), name="assignment_is_once_per_worker_and_hit"
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(
                models.F("worker"),
                condition=models.Q(("status", "in_progress")),
                name="worker_has_one_assignment_in_progress",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(
                models.F("completion_code"),
                condition=models.Q(("completion_code", ""), _negated=True),
                name="assignment_completion_code_is_unique",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("status__in", ["in_progress", "expired", "returned", "submitted"])
                ),
                name="assignment_status_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("status", "submitted"),
                        ("submitted_at__isnull", False),
                        models.Q(("completion_code", ""), _negated=True),
                    ),
                    models.Q(
                        models.Q(("status", "submitted"), _negated=True),
                        ("completion_code", ""),
                        ("is_late", False),
                        ("submitted_at", None),
                    ),
                    _connector="OR",
                ),
                name="assignment_is_submitted_with_time_and_code",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(("evidence_at", None), ("status", "submitted"), _connector="OR"),
                name="assignment_is_weighed_once_submitted",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(("hold__in", ["", "held", "counted", "discarded"])),
                name="assignment_hold_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("held_at", None), ("hold", ""), ("hold_reason", "")),
                    models.Q(
                        ("held_at__isnull", False),
                        ("status", "submitted"),
                        models.Q(("hold", ""), _negated=True),
                        models.Q(("hold_reason", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="assignment_hold_has_reason_and_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(("expires_at__gt", models.F("started_at"))),
                name="assignment_expires_after_its_start",
            ),
        ),
        migrations.RunPython(freeze, thaw),
    ]
