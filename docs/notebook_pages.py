"""The notebooks as pages of the site: their text, their programs, and what is stored of their output."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def write(notebooks: Path, folder: Path) -> None:
    """Write a page for each notebook, with its pictures beside it."""
    folder.mkdir(exist_ok=True)
    for path in sorted(notebooks.glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        page = [part for at, cell in enumerate(cells) for part in _parts(cell, folder / f"{path.stem}-{at}.png")]
        (folder / f"{path.stem}.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")


def _parts(cell: dict[str, Any], picture: Path) -> Iterator[str]:
    """A cell as Markdown; its picture, of which no cell has two, goes into a file."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source.replace("](../docs/", "](../")
    else:
        yield f"````python\n{source}\n````"
    for out in cell.get("outputs", []):
        shown = out.get("data", {})
        if "image/png" in shown:
            picture.write_bytes(base64.b64decode(shown["image/png"]))
            yield f"![]({picture.name})"
        else:
            text = "".join(out.get("text", [])) or "".join(shown["text/plain"])
            yield f"````text\n{text.rstrip()}\n````"
