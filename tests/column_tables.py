"""Tables of edges with columns, and what pandas makes of them, for tests of columns."""

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import hpgraph as hpg

TITLES = ["year", "share", "kind", "lit"]
VALUES = {
    "year": st.integers(-(2**31), 2**40),
    "share": st.floats(allow_infinity=False, width=32),
    "kind": st.none() | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=3),
    "lit": st.booleans(),
}


@st.composite
def tables(draw: Any) -> pd.DataFrame:
    """Rows of edges among few vertices, so that many are given more than once, and of equal weights."""
    ends, columns = st.integers(0, 5), st.fixed_dictionaries(VALUES)
    rows = draw(st.lists(st.tuples(ends, ends, st.integers(0, 3), columns), min_size=1, max_size=25))
    return pd.DataFrame(
        {
            "source": [u for u, _, _, _ in rows],
            "target": [v for _, v, _, _ in rows],
            "weight": [w for _, _, w, _ in rows],
            "year": np.array([one["year"] for *_, one in rows], np.int64),
            "share": np.array([one["share"] for *_, one in rows], np.float32),
            "kind": pd.Series([one["kind"] for *_, one in rows], dtype=object),
            "lit": np.array([one["lit"] for *_, one in rows], bool),
        }
    )


def rows_kept(table: pd.DataFrame, directed: bool, duplicates: str) -> pd.DataFrame:
    """By pandas: of rows with the same ends the first, or the first of the least or the largest weight."""
    kept = table.copy()
    if not directed:
        ends = np.sort(kept[["source", "target"]].to_numpy(), axis=1)
        kept["source"], kept["target"] = ends[:, 0], ends[:, 1]
    if duplicates != "first":
        kept = kept.sort_values("weight", kind="stable", ascending=duplicates == "min")
    return kept.drop_duplicates(["source", "target"]).sort_values(["source", "target"]).reset_index(drop=True)


def graph_of(table: Any, **options: Any) -> hpg.Graph:
    return hpg.from_edges(table, source="source", target="target", weight="weight", names=False, **options)


def plain(column: Any) -> list[Any]:
    """A column as Python's values; what is missing, NaN too, as None."""
    column = column.text() if isinstance(column, tuple) else column
    return [None if value is None or value != value else value for value in column.tolist()]


def same_columns(G: hpg.Graph, want: pd.DataFrame, titles: list[str] = TITLES) -> None:
    source, target, _ = G.edges()
    assert source.tolist() == want.source.tolist() and target.tolist() == want.target.tolist()
    assert G.edge_columns == tuple(titles)
    for title in titles:
        assert plain(G.edge_column(title)) == plain(want[title]), title


def rows_ordered(table: pd.DataFrame) -> pd.DataFrame:
    ends = np.sort(table[["source", "target"]].to_numpy(), axis=1)
    return table.assign(source=ends[:, 0], target=ends[:, 1])
