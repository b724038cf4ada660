"""Sphinx configuration of the documentation. scripts/docs builds it; nothing is fetched from a network."""

import os
import re

import enhope

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

project = "enhope"
version = release = enhope.__version__
html_title = f"enhope {version}"
html_theme = "furo"
highlight_language = "text"  # of indented blocks, which are formulas
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
breathe_projects = {"enhope": os.path.join(TOP, "build", "docs", "xml")}
breathe_default_project = "enhope"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_use_ivar = True
napoleon_custom_sections = [(f"{topic} parameters", "params_style")
                            for topic in ("Map", "Objective", "Optimization", "Augmentation", "Further")]
napoleon_use_rtype = False

nitpicky = True
nitpick_ignore_regex = [
    ("c:identifier", r"u?int\d+_t|size_t"),
    ("py:class", r".*"),  # types in the docstrings of estimators are words, as in scikit-learn
]
# Breathe declares a struct and its typedef, which have one name.
suppress_warnings = ["duplicate_declaration.c"]


def name_files_of_the_repository(app, docname, source):
    """A link to a file outside docs/ becomes the name of that file: the site does not hold it."""
    folder = os.path.dirname(os.path.join(app.srcdir, docname))

    def replace(match):
        path = match.group(2).partition("#")[0]
        if "://" in path or not path:
            return match.group(0)
        target = os.path.normpath(os.path.join(folder, path))
        if target.startswith(app.srcdir + os.sep) or not os.path.exists(target):
            return match.group(0)
        name = os.path.relpath(target, TOP)
        return f"`{name}`" if match.group(1).strip("`") in (name, os.path.basename(name)) else f"{match.group(1)} (`{name}`)"

    source[0] = re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", replace, source[0])


def setup(app):
    app.connect("source-read", name_files_of_the_repository)
