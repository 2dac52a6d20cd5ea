"""The wheel in an empty environment, without the checkout: `da run` and `da rate`."""

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from analysis.examples.making import FINISHED_NAME
from hits.models import Campaign
from tests.browser.opening import Complaints, Visitor
from tests.browser.rating import expect_position, expect_saved, rate_by_keys
from tests.browser.test_whole_way import answer_check_by_keys, practise_by_keys, tab_to
from tests.help.tutorial import tutorial_script
from tests.subprocesses import CHECKOUT, free_port
from tests.waiting import eventually

MAX_PACKAGES = 60
HREFS = "links => links.map(link => link.getAttribute('href'))"
# Downloads and pictures, and what ends the session.
IS_FILE = re.compile(
    r"[.](csv|tsv|json|jsonl|parquet|pdf|png|svg|tex|md|zip|gz|bib|txt)\b|/exports?/|logout"
)
UV = Path(sys.executable).parent / "uv"

pytestmark = [
    pytest.mark.slow,
    # All tests share one environment.
    pytest.mark.xdist_group("package"),
    pytest.mark.skipif(not UV.exists(), reason="uv is not installed"),
]


@dataclass
class Installation:
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "env" / "bin" / "python"

    def da(self, *arguments: str) -> list[str]:
        return [str(self.folder / "env" / "bin" / "da"), *arguments]

    def run(self, *command: str) -> str:
        process = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the platform, of the checkout or of the developer's own folders."""
        return {"PATH": os.defpath, "HOME": str(self.folder), "LANG": "C.UTF-8"}


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    folder = tmp_path_factory.mktemp("newcomer")
    started_at = time.monotonic()
    for command in (
        ["build", "--wheel", "--out-dir", folder / "dist", CHECKOUT],
        ["venv", "--python", sys.executable, folder / "env"],
        ["pip", "install", "--python", folder / "env", folder / "dist" / "*.whl"],
    ):
        words = [
            str(path)
            for word in command
            for path in (folder.glob("dist/*.whl") if str(word).endswith("*.whl") else [word])
        ]
        process = subprocess.run([UV, *words], capture_output=True, text=True, timeout=300)
        if "Failed to fetch" in process.stderr or "dns error" in process.stderr:
            pytest.skip(f"The package index cannot be reached: {process.stderr[-300:]}")
        assert process.returncode == 0, process.stderr
    print(f"Built and installed in {time.monotonic() - started_at:.1f} s.")
    return Installation(folder)


class Served:
    """`da run` or `da rate`, and what it printed."""

    def __init__(self, log: Path, port: int, process: "subprocess.Popen[bytes]") -> None:
        self.log, self.process = log, process
        self.site = f"http://127.0.0.1:{port}"

    @property
    def output(self) -> str:
        return self.log.read_text()

    def answers(self) -> bool:
        assert self.process.poll() is None, self.output
        try:
            with urllib.request.urlopen(self.site, timeout=10) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    @property
    def worker_path(self) -> str:
        match = re.search(re.escape(self.site) + r"(/work/[0-9a-f-]+/)", self.output)
        assert match, self.output
        return match[1]

    @property
    def password(self) -> str:
        return self.output.partition("with the password ")[2].split()[0]


