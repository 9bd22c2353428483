"""The package's types hold, and the stub says what the native module has."""

import json
import pathlib
import subprocess
import sys

import pytest

import wordmover

PACKAGE = pathlib.Path(wordmover.__file__).parent
EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
CONFIGURATION = pathlib.Path(__file__).resolve().parents[1] / "pyproject.toml"

pytest.importorskip("mypy")

USE = """
import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type
from wordmover import KNeighborsWMD, LinearSVM, TextClassifier, WordMoversEmbedding, WordVectors
from wordmover import Hit, WmdIndex, WordMove, pairwise_wmd, plot, transport, transport_batch, wmd

assert_type(wmd("a", ["b"]), float)
assert_type(wmd("a", "b", return_plan=True), tuple[float, list[WordMove]])
cost: float = transport([[0.0]], [1.0], [1.0])
pair = transport([[0.0]], [1.0], [1.0], return_duals=True)
u: npt.NDArray[np.float64] = pair[1][0]
WordMoversEmbedding(n_features=3).fit(["a"]).transform([["a"], "b"]).sum()
assert_type(WordMoversEmbedding().encode("a").dtype.itemsize, int)
row: npt.NDArray[np.float32] = WordMoversEmbedding().encode(["a"], normalize_embeddings=True)
distances, positions = KNeighborsWMD().fit(["a"]).kneighbors(["b"])
assert_type(KNeighborsWMD().kneighbors(return_distance=False), npt.NDArray[np.int64])
first: int = positions[0, 0].item()
WordVectors.load("x", limit=3)["word"].sum()
assert_type(KNeighborsWMD().kneighbors(["b"], 1, False), npt.NDArray[np.int64])


def asked(flag: bool) -> None:
    either = wmd("a", "b", return_plan=flag)
    assert_type(either, float | tuple[float, list[WordMove]])
    transport([[0.0]], [1.0], [1.0], return_plan=flag, return_duals=flag)
    KNeighborsWMD().kneighbors(["b"], 1, flag)


words: list[str] = list(WordVectors.builtin())
costs: npt.NDArray[np.float64] = transport_batch([[[0.0]]], [1.0], [1.0])
svm = LinearSVM(class_weight={"a": 2.0}).fit([[0.0], [1.0]], ["a", "b"], [1.0, 2.0])
svm.predict([[0.0]]).tolist()
matrix: npt.NDArray[np.float64] = pairwise_wmd(["a"], ["b"])
plans = transport_batch([[[0.0]]], [1.0], [1.0], return_plan=True)
assert_type(WordVectors.builtin().most_similar(["a"], topn=3), list[tuple[str, float]])
rows: npt.NDArray[np.float32] = WordVectors.builtin()[["a", "b"]]
WordMoversEmbedding.pretrained().encode(["a"], 8, normalize_embeddings=True).sum()
KNeighborsWMD(tokenizer=str.split, votes="distance").fit(["a"], ["b"]).predict_proba(["c"]).sum()
TextClassifier(cv=3).fit(["a"], ["b"]).predict(["c"]).tolist()
index = WmdIndex(["a", "b"], ids=["x", "y"])
index.add(["c"], ["z"])
index.remove("x")
assert_type(index.search("a", 3, by="wmd"), list[Hit])
assert_type(index.search(["a", "b"])[0][0].distance, float | None)
assert_type(WmdIndex.load("docs.wmi")["y"], str)
page: str = plot.plan("a", "b").svg
WordMoversEmbedding(3)  # error: parameters are keywords
WordVectors.load(3)  # error: a path
"""


def run(*command):
    return subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True,
                          timeout=300, check=False)


def test_the_package_is_typed():
    assert (PACKAGE / "py.typed").exists()
    done = run("mypy", "--config-file", CONFIGURATION, "-p", "wordmover")
    assert done.returncode == 0, done.stdout


def test_the_stub_fits_the_native_module():
    done = run("mypy.stubtest", "wordmover._native")
    assert done.returncode == 0, done.stdout


def test_users_see_the_types(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    done = run("mypy", "--config-file", CONFIGURATION, tmp_path / "use.py")
    wrong = [line for line in done.stdout.splitlines() if ": error:" in line]
    expected = [n for n, line in enumerate(USE.splitlines(), 1) if "# error" in line]
    assert [int(line.split(":")[1]) for line in wrong] == expected, done.stdout


def test_pyright_sees_them_too(tmp_path):
    pytest.importorskip("pyright", reason="pyright is not installed")
    (tmp_path / "use.py").write_text(USE)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(
        {"typeCheckingMode": "standard", "reportMissingModuleSource": False}))
    done = run("pyright", "--outputjson", "--pythonpath", sys.executable, "-p", tmp_path)
    try:
        found = json.loads(done.stdout)["generalDiagnostics"]
    except (json.JSONDecodeError, KeyError):
        pytest.skip(f"pyright does not run here (it needs Node): {done.stderr[-200:]}")
    wrong = [each["range"]["start"]["line"] + 1 for each in found if each["severity"] == "error"]
    expected = [n for n, line in enumerate(USE.splitlines(), 1) if "# error" in line]
    assert wrong == expected, found


def test_the_examples_are_typed():
    names = [path for path in EXAMPLES.glob("*.py")]
    done = run("mypy", "--config-file", CONFIGURATION, *names)
    assert done.returncode == 0, done.stdout
