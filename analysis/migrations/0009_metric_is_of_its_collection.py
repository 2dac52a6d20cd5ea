from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analysis", "0008_fill_collections_of_metrics")]

    operations = [
        migrations.RemoveField("metric", "collection_key"),
        migrations.AddConstraint(
            model_name="metric",
            constraint=models.UniqueConstraint(
                models.F("collection"),
                models.F("name"),
                models.F("level"),
                condition=models.Q(("collection__isnull", False)),
                name="metric_is_stored_once_for_a_collection",
            ),
        ),
        migrations.AddConstraint(
            model_name="metric",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("campaign__isnull", False), ("collection", None)),
                    models.Q(("campaign", None), ("collection__isnull", False)),
                    _connector="OR",
                ),
                name="metric_is_of_a_campaign_or_a_collection",
            ),
        ),
    ]
