"""Import mutated files of campaigns, collections, scores, gold and results: each is either taken or refused.

    python -m tests.fuzz.files --seed 1 --number 100

Prints JSON: how many files of each kind were taken and refused, and every fault, which is an unexpected exception, a
table changed by a refused file, or too much time or memory.
"""

import argparse
import json
import logging
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

Spoil = Callable[[Path, random.Random], None]
DATA = Path(__file__).parents[1] / "data"
CAMPAIGNS = ("simple", "mt-metrics-eval", "test-set-folder", "wmt-sgml")
CAMPAIGNS += ("table.csv", "table.tsv", "table.jsonl", "test-set.xml", "wmt-humeval.jsonl")
COLLECTIONS = {
    "appraise": ("appraise.csv",),
    "mturk": ("mturk.csv",),
    "wmt-da": ("wmt-da.csv", "wmt-da-means.txt"),
}
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
# Processor time for a file of a few kilobytes, and memory of the whole process.
MAX_SECONDS = 10.0
MAX_ADDRESS_SPACE = 6 << 30
PIECES = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r\n", b"\n", b"\t", b",", b'"', b"<", b"&x;", b"]]>", b"{", b"}",
    b"\\u0000", b"\\ud800", b"NaN", b"1e999", b"-1", b"9" * 50, b"\xe2\x80\xae", b"\xed\xa0\x80", b"=1+1",
    b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"a" * 11_000, b"[" * 3_000, b"<seg>", b"</doc>",
    b"<hyp>", b"<doc id='x'>", b'<?xml version="1.0" encoding="gb18030"?>',
)  # fmt: skip


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Change a file in a few places: bytes, lines, lengths."""
    for _ in range(rng.randint(1, 4)):
        lines = content.split(b"\n")
        at = rng.randrange(len(content) + 1)
        match rng.randint(0, 7):
            case 0:
                content = content[:at] + rng.choice(PIECES) + content[at:]
            case 1:
                content = content[:at] + content[at + rng.randint(1, 40) :]
            case 2 if content:
                changed = bytearray(content)
                changed[at % len(content)] ^= 1 << rng.randint(0, 7)
                content = bytes(changed)
            case 3:
                rng.shuffle(lines)
                content = b"\n".join(lines)
            case 4:
                line = rng.randrange(len(lines))
                content = b"\n".join(lines[:line] + lines[line : line + 1] * 2 + lines[line + 1 :])
            case 5:
                line = rng.randrange(len(lines))
                content = b"\n".join(lines[:line] + lines[line + 1 :])
            case 6:
                content = content[:at]
            case _:
                cells = content.split(rng.choice([b"\t", b",", b'"', b">"]))
                cells[rng.randrange(len(cells))] = rng.choice(PIECES)
                content = rng.choice([b"\t", b",", b'"', b">"]).join(cells)
    return content


def spoil(path: Path, rng: random.Random) -> None:
    """Change a file or a file in a folder; now and then rename or delete it."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    victim = rng.choice(files)
    if path.is_dir() and rng.random() < 0.1:
        victim.unlink()
    elif path.is_dir() and rng.random() < 0.1:
        victim.rename(victim.with_name(rng.choice(["x", "<b>.txt", "ö.en", "a" * 200])))
    else:
        victim.write_bytes(mutated(victim.read_bytes(), rng))


def leave(path: Path, rng: random.Random) -> None:
    """Change nothing. That these files are taken shows that refusals are due to the changes."""


