"""Leave to the first gold run of a job its job; later ones keep all but that."""

from django.db import migrations
from django.db.models import Min


def let_go_of_second_runs(apps, schema_editor):
    GoldRun = apps.get_model("analysis", "GoldRun")
    of_jobs = GoldRun.objects.filter(job__isnull=False)
    firsts = (
        of_jobs.order_by().values("job").annotate(first=Min("pk")).values_list("first", flat=True)
    )
    of_jobs.exclude(pk__in=list(firsts)).update(job=None)


class Migration(migrations.Migration):
    dependencies = [("analysis", "0004_collections_and_gold_uploads")]

    operations = [migrations.RunPython(let_go_of_second_runs, migrations.RunPython.noop)]
