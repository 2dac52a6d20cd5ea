import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("hits", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Job",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("kind", models.CharField(max_length=40)),
                ("arguments", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Waiting"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=9,
                    ),
                ),
                ("n_done", models.PositiveBigIntegerField(default=0)),
                ("n_total", models.PositiveBigIntegerField(blank=True, null=True)),
                ("attempt", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("heartbeat_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("cancel_requested_at", models.DateTimeField(blank=True, null=True)),
                ("log", models.TextField(blank=True)),
                ("result", models.JSONField(blank=True, null=True)),
                ("error", models.TextField(blank=True, help_text="A plain sentence for everyone.")),
                (
                    "problems",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="What was refused, each problem with its fix, if any.",
                    ),
                ),
                ("n_problems", models.PositiveIntegerField(default=0, help_text="Listed or not.")),
                (
                    "fixes",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="Every fix of its problems, listed or not, with how many it would avoid.",
                    ),
                ),
                ("traceback", models.TextField(blank=True, help_text="For admins only.")),
                (
                    "campaign",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="jobs",
                        to="hits.campaign",
                    ),
                ),
                (
                    "started_by",
                    models.ForeignKey(
                        blank=True,
                        help_text="Empty if the platform started it.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="jobs",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["queued", "running"])),
                        fields=["heartbeat_at"],
                        name="job_unfinished",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["queued", "running", "done", "failed", "cancelled"])
                        ),
                        name="job_state_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                models.Q(
                                    ("state__in", ["done", "failed", "cancelled"]), _negated=True
                                ),
                                ("finished_at", None),
                            ),
                            models.Q(
                                ("finished_at__isnull", False),
                                ("state__in", ["done", "failed", "cancelled"]),
                            ),
                            _connector="OR",
                        ),
                        name="job_is_finished_with_a_time",
                    ),
                ],
            },
        ),
    ]
