import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("hits", "0019_media"),
    ]

    operations = [
        migrations.AlterField(
            model_name="campaign",
            name="judgements_per_pair",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="For ranking: the most trusted judgements that a pair of systems gets. Blank: each output once.",
                null=True,
                validators=[django.core.validators.MinValueValidator(1)],
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="looks_least_chance",
            field=models.FloatField(
                default=0.1,
                help_text="Pairs with a lower chance of being decided by the last look get no more ratings.",
                validators=[
                    django.core.validators.MinValueValidator(0),
                    django.core.validators.MaxValueValidator(0.9),
                ],
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="n_looks",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="For rating: divide the work into this many parts, test the ranking after each, and stop when it is decided. Blank: never.",
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(2),
                    django.core.validators.MaxValueValidator(10),
                ],
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="output_choice",
            field=models.CharField(
                choices=[("random", "Random"), ("undecided", "Overlapping rank ranges first")],
                default="random",
                help_text="For ranking: which outputs are shown together.",
                max_length=9,
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="run_length",
            field=models.PositiveSmallIntegerField(
                default=10,
                help_text="In documents: the most segments that a worker rates in a row.",
                validators=[
                    django.core.validators.MinValueValidator(2),
                    django.core.validators.MaxValueValidator(20),
                ],
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="sample_choice",
            field=models.CharField(
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
    ]
