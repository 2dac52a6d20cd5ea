"""Read the folder layout of mt-metrics-eval: plain text files of many language pairs."""

import re
from pathlib import Path

from da_platform.files.problems import Problems
from da_platform.files.reading import CampaignFolder, files_in

from .plain_text import Layout, by_name, read_layout
from .records import Draft, ReadingOptions

OUTPUTS_FOLDER = "system-outputs"
# Such as synthetic_ref of WMT23.
SYNTHETIC_REFERENCE = re.compile(r"(?i)synthetic[-_]?ref(erence)?")


def read_mt_metrics_eval(path: Path, options: ReadingOptions, problems: Problems) -> Draft:
    folder = CampaignFolder(path)
    pair = f"{options.source_language}-{options.target_language}"
    layout = _find_layout(folder, pair, problems)
    notes = _leave_out_the_reference(layout, options) + _leave_out_synthetic(layout)
    layout.rated_references = layout.references.keys() & layout.systems.keys()
    draft = read_layout(layout, options, problems)
    draft.notes += notes
    return draft


def _find_layout(folder: CampaignFolder, pair: str, problems: Problems) -> Layout:
    root = folder.path
    layout = Layout(
        folder,
        documents_have_domains=True,
        where_systems_go=f"{OUTPUTS_FOLDER}/{pair}/NAME.txt",
        references=_references(folder, pair, problems),
    )
    sources = root / "sources" / f"{pair}.txt"
    layout.sources = sources if sources.exists() else None
    documents = root / "documents" / f"{pair}.docs"
    layout.documents = documents if documents.exists() else None
    outputs = root / OUTPUTS_FOLDER / pair
    if outputs.is_dir() and folder.holds(outputs):
        files = files_in(outputs)
        names = [path.name.removesuffix(".txt") for path in files]
        layout.systems = by_name(folder, "system", names, files, problems)
    else:
        pairs = ", ".join(folder.shown(path) for path in files_in(root / OUTPUTS_FOLDER))
        layout.where_systems_go += f" (there are {pairs or 'none'})"
    return layout


def _references(folder: CampaignFolder, pair: str, problems: Problems) -> dict[str, Path]:
    """Find the files `PAIR.NAME.txt`, by NAME."""
    references = folder.path / "references"
    if not references.is_dir():
        return {}
    files = [
        path
        for path in files_in(references)
        if path.name.startswith(f"{pair}.") and path.name.endswith(".txt")
    ]
    names = [path.name.removeprefix(f"{pair}.").removesuffix(".txt") for path in files]
    return by_name(folder, "reference", names, files, problems)


def _leave_out_the_reference(layout: Layout, options: ReadingOptions) -> list[str]:
    """Drop the output that is the reference itself: compared with itself, it would be rated 100."""
    chosen = options.reference or next(iter(layout.references), None)
    if not options.needs_reference or chosen not in layout.systems:
        return []
    del layout.systems[chosen]
    return [f"output {chosen} is the reference and is not rated against itself"]


def _leave_out_synthetic(layout: Layout) -> list[str]:
    """Drop references made from several systems' outputs: they are no system."""
    synthetic = [name for name in layout.systems if SYNTHETIC_REFERENCE.fullmatch(name)]
    for name in synthetic:
        del layout.systems[name]
    return [f"output {name} is a synthetic reference and is not rated" for name in synthetic]
