"""Every public docstring has its parts, and its examples run."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import wordmover

MODULES = ["wordmover", "wordmover.plot", "wordmover.topics", "wordmover.mteb"]
#: These need packages that are not always there.
ADAPTERS = ["wordmover.langchain", "wordmover.llama_index", "wordmover.spark", "wordmover.ray"]


def modules():
    for name in [*MODULES, *ADAPTERS]:
        try:
            yield importlib.import_module(name)
        except ImportError:
            assert name in ADAPTERS


def public():
    for module in modules():
        names = getattr(module, "__all__", None) or [
            name for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__]
        for name in names:
            yield f"{module.__name__}.{name}", getattr(module, name)


EXCEPTIONS = {"wordmover.ModelError"}
#: Results and tables; how they are made stands elsewhere.
WITHOUT_PARAMETERS = EXCEPTIONS | {
    "wordmover.Hit", "wordmover.WordMove", "wordmover.PartialPlan", "wordmover.WordVectors",
    "wordmover.get_num_threads", "wordmover.plot.Drawing", "wordmover.plot.COLOURS"}


@pytest.mark.parametrize(("name", "thing"), [
    pytest.param(name, thing, id=name) for name, thing in public() if callable(thing)])
def test_public_docstrings_have_their_parts(name, thing):
    text = inspect.getdoc(thing) or ""
    assert len(text) > 20, f"{name} has no docstring"
    if name not in WITHOUT_PARAMETERS and name.split(".")[1] not in ("spark", "ray"):
        assert "Parameters\n----------" in text, name
        assert ">>> " in text, f"{name} has no example"
    if inspect.isclass(thing):
        for method, value in vars(thing).items():
            if not method.startswith("_") and callable(value):
                assert inspect.getdoc(getattr(thing, method)), f"{name}.{method}"


def documented():
    found = [wordmover]
    for info in pkgutil.iter_modules(wordmover.__path__, "wordmover."):
        if info.name not in (*ADAPTERS, "wordmover._native"):
            found.append(importlib.import_module(info.name))
    return found


@pytest.mark.parametrize("module", documented(), ids=lambda module: module.__name__)
def test_the_examples_run(module):
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert failed == 0


def test_the_examples_of_the_native_class_run():
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    for case in finder.find(wordmover.WordVectors, "WordVectors", globs={}):
        runner.run(case)
    assert runner.summarize()[0] == 0
