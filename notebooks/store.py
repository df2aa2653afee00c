"""Run the notebooks and store what they print and draw: ``make notebooks``."""

import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat

HERE = Path(__file__).parent


def store(path: Path) -> None:
    """Run a notebook in a folder of its own, and write it back with its outputs.

    What it says on stderr, that it compiles or how far it is, is no part of it; nor is when it ran.
    """
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = nbclient.NotebookClient(
            notebook, timeout=600, record_timing=False, resources={"metadata": {"path": folder}}
        )
        client.execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
            cell.metadata.pop("execution", None)
    # The reader's interpreter runs it.
    notebook.metadata.get("language_info", {}).pop("version", None)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(HERE.glob("*.ipynb")):
        store(Path(name))
        print(name)
