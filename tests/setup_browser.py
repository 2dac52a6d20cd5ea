"""Find a Chromium for the browser tests or install Debian's: `python -m tests.setup_browser`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

# The fonts are for Arabic and Chinese texts, which would be empty boxes on screenshots.
# The headless shell is Chromium without the windows around the page, which take more time than our pages.
DEBIAN_PACKAGES = ["chromium-headless-shell", "fonts-noto-core", "fonts-noto-cjk"]
PROGRAMS = ("chromium-headless-shell", "chromium")
ADVICE = (
    "The browser tests need Chromium. Install it once, for example with\n"
    "  sudo apt-get install --no-install-recommends chromium-headless-shell fonts-noto-core fonts-noto-cjk\n"
    "or\n"
    "  .venv/bin/playwright install --with-deps chromium"
)


def browser_path() -> str | None:
    """Return the path of a Chromium: the configured one, Debian's or Playwright's."""
    if path := os.environ.get("DA_CHROMIUM"):
        return path
    if paths := list(filter(None, map(shutil.which, PROGRAMS))):
        return paths[0]
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install_debian_browser() -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-qq", "--yes", "--no-install-recommends", *DEBIAN_PACKAGES],
    ):
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def main() -> None:
    if browser_path():
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.exit(ADVICE)
    print("Installing Chromium for the browser tests ...", flush=True)
    install_debian_browser()


if __name__ == "__main__":
    main()
