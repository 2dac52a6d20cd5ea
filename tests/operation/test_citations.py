"""What the security documents claim to be tested is tested: every test that they name exists."""

import ast
import re
from pathlib import Path

import pytest

from tests.subprocesses import CHECKOUT

# docs/asvs.md has its own: tests/test_asvs.py.
DOCUMENTS = ("docs/threat-model.md",)
# `tests/…/test_x.py::test_y`, `tests/…/test_x.py`, `tests/folder` or, in short, `test_x`.
CITATION = re.compile(r"`(tests/[\w/]+(?:\.py)?(?:::\w+)?|test_\w+)`")


def fault_in(citation: str) -> str | None:
    path, _, name = citation.partition("::")
    if not path.startswith("tests/"):
        return None if list(CHECKOUT.glob(f"tests/**/{path}.py")) else f"no file {path}.py"
    found = [one for one in (CHECKOUT / path, CHECKOUT / f"{path}.py") if one.exists()]
    if not found:
        return f"no {path}"
    return f"no {name} in {path}" if name and name not in functions_of(found[0]) else None


def functions_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_test_that_the_documents_name_exists(document: str):
    citations = CITATION.findall((CHECKOUT / document).read_text(encoding="utf-8"))
    assert len(citations) > 15
    assert [fault for one in citations if (fault := fault_in(one))] == []


@pytest.mark.parametrize(
    "citation",
    ["tests/test_nothing.py", "test_nothing", "tests/operation/test_citations.py::test_nothing"],
)
def test_a_test_that_does_not_exist_is_told(citation: str):
    assert fault_in(citation)
