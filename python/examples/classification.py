# %% [markdown]
# # Classification: words, meanings, or both?
# A Word Mover's Embedding with a plain linear classifier beside TF-IDF, its strongest rival on
# topics, and `TextClassifier`, which looks at both. Run it as it is, on forty headlines, or with
# larger corpora: `python classification.py --data FOLDER`.

# %%
import time
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from corpora import Texts, arguments, corpus, headlines
from wordmover import KNeighborsWMD, TextClassifier, WordMoversEmbedding

# %%
# The candidates, all with defaults.


def candidates(n_features: int) -> dict[str, Any]:
    return {
        "TF-IDF + LinearSVC": make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC()),
        "WME + LogisticRegression": make_pipeline(
            WordMoversEmbedding(n_features=n_features), LogisticRegression(max_iter=1000)
        ),
        "WME + LinearSVC": make_pipeline(
            WordMoversEmbedding(n_features=n_features), LinearSVC()
        ),
        "5 nearest by WMD": KNeighborsWMD(n_neighbors=5),
        "TextClassifier (both)": TextClassifier(n_features=n_features),
    }


def compare(name: str, train: Texts, test: Texts, *, n_features: int, skip: str = "") -> None:
    print(f"\n{name}: {len(train[0])} texts to learn from, {len(test[0])} to judge by")
    accuracies = {}
    for label, classifier in candidates(n_features).items():
        if skip and skip in label:
            continue
        begin = time.perf_counter()
        accuracies[label] = classifier.fit(*train).score(*test)
        seconds = time.perf_counter() - begin
        print(f"  {label:<26}{accuracies[label]:7.1%}   {seconds:6.1f} s")
    print(f"  best: {max(accuracies, key=lambda label: accuracies[label])}")


# %%
# Forty headlines: too few to decide anything, and meanings help most where texts are few.


def main() -> None:
    given = arguments("Word Mover's Embedding beside TF-IDF", features=512)
    texts, labels = headlines()
    train, test, train_labels, test_labels = train_test_split(
        texts, labels, test_size=0.3, random_state=0, stratify=labels
    )
    compare("headlines", (train, train_labels), (test, test_labels), n_features=128)

    # %%
    # Corpora of thousands of texts.
    for name in ("twitter", "reuters_r8"):
        split = corpus(given.data, name)
        if split is not None:
            compare(name, *split, n_features=given.features)


if __name__ == "__main__":
    main()
