"""The site: `python -m sphinx -W --keep-going docs build/site`, with `pip install '.[docs]'`.

Pages are the Markdown files of this folder, and the reference, which `_ext/reference.py` writes from the
installed package. Nothing in the pages comes from another host.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import stride0  # noqa: E402 - after its neighbours' folder

project = "stride0"
author = "stride0 developers"
copyright = author
version = release = stride0.__version__
language = "en"

extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design", "contents", "notebook", "reference"]
exclude_patterns = ["_ext"]
# Text in single quotes in docstrings links to a name of the package if there is one, otherwise is code.
default_role = "py:obj"
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
myst_html_meta = {
    "description": "NumPy-style arrays for the CPU that follow the Python Array API standard, with "
    "gradients, strict testing, readable shape errors and reproducible results.",
    "keywords": "Array API, NumPy, automatic differentiation, gradients, vmap, broadcasting, shape errors, "
    "strides, vectorised, reproducible",
}

# Inventories of other libraries are fetched from the network: only on request.
if os.environ.get("STRIDE0_INTERSPHINX") == "1":
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
    }
    intersphinx_timeout = 10

html_theme = "furo"
html_title = f"stride0 {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
