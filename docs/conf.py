"""Settings of the site: ``make docs`` builds it into build/docs, and takes every warning for an error."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import hpgraph  # noqa: E402

project = "hpgraph"
author = "the hpgraph developers"
copyright = author
version = ".".join(hpgraph.__version__.split(".")[:2])
release = hpgraph.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "images"]
# `bfs` in a docstring leads to the function where there is one of that name, and is code otherwise.
default_role = "autolink"
# A reference that leads nowhere is an error, but for parameters' own names, which docstrings set in the same way, for
# other libraries, whose indexes are not there offline, and for what has no page of its own.
nitpicky = True
nitpick_ignore_regex = [
    ("py:obj", r"[a-z_]+"),
    ("py:obj", r"(numpy|scipy|distributed)\..*"),
    ("py:obj", r"hpgraph\.(kernels|layout|viz|cluster\.programs).*"),
]

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_member_order = "groupwise"
# Types stand in the docstrings, in the words of the field: "float array of shape (k, n)".
autodoc_typehints = "none"
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
