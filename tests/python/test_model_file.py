"""What stands in a model file, and which files the program refuses."""

import collections
import json
import struct

import numpy as np
import pytest
from safetensors.numpy import save_file

from conftest import NEW_SENTENCES
from reader import Model, seal

OPTIONS = ["--features", 20, "--normalize", "center-unit", "--weights", "tfidf", "--gamma", 0.5]


def test_metadata_and_tensors(case):
    model = case.fit(*OPTIONS, "--seed", 5)
    version = model.metadata.pop("written_by").removeprefix("wordmover ")
    assert version.count(".") == 2
    assert model.metadata.keys() == {
        *("format", "version", "generator", "checksum"),
        *("parameters", "gamma", "n_documents", "vectors"),
    }
    assert model.metadata["format"] == "wordmover-model"
    assert model.metadata["version"] == "3"
    assert model.metadata["generator"] == "chacha8-1"
    assert model.parameters == {
        "n_features": 20,
        "d_max": 6,
        "gamma": {"value": 0.5},
        "random_words": "uniform",
        "normalization": "center-unit",
        "seed": 5,
        "tokenizer": {"case": "lower", "stop_words": "none", "version": "2"},
        "bag": {"weighting": "tfidf", "min_count": 1, "max_words": 500},
        "unknown": "skip",
        "post_processing": "standardize",
        "components": {"flatten": 3},
    }
    assert model.gamma == 0.5
    assert model.n_documents == len(case.texts)
    assert model.identity == {
        "name": "vectors.txt",
        "words": len(case.vectors.words),
        "dim": 12,
        "checksum": case.vectors.checksum(),
    }
    n_words, n_random = len(model.vocabulary), model.tensors["random_lengths"].sum()
    assert {name: (str(t.dtype), t.shape) for name, t in model.tensors.items()} == {
        "vocabulary_ends": ("uint64", (n_words,)),
        "document_frequencies": ("uint64", (n_words,)),
        "occurrences": ("uint64", (n_words,)),
        "center": ("float64", (12,)),
        "feature_means": ("float64", (20,)),
        "feature_scales": ("float64", (20,)),
        "component_scales": ("float64", (3,)),
        "components": ("float64", (3, 20)),
        "random_lengths": ("uint32", (20,)),
        "unknown_ends": ("uint64", (0,)),
        "unknown_document_frequencies": ("uint64", (0,)),
        "unknown_occurrences": ("uint64", (0,)),
        "unknown_words": ("uint8", (0,)),
        "random_words": ("float32", (n_random, 12)),
        "vocabulary": ("uint8", (sum(len(word.encode()) for word in model.vocabulary),)),
    }


def test_the_vocabulary_counts_known_words_in_the_order_of_the_table(case):
    model = case.fit(*OPTIONS)
    known = [[w for w in text.split() if w in case.vectors.ids] for text in case.texts]
    occurrences = collections.Counter(word for words in known for word in words)
    df = collections.Counter(word for words in known for word in set(words))
    assert model.vocabulary == [word for word in case.vectors.words if word in occurrences]
    assert model.occurrences == occurrences
    assert model.df == df


def test_every_choice_is_spelled_as_documented(wordmover, case):
    plain = ["--features", 2, "--normalize", "none", "--gamma", "none"]
    model = case.fit(*plain, "--case", "keep", "--max-words", 3, "--min-count", 2)
    assert model.parameters["gamma"] == "none" and model.metadata["gamma"] == "null"
    assert model.parameters["tokenizer"] == {
        "case": "keep", "stop_words": "none", "version": "2"
    }
    assert model.parameters["bag"] == {"weighting": "nbow", "min_count": 2, "max_words": 3}
    assert case.fit("--features", 2).parameters["gamma"] == "auto"
    for options, finish, components in [
        (["--raw"], "raw", "keep"),
        (["--post-processing", "center"], "center", {"flatten": 3}),
        (["--components", "remove=2"], "standardize", {"remove": 2}),
        (["--post-processing", "unit"], "unit", {"flatten": 3}),
    ]:
        model = case.fit("--features", 2, *options)
        parameters = model.parameters
        assert (parameters["post_processing"], parameters["components"]) == (finish, components)
        assert model.metadata["version"] == ("5" if finish == "unit" else "3")
    sif = case.fit("--features", 2, "--weights", "sif")
    assert sif.parameters["bag"]["weighting"] == "sif"
    assert sif.metadata["word_probabilities"] == "built-in"
    assert sif.tensors["word_probabilities"].shape == (len(case.vectors.words),)
    (case.directory / "stop.txt").write_text("the\n\n of \nand\n")
    for options, spelled in [
        ([], "smart"),
        (["--stop-words", "smart"], "smart"),
        (["--stop-words", case.directory / "stop.txt"], {"custom": ["and", "of", "the"]}),
    ]:
        corpus, path = case.directory / "corpus.txt", case.directory / "other.wme"
        options = ["--vectors", case.directory / "vectors.txt", *options]
        wordmover("fit", corpus, "-o", path, "--force", *options)
        assert Model(path).parameters["tokenizer"]["stop_words"] == spelled


