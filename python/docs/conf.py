"""Sphinx: the API pages, from the docstrings of the installed package."""

import wordmover

project = "wordmover"
author = "the wordmover developers"
version = release = wordmover.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
html_theme = "alabaster"
html_theme_options = {"description": "Word Mover's Embedding, exactly and fast"}
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {
    "members": True,
    "undoc-members": False,
    "inherited-members": False,
    # Made by scikit-learn, with references to its own pages.
    "exclude-members": "set_fit_request, set_score_request, set_transform_request, "
    "set_predict_request, model_config",
}
# Packages that the adapters are for; a page of each is made without them.
autodoc_mock_imports = ["langchain_core", "llama_index"]
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
# Backquotes are code, as in the docstrings.
default_role = "code"
nitpicky = False
