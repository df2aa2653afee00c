"""Run NetworkX's tests on hpgraph, with what it does not take left to NetworkX, and without.

A test passes where all that it calls is right; without the fallback a test that calls anything else is counted as
expected to fail, by NetworkX itself. What fails must stand in `expected.FAILING`, with the reason.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from importlib.metadata import entry_points
from pathlib import Path

from tests.networkx_suite.entry import ROOT, write_entry_points
from tests.networkx_suite.expected import FAILING


def entered(folder: Path) -> list[str]:
    """Folders to import from besides: one with the entry points, where what is installed is older than they."""
    if entry_points(group="networkx.backends", name="hpgraph"):
        return [str(ROOT)]
    write_entry_points(folder)
    return [str(ROOT), str(folder)]


def run(packages: list[str], fallback: bool) -> tuple[dict[str, int], list[str]]:
    """Counts by outcome, and the tests that failed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = {
            **{key: value for key, value in os.environ.items() if not key.startswith("NETWORKX_")},
            "PYTHONPATH": os.pathsep.join([*entered(folder), os.environ.get("PYTHONPATH", "")]),
            "NETWORKX_TEST_BACKEND": "hpgraph",
            **({"NETWORKX_FALLBACK_TO_NX": "True"} if fallback else {}),
        }
        report = folder / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "-o", "addopts="]
        # Only the older kind of report names files.
        command += ["-o", "junit_family=xunit1"]
        # From a folder of its own, so that no settings but NetworkX's apply.
        subprocess.run([*command, f"--junitxml={report}", "--pyargs", *packages], env=env, cwd=folder)
        counts = {"passed": 0, "failed": 0, "expected to fail": 0, "skipped": 0}
        failed = []
        for case in ElementTree.parse(report).iter("testcase"):
            file = Path(str(case.get("file"))).name
            classes = [word for word in str(case.get("classname")).split(".") if word.startswith("Test")]
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                counts["failed"] += 1
                failed.append("::".join([file, *classes, str(case.get("name"))]))
            elif skipped is not None:
                counts["expected to fail" if skipped.get("type") == "pytest.xfail" else "skipped"] += 1
            else:
                counts["passed"] += 1
    return counts, failed


def main() -> int:
    """Both runs, and what differs from what is expected."""
    parser = argparse.ArgumentParser(prog="python -m tests.networkx_suite", description=main.__doc__)
    parser.add_argument("packages", nargs="*", default=["networkx"], help="packages of NetworkX; by default all")
    parser.add_argument("--only", choices=["fallback", "plain"], help="one of the two runs")
    options = parser.parse_args()
    wrong = False
    for fallback in (True, False):
        if options.only == ("plain" if fallback else "fallback"):
            continue
        counts, failed = run(options.packages, fallback)
        shown = ", ".join(f"{n} {what}" for what, n in counts.items())
        print("with" if fallback else "without", "the fallback:", shown)
        for test in failed:
            reason = FAILING.get(test)
            print(f"  {test}: {reason or 'NOT EXPECTED'}")
            wrong |= reason is None
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
