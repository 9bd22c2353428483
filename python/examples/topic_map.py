# %% [markdown]
# # A map of topics
# Clusters of texts, the words that name them, and a map that a browser or notebook shows. Run it
# as it is, on forty headlines, or `--data FOLDER` for BBCSPORT: it writes topic_map.html
# (`--output` says where).

# %%
import pathlib
from collections import Counter

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.manifold import TSNE
from sklearn.metrics import adjusted_rand_score

from corpora import arguments, corpus, headlines
from wordmover import WordMoversEmbedding, plot

# %%
# Words that name a cluster: of those in its texts, the ones whose own embedding is nearest to the
# middle of the cluster. That is what KeyBERT and BERTopic do; `wordmover.topics` has adapters to
# both.


def names_of(
    model: WordMoversEmbedding, texts: list[str], clusters: NDArray[np.int32], k: int = 4
) -> list[str]:
    words_of = model.build_analyzer()
    rows = model.encode(texts, normalize_embeddings=True)
    names = []
    for cluster in range(clusters.max() + 1):
        counts = Counter(
            word for i in np.flatnonzero(clusters == cluster) for word in words_of(texts[i])
        )
        words = sorted(counts)
        middle = rows[clusters == cluster].mean(axis=0)
        cosines = model.similarity(middle, model.encode(words))[0]
        names.append(", ".join(words[i] for i in np.argsort(-cosines, kind="stable")[:k]))
    return names


def main() -> None:
    given = arguments("a map of topics", output="topic_map.html")
    texts, labels = headlines()
    split = corpus(given.data, "bbcsport") if given.data else None
    if split is not None:
        (train, train_labels), (test, test_labels) = split
        texts, labels = train + test, train_labels + test_labels
    # Forty texts are too few to fit on: the built-in model.
    model = WordMoversEmbedding.pretrained() if split is None else WordMoversEmbedding().fit(texts)
    rows = model.encode(texts, normalize_embeddings=True)
    clusters = KMeans(5, n_init=10, random_state=0).fit_predict(rows)
    names = names_of(model, texts, clusters)
    for cluster, name in enumerate(names):
        topics = Counter(labels[i] for i in np.flatnonzero(clusters == cluster))
        print(f"{name:<48} {dict(topics)}")
    if split is not None:
        print(f"ARI of clusters and labels: {adjusted_rand_score(labels, clusters):.3f}")

    # %%
    # The map: neighbours by t-SNE, a colour for each cluster, texts as tooltips.
    places = TSNE(metric="cosine", perplexity=8, random_state=0).fit_transform(rows)
    drawing = plot.corpus_map(
        places,
        labels=[names[i].split(",")[0] for i in clusters],
        texts=[text[:80] for text in texts],
        title="Headlines" if split is None else "BBCSPORT",
    )
    plan = plot.plan(texts[0], "The president greets the press in Chicago")
    page = f"<!doctype html><meta charset=utf-8><title>Topics</title>{drawing.svg}{plan.svg}"
    pathlib.Path(given.output).write_text(page, encoding="utf-8")
    print(f"wrote {given.output}: a map of {len(texts)} texts and a transport plan")


if __name__ == "__main__":
    main()
