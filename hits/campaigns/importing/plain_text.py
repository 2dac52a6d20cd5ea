"""Read folders of plain text files: one segment per line, on the same line in every file."""

import itertools
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from da_platform.files.problems import Problems
from da_platform.files.reading import (
    LEADS_OUT,
    CampaignFolder,
    Line,
    files_in,
    printable,
    read_lines,
)
from da_platform.files.texts import fault_in_name

from .languages import of_the_language, of_the_pair
from .records import (
    NEEDS_REFERENCES,
    NO_TEXT,
    Draft,
    ReadingOptions,
    checked_name,
    checked_text,
)

SOURCE_NAMES = ("sources", "source")
REFERENCE_NAMES = ("references", "reference")
SECOND_REFERENCE_NAMES = ("second_references", "second_reference", "paraphrases", "paraphrase")
SYSTEM_FOLDERS = ("systems", "system")


@dataclass
class Layout:
    """The files of a campaign by their content."""

    folder: CampaignFolder
    sources: Path | None = None
    references: dict[str, Path] = field(default_factory=dict)
    second_references: Path | None = None
    # References that are rated as outputs too.
    rated_references: set[str] = field(default_factory=set)
    systems: dict[str, Path] = field(default_factory=dict)
    documents: Path | None = None
    ids: Path | None = None
    # Whether lines of the documents file are "domain TAB document".
    documents_have_domains: bool = False
    # Suggested to the user if there are no systems.
    where_systems_go: str = "systems/NAME.txt"


def read_plain_text(path: Path, options: ReadingOptions, problems: Problems) -> Draft:
    layout = find_layout(CampaignFolder(path), options, problems)
    return read_layout(layout, options, problems)


# Finding the files ----------------------------------------------------------------------------


def find_layout(folder: CampaignFolder, options: ReadingOptions, problems: Problems) -> Layout:
    """Sort the files of a folder into sources, references, systems, documents and ids."""
    layout = Layout(folder)
    sources: list[Path] = []
    references: list[Path] = []
    second_references: list[Path] = []
    system_folders: list[Path] = []
    for path in files_in(folder.path):
        stem = path.name.partition(".")[0]
        if stem in SOURCE_NAMES:
            sources += _files_of(path)
        elif stem in REFERENCE_NAMES:
            references += _files_of(path)
        elif stem in SECOND_REFERENCE_NAMES:
            second_references += _files_of(path)
        elif not folder.holds(path):
            problems.add(folder.shown(path), None, LEADS_OUT)
        elif path.is_dir():
            system_folders.append(path)
        elif path.name == "documents.txt":
            layout.documents = path
        elif path.name == "ids.txt":
            layout.ids = path
        else:
            problems.add(folder.shown(path), None, "does not belong in a campaign folder")
    sources = _of_the_languages(sources, options.source_language, options)
    references = _of_the_languages(references, options.target_language, options)
    layout.sources = _only(sources, "source", folder, problems)
    layout.second_references = _only(second_references, "second reference", folder, problems)
    names = [_reference_name(path) for path in references]
    layout.references = by_name(folder, "reference", names, references, problems)
    layout.systems = _find_systems(folder, system_folders, options, problems)
    return layout


def _only(files: list[Path], what: str, folder: CampaignFolder, problems: Problems) -> Path | None:
    if len(files) > 1:
        listed = ", ".join(folder.shown(path) for path in files)
        problems.add(folder.shown(folder.path), None, f"has several {what} files: {listed}")
    return files[0] if files else None


def _of_the_languages(files: list[Path], language: str, options: ReadingOptions) -> list[Path]:
    """Of the files of several language pairs, keep those of the campaign's."""
    files = of_the_language(files, language)
    if len(files) == 1:
        return files
    return of_the_pair(files, options.source_language, options.target_language)


def _files_of(path: Path) -> list[Path]:
    return files_in(path) if path.is_dir() else [path]


