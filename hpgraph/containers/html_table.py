"""How objects show themselves in a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterable


def html_table(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A small table for notebooks, a line for each property."""
    body = "".join(f"<tr><td>{html.escape(name)}</td><td>{html.escape(value)}</td></tr>" for name, value in rows)
    head = f'<thead><tr><th colspan="2">{html.escape(title)}</th></tr></thead>'
    return f"<table>{head}<tbody>{body}</tbody></table>"
