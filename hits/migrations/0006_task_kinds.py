import django.db.models.deletion
from django.db import migrations, models


def show_one_item_on_a_screen(apps, schema_editor):
    Item = apps.get_model("hits", "Item")
    Item.objects.using(schema_editor.connection.alias).update(screen=models.F("position"))


class Migration(migrations.Migration):
    dependencies = [
        ("hits", "0005_words_for_workers"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="campaign",
            name="campaign_task_is_known",
        ),
        migrations.RemoveConstraint(
            model_name="campaign",
            name="campaign_hit_size_is_whole_sets",
        ),
        migrations.RemoveConstraint(
            model_name="hit",
            name="hit_size_is_whole_sets",
        ),
        migrations.AddField(
            model_name="campaign",
            name="shows",
            field=models.CharField(
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
        migrations.AddField(
            model_name="evidence",
            name="details",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="item",
            name="screen",
            field=models.PositiveSmallIntegerField(
                default=1, help_text="From 1; items with the same number are shown together."
            ),
            preserve_default=False,
        ),
        migrations.RunPython(show_one_item_on_a_screen, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="rating",
            name="assignment",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="%(class)ss",
                to="hits.assignment",
            ),
        ),
        migrations.AlterField(
            model_name="rating",
            name="elapsed_ms",
            field=models.PositiveIntegerField(help_text="From shown to answered.", null=True),
        ),
        migrations.AlterField(
            model_name="rating",
            name="item",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="%(class)ss",
                to="hits.item",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("task__in", ["reference", "source", "fluency", "edit", "rank"])
                ),
                name="campaign_task_is_known",
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
                condition=models.Q(
                    models.Q(("hit_size__gte", 1), ("hit_size__lte", 200)),
                    models.Q(("hit_size__gte", 1), ("is_archive", True)),
                    _connector="OR",
                ),
                name="campaign_hit_size_is_possible",
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
            model_name="item",
            constraint=models.CheckConstraint(
                condition=models.Q(("screen__gte", 1), ("screen__lte", models.F("position"))),
                name="item_screen_is_in_the_hit",
            ),
        ),
    ]
