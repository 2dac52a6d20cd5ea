"""Write the result of an experiment into a folder: tables, figures, data and a report."""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..tables.writing import escape_markdown, to_latex, to_markdown
from .base import ExperimentKind, ExperimentRefused, OutputsToRate, Result

RESULT, REPORT = "result.json", "report.md"
# The folder for `import_campaign`.
CAMPAIGN = "campaign"


def check_folder(folder: Path, *, force: bool = False) -> None:
    """Refuse a path that is not a folder, and without `force` a folder that is not empty."""
    if folder.exists() and not folder.is_dir():
        raise ExperimentRefused(f"{folder} is not a folder.")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise ExperimentRefused(f"{folder} is not empty. Nothing was written.")


def write_experiment(
    kind: ExperimentKind, result: Result, folder: Path, *, force: bool = False
) -> list[Path]:
    """Write all files of a result, the same bytes every time, and return their paths."""
    check_folder(folder, force=force)
    return _write(folder, _files(kind, result))


def zipped(kind: ExperimentKind, result: Result, outputs: OutputsToRate | None) -> bytes:
    """Return the same files as a zip, with those of a campaign if there are outputs to rate."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in _files(kind, result):
            # With a fixed date, so that the bytes are the same every time.
            archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
        for path, text in (campaign_files(outputs) if outputs else {}).items():
            archive.writestr(zipfile.ZipInfo(f"{CAMPAIGN}/{path}"), text, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def write_campaign(outputs: OutputsToRate, folder: Path) -> list[Path]:
    """Write the outputs as the files of a campaign, and return their paths."""
    texts = campaign_files(outputs).items()
    return _write(folder / CAMPAIGN, ((path, text.encode()) for path, text in texts))


def _write(folder: Path, files: Iterable[tuple[str, bytes]]) -> list[Path]:
    paths = []
    for name, content in files:
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise ExperimentRefused(f"Cannot write {path}: {error.strerror}.") from error
        paths.append(path)
    return paths


def _files(kind: ExperimentKind, result: Result) -> Iterator[tuple[str, bytes]]:
    tables, pictures = kind.tables(result), kind.pictures(result)
    yield RESULT, json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False).encode()
    for table in tables:
        yield f"tables/{table.name}.tex", to_latex(table).encode()
        yield f"tables/{table.name}.md", to_markdown(table).encode()
        yield f"tables/{table.name}.csv", table.csv()
    for table in kind.long_tables(result):
        yield f"tables/{table.name}.csv", table.csv()
    for picture in pictures:
        for fmt, content in picture.render_all().items():
            yield f"figures/{picture.name}.{fmt}", content
        yield f"figures/{picture.name}.csv", picture.csv()
    parts = [f"# {escape_markdown(kind.title)}\n"]
    parts += [f"* {escape_markdown(sentence)}" for sentence in kind.findings(result)]
    parts += ["\n## Tables\n", *(to_markdown(table) for table in tables)]
    if pictures:
        parts.append("## Figures\n")
    for picture in pictures:
        alt, caption = escape_markdown(picture.title), escape_markdown(picture.alternative)
        parts.append(f"![{alt}](<figures/{picture.name}.svg>)\n\n{caption}\n")
    parts.append("## Inputs and signature\n")
    parts += [
        f"* {escape_markdown(each['name'])} ({each['role']}): `{each['sha256']}`"
        for each in result["inputs"]
    ]
    parts.append(f"\n`{result['signature'].replace('`', chr(39))}`\n")
    yield REPORT, "\n".join(parts).encode()


def campaign_files(outputs: OutputsToRate) -> dict[str, str]:
    """Return the texts of the files of a campaign, by their paths."""
    columns = {
        "references.txt": outputs.references,
        "sources.txt": outputs.sources,
        "ids.txt": outputs.names,
    } | {f"systems/{name}.txt": lines for name, lines in outputs.systems.items()}
    return {
        path: "".join(f"{line}\n" for line in lines) for path, lines in columns.items() if lines
    }
