import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("hits", "0001_initial"),
        ("jobs", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="MetricCounts",
            fields=[
                (
                    "digest",
                    models.CharField(
                        help_text="Hash of the signature and both texts.",
                        max_length=64,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("counts", models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name="GoldRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("number", models.PositiveIntegerField(help_text="Counts from 1 in its campaign.")),
                (
                    "method",
                    models.CharField(
                        choices=[
                            ("per_worker", "A worker's repeats averaged first"),
                            ("pooled", "Every rating counts"),
                            ("weighted", "Weighted by what hidden items show about the worker"),
                        ],
                        default="per_worker",
                        max_length=10,
                    ),
                ),
                (
                    "minimum",
                    models.PositiveSmallIntegerField(
                        help_text="Ratings needed for a complete score."
                    ),
                ),
                (
                    "test",
                    models.CharField(
                        choices=[
                            ("two_way", "Difference of means, over segments and workers"),
                            ("paired", "Signed ranks by segment"),
                            ("published", "Mann-Whitney U, as at WMT"),
                        ],
                        default="two_way",
                        help_text="How systems are compared.",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("n_workers", models.PositiveIntegerField()),
                ("n_workers_trusted", models.PositiveIntegerField()),
                (
                    "n_ratings",
                    models.PositiveBigIntegerField(
                        help_text="Ratings by trusted workers that count."
                    ),
                ),
                ("n_scored", models.PositiveIntegerField()),
                ("n_incomplete", models.PositiveIntegerField()),
                ("input_digest", models.CharField(max_length=64)),
                ("signature", models.TextField()),
                ("system_covariance", models.JSONField(editable=False, null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gold_runs",
                        to="hits.campaign",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="gold_runs",
                        to="jobs.job",
                    ),
                ),
                ("named_workers", models.JSONField(editable=False, null=True)),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("campaign"), models.F("number"), name="gold_run_number_is_unique"
                    ),
                    models.UniqueConstraint(
                        models.F("job"),
                        condition=models.Q(("job__isnull", False)),
                        name="job_makes_one_gold_run",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="GoldScore",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "run_id",
                        "translation_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("raw", models.FloatField(null=True)),
                ("z", models.FloatField(null=True)),
                ("raw_se", models.FloatField(null=True)),
                ("z_se", models.FloatField(null=True)),
                ("n", models.PositiveIntegerField()),
                ("n_ratings", models.PositiveIntegerField()),
                ("is_complete", models.BooleanField()),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scores",
                        to="analysis.goldrun",
                    ),
                ),
                (
                    "translation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gold_scores",
                        to="hits.translation",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("is_complete", True), ("raw__isnull", False), ("z__isnull", False)
                            ),
                            models.Q(("is_complete", False), ("raw", None), ("z", None)),
                            _connector="OR",
                        ),
                        name="gold_score_is_complete_with_a_score",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GoldWeight",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "run_id",
                        "worker_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("weight", models.FloatField(help_text="1 is the mean of all workers.")),
                ("discrimination", models.FloatField()),
                ("own_discrimination", models.FloatField(null=True)),
                ("agreement", models.FloatField(null=True)),
                ("repeat_variance", models.FloatField()),
                ("own_repeat_variance", models.FloatField(null=True)),
                ("n_pairs", models.PositiveIntegerField()),
                ("n_repeats", models.PositiveIntegerField()),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="weights",
                        to="analysis.goldrun",
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gold_weights",
                        to="hits.worker",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("weight__gte", 0)), name="gold_weight_is_not_negative"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ScoreCollection",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("name", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="score_collections",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("name", ""), _negated=True),
                        name="collection_name_is_not_empty",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Metric",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("name", models.CharField(max_length=200)),
                (
                    "level",
                    models.CharField(
                        choices=[("segment", "Segments"), ("system", "Systems")], max_length=7
                    ),
                ),
                (
                    "origin",
                    models.CharField(
                        choices=[("uploaded", "Uploaded"), ("computed", "Computed here")],
                        max_length=8,
                    ),
                ),
                (
                    "higher_is_better",
                    models.BooleanField(help_text="Unknown until confirmed.", null=True),
                ),
                ("direction_confirmed_at", models.DateTimeField(blank=True, null=True)),
                ("file_name", models.CharField(blank=True, max_length=255)),
                ("format", models.CharField(blank=True, max_length=30)),
                ("sha256", models.CharField(max_length=64)),
                (
                    "signature",
                    models.TextField(
                        blank=True, help_text="How the scores were computed, if known."
                    ),
                ),
                ("n_scores", models.PositiveIntegerField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "campaign",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="metrics",
                        to="hits.campaign",
                    ),
                ),
                (
                    "direction_confirmed_by",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty if computed by the platform.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "uploaded_by",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty if computed by the platform.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="metrics",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "collection",
                    models.ForeignKey(
                        blank=True,
                        help_text="The collection, if the scores do not belong to a campaign.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="metrics",
                        to="analysis.scorecollection",
                    ),
                ),
            ],
            options={
                "ordering": ["name", "level", "pk"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("campaign"),
                        models.F("name"),
                        models.F("level"),
                        condition=models.Q(("campaign__isnull", False)),
                        name="metric_is_stored_once_for_a_campaign",
                    ),
                    models.UniqueConstraint(
                        models.F("collection"),
                        models.F("name"),
                        models.F("level"),
                        condition=models.Q(("collection__isnull", False)),
                        name="metric_is_stored_once_for_a_collection",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("campaign__isnull", False), ("collection", None)),
                            models.Q(("campaign", None), ("collection__isnull", False)),
                            _connector="OR",
                        ),
                        name="metric_is_of_a_campaign_or_a_collection",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("name", ""), _negated=True),
                        name="metric_name_is_not_empty",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("level__in", ["segment", "system"])),
                        name="metric_level_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("origin__in", ["uploaded", "computed"])),
                        name="metric_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("direction_confirmed_at", None), ("higher_is_better", None)),
                            models.Q(
                                ("direction_confirmed_at__isnull", False),
                                ("higher_is_better__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="metric_direction_is_confirmed_with_a_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MetricScore",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "metric_id",
                        "system",
                        "segment",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("system", models.CharField(blank=True, max_length=200)),
                (
                    "segment",
                    models.CharField(
                        blank=True, help_text="Empty for a whole system.", max_length=200
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                ("score", models.FloatField()),
                (
                    "metric",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scores",
                        to="analysis.metric",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("score__gte", -1.7976931348623157e308),
                            ("score__lte", 1.7976931348623157e308),
                        ),
                        name="metric_score_is_finite",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="JudgementUpload",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("file_name", models.CharField(max_length=255)),
                ("sha256", models.CharField(max_length=64)),
                ("n_judgements", models.PositiveIntegerField()),
                ("table", models.JSONField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "campaign",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgement_uploads",
                        to="hits.campaign",
                    ),
                ),
                (
                    "uploaded_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="judgement_uploads",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "collection",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgement_uploads",
                        to="analysis.scorecollection",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("campaign"),
                        models.F("sha256"),
                        condition=models.Q(("campaign__isnull", False)),
                        name="judgements_are_stored_once_for_a_campaign",
                    ),
                    models.UniqueConstraint(
                        models.F("collection"),
                        models.F("sha256"),
                        condition=models.Q(("collection__isnull", False)),
                        name="judgements_are_stored_once_for_a_collection",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("campaign__isnull", False), ("collection", None)),
                            models.Q(("campaign", None), ("collection__isnull", False)),
                            _connector="OR",
                        ),
                        name="judgements_are_of_a_campaign_or_a_collection",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="GoldUpload",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("name", models.CharField(max_length=200)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("da", "Direct assessment"),
                            ("hter", "HTER"),
                            ("mqm", "MQM"),
                            ("ranking", "Ranking"),
                            ("other", "Other"),
                        ],
                        max_length=7,
                    ),
                ),
                (
                    "level",
                    models.CharField(
                        choices=[("segment", "Segments"), ("system", "Systems")], max_length=7
                    ),
                ),
                ("higher_is_better", models.BooleanField()),
                ("file_name", models.CharField(max_length=255)),
                ("sha256", models.CharField(max_length=64)),
                ("signature", models.TextField()),
                (
                    "n_scores",
                    models.PositiveIntegerField(
                        help_text="Number of translations or systems with a score."
                    ),
                ),
                ("table", models.JSONField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "campaign",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gold_uploads",
                        to="hits.campaign",
                    ),
                ),
                (
                    "uploaded_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="gold_uploads",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "collection",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gold_uploads",
                        to="analysis.scorecollection",
                    ),
                ),
            ],
            options={
                "ordering": ["name", "level", "pk"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("campaign"),
                        models.F("name"),
                        models.F("level"),
                        condition=models.Q(("campaign__isnull", False)),
                        name="gold_upload_is_stored_once_for_a_campaign",
                    ),
                    models.UniqueConstraint(
                        models.F("collection"),
                        models.F("name"),
                        models.F("level"),
                        condition=models.Q(("collection__isnull", False)),
                        name="gold_upload_is_stored_once_for_a_collection",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("campaign__isnull", False), ("collection", None)),
                            models.Q(("campaign", None), ("collection__isnull", False)),
                            _connector="OR",
                        ),
                        name="gold_upload_is_of_a_campaign_or_a_collection",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("name", ""), _negated=True),
                        name="gold_upload_name_is_not_empty",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("level__in", ["segment", "system"])),
                        name="gold_upload_level_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["da", "hter", "mqm", "ranking", "other"])),
                        name="gold_upload_kind_is_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Evaluation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "number",
                    models.PositiveIntegerField(
                        help_text="Counts from 1 in its campaign or collection."
                    ),
                ),
                (
                    "golds",
                    models.JSONField(
                        help_text="Gold runs with z or raw scores, uploads, or pooled runs."
                    ),
                ),
                ("options", models.JSONField(default=dict)),
                ("input_digest", models.CharField(max_length=64)),
                ("signature", models.TextField()),
                ("result", models.JSONField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "campaign",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="evaluations",
                        to="hits.campaign",
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty if started by the platform.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="evaluations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="evaluations",
                        to="jobs.job",
                    ),
                ),
                (
                    "pooled",
                    models.ManyToManyField(
                        blank=True, related_name="pooled_evaluations", to="hits.campaign"
                    ),
                ),
                (
                    "judgements",
                    models.ForeignKey(
                        blank=True,
                        help_text="Preferences of people that metrics were also evaluated against.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="evaluations",
                        to="analysis.judgementupload",
                    ),
                ),
                (
                    "metrics",
                    models.ManyToManyField(related_name="evaluations", to="analysis.metric"),
                ),
                (
                    "collection",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="evaluations",
                        to="analysis.scorecollection",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("campaign"), models.F("number"), name="evaluation_number_is_unique"
                    ),
                    models.UniqueConstraint(
                        models.F("collection"),
                        models.F("number"),
                        condition=models.Q(("collection__isnull", False)),
                        name="evaluation_number_is_unique_in_a_collection",
                    ),
                    models.UniqueConstraint(
                        models.F("number"),
                        condition=models.Q(("campaign", None), ("collection", None)),
                        name="pooled_evaluation_number_is_unique",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("campaign", None), ("collection", None), _connector="OR"
                        ),
                        name="evaluation_is_not_of_campaign_and_collection",
                    ),
                    models.UniqueConstraint(
                        models.F("job"),
                        condition=models.Q(("job__isnull", False)),
                        name="job_makes_one_evaluation",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("number__gte", 1)),
                        name="evaluation_number_counts_from_1",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Experiment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("kind", models.CharField(max_length=20)),
                ("name", models.CharField(max_length=100)),
                ("options", models.JSONField(default=dict)),
                (
                    "result",
                    models.JSONField(
                        blank=True, help_text="Empty until the job is done.", null=True
                    ),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "job",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="experiments",
                        to="jobs.job",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="experiments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="ExperimentFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("role", models.CharField(max_length=20)),
                ("position", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=255)),
                ("sha256", models.CharField(max_length=64)),
                ("compressed", models.BinaryField()),
                (
                    "experiment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="files",
                        to="analysis.experiment",
                    ),
                ),
            ],
            options={
                "ordering": ["experiment", "position"],
            },
        ),
        migrations.AddConstraint(
            model_name="experiment",
            constraint=models.CheckConstraint(
                condition=models.Q(("name", ""), _negated=True), name="experiment_name_is_not_empty"
            ),
        ),
        migrations.AddConstraint(
            model_name="experimentfile",
            constraint=models.UniqueConstraint(
                models.F("experiment"),
                models.F("position"),
                name="experiment_has_one_file_at_a_position",
            ),
        ),
        migrations.AddField(
            model_name="goldrun",
            name="helper",
            field=models.JSONField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="goldscore",
            name="z_high",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="goldscore",
            name="z_low",
            field=models.FloatField(null=True),
        ),
    ]
