"""Run every fuzzer, one process each: ``python -m tests.fuzz [--seed S]``."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Cases of each: what takes it some minutes on a core.
CASES = {"programs": 60, "readers": 20_000, "graph_files": 10_000, "forged_files": 10_000}


def main() -> int:
    """Run them in turn; the exit status counts those that found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=main.__doc__)
    parser.add_argument("--seed", type=int, default=0)
    seed = str(parser.parse_args().seed)
    failed = 0
    for name, cases in CASES.items():
        print(f"{name}: {cases} cases, seed {seed}", flush=True)
        command = [sys.executable, "-m", f"tests.fuzz.{name}", "--cases", str(cases), "--seed", seed]
        failed += subprocess.run(command, cwd=ROOT).returncode != 0
    # The algebra's tests draw their operands: other ones, and more of them.
    command = [sys.executable, "-m", "pytest", "-q", "tests/algebra", "-k", "graphblas", "--hypothesis-seed", seed]
    failed += subprocess.run(command, cwd=ROOT, env={**os.environ, "HPGRAPH_EXAMPLES": "20"}).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
