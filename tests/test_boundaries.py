"""analysis/stats is plain Python on NumPy and SciPy: it must be usable, and testable, without the platform."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STATS = ROOT / "analysis" / "stats"
MODULES = sorted(STATS.rglob("*.py"))
FOREIGN = ("django", "hits", "analysis.models", "pandas")
ALLOWED = {"numpy", "scipy", "analysis"} | set(sys.stdlib_module_names)

IMPORT_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(*sorted(sys.modules))
"""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def is_foreign(name: str) -> bool:
    return any(name == foreign or name.startswith(f"{foreign}.") for foreign in FOREIGN)


def imported_names(path: Path) -> list[str]:
    """Return the full names of what a module imports, wherever in it the import stands."""
    names = []
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            names.append(".".join([*base, *([node.module] if node.module else [])]))
    return names


def test_importing_all_of_it_loads_nothing_of_the_platform():
    names = [module_name(path) for path in MODULES]
    assert "analysis.stats.segments" in names
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{IMPORT_ALL}",
            *names,
        ],
        capture_output=True,
        text=True,
        check=True,
        env={},
    )
    loaded = done.stdout.split()
    assert set(names) <= set(loaded)
    assert [name for name in loaded if is_foreign(name)] == []


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_no_module_imports_from_outside_even_later(path):
    names = imported_names(path)
    assert [name for name in names if name.split(".")[0] not in ALLOWED] == []
    inside = [name for name in names if name.split(".")[0] == "analysis"]
    assert [name for name in inside if not f"{name}.".startswith("analysis.stats.")] == []


def test_the_check_itself_sees_a_forbidden_import(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    folder = tmp_path / "analysis" / "stats"
    folder.mkdir(parents=True)
    module = folder / "leaky.py"
    module.write_text("def late():\n    from ..models import GoldScore\n    import django.db\n")
    assert imported_names(module) == ["analysis.models", "django.db"]
    assert all(map(is_foreign, imported_names(module)))