def test_the_container_is_framed_and_aligned(case):
    case.fit(*OPTIONS)
    data = (case.directory / "model.wme").read_bytes()
    (n_header,) = struct.unpack("<Q", data[:8])
    header = data[8 : 8 + n_header]
    assert n_header % 8 == 0 and header.startswith(b"{")
    tensors = json.loads(header)
    del tensors["__metadata__"]
    end = 0
    for tensor in sorted(tensors.values(), key=lambda tensor: tensor["data_offsets"]):
        start, next_end = tensor["data_offsets"]
        assert start == end and start % (int(tensor["dtype"][1:]) // 8) == 0
        end = next_end
    assert len(data) == 8 + n_header + end
    case.fit(*OPTIONS)
    assert (case.directory / "model.wme").read_bytes() == data


def test_gamma_survives_the_file_to_the_last_bit(wordmover, case):
    wrong = []
    for step in range(40):
        gamma = 0.1 + step / 7.0
        assert case.fit("--features", 1, "--gamma", repr(gamma)).gamma == gamma
        info = json.loads(wordmover("info", case.directory / "model.wme", "--json"))
        if info["gamma"] != gamma:
            wrong.append((gamma, info["gamma"]))
    assert wrong == []


class Rewritten:
    """A model as Python's safetensors writes it, changed in one place."""

    def __init__(self, case, *options):
        self.case = case
        self.model = case.fit(*OPTIONS, *options)
        self.metadata, self.tensors = self.model.metadata, self.model.tensors

    def parameter(self, key, value):
        self.metadata["parameters"] = json.dumps(self.model.parameters | {key: value})

    def write(self):
        path = self.case.directory / "model.wme"
        save_file(self.tensors, path, self.metadata)
        if "checksum" in self.metadata:
            seal(path)


def test_a_model_written_by_another_program_gives_the_same_features(case):
    changed = Rewritten(case)
    before = case.embed(NEW_SENTENCES)
    changed.metadata["note"] = "keys and tensors nobody knows are ignored"
    changed.tensors["extra"] = np.zeros(3, np.float16)
    changed.write()
    np.testing.assert_array_equal(case.embed(NEW_SENTENCES), before)


def test_random_words_are_used_as_stored(case):
    changed = Rewritten(case, "--raw")
    before = case.embed(NEW_SENTENCES)
    changed.tensors["random_words"][0] += 1.0
    changed.write()
    after = case.embed(NEW_SENTENCES)
    assert (after[0, 0] != before[0, 0]) and (after[:, 1:] == before[:, 1:]).all()


def set_metadata(key, value):
    return lambda model: model.metadata.__setitem__(key, value)


def drop_metadata(key):
    return lambda model: model.metadata.__delitem__(key)


def set_parameter(key, value):
    return lambda model: model.parameter(key, value)


def set_value(name, place, value):
    return lambda model: model.tensors[name].__setitem__(place, value)


def set_tensor(name, change):
    return lambda model: model.tensors.__setitem__(name, change(model.tensors[name]))


def drop_tensor(name):
    return lambda model: model.tensors.__delitem__(name)


def repeat_first_word(model):
    """Makes the second word of the vocabulary equal to the first."""
    first, _, *rest = model.model.vocabulary
    words = [first, first, *rest]
    packed = "".join(words).encode()
    model.tensors["vocabulary"] = np.frombuffer(packed, np.uint8).copy()
    ends = np.cumsum([len(word.encode()) for word in words])
    model.tensors["vocabulary_ends"] = ends.astype(np.uint64)


REFUSALS = {
    "format": (set_metadata("format", "other"), "not a wordmover model"),
    "version": (set_metadata("version", "6"), "newer"),
    "generator": (set_metadata("generator", "chacha8-2"), "generator"),
    "no checksum": (drop_metadata("checksum"), '"checksum" is missing'),
    "no gamma": (drop_metadata("gamma"), '"gamma" is missing'),
    "no written_by": (drop_metadata("written_by"), '"written_by" is missing'),
    "gamma is another": (set_metadata("gamma", "0.25"), '"gamma" does not fit'),
    "gamma is null": (set_metadata("gamma", "null"), '"gamma" does not fit'),
    "no features": (set_parameter("n_features", 0), "parameters"),
    "d_max": (set_parameter("d_max", 4097), "parameters"),
    "gamma is negative": (set_parameter("gamma", {"value": -1.0}), "parameters"),
    "unknown distribution": (set_parameter("random_words", "cauchy"), "parameters"),
    "unknown post-processing": (set_parameter("post_processing", "whiten"), "parameters"),
    "too many components": (set_parameter("components", {"flatten": 65}), "parameters"),
    "no means": (drop_tensor("feature_means"), '"feature_means" is missing'),
    "infinite scale": (set_value("feature_scales", 0, np.inf), '"feature_scales"'),
    "component scale": (set_value("component_scales", 0, 2.0), "between 0 and 1"),
    "components": (set_tensor("components", lambda t: t[:-1].copy()), '"components" is F64'),
    "unknown normalization": (set_parameter("normalization", "whiten"), "parameters"),
    "seed": (set_parameter("seed", 2**64), "parameters"),
    "no tensor": (drop_tensor("random_words"), '"random_words" is missing'),
    "no center": (drop_tensor("center"), '"center" is missing'),
    "type": (set_tensor("occurrences", lambda t: t.astype(np.int64)), '"occurrences" is I64'),
    "shape": (set_tensor("random_words", lambda t: t[:-1].copy()), '"random_words" is F32'),
    "counts": (set_tensor("occurrences", lambda t: t[:-1].copy()), '"occurrences" is U64'),
    "df is 0": (set_value("document_frequencies", 0, 0), "impossible count"),
    "df above N": (set_value("document_frequencies", 0, 10**6), "impossible count"),
    "df above occurrences": (set_value("occurrences", 0, 0), "impossible count"),
    "ends out of order": (set_value("vocabulary_ends", 0, 10**6), '"vocabulary"'),
    "bytes left": (set_tensor("vocabulary", lambda t: np.append(t, t[:1])), '"vocabulary"'),
    "not UTF-8": (set_value("vocabulary", 0, 0xFF), "UTF-8"),
    "unknown word": (set_value("vocabulary", 0, ord("#")), "which its vectors lack"),
    "a word twice": (repeat_first_word, "twice"),
    "length 0": (set_value("random_lengths", 0, 0), '"random_lengths"'),
    "length above d_max": (set_value("random_lengths", 0, 7), '"random_lengths"'),
    "NaN": (set_value("random_words", (0, 0), np.nan), '"random_words"'),
    "infinite center": (set_value("center", 0, np.inf), '"center"'),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_file_that_breaks_a_rule_is_refused(wordmover, case, name):
    change, message = REFUSALS[name]
    changed = Rewritten(case)
    change(changed)
    changed.write()
    model = ["--model", case.directory / "model.wme", "--vectors", case.directory / "vectors.txt"]
    output = case.directory / "out.npy"
    said = wordmover("embed", case.directory / "corpus.txt", "-o", output, *model, refused=True)
    assert message in said
    assert not output.exists()


def test_the_checksum_is_that_of_the_file_and_no_other_is_accepted(wordmover, case):
    case.fit(*OPTIONS)
    path = case.directory / "model.wme"
    written = path.read_bytes()
    seal(path)
    assert path.read_bytes() == written
    for place in (len(written) - 1, len(written) // 2, written.index(b"chacha8")):
        path.write_bytes(written[:place] + bytes([written[place] ^ 4]) + written[place + 1 :])
        assert "model.wme" in wordmover("info", path, refused=True)


def test_other_vectors_are_refused(wordmover, case):
    case.fit(*OPTIONS)
    vectors = case.directory / "vectors.txt"
    lines = vectors.read_text().splitlines(keepends=True)
    vectors.write_text("".join([*lines[1:], lines[0]]))
    model = ["--model", case.directory / "model.wme"]
    texts, output = case.directory / "corpus.txt", case.directory / "out.npy"
    said = wordmover("embed", texts, "-o", output, *model, "--vectors", vectors, refused=True)
    assert "not with vectors.txt" in said
    assert "must be given" in wordmover("embed", texts, "-o", output, *model, refused=True)