class Fuzzer:
    def __init__(self, seed: int, folder: Path, spoil: Spoil) -> None:
        self.seed, self.folder, self.spoil = seed, folder, spoil
        self.outcomes: Counter[str] = Counter()
        self.faults: list[str] = []
        self.campaign = self._make_campaign()
        self.draft = CampaignDraft.objects.create(
            owner=make_person("admin"), basics={"name": "new"}
        )
        self.before = contents()

    def _make_campaign(self) -> "Campaign":
        """Make a campaign with gold, a file of scores, and a file of results that are all new to it."""
        campaign = make_hits(name="rated", min_ratings=2, hit_size=100, n_segments=35)
        simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 3}, seed=1)
        weigh_pending()
        outputs = SystemOutput.objects.filter(system__campaign=campaign)
        rows = ["system\tsegment\tscore"]
        # With many digits, most changes give another valid score.
        rows += [
            f"{output.system.name}\t{output.segment.name}\t{output.pk**0.5:.15f}"
            for output in outputs
        ]
        (self.folder / "scores.tsv").write_text("\n".join(rows) + "\n")
        export_batch(
            campaign=campaign, path=self.folder / "results.csv", with_results=True, real_ids=True
        )
        build_gold(campaign=campaign, minimum=1)
        return campaign

    def fuzz(self, number: int) -> None:
        kinds = [self._campaign, self._campaign, self._archive, self._collection]
        kinds += [self._scores, self._gold, self._results]
        for turn in range(number):
            rng = random.Random(f"{self.seed}-{turn}")
            kind = rng.choice(kinds)
            if len(self.faults) < 20:
                self._try(f"{self.seed}-{turn}", kind, rng)

    def _try(
        self, name: str, kind: Callable[[str, random.Random], None], rng: random.Random
    ) -> None:
        kind_name = kind.__name__.strip("_")
        started = time.process_time()
        try:
            with transaction.atomic():
                try:
                    kind(name, rng)
                except PlatformError:
                    self.outcomes[f"{kind_name} refused"] += 1
                    if changed := self._changed_tables():
                        self.faults.append(f"{name} {kind_name}: refused, but changed {changed}")
                else:
                    self.outcomes[f"{kind_name} taken"] += 1
                # Undo all changes, so that each file meets the same database.
                transaction.set_rollback(True)
        except Exception as error:
            self.faults.append(f"{name} {kind_name}: {error!r}"[:500])
        if (seconds := time.process_time() - started) > MAX_SECONDS:
            self.faults.append(f"{name} {kind_name}: took {seconds:.1f} s")

    def _changed_tables(self) -> str:
        """Compare row counts and digests, as in the manifest of a backup."""
        now = contents()
        return ", ".join(sorted(name for name in now if now[name] != self.before[name]))

    def _copy(self, name: str, original: Path) -> Path:
        path = self.folder / f"{name}-{original.name}"
        (shutil.copytree if original.is_dir() else shutil.copy)(original, path)
        return path

    @contextmanager
    def _spoilt(self, name: str, original: Path, rng: random.Random) -> Iterator[Path]:
        path = self._copy(name, original)
        self.spoil(path, rng)
        try:
            yield path
        finally:
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _campaign(self, name: str, rng: random.Random) -> None:
        with self._spoilt(name, DATA / "campaigns" / rng.choice(CAMPAIGNS), rng) as path:
            options = self._mending if rng.random() < 0.5 else {}
            import_campaign(
                path=path, name=name, source_language="de", target_language="en", **options
            )

    _mending = {"clean": True, "encoding": "windows-1252", "allow_missing_translations": True}

    def _archive(self, name: str, rng: random.Random) -> None:
        """An uploaded ZIP file, changed before or after packing."""
        folder = self._copy(name, DATA / "campaigns" / "simple")
        packed = folder.with_suffix(".zip")
        is_spoilt_inside = rng.random() < 0.5
        if is_spoilt_inside:
            self.spoil(folder, rng)
        with zipfile.ZipFile(
            packed, "w", rng.choice(PACKED[:2] if self.spoil is leave else PACKED)
        ) as archive:
            for file in sorted(folder.rglob("*")):
                archive.write(file, file.relative_to(folder))
        if not is_spoilt_inside:
            self.spoil(packed, rng)
        try:
            file = SimpleUploadedFile(packed.name, packed.read_bytes())
            keep_files(draft=self.draft, uploads=[Upload(packed.name, file)])
            # The files of the draft do not count as changes.
            CampaignDraft.objects.update(files=[])
            path = campaign_path(self.draft)
            import_campaign(path=path, name=name, source_language="de", target_language="en")
        finally:
            shutil.rmtree(folder)
            packed.unlink()

    def _gold(self, name: str, rng: random.Random) -> None:
        with self._spoilt(name, self.folder / "scores.tsv", rng) as path:
            file = RawFile(path.name, path.read_bytes())
            store_uploaded_gold(files=[file], home=self.campaign, reading=GoldReading("da", True))

    def _collection(self, name: str, rng: random.Random) -> None:
        format = rng.choice(sorted(COLLECTIONS))
        paths = [self._copy(name, DATA / "collections" / file) for file in COLLECTIONS[format]]
        self.spoil(rng.choice(paths), rng)
        try:
            import_collection(
                paths=paths, format=format, name=name, source_language="de", target_language="en"
            )
        finally:
            for path in paths:
                path.unlink()

    def _scores(self, name: str, rng: random.Random) -> None:
        with self._spoilt(name, self.folder / "scores.tsv", rng) as path:
            table = read_scores(path, directions=True)
            store_score_file(file=table, file_name=path.name, home=self.campaign)
            evaluate_campaign(campaign=self.campaign, options=Options(n_resamples=20))

    def _results(self, name: str, rng: random.Random) -> None:
        with self._spoilt(name, self.folder / "results.csv", rng) as path:
            import_results(campaign=self.campaign, paths=[path])


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--whole", action="store_true", help="change nothing: all must be taken")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_SPACE, MAX_ADDRESS_SPACE))
    own_database()
    with tempfile.TemporaryDirectory(prefix="da-fuzz-") as folder:
        fuzzer = Fuzzer(options.seed, Path(folder), leave if options.whole else spoil)
        fuzzer.fuzz(options.number)
    print(json.dumps({"outcomes": fuzzer.outcomes, "faults": fuzzer.faults}))
    return 0


if __name__ == "__main__":
    import django

    django.setup()
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.db import transaction

    from analysis.evaluation import Options
    from analysis.evaluation.stored_evaluations import evaluate_campaign
    from analysis.evaluation.uploading import GoldReading, store_uploaded_gold
    from analysis.gold.runs import build_gold
    from analysis.scores.raw_files import RawFile
    from analysis.scores.reading import read_scores
    from analysis.scores.storing import store_score_file
    from da_platform.exceptions import PlatformError
    from da_platform.operation.backups import contents
    from hits.archives import import_collection
    from hits.batches import export_batch, import_results
    from hits.campaigns.importing import import_campaign
    from hits.campaigns.simulation import Behaviour, simulate_workers
    from hits.campaigns.uploads import Upload, campaign_path, keep_files
    from hits.models import Campaign, CampaignDraft, SystemOutput
    from hits.workers.trust import weigh_pending
    from tests.factories import make_hits
    from tests.migrated import own_database
    from tests.people import make_person

    sys.exit(main())
