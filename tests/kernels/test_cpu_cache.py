"""The cache of compiled CPU kernels: one folder a version, shared by processes that start at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hpgraph.kernels.runtime.cpu import compilation

PROGRAM = """
import numpy as np, scipy.sparse as sp, hpgraph as hpg
A = hpg.Matrix(sp.csr_array(np.arange(6.0).reshape(2, 3)))
assert A.mxv(np.array([3.0, 1.0, 2.0]), "max_plus").tolist() == [4.0, 7.0]
"""


def test_an_edited_source_has_a_cache_of_its_own(tmp_path: Path) -> None:
    first, second = tmp_path / "product.py", tmp_path / "fold.py"
    first.write_text("kernel")
    second.write_text("what is inlined")
    before = compilation._version([first, second])
    stamp = second.stat()
    second.write_text("what is INLINED")
    # Neither time stamps nor sizes tell, as after an upgrade that keeps those of the archive.
    os.utime(second, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert compilation._version([first, second]) != before


def test_every_source_of_inlined_code_counts() -> None:
    names = {f"{path.parent.name}/{path.name}" for path in compilation._sources()}
    assert {"spmv/cpu.py", "spmv/cpu_fold.py", "semiring/arithmetic.py", "runtime/functions.py"} <= names


def test_folders_of_versions_long_gone_are_removed(tmp_path: Path) -> None:
    old, recent = tmp_path / "0123", tmp_path / "4567"
    for folder, days in ((old, compilation.KEPT_DAYS + 1), (recent, 1)):
        folder.mkdir()
        (folder / "kernel.nbc").write_text("code")
        then = time.time() - days * 86_400
        os.utime(folder, (then, then))
    used = compilation.version_folder(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([recent, used])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="file permissions are not those of POSIX")
def test_processes_that_start_together_share_a_cold_cache(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "HPGRAPH_CACHE_DIR": str(tmp_path / "cache"), "HPGRAPH_VERBOSE": "1"}
    environment.pop("NUMBA_CACHE_DIR", None)

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(program)], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
        )

    for process in [start() for _ in range(3)]:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
    late = start()
    assert late.communicate(timeout=300)[1] == "", "what the three compiled is found"
