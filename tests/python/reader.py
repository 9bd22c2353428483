"""A reader of wordmover's files that follows docs/*.md and shares no code with it.

Plain loops where the order of a sum decides the last bit. Tokenising is left
out: texts here are lower-case words separated by spaces.
"""

import collections
import dataclasses
import hashlib
import itertools
import json
import math
import struct
import unicodedata

import numpy as np
import ot
from safetensors import safe_open

from chacha8 import Stream


def read_safetensors(path):
    """Metadata and tensors."""
    with safe_open(path, framework="np") as file:
        return file.metadata(), {name: file.get_tensor(name) for name in file.keys()}


def unpack_words(packed, ends):
    packed, starts = packed.tobytes(), [0, *ends[:-1].tolist()]
    return [packed[a:b].decode() for a, b in zip(starts, ends.tolist())]


@dataclasses.dataclass
class Vectors:
    """A word-vector table, decoded to f32."""

    words: list
    rows: np.ndarray
    #: Word pieces with their vectors, and those words of the table that are pieces.
    pieces: dict = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        assert self.rows.dtype == np.float32
        self.ids = {word: id for id, word in enumerate(self.words)}

    @property
    def dim(self):
        return self.rows.shape[1]

    @staticmethod
    def read(path):
        """The table of a native file, and its metadata."""
        metadata, tensors = read_safetensors(path)
        rows = tensors["vectors"].astype(np.float32)
        if metadata["precision"] == "int8":
            rows = rows * tensors["scales"][:, None]
        words, pieces = unpack_words(tensors["words"], tensors["word_ends"]), {}
        if "pieces" in tensors:
            piece_rows = tensors["piece_vectors"].astype(np.float32)
            if metadata["precision"] == "int8":
                piece_rows = piece_rows * tensors["piece_scales"][:, None]
            names = unpack_words(tensors["pieces"], tensors["piece_ends"])
            pieces = {words[i]: rows[i] for i in tensors["piece_words"].tolist()}
            pieces |= zip(names, piece_rows)
        return Vectors(words, rows, pieces), metadata

    def composed(self, word):
        """The vector of a word that the table lacks, or None if it has no pieces."""
        marked = unicodedata.normalize("NFD", word.lower())
        letters = "".join(c for c in marked if unicodedata.category(c)[0] != "M")
        parts = [list(run) for is_word, run in itertools.groupby(letters, str.isalnum) if is_word]
        assert "".join(map("".join, parts)) == letters, "only letters and digits here"
        found = []
        for part in map("".join, parts):
            of_part, start = [], 0
            while start < len(part):
                prefix = "##" if start else ""
                ends = range(len(part), start, -1)
                end = next((e for e in ends if prefix + part[start:e] in self.pieces), None)
                if end is None:
                    of_part = []
                    break
                of_part.append(self.pieces[prefix + part[start:end]])
                start = end
            found += of_part
        return np.float32(np.mean(np.float64(found), axis=0)) if found else None

    def checksum(self):
        sha = hashlib.sha256(struct.pack("<QQ", self.dim, len(self.words)))
        for word in self.words:
            sha.update(struct.pack("<I", len(word.encode())) + word.encode())
        sha.update(self.rows.astype("<f4").tobytes())
        return sha.hexdigest()


