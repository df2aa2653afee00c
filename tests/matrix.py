"""The tests under every Python found here, each with the newest and the oldest versions that pyproject.toml allows.

``make test-matrix ARGS="--pythons 3.11,3.13 --versions oldest tests/test_graph.py -k subgraph"``

uv finds the interpreters and resolves: of a package without wheels for a Python, "oldest" is the oldest with one.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "matrix"
PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.14t")
VERSIONS = {"newest": "highest", "oldest": "lowest-direct"}


def _run(*words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in words], cwd=ROOT, text=True, env={**os.environ, **more}, check=False)


def environment(python: str, versions: str) -> Path | None:
    """A virtual environment with what the tests need; None where something has no wheel for this Python."""
    folder = FOLDER / f"{python}-{versions}"
    wanted = FOLDER / f"{python}-{versions}.txt"
    project = ROOT / "pyproject.toml"
    if wanted.is_file() and wanted.stat().st_mtime > project.stat().st_mtime and (folder / "complete").is_file():
        return folder
    resolve = ("pip", "compile", "--quiet", "--extra", "check", "--only-binary", ":all:", "--python-version", python)
    steps: Sequence[Sequence[str | Path]] = (
        ("venv", "--quiet", "--clear", "--seed", "--no-python-downloads", "--python", python, folder),
        (*resolve, "--python", folder, "--resolution", VERSIONS[versions], "--output-file", wanted, project),
        ("pip", "install", "--quiet", "--python", folder, "--requirement", wanted),
        ("pip", "install", "--quiet", "--python", folder, "--no-deps", "--editable", ROOT),
    )
    for step in steps:
        if _run(sys.executable, "-m", "uv", *step).returncode:
            return None
    (folder / "complete").touch()
    return folder


def found(python: str) -> bool:
    """Whether there is such an interpreter."""
    search = (sys.executable, "-m", "uv", "python", "find", "--quiet", "--no-python-downloads", "--no-project", python)
    return subprocess.run(search, capture_output=True, check=False).returncode == 0


def main() -> int:
    """Run, and print a line for each environment; 1 if the tests of one failed or one could not be installed."""
    parser = argparse.ArgumentParser(prog="python -m tests.matrix", description=__doc__.partition("\n")[0])
    parser.add_argument("--pythons", default=",".join(PYTHONS), help="separated by commas (default: %(default)s)")
    parser.add_argument("--versions", default=",".join(VERSIONS), help="of these (default: %(default)s)")
    options, rest = parser.parse_known_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines, failed = [], False
    for python in options.pythons.split(","):
        if not found(python):
            lines.append(f"{python}: not here")
            continue
        for versions in options.versions.split(","):
            start = time.monotonic()
            folder = environment(python, versions)
            if folder is None:
                outcome = "could not be installed"
            else:
                binary = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
                words = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "--max-worker-restart", "0", *rest)
                status = _run(binary, "-m", "pytest", *words).returncode
                outcome = "passed" if status == 0 else f"failed (pytest's status {status})"
            failed |= outcome != "passed"
            lines.append(f"{python}, {versions} versions: {outcome}, {time.monotonic() - start:.0f} s")
    print(*lines, sep="\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