@contextmanager
def served(installation: Installation, *arguments: str) -> Iterator[Served]:
    port = free_port()
    log = installation.folder / f"{port}.log"
    started_at = time.monotonic()
    with log.open("w") as file:
        process = subprocess.Popen(
            installation.da(*arguments, "--port", str(port)),
            cwd=installation.folder,
            env=installation.environment,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    platform = Served(log, port, process)
    try:
        eventually(platform.answers)
        print(f"da {arguments[0]}: first page after {time.monotonic() - started_at:.1f} s.")
        yield platform
    finally:
        process.terminate()
        process.wait(30)
    assert "Traceback" not in platform.output


@contextmanager
def pages(chromium: Browser, platform: Served) -> Iterator[Page]:
    """A page of a new visitor, whose console must stay empty."""
    complaints = Complaints(origin=platform.site)
    visitor = Visitor(chromium, platform.site, complaints)
    try:
        yield visitor.open_context().new_page()
    finally:
        visitor.close()
    assert complaints.messages == []


def test_few_packages_are_installed_and_the_commands_have_help(installation: Installation):
    code = "import importlib.metadata as m; print(*{d.name for d in m.distributions()}, sep='\\n')"
    packages = installation.run(str(installation.python), "-c", code).split()
    n_bytes = sum(
        path.stat().st_size for path in (installation.folder / "env").rglob("*") if path.is_file()
    )
    print(f"{len(packages)} packages, {n_bytes / 1e6:.0f} MB")
    assert len(packages) < MAX_PACKAGES
    assert "da rate" in installation.run(*installation.da("help"))
    assert "usage: da gold" in installation.run(*installation.da("gold", "--help"))


def test_da_run_serves_the_examples(installation: Installation, chromium: Browser):
    with served(installation, "run") as platform, pages(chromium, platform) as page:
        page.goto(platform.worker_path)
        page.locator("main button").click()
        expect(page.locator(".example").first).to_be_visible()
        log_in(page, platform.password)
        # Made without extras, by a job.
        eventually(
            lambda: f"{FINISHED_NAME} (closed)" in installation.run(*installation.da("status"))
        )
        for path in admin_pages(page):
            answer = page.goto(path)
            assert answer and answer.status == 200, path
    # What is written belongs to the user, not to the installed packages.
    data = installation.folder / ".local" / "share" / "da-platform"
    assert (data / "db.sqlite3").exists()
    assert "Demo" in installation.run(*installation.da("status"))
    assert not list((installation.folder / "env").rglob("*.sqlite3"))


def log_in(page: Page, password: str) -> None:
    page.goto("/login/")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("button", name="Log out")).to_be_attached()


def admin_pages(page: Page) -> list[str]:
    """The pages that the first page and those of the finished example link to, except files."""
    page.goto("/")
    links = links_of(page)
    page.get_by_role("link", name=FINISHED_NAME, exact=True).click()
    for tab in (tabs := page.locator("nav.tabs a").evaluate_all(HREFS)):
        page.goto(tab)
        links += links_of(page)
    assert len(tabs) > 5
    pages = dict.fromkeys(link.partition("#")[0] for link in links)
    return [path for path in pages if not IS_FILE.search(path)]


def links_of(page: Page) -> list[str]:
    links: list[str] = page.locator("a[href^='/']:not([download])").evaluate_all(HREFS)
    return links


def test_the_tutorial_works_with_the_package(installation: Installation):
    path = f"{installation.folder}/env/bin:{os.defpath}"
    process = subprocess.run(
        ["bash", "-c", tutorial_script(until="6.")],
        cwd=installation.folder,
        env=installation.environment | {"PATH": path},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    assert r"\begin{tabular}" in process.stdout


def test_da_rate_opens_a_campaign_from_text_files(installation: Installation, chromium: Browser):
    example = CHECKOUT / "examples" / "demo-de-en" / "campaign"
    for name in ("sources.txt", "references.txt", "systems/alder.txt", "systems/birch.txt"):
        shutil.copy(example / name, installation.folder)
    command = ["rate", "alder.txt", "birch.txt", "--data", "trial"]
    command += ["--source", "sources.txt", "--reference", "references.txt"]
    command += ["--from", "de", "--to", "en"]
    with served(installation, *command) as platform, pages(chromium, platform) as page:
        start_rating(page, platform.worker_path)
        rate_by_keys(page, [37, 62, 80])
        expect_position(page, 4)
        expect_saved(page)
    status = installation.run(*installation.da("status", "--data", "trial"))
    assert "alder, birch (open)" in status and "3 by 1 worker" in status


def start_rating(page: Page, path: str) -> None:
    """Agree, practise and answer the question about the texts."""
    page.goto(path)
    tab_to(page, "button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()
    tab_to(page, "a.button")
    page.keyboard.press("Enter")
    practise_by_keys(page)
    answer_check_by_keys(page, Campaign(target_language="en"))
    expect_position(page, 1)
