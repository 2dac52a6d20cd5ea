"""The example notebooks still print their stored output; Jupyter is not needed."""

import contextlib
import io
import json
import re
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

NOTEBOOKS_FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
# Needs a running platform: see tests/api/test_client.py.
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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_prints_its_stored_output(path: Path) -> None:
    assert_prints_as_stored(path)


def assert_prints_as_stored(path: Path) -> None:
    names: dict = {}
    for cell in code_cells(path):
        stdout = io.StringIO()
        with contextlib.redirect_stdout(stdout):
            exec("".join(cell["source"]), names)
        text, stored = stdout.getvalue(), printed(cell)
        assert NUMBER.sub("#", text).split() == NUMBER.sub("#", stored).split()
        assert_allclose(
            [float(number) for number in NUMBER.findall(text)],
            [float(number) for number in NUMBER.findall(stored)],
            atol=ROUNDED,
        )


def test_no_stored_output_is_an_error_or_a_warning() -> None:
    cells = [cell for path in NOTEBOOKS for cell in code_cells(path)]
    assert cells
    for cell in cells:
        kinds = {(output["output_type"], output.get("name")) for output in cell["outputs"]}
        assert kinds <= {("stream", "stdout")}
