"""The examples run as they are and print figures. (The Spark job: tests/cluster.) They take
larger corpora by --data; here, forty headlines and scikit-learn's digits have to do."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


def output_of(name, *arguments):
    done = subprocess.run([sys.executable, EXAMPLES / name, *arguments], capture_output=True,
                          text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_classification():
    output = output_of("classification.py")
    shares = [float(share) for share in re.findall(r"([\d.]+)%", output)]
    assert len(shares) == 5 and min(shares) >= 20, output
    assert "best: " in output and "reuters_r8: skipped" in output


def test_semantic_search():
    output = output_of("semantic_search.py")
    hits = output.split("nearest by cosine")[0]
    assert "speaks to the media" in hits and "because:" in output
    figures = [float(x) for x in re.findall(r"(0\.\d{3})$", output, re.MULTILINE)]
    tfidf, default, weighted, hybrid, exact = figures
    assert min(default, weighted, hybrid, exact) > tfidf
    assert "20news: skipped" in output


def test_clustering():
    output = output_of("clustering.py")
    tfidf, wme, _ = (float(x) for x in re.findall(r"(-?\d\.\d{3})  \(least", output))
    assert wme > tfidf, output
    assert "bbcsport: skipped" in output and "classic: skipped" in output


def test_a_topic_map(tmp_path):
    page = tmp_path / "map.html"
    output = output_of("topic_map.py", "--output", page)
    assert "wrote" in output and len(output.splitlines()) == 6
    content = page.read_text(encoding="utf-8")
    assert content.count("<svg") == 2 and content.count("<circle") == 45


def test_transport_of_images():
    output = output_of("transport_images.py")
    shares = [float(share) for share in re.findall(r"([\d.]+)%", output)]
    assert len(shares) == 4
    # Ink that moves by a pixel is still near.
    assert shares[3] > shares[2] + 20, output
    assert "moves" in output


@pytest.mark.parametrize("name", ["token_vectors.py", "any_distance.py"])
def test_beyond_words(name):
    assert output_of(name, "quick").count("\n") >= 2


@pytest.mark.parametrize("readme", ["README.md", "docs/guide.md", "python/README.md"])
def test_what_the_readme_shows_can_be_pasted(readme, tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / readme).read_text(encoding="utf-8"),
                        re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True,
                              cwd=tmp_path, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        printed = re.findall(r"print\(.*\)\s+# ([^;\n]*)", block)
        assert done.stdout.splitlines() == printed, block
