"""Answers and exported files as pandas DataFrames, with the types of their columns."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

# The name of the metadata in a Parquet file, and what is added to the name of any other file.
METADATA = b"da_platform"
SIDECAR = ".meta.json"
# What each column holds, such as `integer`; see `_typed`.
Kinds = dict[str, str]


def frame(answer: list[Any] | bytes) -> "pandas.DataFrame":
    """Return records, or a downloaded CSV or Parquet file, as a pandas DataFrame.

    Nested values get columns such as `evidence.p`. Columns ending in `_at` become timestamps. Empty
    cells of a CSV file are missing values; Parquet tells empty texts from missing ones.
    """
    import pandas as pd

    if isinstance(answer, bytes) and answer.startswith(b"PAR1"):
        return _read_parquet(answer)
    if isinstance(answer, bytes):
        # Only empty cells are missing: a segment may be called NA.
        table = pd.read_csv(io.BytesIO(answer), keep_default_na=False, na_values=[""])
    else:
        table = pd.json_normalize(answer)
    return _typed(table, {name: "time" for name in table.columns if name.endswith("_at")})


def read_export(path: Path | str) -> "pandas.DataFrame":
    """Read an exported CSV, TSV, JSON Lines or Parquet file, with the types that its metadata names.

    Parquet files contain their metadata; the others need the `.meta.json` file next to them. Whole numbers and
    flags with missing values become `Int64` and `boolean`, times are in UTC, texts are `string`, several names are a list. CSV and
    TSV are read back with the platform's own code, the other formats need only pandas.
    """
    import pandas as pd

    path = Path(path)
    if path.suffix == ".parquet":
        return _read_parquet(path.read_bytes())
    kinds: Kinds = json.loads(Path(f"{path}{SIDECAR}").read_text(encoding="utf-8"))["columns"]
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8", newline="\n") as lines:
            return _typed(pd.DataFrame(map(json.loads, lines), columns=list(kinds)), kinds)
    return _typed(_read_cells(path, kinds), kinds)


def _read_parquet(content: bytes) -> "pandas.DataFrame":
    import pyarrow.parquet as parquet

    table = parquet.read_table(io.BytesIO(content))
    metadata = json.loads((table.schema.metadata or {}).get(METADATA, b'{"columns": {}}'))
    return _typed(table.to_pandas(), metadata["columns"])


def _read_cells(path: Path, kinds: Kinds) -> "pandas.DataFrame":
    """Read a CSV or TSV file and undo what protects spreadsheets from its texts."""
    import csv

    import pandas as pd

    from da_platform.files.cells import undo_defuse, undo_escape_tsv, undo_join_names

    is_tsv = path.suffix == ".tsv"
    table = pd.read_csv(
        path,
        sep="\t" if is_tsv else ",",
        quoting=csv.QUOTE_NONE if is_tsv else csv.QUOTE_MINIMAL,
        dtype={name: str for name, kind in kinds.items() if kind not in ("integer", "number")},
        keep_default_na=False,
        na_values=[""],
    )

    def read_back(cell: str) -> str:
        return undo_defuse(undo_escape_tsv(cell) if is_tsv else cell)

    for name, kind in kinds.items():
        if kind == "flag":
            table[name] = table[name].map({"true": True, "false": False})
        elif kind == "names":
            cells = table[name].fillna("").astype(object)
            table[name] = cells.map(lambda cell: undo_join_names(read_back(cell)))
        elif kind not in ("integer", "number", "time"):
            table[name] = table[name].map(read_back, na_action="ignore")
    return table


def _typed(table: "pandas.DataFrame", kinds: Kinds) -> "pandas.DataFrame":
    import pandas as pd

    convert: dict[str, Callable[[Any], Any]] = {
        "integer": lambda column: column.astype("Int64" if column.isna().any() else "int64"),
        "number": lambda column: column.astype("float64"),
        "flag": lambda column: column.astype("boolean" if column.isna().any() else "bool"),
        "time": lambda column: pd.to_datetime(column, utc=True, format="ISO8601"),
        "names": lambda column: column.map(list),
    }
    for name, kind in kinds.items():
        # Everything else is text, even where all of it is missing.
        table[name] = convert.get(kind, lambda column: column.astype("string"))(table[name])
    return table
