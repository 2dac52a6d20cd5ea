import django.core.validators
from django.db import migrations, models

MAX_LEASE_MINUTES = 43_200


def shorten_endless_leases(apps, schema_editor):
    campaigns = apps.get_model("hits", "Campaign").objects
    campaigns.filter(lease_minutes__gt=MAX_LEASE_MINUTES).update(lease_minutes=MAX_LEASE_MINUTES)


class Migration(migrations.Migration):
    dependencies = [
        ("hits", "0015_forgotten_marks"),
    ]

    operations = [
        migrations.RunPython(shorten_endless_leases, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="campaign",
            name="lease_minutes",
            field=models.PositiveIntegerField(
                default=180,
                help_text="How long a worker may take for a HIT before its place is offered to another.",
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(MAX_LEASE_MINUTES),
                ],
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("lease_minutes__lte", MAX_LEASE_MINUTES)),
                name="campaign_lease_is_not_endless",
            ),
        ),
    ]