def drawn(word, vectors):
    """The vector of an unknown word from a hash of it, as long as the others are on average."""
    stream = Stream(int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little"), 0)
    n = len(vectors.rows[0])
    values = [2.0 * stream.uniform() - 1.0 for _ in range(n)]
    lengths = [math.sqrt(sum(float(x) ** 2 for x in row)) for row in vectors.rows[:1000]]
    lengths = [length for length in lengths if length > 0]
    scale = sum(lengths) / len(lengths) / math.sqrt(sum(x * x for x in values))
    return [np.float32(float(np.float32(x)) * scale) for x in values]


def scaled_to_unit(x):
    """Step 2 of `Normalised vectors`; x is a list of floats that are f32 values."""
    s = 0.0
    for value in x:
        s += value * value
    if s > 0.0:
        scale = 1.0 / math.sqrt(s)
        x = [float(np.float32(value * scale)) for value in x]
    return x


class Model:
    """A model file."""

    def __init__(self, path):
        self.metadata, self.tensors = read_safetensors(path)
        self.parameters = json.loads(self.metadata["parameters"])
        self.gamma = json.loads(self.metadata["gamma"])
        self.n_documents = json.loads(self.metadata["n_documents"])
        self.identity = json.loads(self.metadata["vectors"])
        self.vocabulary = unpack_words(self.tensors["vocabulary"], self.tensors["vocabulary_ends"])
        self.df = dict(zip(self.vocabulary, self.tensors["document_frequencies"].tolist()))
        self.occurrences = dict(zip(self.vocabulary, self.tensors["occurrences"].tolist()))
        self.unknown_words = unpack_words(
            self.tensors["unknown_words"], self.tensors["unknown_ends"]
        )
        df = self.tensors["unknown_document_frequencies"].tolist()
        self.df |= zip(self.unknown_words, df, strict=True)
        occurrences = self.tensors["unknown_occurrences"].tolist()
        self.occurrences |= zip(self.unknown_words, occurrences, strict=True)
        self.factors = {}
        if "word_factors" in self.tensors:
            assert self.metadata["version"] in ("4", "5")
            self.factors |= zip(self.vocabulary, self.tensors["word_factors"].tolist(), strict=True)
            factors = self.tensors["unknown_factors"].tolist()
            self.factors |= zip(self.unknown_words, factors, strict=True)

    def bundled_vectors(self, path):
        """The table in the file, by way of a file at `path`."""
        path.write_bytes(self.tensors["bundled_vectors"].tobytes())
        return Vectors.read(path)

    # From a text to features

    def vector(self, word, vectors):
        """The word's vector, or None if it has none."""
        if word in vectors.ids:
            return vectors.rows[vectors.ids[word]]
        unknown = self.parameters["unknown"]
        if unknown == "skip" or not any(map(str.isalnum, word)):
            return None
        return vectors.composed(word) if unknown == "compose" else drawn(word, vectors)

    def bag(self, text, vectors):
        """Known words in the order of the table, and their weights."""
        rules = self.parameters["bag"]
        known = [word for word in text.split() if self.vector(word, vectors) is not None]
        # Words of the table count as coming first.
        known.sort(key=lambda word: word not in vectors.ids)
        counts = collections.Counter(known)
        if rules["min_count"] > 1:
            counts = {
                word: count
                for word, count in counts.items()
                if self.occurrences.get(word, 0) >= rules["min_count"]
            }
        kept = sorted(counts, key=lambda word: -counts[word])[: rules["max_words"]]
        kept.sort(key=lambda word: (vectors.ids.get(word, len(vectors.ids)), word.encode()))
        raw = [float(counts[word]) for word in kept]
        if rules["weighting"] == "tfidf":
            for i, word in enumerate(kept):
                raw[i] *= math.log1p(self.n_documents / self.df.get(word, 1))
        if rules["weighting"] == "sif":
            for i, word in enumerate(kept):
                raw[i] *= 1e-3 / (1e-3 + self.probability(word, vectors))
        raw = [weight * self.factors.get(word, 1.0) for word, weight in zip(kept, raw)]
        return kept, [weight / math.fsum(raw) for weight in raw]

    def probability(self, word, vectors):
        if "word_probabilities" in self.tensors:
            if word not in vectors.ids:
                return 0.0
            return float(self.tensors["word_probabilities"][vectors.ids[word]])
        return self.occurrences.get(word, 0) / sum(self.occurrences.values())

    def normalized(self, word, vectors):
        x = [float(value) for value in self.vector(word, vectors)]
        how = self.parameters["normalization"]
        if how in ("center", "center-unit"):
            center = self.tensors["center"].tolist()
            x = [float(np.float32(value - mean)) for value, mean in zip(x, center)]
        if how in ("unit", "center-unit"):
            x = scaled_to_unit(x)
        return x

    def distances(self, texts, vectors, random_documents=None):
        """Distances to the model's random documents, or to others; None without words."""
        if random_documents is None:
            ends = np.cumsum(self.tensors["random_lengths"])[:-1]
            random_documents = np.split(self.tensors["random_words"], ends)
        table = []
        for text in texts:
            words, weights = self.bag(text, vectors)
            if not words:
                table.append(None)
                continue
            x = np.array([self.normalized(word, vectors) for word in words])
            table.append([emd(weights, x, np.asarray(y, np.float64)) for y in random_documents])
        return table

    def raw_features(self, texts, vectors):
        n_features = self.parameters["n_features"]
        rows = []
        for distances in self.distances(texts, vectors):
            if distances is None:
                rows.append(np.zeros(n_features))
            elif self.gamma is None:
                rows.append(np.array(distances))
            else:
                rows.append(np.exp(-self.gamma * np.array(distances)) / math.sqrt(n_features))
        return np.array(rows)

    def features(self, texts, vectors):
        rows = self.raw_features(texts, vectors)
        empty = [not self.bag(text, vectors)[0] for text in texts]
        if self.parameters["post_processing"] != "raw":
            rows = rows - self.tensors["feature_means"]
        if self.parameters["post_processing"] in ("standardize", "unit"):
            rows = rows * self.tensors["feature_scales"]
        if self.parameters["components"] != "keep":
            for u, scale in zip(self.tensors["components"], self.tensors["component_scales"]):
                rows = rows - np.outer((1 - scale) * (rows @ u), u)
        rows[empty] = 0
        if self.parameters["post_processing"] == "unit":
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            rows = rows / np.where(lengths > 0, lengths, 1)
        return rows

    # Drawing the random documents

    def drawn_words(self):
        """The words that random words are drawn around."""
        least = self.parameters["bag"]["min_count"]
        return [word for word in self.vocabulary if self.occurrences[word] >= least]

    def center(self, vectors):
        words = self.drawn_words()
        center = []
        for k in range(vectors.dim):
            total = 0.0
            for word in words:
                total += float(vectors.rows[vectors.ids[word], k])
            center.append(total / len(words))
        return center

    def draw(self, vectors, n_documents):
        """Random documents drawn from the seed: lists of vectors."""
        v = [self.normalized(word, vectors) for word in self.drawn_words()]
        n = len(v)
        lo, hi = min(map(min, v)), max(map(max, v))
        h = (hi - lo) / 2.0
        m, s = [], []
        for coordinate in zip(*v):
            total = squares = 0.0
            for x in coordinate:
                total += x
                squares += x * x
            m.append(total / n)
            s.append(math.sqrt(max(0.0, squares / n - m[-1] * m[-1])))

        def word(stream):
            match self.parameters["random_words"]:
                case "uniform":
                    return [lo + stream.uniform() * (2.0 * h) for _ in m]
                case "uniform-centered":
                    return [mk + (2.0 * stream.uniform() - 1.0) * h for mk in m]
                case "gaussian":
                    return [mk + sk * stream.normal() for mk, sk in zip(m, s)]
                case "vocabulary":
                    return v[stream.below(n)]

        documents = []
        for j in range(n_documents):
            stream = Stream(self.parameters["seed"], j)
            words = []
            for _ in range(1 + stream.below(self.parameters["d_max"])):
                x = [float(np.float32(value)) for value in word(stream)]
                drawn = self.parameters["random_words"] != "vocabulary"
                if drawn and self.parameters["normalization"] in ("unit", "center-unit"):
                    x = scaled_to_unit(x)
                words.append(x)
            documents.append(words)
        return documents

    # Fitting the post-processing

    def sampled_texts(self, texts, vectors):
        """The texts the post-processing is fitted on; none of the corpora here is sampled."""
        known = [text for text in texts if self.bag(text, vectors)[0]]
        n_words = len(vectors.words)
        whole = math.log1p(n_words / 2.7)
        background = []
        bags = {repr(self.bag(text, vectors)) for text in known}
        for document in range(max(0, 256 - len(bags))):
            stream = Stream(self.parameters["seed"], 2**64 - 2 - document)
            ranks = [int(2.7 * math.expm1(stream.uniform() * whole)) for _ in range(24)]
            background.append(" ".join(vectors.words[min(rank, n_words - 1)] for rank in ranks))
        return known + [text for text in background if self.bag(text, vectors)[0]]

    def fitted_post_processing(self, texts, vectors):
        """Means, scales, directions and their scales, from the texts fitted on."""
        rows = self.raw_features(self.sampled_texts(texts, vectors), vectors)
        n, n_features = rows.shape
        means, scales = np.zeros(n_features), np.ones(n_features)
        if self.parameters["post_processing"] != "raw":
            means = rows.mean(axis=0)
        if self.parameters["post_processing"] in ("standardize", "unit"):
            deviation = rows.std(axis=0)
            deviation[deviation <= 1e-6 * abs(means)] = np.inf
            scales = 1 / (deviation * math.sqrt(n_features))
        rows = (rows - means) * scales
        (how, k), = self.parameters["components"].items()
        strengths, directions = np.linalg.eigh(rows.T @ rows)
        strengths, directions = strengths[::-1], directions[:, ::-1].T
        kept = np.sqrt(strengths[k] / strengths[:k]) if how == "flatten" else np.zeros(k)
        return means, scales, directions[:k], kept

    def auto_gamma(self, texts, vectors):
        """Gamma `auto`, from the texts the model was fitted on."""
        def has_word(text):
            return any(self.vector(word, vectors) is not None for word in text.split())

        known = [text for text in texts if has_word(text)]
        places = known[:256]
        for i in range(256, len(known)):
            place = Stream(self.parameters["seed"] ^ i, 2**64 - 1).below(i + 1)
            if place < 256:
                places[place] = known[i]
        table = self.distances(places, vectors, self.draw(vectors, 32))
        found = sorted(d for row in table if row is not None for d in row)
        median = found[len(found) // 2]
        return 1.0 / median if median > 0.0 else 1.0


def seal(path):
    """Writes the checksum of a model file that was changed."""
    data = path.read_bytes()
    start = data.index(b'"checksum":"') + len(b'"checksum":"')
    blank = data[:start] + b"0" * 64 + data[start + 64 :]
    digest = hashlib.sha256(blank).hexdigest().encode()
    path.write_bytes(data[:start] + digest + data[start + 64 :])


def emd(weights, x, y):
    """The exact distance between a bag and a random document, by POT."""
    costs = np.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2))
    return ot.emd2(np.array(weights), np.full(len(y), 1.0 / len(y)), costs)


