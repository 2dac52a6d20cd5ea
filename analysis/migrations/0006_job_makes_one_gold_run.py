from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("analysis", "0005_one_gold_run_for_a_job")]

    operations = [
        migrations.AddConstraint(
            model_name="goldrun",
            constraint=models.UniqueConstraint(
                models.F("job"),
                condition=models.Q(("job__isnull", False)),
                name="job_makes_one_gold_run",
            ),
        ),
    ]
