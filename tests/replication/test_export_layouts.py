"""Published files, stored as gold and exported again, are unchanged."""

from hashlib import sha256

import pytest

from analysis.exporting import export
from analysis.models import GoldRun, GoldScore
from hits.models import Segment, System, SystemOutput, Translation
from tests.analysis.export_rows import make_run
from tests.factories import make_campaign
from tests.replication.locating import replication_data

pytestmark = pytest.mark.django_db


def store(rows: list[dict], **fields) -> GoldRun:
    """Create a campaign and its gold from rows with system, segment, raw, z and n."""
    campaign = make_campaign(**fields)
    run = make_run(campaign, minimum=1)
    systems = {
        name: System.objects.create(campaign=campaign, name=name)
        for name in dict.fromkeys(row["system"] for row in rows)
    }
    names = sorted({row["segment"] for row in rows}, key=int)
    Segment.objects.bulk_create(
        Segment(campaign=campaign, position=place, name=name, source="x")
        for place, name in enumerate(names, start=1)
    )
    segments = {segment.name: segment for segment in campaign.segments.all()}
    translations = Translation.objects.bulk_create(
        Translation(
            segment=segments[row["segment"]],
            text=f"{row['system']} {row['segment']}",
            fingerprint=sha256(f"{row['system']} {row['segment']}".encode()).digest()[:16],
        )
        for row in rows
    )
    SystemOutput.objects.bulk_create(
        SystemOutput(
            system=systems[row["system"]], segment=translation.segment, translation=translation
        )
        for row, translation in zip(rows, translations, strict=True)
    )
    GoldScore.objects.bulk_create(
        GoldScore(
            run=run,
            translation=translation,
            raw=row["raw"],
            z=row["z"],
            n=row["n"],
            n_ratings=row["n"],
            is_complete=row["z"] is not None,
        )
        for row, translation in zip(rows, translations, strict=True)
    )
    return run


def test_the_published_tables_of_wmt21_are_unchanged(tmp_path):
    segments = replication_data("wmt21-crowd-da", "ad-seg-scores-cs-en.csv")
    systems = replication_data("wmt21-crowd-da", "ad-sys-scores-cs-en.csv")
    _, *lines = segments.read_text().splitlines()
    rows = [
        {"system": system, "segment": segment, "raw": float(raw), "z": float(z), "n": int(n)}
        for system, segment, raw, z, n in (line.split() for line in lines)
    ]
    run = store(rows, source_language="cs", target_language="en")
    path = tmp_path / "segments.txt"
    export(kind="segments", campaign=run.campaign, path=path, format="published")
    # The published lines follow the ratings, ours the order of the test set.
    assert sorted(path.read_text().splitlines()) == sorted(segments.read_text().splitlines())
    path = tmp_path / "systems.txt"
    export(kind="systems", campaign=run.campaign, path=path, format="published")
    ours = [line.split() for line in path.read_text().splitlines()]
    theirs = [line.split() for line in systems.read_text().splitlines()]
    assert [row[2:] for row in ours] == [row[2:] for row in theirs]
    for our_row, their_row in zip(ours[1:], theirs[1:], strict=True):
        # Sums in another order differ in the last digits.
        assert [float(cell) for cell in our_row[:2]] == pytest.approx(
            [float(cell) for cell in their_row[:2]], rel=1e-12
        )


def test_the_human_scores_of_wmt23_are_unchanged(tmp_path):
    """With incomplete segments, and systems in the order of the file."""
    theirs = replication_data("wmt23-mtme", "wmt23", "human-scores", "en-de.da-sqm.seg.score")
    rows, places = [], {}
    for line in theirs.read_text().splitlines():
        system, score = line.split()
        places[system] = places.get(system, 0) + 1
        raw = None if score == "None" else float(score)
        segment = str(places[system])
        rows.append({"system": system, "segment": segment, "raw": raw, "z": raw, "n": 1})
    run = store(rows, source_language="en", target_language="de")
    summary = export(kind="segments", campaign=run.campaign, path=tmp_path, format="mtme-raw")
    assert summary.path.name == "en-de.da-raw.seg.score"
    assert summary.path.read_bytes() == theirs.read_bytes()
    assert summary.n_incomplete == 104
