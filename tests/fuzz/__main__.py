"""Run every fuzzer, one process each: ``python -m tests.fuzz [--seed S]``."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

# Cases of each: what takes it some minutes on a core.
CASES = {
    "dependencies": 2_000,
    "programs": 60,
    "readers": 20_000,
    "graph_files": 10_000,
    "forged_files": 10_000,
    "algebra": 2_000,
}


def main() -> int:
    """Run them in turn; the exit status counts those that found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=main.__doc__)
    parser.add_argument("--seed", type=int, default=0)
    seed = str(parser.parse_args().seed)
    failed = 0
    for name, cases in CASES.items():
        print(f"{name}: {cases} cases, seed {seed}", flush=True)
        command = [sys.executable, "-m", f"tests.fuzz.{name}", "--cases", str(cases), "--seed", seed]
        failed += subprocess.run(command, cwd=Path(__file__).parents[2]).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
