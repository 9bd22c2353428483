# %% [markdown]
# # Semantic search
# By an index that looks at words and embeddings together, by cosines of embeddings, and exactly
# by the Word Mover's Distance, which also says why a hit is one. Run it as it is, on forty
# headlines, or `--data FOLDER` for the precision on 20NEWS: how many of the ten nearest documents
# are of the query's group.

# %%
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from corpora import Texts, arguments, corpus, headlines
from wordmover import KNeighborsWMD, WmdIndex, WordMoversEmbedding, wmd

QUERY = "The president greets the press in Chicago"

# %%
# Search and explanation.


def search(texts: list[str], query: str) -> None:
    print("query:", query)
    print("\nbest in an index, by words and embeddings:")
    for hit in WmdIndex(texts).search(query, 3):
        print(f"  {hit.score:.4f}  {hit.text}  {hit.words}")
    print("\nnearest by Word Mover's Distance, exactly:")
    distances, positions = KNeighborsWMD(n_neighbors=3).fit(texts).kneighbors([query])
    for distance, position in zip(distances[0], positions[0]):
        print(f"  {distance:.4f}  {texts[position]}")

    _, plan = wmd(query, texts[positions[0, 0]], return_plan=True)
    print("\nbecause:")
    for move in sorted(plan, key=lambda move: -move.mass * move.cost)[:5]:
        print(f"  {move.source:>12} -> {move.target:<12} {move.mass:.2f} x {move.cost:.2f}")

    model = WordMoversEmbedding.pretrained()
    cosines = model.similarity(model.encode(query), model.encode(texts))[0]
    print("\nnearest by cosine of embeddings:")
    for position in np.argsort(-cosines)[:3]:
        print(f"  {cosines[position]:.4f}  {texts[position]}")


# %%
# Precision at k: of every query, the share of the k nearest that have its label.


def precision(
    similarities: Any, labels: Sequence[str], query_labels: Sequence[str], k: int
) -> float:
    nearest = np.argsort(-similarities, axis=1, kind="stable")[:, :k]
    return float((np.array(labels)[nearest] == np.array(query_labels)[:, None]).mean())


def judge(name: str, train: Texts, queries: Texts, k: int) -> None:
    texts, labels = train
    query_texts, query_labels = queries
    print(f"\n{name}: precision at {k} of {len(query_texts)} queries in {len(texts)} texts")
    tfidf = TfidfVectorizer().fit(texts)
    cosines = (tfidf.transform(query_texts) @ tfidf.transform(texts).T).toarray()
    print(f"  TF-IDF                       {precision(cosines, labels, query_labels, k):.3f}")
    for described, embedding in {
        "WME, defaults": WordMoversEmbedding(),
        'WME, weights="tfidf"': WordMoversEmbedding(weights="tfidf"),
    }.items():
        rows = embedding.fit(texts).encode(texts)
        cosines = embedding.similarity(embedding.encode(query_texts), rows)
        print(f"  {described:<29}{precision(cosines, labels, query_labels, k):.3f}")
    found = WmdIndex(texts).search(query_texts, k)
    n_right = sum(
        labels[int(hit.id)] == label for hits, label in zip(found, query_labels) for hit in hits
    )
    print(f"  WmdIndex, defaults (hybrid)  {n_right / (k * len(found)):.3f}")
    positions = KNeighborsWMD(n_neighbors=k).fit(texts).kneighbors(query_texts)[1]
    hits = np.array(labels)[positions] == np.array(query_labels)[:, None]
    print(f"  exact Word Mover's Distance  {hits.mean():.3f}")


def main() -> None:
    given = arguments("search by meaning", queries=1000)
    texts, labels = headlines()
    search(texts, QUERY)
    odd, even = slice(1, None, 2), slice(0, None, 2)
    judge("headlines", (texts[odd], labels[odd]), (texts[even], labels[even]), k=3)

    # %%
    # A large corpus.
    split = corpus(given.data, "20news")
    if split is not None:
        train, (test, test_labels) = split
        chosen = random.Random(0).sample(range(len(test)), min(given.queries, len(test)))
        queries = [test[i] for i in chosen], [test_labels[i] for i in chosen]
        judge("20news", train, queries, k=10)


if __name__ == "__main__":
    main()
