"""Exports use pseudonyms for workers, unless an admin gives a reason for real ids."""

import csv
import hashlib
import json
import os
import stat

import pytest
from django.contrib.auth.models import User
from django.test import override_settings

from analysis.exporting import ExportRefused, export
from da_platform.files.pseudonyms import Pseudonyms, key_fingerprint
from hits.models import Assignment, AuditEntry
from hits.rating.assignments import take_assignment
from tests.analysis.export_rows import make_gold
from tests.factories import log_lines, make_campaign, make_hits, make_worker, rate_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    campaign = make_hits()
    for name in ("alice", "=HYPERLINK(1)"):
        worker = make_worker(name)
        rate_items(take_assignment(campaign=campaign, worker=worker), n_items=2)
    return campaign


@pytest.fixture
def ada():
    return User.objects.create_superuser("ada")


def export_real_ids(campaign, path, actor, reason="Dispute 17", kind="ratings"):
    options = {"real_ids": True, "actor": actor, "reason": reason}
    export(kind=kind, campaign=campaign, path=path, format="csv", **options)


def column(path, name: str) -> list[str]:
    with path.open(newline="") as file:
        return [row[name] for row in csv.DictReader(file)]


def test_a_worker_has_the_same_pseudonym_throughout_a_campaign(campaign, tmp_path):
    for place in range(2):
        export(kind="ratings", campaign=campaign, path=tmp_path / f"{place}.csv", format="csv")
    names = column(tmp_path / "0.csv", "worker")
    assert names == column(tmp_path / "1.csv", "worker")
    assert [len(set(pair)) for pair in (names[:2], names[2:], names)] == [1, 1, 2]


def test_a_worker_has_a_different_pseudonym_in_each_campaign():
    first, second = (Pseudonyms(make_campaign().code, "worker") for _ in range(2))
    assert first.name("link:alice") != second.name("link:alice")


def test_an_assignment_and_a_worker_with_the_same_id_have_different_pseudonyms():
    campaign = make_campaign()
    names = {Pseudonyms(campaign.code, sort).name("x")[1:] for sort in ("worker", "assignment")}
    assert len(names) == 2


def test_pseudonyms_cannot_be_computed_without_the_secret_key():
    campaign = make_campaign()
    name = Pseudonyms(campaign.code, "worker").name("link:alice")
    with override_settings(SECRET_KEY="another"):
        assert Pseudonyms(campaign.code, "worker").name("link:alice") != name
        other_key = key_fingerprint()
    assert key_fingerprint() != other_key
    guesses = [
        "alice",
        "link:alice",
        f"{campaign.code.hex}link:alice",
        f"{campaign.code}link:alice",
    ]
    for guess in guesses:
        for algorithm in ("md5", "sha1", "sha256"):
            assert name[1:] not in hashlib.new(algorithm, guess.encode()).hexdigest()


def test_names_of_many_workers_differ_and_memory_is_bounded():
    names = Pseudonyms(make_campaign().code, "worker")
    all_names = names.names([f"link:{number}" for number in range(60_000)])
    assert len(set(all_names)) == 60_000
    assert names.name("link:0") == all_names[0]
    assert len(names._cache) <= 50_000


@pytest.mark.parametrize("kind", ["ratings", "evidence"])
@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
def test_neither_the_file_nor_its_sidecar_contains_a_real_id(campaign, tmp_path, kind, format):
    export(kind=kind, campaign=campaign, path=tmp_path / "file", format=format)
    for path in tmp_path.iterdir():
        content = path.read_bytes()
        assert b"alice" not in content and b"HYPERLINK" not in content
        for assignment in Assignment.objects.all():
            assert assignment.code.hex.encode() not in content
            assert str(assignment.code).encode() not in content
    meta = json.loads((tmp_path / "file.meta.json").read_text())
    assert meta["worker_ids"] == "pseudonyms" and meta["pseudonym_key"] == key_fingerprint()


def test_an_admin_with_a_reason_gets_real_ids_which_is_audited(campaign, tmp_path, ada):
    path = tmp_path / "real.csv"
    export_real_ids(campaign, path, ada)
    assert set(column(path, "worker")) == {"link:alice", "link:=HYPERLINK(1)"}
    assert set(column(path, "assignment")) == {
        assignment.code.hex for assignment in Assignment.objects.all()
    }
    entry = AuditEntry.objects.get(action="real ids exported")
    assert (entry.actor, entry.campaign, entry.reason) == (ada, campaign, "Dispute 17")
    assert entry.details == {"kind": "ratings", "format": "csv", "path": str(path)}
    assert json.loads((tmp_path / "real.csv.meta.json").read_text())["worker_ids"] == "real"


def test_a_file_with_real_ids_is_readable_by_its_owner_only(campaign, tmp_path, ada):
    before = os.umask(0o022)
    try:
        export(kind="ratings", campaign=campaign, path=tmp_path / "names.csv", format="csv")
        export_real_ids(campaign, tmp_path / "real.csv", ada)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {
        "names.csv": 0o644,
        "names.csv.meta.json": 0o644,
        "real.csv": 0o600,
        "real.csv.meta.json": 0o600,
    }


@pytest.mark.parametrize(
    ("who", "reason", "message"),
    [
        (None, "why", "Only an admin"),
        ({"username": "bob", "is_staff": True}, "why", "Only an admin"),
        ({"username": "eve", "is_superuser": True, "is_active": False}, "why", "Only an admin"),
        ({"username": "ada", "is_superuser": True}, "  ", "Give a reason"),
    ],
)
def test_real_ids_need_an_admin_and_a_reason(campaign, tmp_path, who, reason, message):
    actor = User.objects.create(**who) if who else None
    with pytest.raises(ExportRefused, match=message):
        export_real_ids(campaign, tmp_path / "real.csv", actor, reason)
    assert list(tmp_path.iterdir()) == [] and not log_lines().exists()


def test_scores_contain_no_worker_ids(tmp_path, ada):
    with pytest.raises(ExportRefused, match="does not contain worker ids"):
        export_real_ids(make_gold().campaign, tmp_path / "s.csv", ada, kind="segments")
