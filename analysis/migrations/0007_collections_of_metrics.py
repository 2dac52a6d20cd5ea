import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analysis", "0006_job_makes_one_gold_run")]

    operations = [
        migrations.RemoveConstraint("metric", "metric_is_stored_once_for_a_collection"),
        migrations.RemoveConstraint("metric", "metric_is_of_a_campaign_or_a_collection"),
        migrations.RenameField("metric", "collection", "collection_key"),
        migrations.AddField(
            model_name="metric",
            name="collection",
            field=models.ForeignKey(
                blank=True,
                help_text="What the scores are of, if not of a campaign.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="metrics",
                to="analysis.scorecollection",
            ),
        ),
    ]
