"""Documents and several outputs next to single translations: importing, building HITs, and saving a rating.

    python -m benchmarks.documents [--database sqlite|postgres] [--seconds 10]

The texts are those of WMT23 English to German if they are available (tests/replication/README.md), and otherwise random
words in documents of eight segments. They are imported with and without their documents, and built in each
presentation, each in its own process on a new SQLite database.

For saving, two platforms on databases of one kind, one with a campaign of documents and one without, both with HITs of
100 items. The same scripted workers send ratings to both, in turns.
"""

import codecs
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.concurrency.databases import DATABASES, platform_environment, sqlite_databases
from tests.replication.locating import data_folder

from .clients import RATE
from .import_and_build import N_SYSTEMS, Figures, build, import_folder, random_campaign
from .measuring import in_own_process
from .stage import Stage, prepare_database, serving, take_turns
from .table import Row, run

N_WORKERS = 8
# The platform's targets: queries of one rating, and how much longer it may take than one alone.
MAX_QUERIES = 4
MAX_RATIO = 1.2
# And the least items per second, against those of single translations in the same run.
MIN_SPEED = 0.5
WMT23 = data_folder() / "wmt23-mtme" / "wmt23"
# Of random words: as many segments as at WMT23, in documents of eight.
N_SEGMENTS = 557


def measure_building(tries: int) -> Iterator[Row]:
    with sqlite_databases() as make_database, TemporaryDirectory() as scratch:
        plain, with_documents = write_texts(Path(scratch))
        best: dict[tuple[str, str], float] = {}
        n_items: dict[tuple[str, str], float] = {}
        for number in range(tries):
            for way in ("alone", "document", "side"):
                folder = with_documents if way == "document" else plain
                environment = platform_environment(make_database(f"{way}_{number}"))
                for step, figures in (
                    (
                        "import",
                        in_own_process(
                            import_folder, environment=environment, folder=folder, presentation=way
                        ),
                    ),
                    ("build", in_own_process(build, environment=environment)),
                ):
                    best[step, way] = max(best.get((step, way), 0), speed(figures))
                    n_items[step, way] = figures["n_items"]
    for step, way, title in (
        ("import", "document", "translations with their documents"),
        ("build", "document", "items in documents"),
        ("build", "side", "items side by side"),
    ):
        yield Row(
            f"{step} {n_items[step, way]:,.0f} {title} against single translations",
            best[step, way],
            "items/s",
            best[step, "alone"],
            min_ratio=MIN_SPEED,
        )


def speed(figures: Figures) -> float:
    return figures["n_items"] / figures["seconds"]


def write_texts(folder: Path) -> tuple[Path, Path]:
    """Write the texts twice, without and with their documents."""
    plain, with_documents = folder / "plain", folder / "documents"
    if WMT23.is_dir():
        lines = (WMT23 / "documents" / "en-de.docs").read_text("utf-8").splitlines()
        documents = [line.split("\t")[1] for line in lines]
        (plain / "systems").mkdir(parents=True)
        files = {"sources.txt": WMT23 / "sources" / "en-de.txt"}
        files["references.txt"] = WMT23 / "references" / "en-de.refA.txt"
        systems = sorted((WMT23 / "system-outputs" / "en-de").glob("*.txt"))
        for path in [path for path in systems if path.stem != "refA"][:N_SYSTEMS]:
            files[f"systems/{path.name}"] = path
        for name, path in files.items():
            (plain / name).write_bytes(path.read_bytes().replace(codecs.BOM_UTF8, b""))
    else:
        random_campaign(plain, N_SEGMENTS)
        documents = [str(number // 8) for number in range(N_SEGMENTS)]
    shutil.copytree(plain, with_documents)
    (with_documents / "documents.txt").write_text("\n".join(documents) + "\n", "utf-8")
    return plain, with_documents


def measure(database: str, *, seconds: int, tries: int) -> Iterator[Row]:
    # The same whatever the database of the ratings.
    if database == "sqlite":
        yield from measure_building(tries)
    with DATABASES[database]() as make_database:
        alone, in_context = make_database("alone"), make_database("in_context")
        prepare_database(alone, 0)
        prepared = prepare_database(in_context, 0, presentation="document")
        with serving(alone) as alone_server, serving(in_context) as context_server:
            stages = {
                "alone": (Stage.of(alone_server, alone, N_WORKERS), RATE),
                "context": (Stage.of(context_server, in_context, N_WORKERS), RATE),
            }
            timings = take_turns(stages, seconds)
    without, within = timings["alone"], timings["context"]
    queries = prepared["n_queries"]
    yield Row(
        f"{database}: queries of a rating in its document at item 99 against item 1",
        queries["99"],
        "",
        queries["1"],
        maximum=MAX_QUERIES,
        max_ratio=1,
    )
    yield Row(
        f"{database}: {N_WORKERS} workers, a rating in its document against one alone, mean",
        1000 * N_WORKERS / within.per_second,
        "ms",
        1000 * N_WORKERS / without.per_second,
        max_ratio=MAX_RATIO,
        note=f"in documents: {within.note}\n  alone: {without.note}",
    )
    yield Row(
        f"{database}: {N_WORKERS} workers, a rating in its document against one alone, p50",
        within.quantile_ms(50),
        "ms",
        without.quantile_ms(50),
        max_ratio=MAX_RATIO,
    )


if __name__ == "__main__":
    run(
        measure,
        __doc__,
        sizes={"seconds": (10, 1), "tries": (3, 1)},
        databases=["sqlite", "postgres"],
    )
