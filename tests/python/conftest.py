"""The program under test, and the corpora and word vectors it is run on."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

from reader import Model, Vectors

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Every word that the vectors know, and no other.
KNOWN_WORDS = ["--stop-words", "none", "--unknown", "skip"]

# Lower-case words and spaces: how texts are cut is not the subject here. Among
# them are empty lines, one-word documents, repeated words, words the vectors
# lack, letters beyond ASCII, and lines without any word.
SENTENCES = """\
the old sailor told the children a story about the sea

a small boat left the harbour before dawn
dawn
the storm came from the west and the boat came home
sea sea sea boat sea
zzyx qwrt
the cook baked bread with salt and honey
honey bread honey bread honey
the baker sold bread to the sailor before the storm

an état of calm lay over the grey sea
the naïve captain trusted the map
привет said the sailor to the cook
the children drew a map of the harbour
map
a map a map a map of bread
the captain read the stars and the old map
stars over the harbour and stars over the hill
the goat ate the map on the hill
goat
the goat and the goat and the other goat
nil
nil nil goat
music came from the small house on the hill
the old woman sang a song about honey and salt
the song of the goat was not a good song
🙂 🙂
good bread needs salt water flour and time
time and water wear down the hill
the zzyx sailor qwrt saw the zzyx lighthouse
lighthouse
the lighthouse sent light over grey water
light light dark light dark dark
the dark came and the stars gave light
children sang in the dark house
the woman gave the children bread and honey
a letter came for the captain from the west
the letter said come home before the storm
the captain left home at dawn with the letter""".split("\n")

UNKNOWN = {"zzyx", "qwrt", "🙂"}

# Known to the vectors, absent from the corpus.
UNSEEN = ["ocean", "ship", "cheese", "étoile", "winter"]

# Other documents, for models fitted on SENTENCES.
NEW_SENTENCES = """\
the ship left the harbour in winter
ocean ocean sea
cheese

zzyx
étoile stars étoile light
the goat gave the captain a letter about cheese and bread and honey
nil""".split("\n")


def make_vectors(dim, seed):
    """A table whose order is neither that of the texts nor of the alphabet."""
    rng = np.random.default_rng(seed)
    words = {word for text in SENTENCES for word in text.split()} - UNKNOWN
    words = sorted(words | set(UNSEEN))
    rng.shuffle(words)
    rows = (rng.normal(size=(len(words), dim)) + 0.3).astype(np.float32)
    rows[words.index("nil")] = 0.0
    return Vectors(words, rows)


def write_glove(vectors, path):
    """GloVe's text form, with digits enough to give back every f32."""
    lines = (
        " ".join([word, *(str(x) for x in row)]) for word, row in zip(vectors.words, vectors.rows)
    )
    path.write_text("".join(line + "\n" for line in lines))


def write_texts(texts, path):
    path.write_text("".join(text + "\n" for text in texts))


@pytest.fixture(scope="session")
def wordmover():
    """Runs the program; gives its standard output."""
    program = pathlib.Path(os.environ.get("WORDMOVER_BIN") or ROOT / "target/debug/wordmover")
    if not program.is_file():
        pytest.exit(
            f"no program at {program}: build it (cargo build) or name it in WORDMOVER_BIN",
            returncode=1,
        )
    program = program.resolve()

    def run(*arguments, refused=False):
        done = subprocess.run(
            [program, *map(str, arguments)], capture_output=True, text=True, timeout=60
        )
        expected = 1 if refused else 0
        assert done.returncode == expected, f"{arguments}: {done.returncode}, {done.stderr}"
        return done.stderr if refused else done.stdout

    return run


class Case:
    """A directory with word vectors and a corpus, in which models are fitted."""

    def __init__(self, wordmover, directory, vectors, texts):
        self._wordmover = wordmover
        self.directory = directory
        self.vectors = vectors
        self.texts = texts
        write_glove(vectors, directory / "vectors.txt")
        write_texts(texts, directory / "corpus.txt")

    def fit(self, *options):
        """Fits with its own vectors and every known word; gives the model as this side reads it."""
        path = self.directory / "model.wme"
        words = KNOWN_WORDS[:2] if "--unknown" in options else KNOWN_WORDS
        vectors = ["--vectors", self.directory / "vectors.txt", *words]
        corpus = self.directory / "corpus.txt"
        self._wordmover("fit", corpus, "-o", path, "--force", "--quiet", *vectors, *options)
        return Model(path)

    def embed(self, texts, *options):
        """What the program makes of texts with the model fitted last."""
        texts_path, output = self.directory / "texts.txt", self.directory / "out.npy"
        write_texts(texts, texts_path)
        model = ["--model", self.directory / "model.wme"]
        vectors = ["--vectors", self.directory / "vectors.txt"]
        options = [*model, *vectors, *options]
        self._wordmover("embed", texts_path, "-o", output, "--force", "--quiet", *options)
        return np.load(output)


@pytest.fixture
def case(wordmover, tmp_path):
    return Case(wordmover, tmp_path, make_vectors(dim=12, seed=1), SENTENCES)
