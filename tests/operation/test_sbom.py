"""`make sbom` lists every package that is shipped, with its version and the hashes it is pinned by."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.subprocesses import CHECKOUT, environment

TOOL = Path(sys.executable).with_name("cyclonedx-py")


def recipe() -> list[str]:
    """The line of the Makefile, as words."""
    text = (CHECKOUT / "Makefile").read_text().partition("\nsbom:")[2]
    return text.splitlines()[1].split()


def test_every_pinned_package_is_listed(tmp_path: Path):
    program, *options = recipe()
    assert program == "$(BIN)/cyclonedx-py" and options[-2:] == ["-o", "sbom.json"]
    file = tmp_path / "sbom.json"
    command = [str(TOOL), *options[:-1], str(file)]
    subprocess.run(command, cwd=CHECKOUT, env=environment(), check=True, capture_output=True)
    listed = {
        (one["name"], one["version"]): one["externalReferences"]
        for one in json.loads(file.read_text())["components"]
    }
    text = (CHECKOUT / "requirements.txt").read_text()
    pinned = re.findall(r"^([\w.-]+)(?:\[[^]]*\])?==(\S+) \\$", text, re.MULTILINE)
    assert len(pinned) > 20 and listed.keys() == set(pinned)
    assert all(references[0]["hashes"] for references in listed.values())
