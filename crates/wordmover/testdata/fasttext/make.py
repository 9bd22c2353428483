"""Makes the fastText models of this folder, and the vectors that fastText itself gives.

    python -m venv /tmp/fixtures && /tmp/fixtures/bin/pip install -r requirements.txt
    /tmp/fixtures/bin/python make.py

Training is random: a new run gives other models, with vectors to match.
"""

import random
import tempfile
from pathlib import Path

import fasttext
import gensim
import numpy as np
from gensim.models.fasttext import FastText, save_facebook_model

HERE = Path(__file__).parent
SYLLABLES = ["ka", "to", "mé", "日", "本", "ru", "ß", "x", "-", "'s", "öl", "no"]
ODD = ["<", ">", "<>", "</s>", "a", "日", "é", "unseenword", "x" * 30, "mét-on's", "🎉🎉", "e\u0301", "A", "tokami日本"]


def texts() -> list[list[str]]:
    random.seed(1)
    words = ["".join(random.choices(SYLLABLES, k=random.randint(1, 4))) for _ in range(40)]
    return [random.choices(words, k=12) for _ in range(200)]


def write(name: str, vectors, known: set[str], odd: list[str] = ODD) -> None:
    """A word, whether the model knows it, and its values in full precision a line."""
    words = sorted(known) + [word for word in odd if word not in known]
    with open(HERE / name, "w", encoding="utf-8") as out:
        for word in words:
            values = " ".join(f"{float(x):.9g}" for x in np.asarray(vectors(word), dtype=np.float32))
            out.write(f"{word}\t{int(word in known)}\t{values}\n")


def main() -> None:
    sentences = texts()
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text("\n".join(" ".join(words) for words in sentences), encoding="utf-8")
        common = dict(dim=6, minCount=2, thread=1, epoch=3, verbose=0)
        skipgram = fasttext.train_unsupervised(str(text), model="skipgram", minn=1, maxn=5, bucket=97, **common)
        skipgram.save_model(str(HERE / "skipgram.bin"))
        write("skipgram.tsv", skipgram.get_word_vector, set(skipgram.get_words()))
        cbow = fasttext.train_unsupervised(str(text), model="cbow", loss="hs", minn=0, maxn=0, bucket=10, **common)
        cbow.save_model(str(HERE / "cbow.bin"))
        write("cbow.tsv", cbow.get_word_vector, set(cbow.get_words()))

        labelled = Path(folder) / "labelled.txt"
        lines = [f"__label__{i % 2} {' '.join(words)}" for i, words in enumerate(sentences)]
        labelled.write_text("\n".join(lines), encoding="utf-8")
        supervised = fasttext.train_supervised(str(labelled), dim=2, bucket=300, minn=2, maxn=3, thread=1, verbose=0)
        supervised.save_model(str(HERE / "supervised.bin"))
        supervised.quantize(str(labelled), dsub=2, retrain=False)
        supervised.save_model(str(HERE / "supervised.ftz"))

    model = FastText(sentences, vector_size=5, min_count=2, min_n=3, max_n=6, bucket=31, workers=1, seed=1, epochs=2)
    save_facebook_model(model, str(HERE / "gensim.bin"))
    # gensim cuts the end of a sentence, which fastText does not.
    odd = [word for word in ODD if word != "</s>"]
    write("gensim.tsv", lambda word: model.wv[word], set(model.wv.key_to_index), odd)
    print("fasttext", getattr(fasttext, "__version__", "?"), "gensim", gensim.__version__, "numpy", np.__version__)


if __name__ == "__main__":
    main()
