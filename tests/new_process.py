"""Python programs in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def completed(
    program: str | Path, *words: Any, cwd: Path | None = None, **variables: Any
) -> subprocess.CompletedProcess[str]:
    """Run a text or a file with these words and, beside this process's, variables; None takes one away."""
    environment = {**os.environ, **variables}
    return subprocess.run(
        [sys.executable, *(["-c"] if isinstance(program, str) else []), program, *map(str, words)], cwd=cwd,
        env={name: str(value) for name, value in environment.items() if value is not None},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip


def printed(program: str | Path, *words: Any, cwd: Path | None = None, **variables: Any) -> str:
    """What a program prints, as `completed` runs it; that it ends without an error."""
    __tracebackhide__ = True
    done = completed(program, *words, cwd=cwd, **variables)
    assert done.returncode == 0, f"exit status {done.returncode} after {done.stdout}{done.stderr}"
    return done.stdout
