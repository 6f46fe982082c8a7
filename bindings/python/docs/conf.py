"""The configuration of Sphinx for the documentation site (build.sh)."""

import weighbridge

project = "weighbridge"
version = release = weighbridge.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
exclude_patterns = ["docs/man/**"]

# Docstrings: Google style, without types, which autodoc takes from the annotations.
autodoc_typehints = "description"
autodoc_typehints_documented_target = "documented"
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_use_ivar = True

# Markdown: links to headings as on the pages of a repository.
myst_heading_anchors = 4