def _reference_name(path: Path) -> str:
    """Name a reference after its file: `references.A.txt` and `references/A.txt` are both A."""
    name = path.name.removesuffix(".txt")
    stem, _, suffix = name.partition(".")
    return suffix if stem in REFERENCE_NAMES and suffix else name


def _find_systems(
    folder: CampaignFolder, candidates: list[Path], options: ReadingOptions, problems: Problems
) -> dict[str, Path]:
    standard = [path for path in candidates if path.name in SYSTEM_FOLDERS]
    folders = standard or [deep for path in candidates for deep in folders_with_files(path)]
    if len(folders) > 1:
        pair = f"{options.source_language}-{options.target_language}"
        folders = [path for path in folders if path.name == pair] or folders
    if len(folders) > 1:
        listed = ", ".join(folder.shown(path) for path in folders)
        problems.add(
            folder.shown(folder.path),
            None,
            f"has several folders that may contain systems: {listed}",
        )
    if not folders:
        return {}
    files = files_in(folders[0])
    if standard:
        names = [_without_extension(path.name, options) for path in files]
    else:
        names = without_common_parts([path.name for path in files])
    return by_name(folder, "system", names, files, problems)


def folders_with_files(path: Path) -> list[Path]:
    """List this folder and its subfolders that contain files. Links are not followed, to avoid loops."""
    entries = files_in(path)
    subfolders = [entry for entry in entries if entry.is_dir() and not entry.is_symlink()]
    folders = [path] if len(subfolders) < len(entries) else []
    return folders + [deep for entry in subfolders for deep in folders_with_files(entry)]


def _without_extension(name: str, options: ReadingOptions) -> str:
    for extension in (".txt", f".{options.target_language}"):
        if name.endswith(extension) and name != extension:
            return name.removesuffix(extension)
    return name


def without_common_parts(names: list[str]) -> list[str]:
    """Remove the dot-separated parts that all names begin or end with.

    A single name only loses its `.txt`.
    """
    if len(names) == 1:
        return [names[0].removesuffix(".txt") or names[0]]
    parts = [name.split(".") for name in names]
    n_before = _n_common(parts)
    n_after = _n_common([part[n_before:][::-1] for part in parts])
    return [".".join(part[n_before : len(part) - n_after]) for part in parts]


def _n_common(rows: list[list[str]]) -> int:
    """Count the leading elements that all rows share, leaving each row at least one."""
    columns = list(zip(*rows, strict=False))[: min(map(len, rows), default=1) - 1]
    return sum(1 for _ in itertools.takewhile(lambda column: len(set(column)) == 1, columns))


def by_name(
    folder: CampaignFolder, what: str, names: list[str], files: list[Path], problems: Problems
) -> dict[str, Path]:
    """Return the files by name, sorted."""
    named: dict[str, Path] = {}
    for name, path in zip(names, files, strict=True):
        if fault := fault_in_name(name):
            problems.add(folder.shown(path), None, f"the {what}'s name {name!r} {fault}")
        elif name in named:
            other = folder.shown(named[name])
            problems.add(
                folder.shown(path), None, f"the {what}'s name {name!r} is already used by {other}"
            )
        named.setdefault(name, path)
    return dict(sorted(named.items()))


# Reading the files ----------------------------------------------------------------------------


def read_layout(layout: Layout, options: ReadingOptions, problems: Problems) -> Draft:
    draft = Draft()
    folder = layout.folder
    reference = choose_reference(
        layout.references, options, problems, file=folder.shown(folder.path)
    )
    _report_absent(layout, reference, options, problems)
    columns = _Columns(folder, draft, options, problems)
    sources = columns.read(layout.sources, "the source")
    references = columns.read(
        None if reference is None else layout.references[reference], "the reference"
    )
    second_references = columns.read(
        _second_reference_file(layout, reference, draft, options, problems), "the second reference"
    )
    ids = columns.read_names(layout.ids, "the segment's id")
    documents = columns.read_documents(layout.documents, layout.documents_have_domains)
    outputs = {name: columns.read_outputs(path) for name, path in layout.systems.items()}
    columns.report_wrong_lengths()
    if ids:
        columns.report_doubled(layout.ids, ids)
    if problems.total == 0:
        _fill(
            draft, columns.n_lines, sources, references, second_references, ids, documents, outputs
        )
        draft.report_missing_outputs(folder.shown(folder.path), options, problems)
    return draft


