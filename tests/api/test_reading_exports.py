"""Exported files, read back by the client."""

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from analysis.exporting import export
from da_client import read_export
from hits.models import Campaign, Segment, System
from tests.browser.opening import assignment_of
from tests.factories import make_hits, make_worker, rate_items

FORMATS = ("csv", "tsv", "jsonl", "parquet")

pytestmark = pytest.mark.django_db


def make_rated_campaign() -> Campaign:
    """A rated campaign with names that a spreadsheet, a CSV file or a TSV file might change."""
    campaign = make_hits()
    for number, segment in enumerate(Segment.objects.filter(campaign=campaign)):
        segment.name = f"=NA {number}|\\\\n"
        segment.save()
    for number, system in enumerate(System.objects.filter(campaign=campaign)):
        system.name = f"-a|b {number}"
        system.save()
    rate_items(assignment_of(make_worker(), campaign))
    return campaign


def exported(campaign: Campaign, folder, format: str) -> pd.DataFrame:
    folder.mkdir(exist_ok=True)
    path = folder / f"ratings.{format}"
    export(kind="ratings", campaign=campaign, path=path, format=format)
    return read_export(path)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_gives_the_same_types_and_values(tmp_path, format):
    campaign = make_rated_campaign()
    frame = exported(campaign, tmp_path, format)
    assert str(frame["received_at"].dtype).startswith("datetime64") and frame["received_at"].dt.tz
    assert frame["score"].dtype == "int64" and frame["is_late"].dtype == "bool"
    assert frame["segment"].str.startswith("=NA").all()
    assert frame["systems"].map(lambda names: names[0].startswith("-a|b")).all()
    other = exported(campaign, tmp_path / "again", "parquet")
    assert_frame_equal(without_missing_texts(frame), without_missing_texts(other))


def without_missing_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """CSV and TSV cannot tell an empty text from a missing one."""
    texts = [name for name, dtype in frame.dtypes.items() if dtype == "string"]
    return frame.fillna(dict.fromkeys(texts, ""))
