# %% [markdown]
# # Clustering
# K-means on Word Mover's Embeddings beside K-means on TF-IDF with a truncated SVD, judged by the
# adjusted Rand index (ARI): 1 is agreement with the labels, 0 is chance. Run it as it is, on
# forty headlines, or `--data FOLDER` for BBCSPORT and CLASSIC.

# %%
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from corpora import Texts, arguments, corpus, headlines
from wordmover import WordMoversEmbedding

# %%
# Rows of length 1: K-means then goes by cosines.


def compare(name: str, texts: list[str], labels: list[str]) -> None:
    n_clusters = len(set(labels))
    n_components = min(100, len(texts) - 1)
    methods = {
        "TF-IDF + SVD": make_pipeline(
            TfidfVectorizer(sublinear_tf=True, stop_words="english"),
            TruncatedSVD(n_components, random_state=0),
            Normalizer(),
        ),
        "WME": make_pipeline(WordMoversEmbedding(), Normalizer()),
        'WME, weights="tfidf"': make_pipeline(WordMoversEmbedding(weights="tfidf"), Normalizer()),
    }
    print(f"\n{name}: {len(texts)} texts, {n_clusters} clusters; ARI, mean of five starts")
    for described, method in methods.items():
        rows = method.fit_transform(texts)
        scores = [
            adjusted_rand_score(
                labels, KMeans(n_clusters, n_init=3, random_state=seed).fit_predict(rows)
            )
            for seed in range(5)
        ]
        print(f"  {described:<24}{np.mean(scores):.3f}  (least {min(scores):.3f})")


def joined(split: tuple[Texts, Texts]) -> Texts:
    (train, train_labels), (test, test_labels) = split
    return train + test, train_labels + test_labels


def main() -> None:
    given = arguments("K-means on embeddings")
    compare("headlines", *headlines())

    # %%
    # Larger corpora.
    for name in ("bbcsport", "classic"):
        split = corpus(given.data, name)
        if split is not None:
            compare(name, *joined(split))


if __name__ == "__main__":
    main()
