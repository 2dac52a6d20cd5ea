"""What workers ranked: a row for each output of each screen, in the order shown."""

from collections.abc import Generator, Sequence
from contextlib import closing

from hits.models import Campaign
from hits.ranking.arrays import systems_by_translation

from .batches import Batch, read_batches
from .queries import Column, Query
from .queries import ranks as ranks_query


def table_rows(campaign: Campaign) -> tuple[Sequence[Column], Generator[Batch, None, None]]:
    """Return every rank, with all systems that the output stands for."""
    query = ranks_query(campaign)
    # The last column is the translation, from which the systems follow.
    return query.columns[:-1], _with_systems(campaign, query)


def _with_systems(campaign: Campaign, query: Query) -> Generator[Batch, None, None]:
    names = dict(campaign.systems.values_list("pk", "name"))
    systems = {
        translation: sorted(names[pk] for pk in pks)
        for translation, pks in systems_by_translation(campaign).items()
    }
    place = [column.name for column in query.columns].index("systems")
    with closing(read_batches(query)) as batches:
        for *batch, translations in batches:
            batch[place] = [tuple(systems[translation]) for translation in translations]
            yield batch
