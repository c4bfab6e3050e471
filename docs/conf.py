import re

from fewvars import __version__

project = "fewvars"
author = "The fewvars developers"
release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
]
html_theme = "pydata_sphinx_theme"
html_title = "fewvars"
html_theme_options = {"show_prev_next": False, "navigation_with_keys": False}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True}
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
exclude_patterns = ["_build", "study-tables.md"]


def setup(app):
    app.connect("autodoc-process-docstring", escape_mathematics)


def escape_mathematics(app, what, name, obj, options, lines):
    """Let |x| and fitted_ names in docstrings stand for themselves, outside of code."""
    if name.rpartition(".")[2].startswith("set_") and name.endswith("_request"):
        lines[:] = ["Ask scikit-learn's metadata routing to pass these arguments on."]
    literal = False
    for i, line in enumerate(lines):
        if line.startswith(">>>"):
            continue
        literal = (literal and (not line or line.startswith("    "))) or line.endswith("::")
        if not literal:
            parts = re.split(r"(`[^`]*`)", line)
            lines[i] = "".join(p if p.startswith("`") else re.sub(r"\||(?<=\w)_(?!\w)", r"\\\g<0>", p) for p in parts)
