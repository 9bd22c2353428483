"""The examples run as they are and say what they promise. (The Spark job: tests/cluster.)"""

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


def test_classification(tmp_path):
    output = output_of("classification.py")
    shares = [float(share) for share in re.findall(r"([\d.]+)%", output)]
    assert len(shares) == 2 and min(shares) >= 40, output
    labelled = tmp_path / "labelled.tsv"
    labelled.write_text("".join(f"{kind}\tthe {word} and the {other}\n"
                                for kind, words in {"a": ["goat", "cow", "sheep", "horse"],
                                                    "b": ["bank", "money", "loan", "tax"]}.items()
                                for word in words for other in words))
    assert "100.0% right" in output_of("classification.py", labelled)


def test_semantic_search():
    output = output_of("semantic_search.py")
    hits = output.split("nearest by cosine")[0]
    assert "speaks to the media" in hits and "because:" in output


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
        assert done.stdout == "['politics']\n"
