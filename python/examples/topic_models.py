# %% [markdown]
# # Key words and topics: KeyBERT and BERTopic
# Both find what texts are about from embeddings of texts and words, and take ours. Needs
# `pip install keybert bertopic`. Run it as it is, on forty headlines, or `--data FOLDER` for
# BBCSPORT. `python/test-topics` runs it.

# %%
import warnings
from collections import Counter
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_rand_score

from corpora import arguments, corpus, headlines
from wordmover import WordMoversEmbedding
from wordmover.topics import bertopic_backend, keybert_backend

# %%
# KeyBERT: the words of a text whose embeddings are nearest to that of the text.


def key_words(text: str) -> None:
    from keybert import KeyBERT

    print(f"{text}\nkey words by KeyBERT:")
    for word, cosine in KeyBERT(model=keybert_backend()).extract_keywords(text, top_n=4):
        print(f"  {cosine:.3f}  {word}")


# %%
# BERTopic: embeddings, UMAP, HDBSCAN, and the words that are frequent in one cluster alone. Texts
# in no cluster are topic -1; for the comparison with labels they go to the nearest topic.


def topics(name: str, texts: list[str], labels: list[str], embedding: Any, least: int) -> None:
    from bertopic import BERTopic
    from umap import UMAP

    model = BERTopic(
        embedding_model=bertopic_backend(embedding),
        umap_model=UMAP(n_neighbors=least, n_components=5, metric="cosine", random_state=0),
        vectorizer_model=CountVectorizer(stop_words="english"),
        min_topic_size=least,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # UMAP's, about its random state.
        found, _ = model.fit_transform(texts)
    n_outliers = found.count(-1)
    print(f"\n{name}: {len(texts)} texts, {len(set(found) - {-1})} topics by BERTopic, "
          f"{n_outliers} texts in none")
    for topic in sorted(set(found) - {-1}):
        words = ", ".join(word for word, _ in model.get_topic(topic)[:4])
        counts = Counter(label for label, each in zip(labels, found) if each == topic)
        print(f"  {words:<44} {dict(counts.most_common(3))}")
    if n_outliers:
        rows = model.embedding_model.embed_documents(texts)
        found = model.reduce_outliers(texts, found, strategy="embeddings", embeddings=rows)
    print(f"  ARI with the labels: {adjusted_rand_score(labels, np.array(found)):.3f}")


def main() -> None:
    given = arguments("KeyBERT and BERTopic with a Word Mover's Embedding")
    texts, labels = headlines()
    key_words("The president meets the press in Chicago after the senate has passed the budget")
    # The built-in model, without fitting.
    topics("headlines", texts, labels, None, least=4)

    # %%
    # A larger corpus, with an embedding that is fitted on it.
    split = corpus(given.data, "bbcsport")
    if split is not None:
        (train, train_labels), (test, test_labels) = split
        texts, labels = train + test, train_labels + test_labels
        topics("bbcsport", texts, labels, WordMoversEmbedding().fit(texts), least=15)


if __name__ == "__main__":
    main()
