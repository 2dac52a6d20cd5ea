from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="SignOfLife",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, unique=True)),
                ("at", models.DateTimeField()),
                (
                    "queues",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="The queues of a worker, separated by spaces. Empty for beat or cron.",
                        max_length=100,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "signs of life",
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("name", ""), _negated=True),
                        name="sign_of_life_has_a_name",
                    )
                ],
            },
        ),
    ]
