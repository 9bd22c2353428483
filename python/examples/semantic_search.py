"""Search texts by meaning: exactly by the Word Mover's Distance, and by embeddings, which
are faster for large corpora. Shows why the best hit is one.

Run it as it is, or with a file of a document a line: python semantic_search.py [FILE [QUERY]]
"""

import pathlib
import sys

import numpy as np

from wordmover import KNeighborsWMD, WordMoversEmbedding, wmd

HEADLINES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "headlines.txt"


def main() -> None:
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HEADLINES
    query = sys.argv[2] if len(sys.argv) > 2 else "The president greets the press in Chicago"
    texts = path.read_text(encoding="utf-8").splitlines()

    print("query:", query)
    print("\nnearest by Word Mover's Distance, exactly:")
    distances, positions = KNeighborsWMD(n_neighbors=3).fit(texts).kneighbors([query])
    for distance, position in zip(distances[0], positions[0]):
        print(f"  {distance:.4f}  {texts[position]}")

    best = texts[positions[0, 0]]
    _, plan = wmd(query, best, return_plan=True)
    print("\nbecause:")
    for move in sorted(plan, key=lambda move: -move.mass * move.cost)[:5]:
        print(f"  {move.source:>12} -> {move.target:<12} {move.mass:.2f} x {move.cost:.2f}")

    embedding = WordMoversEmbedding(n_features=2048, d_max=3, weights="tfidf").fit(texts)
    rows = embedding.encode(texts, normalize_embeddings=True)
    cosines = rows @ embedding.encode(query, normalize_embeddings=True)
    print("\nnearest by cosine of embeddings:")
    for position in np.argsort(-cosines)[:3]:
        print(f"  {cosines[position]:.4f}  {texts[position]}")


if __name__ == "__main__":
    main()
