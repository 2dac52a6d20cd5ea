"""Check what documents and tools promise: cited tests, docs/asvs.md, the gallery, links between pages, the addresses of the API,
versions, licences, the bill of materials and the search for secrets. `make lint` runs this, prints every fault and fails if there are any.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.subprocesses import CHECKOUT, environment

BIN = Path(sys.executable).parent


def read(path: str) -> str:
    return (CHECKOUT / path).read_text(encoding="utf-8")


def backticked(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


# Citations ------------------------------------------------------------------------------------

# `tests/…/test_x.py::test_y`, `tests/…/test_x.py`, `tests/folder` or just `test_x`.
CITATION = re.compile(r"`(tests/[\w/]+(?:\.py)?(?:::\w+)?|test_\w+)`")


def citation_faults(citations: list[str]) -> Iterator[str]:
    for citation in citations:
        path, _, name = citation.partition("::")
        if not path.startswith("tests/"):
            if not list(CHECKOUT.glob(f"tests/**/{path}.py")):
                yield f"there is no file {path}.py"
            continue
        files = [file for file in (CHECKOUT / path, CHECKOUT / f"{path}.py") if file.exists()]
        if not files:
            yield f"there is no {path}"
        elif name and name not in functions_of(files[0]):
            yield f"there is no {name} in {path}"


@cache
def functions_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def check_that_cited_tests_exist() -> Iterator[str]:
    citations = CITATION.findall(read("docs/threat-model.md"))
    assert len(citations) > 15
    yield from citation_faults(citations)
    missing = ["tests/no.py", "test_no", "tests/check_documents.py::no"]
    assert len(list(citation_faults(missing))) == 3, "a missing test goes unnoticed"


# docs/asvs.md ---------------------------------------------------------------------------------

STATUSES = ("met", "partly", "not met", "does not apply")
# The number of points of ASVS 5.0.0 at levels 1 and 2, by chapter and by level.
POINTS = dict(enumerate([27, 11, 19, 10, 9, 35, 18, 7, 7, 29, 14, 9, 13, 9, 13, 16, 7], start=1))
LEVELS = {"1": 70, "2": 183}
# Words in backticks that are files or folders.
PATH = re.compile(r"[\w.-]+/[\w./-]*|\.\w+|[\w-]+\.(?:md|txt|yaml|py)")


@dataclass(frozen=True)
class Row:
    points: list[str]
    level: str
    status: str
    where: str
    test: str


def asvs_rows() -> list[Row]:
    lines = (line for line in read("docs/asvs.md").splitlines() if line.startswith("| V"))
    cells = (line.strip("| ").split(" | ") for line in lines)
    return [
        Row(points.split(), level, status, where, test)
        for points, level, _, status, where, test in cells
    ]


def check_that_every_point_of_asvs_is_there_once() -> Iterator[str]:
    points = [point for row in asvs_rows() for point in row.points]
    yield from (f"{point} is there twice" for point, n in Counter(points).items() if n > 1)
    yield from (
        f"{point} is no point" for point in points if not re.fullmatch(r"V\d+\.\d+\.\d+", point)
    )
    chapters = Counter(int(point.removeprefix("V").partition(".")[0]) for point in points)
    levels = Counter(row.level for row in asvs_rows() for _ in row.points)
    if chapters != POINTS or levels != LEVELS:
        yield f"the numbers differ from ASVS: {chapters}, {levels}"


def check_that_the_counts_of_asvs_are_those_of_its_rows() -> Iterator[str]:
    counted = Counter(row.status for row in asvs_rows() for _ in row.points)
    printed = dict(re.findall(r"^\| ([a-z ]+) \| (\d+) \|$", read("docs/asvs.md"), re.MULTILINE))
    expected = {status: str(counted[status]) for status in STATUSES} | {"all": str(counted.total())}
    if not set(counted) <= set(STATUSES) or printed != expected:
        yield f"{printed} is printed, {expected} is counted"


def check_that_files_and_tests_of_asvs_exist() -> Iterator[str]:
    files = ["hits/guards.py", "templates/", ".dockerignore", "SECURITY.md", "deploy/Caddyfile"]
    words = ["json.dumps", "make lint", "DA_PROLIFIC_KEYS_URL", "sslmode=verify-full", "__Host-"]
    assert [word for word in files + words if PATH.fullmatch(word)] == files
    for row in asvs_rows():
        files = [word for word in backticked(row.where) if PATH.fullmatch(word)]
        yield from (f"{row.points}: no {file}" for file in files if not (CHECKOUT / file).exists())
        tests = backticked(row.test)
        if not all("::" in test for test in tests) or not (tests or row.test == "-"):
            yield f"{row.points} names no test and no -"
        yield from (f"{row.points}: {fault}" for fault in citation_faults(tests))


# Other pages ----------------------------------------------------------------------------------

# Every clone of the repository includes the screenshots.
MAX_SCREENSHOT_BYTES = 6_000_000


def check_that_the_gallery_shows_every_page() -> Iterator[str]:
    from tests.browser.gallery import FIGURES, FOLDER, GALLERY, SECTIONS, gallery_text, looks_of

    expected = {
        name + ending for pages in SECTIONS.values() for name in pages for ending in looks_of(name)
    }
    if expected | FIGURES != {path.stem for path in FOLDER.glob("*.png")}:
        yield "there are missing or extra screenshots"
    if GALLERY.read_text(encoding="utf-8") != gallery_text():
        yield f"{GALLERY.name} is out of date"
    if sum(path.stat().st_size for path in FOLDER.glob("*.png")) >= MAX_SCREENSHOT_BYTES:
        yield "the screenshots are too large"


def check_that_the_api_page_names_every_address() -> Iterator[str]:
    from da_platform.api import api

    table = read("docs/api.md").partition("| about | addresses |")[2].partition("\n\n")[0]
    named = {address for row in table.splitlines() if "`" in row for address in _addresses_in(row)}
    yield from (
        f"not in step: {address}" for address in named ^ api.get_openapi_schema()["paths"].keys()
    )


def _addresses_in(cell: str) -> Iterator[str]:
    """The full addresses in a cell; those after `and below it` continue the last one."""
    for part in cell.split(";"):
        plain, _, below = part.partition(" and below it ")
        addresses = [
            f"/api/v1{address}"
            if address.startswith("/")
            else f"/api/v1/campaigns/{{code}}/{address}"
            for address in backticked(plain)
        ]
        yield from addresses
        yield from (f"{addresses[-1]}/{end}" for end in backticked(below))


# Versions and licences -------------------------------------------------------------------------


def check_that_all_documents_name_the_version() -> Iterator[str]:
    from da_platform import __version__

    if f"\nversion: {__version__}\n" not in read("CITATION.cff"):
        yield f"CITATION.cff does not name the version {__version__}"
    if re.findall(r"^## (\S+)", read("CHANGELOG.md"), re.MULTILINE)[0] != __version__:
        yield f"CHANGELOG.md does not begin with the version {__version__}"


# The licences that packages may have to be shipped with ours, as they name them.
LICENCES = {
    "0BSD", "Apache 2", "Apache License 2.0", "Apache Software License", "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception", "BSD", "BSD License", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "MIT", "MIT License", "MIT-0", "MIT-CMU", "New BSD",
    "PSF-2.0", "PSFL", "Python Software Foundation License", "The Unlicense (Unlicense)", "Unlicense", "Zlib",
}  # fmt: skip
# These ask for something when changed or shipped, so docs/installing.md names their packages.
NOTED_LICENCES = {"LGPL-3.0-only", "LGPL-2.1-or-later", "MPL-2.0"}


def licences_of(package: str) -> set[str]:
    """The names of a package's licences. Of a text instead of a name, only the classifiers tell."""
    facts = metadata(package)
    named = facts.get("License-Expression") or facts.get("License") or ""
    classifiers = facts.get_all("Classifier") or []
    titles = {line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")}
    is_name = named and "\n" not in named and named != "Dual License"
    return set(re.split(r" AND | OR ", re.sub(r"[()]", "", named))) if is_name else titles


def check_that_every_shipped_licence_is_allowed() -> Iterator[str]:
    noted = set(backticked(read("docs/installing.md").partition("## Licences")[2]))
    packages = re.findall(r"^([\w.-]+)==", read("requirements.txt"), re.MULTILINE)
    assert len(packages) > 20
    for package in packages:
        licences = licences_of(package)
        if not licences or licences - LICENCES - NOTED_LICENCES:
            yield f"{package}: is this licence allowed? {licences or 'none is named'}"
        if bool(licences & NOTED_LICENCES) != (package in noted):
            yield f"{package}: docs/installing.md must name it if its licence asks for that: {licences}"


def check_that_links_between_pages_lead_somewhere() -> Iterator[str]:
    from da_platform.help import pages

    anchors = {
        name: [section.anchor for section in pages.page(name, root="/").sections]
        for name in pages.files()
    }
    for name, known in anchors.items():
        yield from (f"{name}: #{anchor} twice" for anchor, n in Counter(known).items() if n > 1)
        text = pages.read_markdown(name)
        for link in re.findall(
            r"\]\(([^)\s]+)\)", re.sub(r"```.*?```|`[^`]+`", "", text, flags=re.S)
        ):
            if not re.match(r"https?:", link) and not _leads_somewhere(name, link, anchors):
                yield f"{name}: {link} leads nowhere"
    assert not _leads_somewhere("index", "glossary.md#nothing", anchors), "a fault goes unnoticed"
    listed = [entry.name for entries in pages.contents().values() for entry in entries]
    counts = Counter([*listed, pages.CONTENTS])
    yield from (
        f"{name} is not once in the contents list"
        for name in counts.keys() | anchors.keys()
        if counts[name] != 1 or name not in anchors
    )


def _leads_somewhere(name: str, link: str, anchors: dict[str, list[str]]) -> bool:
    from da_platform.help import pages

    file, _, anchor = link.partition("#")
    target = pages.link_target(name, file)
    if not (pages.docs_folder() / target).exists():
        return False
    page = re.sub(r"\.(md|ipynb)$", "", target) or name
    return not anchor or anchor in anchors.get(page, [])


# Tools ----------------------------------------------------------------------------------------


def recipe(target: str) -> str:
    return read("Makefile").partition(f"\n{target}:")[2].partition("\n\n")[0]


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / program), *arguments]
    return subprocess.run(
        command, cwd=CHECKOUT, env=environment(), capture_output=True, text=True, timeout=120
    )