def choose_reference(
    names: Iterable[str], options: ReadingOptions, problems: Problems, *, file: str
) -> str | None:
    """Return the reference that the options name, or else the only one."""
    names = list(names)
    listed = ", ".join(map(printable, names))
    if options.reference is not None:
        if options.reference in names:
            return options.reference
        choices = f"choose from {listed}" if names else "there are no references"
        problems.add(file, None, f"has no reference {options.reference!r}; {choices}")
    elif len(names) > 1:
        problems.add(file, None, f"has several references; choose one (--reference): {listed}")
    elif names:
        return names[0]
    elif options.needs_reference:
        problems.add(file, None, "has no references, which the task needs")
    return None


def _second_reference_file(
    layout: Layout,
    reference: str | None,
    draft: Draft,
    options: ReadingOptions,
    problems: Problems,
) -> Path | None:
    folder = layout.folder
    file = folder.shown(folder.path)
    if layout.second_references is None:
        unrated = [name for name in layout.references if name not in layout.rated_references]
        names = unrated if options.second_reference is None else layout.references
        name = choose_second_reference(names, reference, options, problems, file=file)
        if name is None:
            return None
        draft.notes.append(second_reference_note(name))
        return layout.references[name]
    if options.second_reference is not None:
        listed = folder.shown(layout.second_references)
        problems.add(file, None, f"has {listed}, so a second reference cannot be chosen")
    elif not layout.references:
        problems.add(folder.shown(layout.second_references), None, NEEDS_REFERENCES)
    return layout.second_references


def choose_second_reference(
    names: Iterable[str],
    reference: str | None,
    options: ReadingOptions,
    problems: Problems,
    *,
    file: str,
) -> str | None:
    """Return the second reference that the options name, or else the first of the others."""
    others = [name for name in names if name != reference]
    chosen = options.second_reference
    if chosen is None:
        is_wanted = reference is not None and options.needs_reference
        return others[0] if is_wanted and others else None
    if chosen in others:
        return chosen
    if chosen == reference:
        problems.add(file, None, f"reference {chosen!r} cannot be the second reference too")
        return None
    choices = (
        f"choose from {', '.join(map(printable, others))}" if others else "there are no others"
    )
    problems.add(file, None, f"has no second reference {chosen!r}; {choices}")
    return None


def second_reference_note(name: str) -> str:
    return f"reference {name or 'without a name'} is the second reference: rated as a hidden item, never shown in gray"


def _report_absent(
    layout: Layout, reference: str | None, options: ReadingOptions, problems: Problems
) -> None:
    name = layout.folder.shown(layout.folder.path)
    if layout.sources is None and options.needs_source:
        problems.add(name, None, "has no sources, which the task needs")
    elif layout.sources is None and not layout.references and not options.needs_reference:
        problems.add(name, None, "has neither sources nor references")
    if not layout.systems:
        problems.add(name, None, f"has no systems; put files at {layout.where_systems_go}")


