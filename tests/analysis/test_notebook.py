"""The example notebook still runs and still says what its stored output says; Jupyter is not needed."""

import contextlib
import io
import json
import re
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

NOTEBOOKS_FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
# It calls a platform that runs: see tests/api/test_client.py.
CALLS_A_SERVER = {"api_client"}
NOTEBOOKS = [
    path for path in sorted(NOTEBOOKS_FOLDER.glob("*.ipynb")) if path.stem not in CALLS_A_SERVER
]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

# Printed figures are rounded to three places, and another BLAS may round the other way.
ROUNDED = 0.002


def code_cells(path: Path) -> list[dict]:
    cells = json.loads(path.read_text())["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def printed(cell: dict) -> str:
    return "".join("".join(output.get("text", [])) for output in cell["outputs"])


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_prints_what_it_printed(path: Path) -> None:
    names: dict = {}
    for cell in code_cells(path):
        now = io.StringIO()
        with contextlib.redirect_stdout(now):
            exec("".join(cell["source"]), names)
        text, stored = now.getvalue(), printed(cell)
        assert NUMBER.sub("#", text).split() == NUMBER.sub("#", stored).split()
        assert_allclose(
            [float(number) for number in NUMBER.findall(text)],
            [float(number) for number in NUMBER.findall(stored)],
            atol=ROUNDED,
        )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_cell_failed_or_warned_when_it_was_stored(path: Path) -> None:
    for cell in code_cells(path):
        kinds = {(output["output_type"], output.get("name")) for output in cell["outputs"]}
        assert kinds <= {("stream", "stdout")}
