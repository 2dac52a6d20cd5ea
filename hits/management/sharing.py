"""What commands share: finding a campaign, and telling a waiting person how far the work is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError
from tqdm import tqdm

from hits.models import Campaign


def campaign_named(name: str) -> Campaign:
    try:
        return Campaign.objects.get(name=name)
    except Campaign.DoesNotExist:
        known = list(Campaign.objects.order_by("name").values_list("name", flat=True)[:20])
        there = f"There are: {', '.join(known)}." if known else "There are none yet."
        raise CommandError(f"There is no campaign named {name!r}. {there}") from None


@contextmanager
def progress_bar(*, unit: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show a bar on standard error while it is a terminal; yield what advances it."""
    with tqdm(total=total, unit=f" {unit}", disable=None, leave=False) as bar:

        def advance(n: int) -> None:
            bar.update(n)

        yield advance