class _Columns:
    """Reads files line by line, and records the length of each."""

    def __init__(
        self, folder: CampaignFolder, draft: Draft, options: ReadingOptions, problems: Problems
    ) -> None:
        self.folder = folder
        self.draft = draft
        self.options = options
        self.problems = problems
        self.lengths: dict[str, int] = {}

    @property
    def n_lines(self) -> int:
        return next(iter(self.lengths.values()), 0)

    def lines(self, path: Path) -> Iterator[Line]:
        return read_lines(self.folder, path, self.problems, mender=self.options.mender)

    def read(
        self, path: Path | None, what: str, *, may_be_empty: bool = False, has_gaps: bool = False
    ) -> "array[int]":
        """Return the places of a file's texts. With gaps, an empty line has none."""
        places = array("q")
        if path is None:
            return places
        file = self.folder.shown(path)
        for number, line in self.lines(path):
            if line is None or (has_gaps and not line):
                places.append(NO_TEXT)
                continue
            text = checked_text(
                line,
                what,
                file=file,
                line=number,
                options=self.options,
                problems=self.problems,
                may_be_empty=may_be_empty,
            )
            places.append(self.draft.add_text(text))
        if places:
            self.lengths[file] = len(places)
        return places

    def read_outputs(self, path: Path) -> "array[int]":
        options, n_before = self.options, self.problems.total
        places = self.read(
            path,
            "the translation",
            may_be_empty=options.allow_empty_translations,
            has_gaps=options.may_leave_gaps,
        )
        if self.problems.total == n_before and places.count(NO_TEXT) == len(places):
            self.problems.add(self.folder.shown(path), None, "has only empty lines")
        return places

    def read_names(self, path: Path | None, what: str) -> list[str]:
        names: list[str] = []
        if path is None:
            return names
        file = self.folder.shown(path)
        for number, line in self.lines(path):
            names.append("" if line is None else self.name(line, what, file, number))
        if names:
            self.lengths[file] = len(names)
        return names

    def name(self, name: str, what: str, file: str, number: int) -> str:
        return checked_name(
            name, what, file=file, line=number, options=self.options, problems=self.problems
        )

    def read_documents(self, path: Path | None, have_domains: bool) -> list[str]:
        if path is None or not have_domains:
            return self.read_names(path, "the document's name")
        documents: list[str] = []
        file = self.folder.shown(path)
        for number, line in self.lines(path):
            # Some years separate them by a space.
            separator = "\t" if "\t" in (line or "") else " "
            _, separator, document = (line or "").partition(separator)
            if line is not None and not separator:
                self.problems.add(file, number, "is not a domain, a tab and a document's name")
            elif line is not None:
                document = self.name(document, "the document's name", file, number)
            documents.append(document)
        if documents:
            self.lengths[file] = len(documents)
        return documents

    def report_wrong_lengths(self) -> None:
        """Compare the length of each file with the first: the sources, if there are any."""
        (first, n_expected), *later = self.lengths.items() or [("", 0)]
        for file, n_lines in later:
            if n_lines != n_expected:
                self.problems.add(
                    file, None, f"has {_lines(n_lines)}, but {first} has {_lines(n_expected)}"
                )

    def report_doubled(self, path: Path | None, ids: list[str]) -> None:
        assert path is not None
        first_lines: dict[str, int] = {}
        for number, name in enumerate(ids, start=1):
            first = first_lines.setdefault(name, number)
            if name and first != number:
                self.problems.add(
                    self.folder.shown(path),
                    number,
                    f"the segment's id {name!r} is already on line {first}",
                )


def _lines(n: int) -> str:
    return "1 line" if n == 1 else f"{n:,} lines"


def _fill(
    draft: Draft,
    n_segments: int,
    sources: "array[int]",
    references: "array[int]",
    second_references: "array[int]",
    ids: list[str],
    documents: list[str],
    outputs: dict[str, "array[int]"],
) -> None:
    for index in range(n_segments):
        draft.add_segment(
            ids[index] if ids else str(index + 1),
            document=documents[index] if documents else "",
            source=sources[index] if sources else NO_TEXT,
            reference=references[index] if references else NO_TEXT,
            second_reference=second_references[index] if second_references else NO_TEXT,
        )
    for name, places in outputs.items():
        system = draft.add_system(name)
        for index, place in enumerate(places):
            draft.set_output(system, index, place)