class Classifier(Model):
    """A classifier file: a model with one linear machine for each class, or one for two."""

    def __init__(self, path):
        super().__init__(path)
        attached = json.loads(self.metadata["attached.classifier"])
        assert attached["version"] == 1
        self.attached = attached
        self.classes, self.machines = attached["classes"], attached["machines"]
        self.weights = self.tensors["attached.classifier.weights"]
        self.intercepts = self.tensors["attached.classifier.intercepts"]

    def classifier_features(self, texts, vectors):
        """Features; None for texts without a known word."""
        rows = self.features(texts, vectors)
        known = [bool(self.bag(text, vectors)[0]) for text in texts]
        return [row if is_known else None for row, is_known in zip(rows, known, strict=True)]

    def predictions(self, texts, vectors):
        """Class and decision value of every class that has a machine, by name."""
        found = []
        for row in self.classifier_features(texts, vectors):
            if row is None:
                found.append((self.classes[self.attached["most_frequent"]], None))
                continue
            values = [
                math.fsum(w * float(z) for w, z in zip(weights, row)) + b
                for weights, b in zip(self.weights.tolist(), self.intercepts.tolist())
            ]
            if len(self.machines) == 2:
                values.append(-values[0])
            best = max(values)
            # Of equal ones the first; of two, the first only above 0.
            winner = values.index(best) if len(self.machines) != 2 else int(values[0] <= 0)
            by_name = {self.classes[m]: v for m, v in zip(self.machines, values, strict=True)}
            found.append((self.classes[self.machines[winner]], by_name))
        return found
