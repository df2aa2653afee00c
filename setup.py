"""What pyproject.toml cannot say: the sdist has a checkout's two links, so that its tests run where it is unpacked."""

import os
from pathlib import Path

from setuptools import setup
from setuptools.command.sdist import sdist


class SdistWithLinks(sdist):
    """hpgraph/formats and hpgraph/semiring lead to the folders beside hpgraph/."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:  # noqa: D102
        super().make_release_tree(base_dir, files)
        for name in ("formats", "semiring"):
            os.symlink(f"../{name}", Path(base_dir, "hpgraph", name))


setup(cmdclass={"sdist": SdistWithLinks})
