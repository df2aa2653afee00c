"""Settings of the site: ``make docs`` builds it into build/docs, and takes every warning for an error."""

import contextlib
import re
import sys
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import notebook_pages  # noqa: E402

import hpgraph  # noqa: E402

project = "hpgraph"
author = "the hpgraph developers"
copyright = author
version = ".".join(hpgraph.__version__.split(".")[:2])
release = hpgraph.__version__

extensions = [
    "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.intersphinx", "sphinx.ext.viewcode", "numpydoc",
    "myst_parser", "sphinx_copybutton",
]  # fmt: skip
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "images"]
# `bfs` in a docstring leads to the function where there is one of that name, and is code otherwise.
default_role = "autolink"
# The site is built without PyTorch and JAX.
autodoc_mock_imports = ["torch", "jax"]
# A reference that leads nowhere is an error, but for parameters' own names, which docstrings set in the same way, for
# other libraries, whose indexes are not there offline, and for what has no page of its own.
nitpicky = True
# `Graph` in a signature: that of the page.
suppress_warnings = ["ref.python"]
nitpick_ignore_regex = [
    ("py:obj", r"[a-z_]+"),
    ("py:class", r".*"),
    ("py:obj", r"(numpy|scipy|distributed|jax|torch|torch_geometric)\..*"),
    ("py:obj", r"hpgraph\.(kernels|embed|layout|viz|cluster\.programs).*"),
]

# Other projects' indexes are fetched once; without a network their names are code, not links.
INVENTORIES = ROOT / "build" / "inventories"
OTHERS = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "networkx": "https://networkx.org/documentation/stable/",
    "cupy": "https://docs.cupy.dev/en/stable/",
}
for name, url in OTHERS.items():
    index = INVENTORIES / f"{name}.inv"
    if not index.is_file():
        INVENTORIES.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}objects.inv", timeout=5) as found:
            index.write_bytes(found.read())
intersphinx_mapping = {
    name: (url, str(INVENTORIES / f"{name}.inv")) for name, url in OTHERS.items()
    if (INVENTORIES / f"{name}.inv").is_file()
}  # fmt: skip

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_member_order = "groupwise"
# Python's types in signatures; the docstrings have those of the field: "float array of shape (k, n)".
autodoc_typehints = "signature"
python_maximum_signature_line_length = 100
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = f"hpgraph {release}"
html_static_path = ["_static"]
html_css_files = ["hpgraph.css"]
html_sidebars = {"index": [], "start": [], "gallery/index": [], "performance": []}
# A search for "shortest path" finds `shortest_path` first.
html_search_scorer = str(ROOT / "docs" / "_static" / "search_scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "hpgraph"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def _relatives() -> dict[str, list[str]]:
    """The functions that stand in one list of the reference with each."""
    found: dict[str, list[str]] = {}
    for page in (ROOT / "docs" / "reference").glob("*.rst"):
        module = "hpgraph"
        for block in re.split(r"\n(?=\.\. )", page.read_text(encoding="utf-8")):
            module = re.findall(r"^\.\. currentmodule:: (\S+)", block)[-1:] or [module]
            module = module[0]
            names = re.findall(r"^   ([a-z]\w*)$", block, re.MULTILINE)
            found |= {f"{module}.{name}": [other for other in names if other != name][:6] for name in names}
    return found


def _see_also(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Append a section "See Also" to a function's docstring that has none."""
    others = RELATIVES.get(name) if what == "function" else None
    if others and "See Also" not in lines:
        lines += ["", "See Also", "--------", ", ".join(others), ""]


RELATIVES = _relatives()
notebook_pages.write(ROOT / "notebooks", ROOT / "docs" / "notebooks")


def setup(app: Any) -> None:
    """Register what is done here; before numpydoc, which reads the sections."""
    app.connect("autodoc-process-docstring", _see_also, priority=100)
