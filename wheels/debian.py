"""Make the bundled graph of Debian's packages from apt's own package lists.

Run on a Debian machine whose package lists are fresh (``apt-get update``)::

    python -m wheels.debian hpgraph/datasets/data/debian-bookworm.npz

Only the lists of the Debian archive itself are read: apt is asked for those whose release says ``Origin: Debian`` and
the wanted codename and component, so other repositories that the machine knows do not leak into the graph.

How the lists become arcs (the relations of the Debian Policy Manual, chapter 7):

- Vertices are the packages, sorted by name. Of a package listed in several versions the newest counts.
- ``Depends`` and ``Pre-Depends`` are dependencies; ``Recommends`` and ``Suggests`` are kept apart as weaker kinds.
  Where two packages are related in several ways, the strongest is kept.
- In ``a | b`` either package satisfies the relation: the arc goes to both.
- A name that no package bears is virtual: the arc goes to every package that provides it.
- Version bounds and architecture qualifiers are dropped: within one release the bounds hold. A name that nothing in the
  release bears or provides (a package of another section of the archive) gives no arc, nor does a package's relation
  to itself.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from hpgraph.io.replace import check_writable, replacing

KINDS = {"Pre-Depends": 0, "Depends": 0, "Recommends": 1, "Suggests": 2}
"""Field of a package's record -> the kind stored with the arc; a smaller kind is a stronger relation."""

# "python3:any (>= 3.9)" names the package before the first blank, bracket or colon.
_END_OF_NAME = re.compile(r"[\s(:\[<]")


def package_list(codename: str, component: str) -> str:
    """Text of the Debian archive's package list, as apt keeps it on this machine."""
    wanted = ["Created-By: Packages", "Origin: Debian", f"Codename: {codename}", f"Component: {component}"]
    found = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(FILENAME)", *wanted], check=True, capture_output=True, text=True
    ).stdout.split()
    if len(found) != 1:
        raise FileNotFoundError(
            f"apt has {len(found)} lists of {codename}/{component}, not one: run apt-get update first"
        )
    return subprocess.run(
        ["/usr/lib/apt/apt-helper", "cat-file", found[0]], check=True, capture_output=True, text=True, encoding="utf-8"
    ).stdout


def parse_records(text: str) -> Iterator[dict[str, str]]:
    r"""Yield each package's record as a dict of its single-line fields.

    >>> list(parse_records("Package: a\nDepends: b,\n c\n\nPackage: b\n"))
    [{'Package': 'a', 'Depends': 'b, c'}, {'Package': 'b'}]
    """
    for paragraph in text.split("\n\n"):
        record: dict[str, str] = {}
        field = ""
        for line in paragraph.split("\n"):
            if line[:1] in (" ", "\t"):
                record[field] += line.rstrip()
            elif line:
                field, _, value = line.partition(":")
                record[field] = value.strip()
        if record:
            yield record


def newest(records: Iterable[dict[str, str]]) -> dict[str, dict[str, str]]:
    """Package name -> record, the newest version of each, in the order of the names."""
    by_name: dict[str, dict[str, str]] = {}
    for record in records:
        name = record["Package"]
        other = by_name.get(name)
        if other is None or _is_later(record["Version"], other["Version"]):
            by_name[name] = record
    return dict(sorted(by_name.items()))


def _is_later(version: str, other: str) -> bool:
    return subprocess.run(["dpkg", "--compare-versions", version, "gt", other], check=False).returncode == 0


def parse_relation(field: str) -> list[str]:
    """Names of the packages in a relation field, alternatives and all.

    >>> parse_relation("libc6 (>= 2.34), python3:any, mta | mail-transport-agent")
    ['libc6', 'python3', 'mta', 'mail-transport-agent']
    """
    terms = (term.strip() for clause in field.split(",") for term in clause.split("|"))
    return [_END_OF_NAME.split(term, maxsplit=1)[0] for term in terms if term]


def relations(packages: dict[str, dict[str, str]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arcs between packages: ``(source, target, kind)``, sorted by source and then target."""
    position = {name: i for i, name in enumerate(packages)}
    providers: dict[str, list[int]] = {}
    for name, record in packages.items():
        for virtual in parse_relation(record.get("Provides", "")):
            providers.setdefault(virtual, []).append(position[name])
    strongest: dict[tuple[int, int], int] = {}
    for name, record in packages.items():
        i = position[name]
        for field, kind in KINDS.items():
            for wanted in parse_relation(record.get(field, "")):
                real = position.get(wanted)
                for j in [real] if real is not None else providers.get(wanted, []):
                    if i != j:
                        strongest[i, j] = min(kind, strongest.get((i, j), kind))
    arcs = np.array(sorted((i, j, kind) for (i, j), kind in strongest.items()), dtype=np.int64).reshape(-1, 3)
    return arcs[:, 0], arcs[:, 1], arcs[:, 2].astype(np.uint8)


def make(text: str, path: str | Path) -> None:
    """Write the graph of a package list to a compressed ``.npz``.

    ``path``: file to write. It holds ``names`` (bytes, one name a line), ``installed_size`` (KiB) and ``out_degree``
    per package, and the arcs, sorted by source, as ``indices`` and ``kind``.
    """
    packages = newest(parse_records(text))
    source, target, kind = relations(packages)
    with replacing(path) as file:
        np.savez_compressed(
            file,
            # Text of fixed width would be several times larger, even compressed.
            names=np.frombuffer("\n".join(packages).encode("utf-8"), dtype=np.uint8),
            installed_size=np.array([int(r.get("Installed-Size", 0)) for r in packages.values()], dtype=np.int32),
            out_degree=np.bincount(source, minlength=len(packages)).astype(np.int32),
            indices=target.astype(np.int32),
            kind=kind,
        )


def main(arguments: list[str] | None = None) -> int:
    """Command line: ``wheels.debian FILE [--codename bookworm] [--component main]``."""
    parser = argparse.ArgumentParser(description="Make the graph of Debian's packages from apt's package lists.")
    parser.add_argument("file", type=Path, help="the .npz to write")
    parser.add_argument("--codename", default="bookworm", help="release of Debian (default: %(default)s)")
    parser.add_argument("--component", default="main", help="section of the archive (default: %(default)s)")
    options = parser.parse_args(arguments)
    check_writable(options.file)
    make(package_list(options.codename, options.component), options.file)
    with np.load(options.file) as stored:
        counts = np.bincount(stored["kind"], minlength=3)
        print(
            f"{options.file}: {stored['out_degree'].size:,} packages; {counts[0]:,} dependencies, "
            f"{counts[1]:,} recommendations, {counts[2]:,} suggestions; {options.file.stat().st_size / 1e6:.2f} MB"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
