"""Give every metric the collection that it names. One whose collection is gone gets a new one: nothing is lost."""

from uuid import UUID, uuid4

from django.db import migrations

LOST = "Scores without a collection"


def point_to_collections(apps, schema_editor):
    Metric = apps.get_model("analysis", "Metric")
    ScoreCollection = apps.get_model("analysis", "ScoreCollection")
    elsewhere = Metric.objects.filter(campaign=None)
    for key in elsewhere.order_by().values_list("collection_key", flat=True).distinct():
        code, name = _code_and_name(key)
        collection, _ = ScoreCollection.objects.get_or_create(code=code, defaults={"name": name})
        elsewhere.filter(collection_key=key).update(collection=collection)


def _code_and_name(key):
    """A key is the code of a collection; programs could also name one that was never made."""
    try:
        return UUID(key), LOST
    except ValueError:
        return uuid4(), key


def name_collections(apps, schema_editor):
    Metric = apps.get_model("analysis", "Metric")
    for collection in apps.get_model("analysis", "ScoreCollection").objects.all():
        Metric.objects.filter(collection=collection).update(collection_key=str(collection.code))


class Migration(migrations.Migration):
    dependencies = [("analysis", "0007_collections_of_metrics")]

    operations = [migrations.RunPython(point_to_collections, name_collections)]
