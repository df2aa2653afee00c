"""hpgraph's entry points of NetworkX, for a process that imports a checkout which was installed before it had them."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def write_entry_points(folder: Path) -> None:
    """Have a folder to import from hold the metadata of a package with the entry points that pyproject.toml names."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    info = folder / "hpgraph_entry-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hpgraph-entry\nVersion: 0\n")
    lines = [line for group, entries in groups.items() for line in [f"[{group}]", *map(" = ".join, entries.items())]]
    (info / "entry_points.txt").write_text("\n".join(lines))
