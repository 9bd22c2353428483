"""The documents of whatever container users keep them in."""

from __future__ import annotations

from typing import Any


def documents_of(X: Any) -> Any:
    """Something that iterates over documents: frames of one column become that column, and
    columns of Arrow and polars lists of Python's values. What no container holds is left to the
    native side, which takes each document by itself and refuses what is none."""
    if type(X) is list or type(X) is tuple:
        return X
    library = type(X).__module__.partition(".")[0]
    if library in ("pandas", "polars") and len(getattr(X, "shape", ())) == 2:
        names = list(X.columns)
        X = X[_only(names)]
    if library == "pyarrow" and hasattr(X, "schema") and hasattr(X, "column"):
        X = X.column(_only(X.schema.names))
    if library == "pyarrow" and hasattr(X, "to_pylist"):
        return X.to_pylist()
    if library == "polars" and hasattr(X, "to_list"):
        return X.to_list()
    if library not in ("pandas", "numpy") and (
        hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__")
    ):
        return _from_arrow(X)
    return X


def _only(names: list[Any]) -> Any:
    if len(names) != 1:
        raise ValueError(f"expected one column of documents, found the columns {names}: choose one")
    return names[0]


def _from_arrow(X: Any) -> Any:
    """Values of any library that speaks Arrow's interface."""
    try:
        import pyarrow
    except ImportError as error:
        found = type(X).__name__
        raise ImportError(f"{found} needs pyarrow: pip install wordmover[arrow]") from error
    if hasattr(X, "__arrow_c_array__"):
        values = pyarrow.array(X)
    else:
        values = pyarrow.chunked_array(X)
    if pyarrow.types.is_struct(values.type):
        fields = [field.name for field in values.type]
        _only(fields)
        return [None if row is None else row[fields[0]] for row in values.to_pylist()]
    return values.to_pylist()