def check_that_the_sbom_lists_every_package_with_hashes() -> Iterator[str]:
    program, *options = recipe("sbom").splitlines()[1].split()
    assert program == "$(BIN)/cyclonedx-py" and options[-2:] == ["-o", "sbom.json"]
    with TemporaryDirectory() as folder:
        file = Path(folder, "sbom.json")
        process = run("cyclonedx-py", *options[:-1], str(file))
        assert process.returncode == 0, process.stderr
        components = json.loads(file.read_text())["components"]
    listed = {
        (component["name"], component["version"]): component["externalReferences"]
        for component in components
    }
    pin = re.compile(r"^([\w.-]+)(?:\[[^]]*\])?==(\S+) \\$", re.MULTILINE)
    pinned = set(pin.findall(read("requirements.txt")))
    assert len(pinned) > 20
    yield from (f"pinned or listed, not both: {name}" for name in pinned ^ listed.keys())
    yield from (f"no hash: {name}" for name, urls in listed.items() if not urls[0]["hashes"])


def check_that_lint_would_find_a_secret() -> Iterator[str]:
    if "detect-secrets-hook --baseline .secrets.baseline" not in recipe("lint"):
        yield "make lint does not search for secrets"
    if "bandit" not in recipe("lint"):
        yield "make lint does not run bandit"
    # In two halves, so that this file does not contain a secret.
    texts = {f'key = "AKIA{"IOSFODNN7" + "EXAMPLQ"}"\n': 1, 'greeting = "good morning"\n': 0}
    with TemporaryDirectory() as folder:
        # Use a copy because the tool updates the baseline.
        baseline = shutil.copy(CHECKOUT / ".secrets.baseline", folder)
        file = Path(folder, "planted.py")
        for text, status in texts.items():
            file.write_text(text)
            process = run("detect-secrets-hook", "--baseline", str(baseline), str(file))
            if process.returncode != status or ("AWS Access Key" in process.stdout) != bool(status):
                yield f"{text!r} gives {process.returncode}: {process.stdout}"


def main() -> int:
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    checks = {name: check for name, check in globals().items() if name.startswith("check_that_")}
    faults = [f"{name}: {fault}" for name, check in checks.items() for fault in check()]
    print("\n".join(faults) or f"{len(checks)} checks of documents and tools passed.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
