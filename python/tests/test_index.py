"""The index that is kept: the program's answers, the program's files, and what is refused."""

import json
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

from conftest import HEADLINES, ODD
from wordmover import KNeighborsWMD, WmdIndex, WordMoversEmbedding

IDS = [f"h{i}" for i in range(len(HEADLINES))]
QUERIES = ["The president greets the press in Chicago", "Shares fall", "zzyzx goal", "ᚠᚢᚦ"]
BY = ["hybrid", "wmd", "embedding"]


def answers_of_program(program, path, by, k=5):
    """As hits are here, of each query."""
    found = []
    for query in QUERIES[:3]:
        lines = program("search", path, query, "-k", k, "--by", by, "--json", "--quiet")
        hits = json.loads(lines)["neighbors"]
        found.append([
            (hit["id"], hit["text"], hit.get("distance"), hit.get("score"),
             *(hit.get("parts", {}).get(part) for part in ("words", "cosine", "feedback")))
            for hit in hits])
    return found


def answers(index, by, k=5):
    is_hybrid = by == "hybrid"
    return [
        [(hit.id, hit.text, hit.distance, hit.score if is_hybrid else None, hit.word_score,
          hit.cosine if is_hybrid else None, hit.feedback) for hit in hits]
        for hits in index.search(QUERIES[:3], k, by=by)]


def test_an_index_saved_here_is_searched_by_the_program(program, tmp_path):
    path = tmp_path / "docs.wmi"
    index = WmdIndex(HEADLINES, IDS)
    unsaved = [answers(index, by) for by in BY]
    index.save(path)
    index.add(["The goalkeeper saves a penalty", ""], ["new", "empty"])
    index.remove(["h3", "h20"])
    assert json.loads(program("index", "info", path, "--json"))["documents"] == 40 == len(index)
    for by, before in zip(BY, unsaved):
        ours = answers(index, by)
        assert ours == answers_of_program(program, path, by) != before
    program("index", "verify", path)


def test_an_index_of_the_program_is_searched_here(program, tmp_path):
    path, texts = tmp_path / "docs.wmi", tmp_path / "texts.txt"
    texts.write_text("".join(text + "\n" for text in [*HEADLINES, *ODD]), encoding="utf-8")
    program("index", "build", texts, "-o", path, "--quiet")
    index = WmdIndex.load(path)
    assert len(index) == 47 and index[3] == HEADLINES[3] and 47 not in index
    for by in BY:
        assert answers(index, by) == answers_of_program(program, path, by)
    # Changed by either, both see it; here after it was opened again.
    program("index", "remove", path, 2, "--quiet")
    assert 2 in index
    index.add(["The goalkeeper saves a penalty"])
    assert 2 not in index and index[47].startswith("The goalkeeper")
    for by in BY:
        assert answers(index, by) == answers_of_program(program, path, by)


@pytest.mark.parametrize(("parameters", "options"), [
    ({}, []),
    ({"embedding": WordMoversEmbedding(n_features=40, weights="tfidf", max_words=5)},
     ["--features", 40, "--weights", "tfidf", "--max-words", 5]),
])
def test_built_here_or_there_the_files_are_the_same(program, tmp_path, parameters, options):
    texts = tmp_path / "texts.txt"
    texts.write_text("".join(text + "\n" for text in HEADLINES), encoding="utf-8")
    program("index", "build", texts, "-o", tmp_path / "theirs.wmi", "--quiet", *options)
    WmdIndex(HEADLINES, **parameters).save(tmp_path / "ours.wmi")

    def checksums(path):
        index = json.loads((path / "index.json").read_text())["index"]
        return [index["model"]["sha256"], *(each["data"]["sha256"] for each in index["segments"])]

    assert checksums(tmp_path / "ours.wmi") == checksums(tmp_path / "theirs.wmi")


def test_exact_answers_are_those_of_brute_force(headlines):
    index = WmdIndex(headlines)
    distances, positions = KNeighborsWMD(n_neighbors=6, max_words=1 << 24).fit(
        headlines).kneighbors(QUERIES[:2])
    found = index.search(QUERIES[:2], 6, by="wmd")
    assert [[hit.id for hit in hits] for hits in found] == positions.tolist()
    assert [[hit.distance for hit in hits] for hits in found] == distances.tolist()
    assert [[-hit.score for hit in hits] for hits in found] == distances.tolist()
    # With as many candidates as texts, embeddings decide nothing.
    alike = index.search(QUERIES[:2], 6, by="embedding", n_candidates=40)
    assert [[hit.id for hit in hits] for hits in alike] == positions.tolist()


def test_an_embedding_is_used_as_it_is_or_fitted(headlines):
    fitted = WordMoversEmbedding(n_features=32).fit(headlines[::2])
    index = WmdIndex(headlines, embedding=fitted)
    rows = fitted.encode([*headlines, QUERIES[0]], normalize_embeddings=True)
    [best, *_] = index.search(QUERIES[0], 40, by="embedding")
    assert best.cosine == pytest.approx(float(rows[40] @ rows[best.id]), abs=1e-6)
    assert index.embedding.transform(headlines).tobytes() == fitted.transform(headlines).tobytes()
    plain = WordMoversEmbedding(n_features=32)
    assert WmdIndex(headlines, embedding=plain).embedding.n_features == 32
    assert not plain.__sklearn_is_fitted__()


def test_texts_in_any_container_and_other_vectors(toy, tmp_path):
    pandas = pytest.importorskip("pandas")
    texts = ["cat dog", "sea ship", "bread"]
    index = WmdIndex(pandas.Series(texts, index=[5, 6, 7]), pandas.Series(["a", "b", "c"]),
                     embedding=WordMoversEmbedding(vectors=toy, n_features=8))
    index.add((text for text in ["goat"]), np.array(["d"]))
    assert [hit.id for hit in index.search("goat", 1, by="wmd")] == ["d"]
    index.save(tmp_path / "toy.wmi")
    # It holds its vectors.
    again = WmdIndex.load(tmp_path / "toy.wmi")
    assert again.search(["goat", "ship"], 2) == index.search(["goat", "ship"], 2)
    assert WmdIndex.load(tmp_path / "toy.wmi", vectors=toy)["c"] == "bread"


def test_an_index_is_in_its_folder(headlines, tmp_path):
    path = tmp_path / "docs.wmi"
    index = WmdIndex(headlines[:8], IDS[:8], embedding=WordMoversEmbedding(n_features=16))
    temporary = os.path.dirname(index._index.path)
    assert index.path is None and os.path.isdir(temporary) and "not saved" in repr(index)
    with pytest.raises(TypeError, match="save the index first"):
        pickle.dumps(index)
    index.save(path)
    assert not os.path.exists(temporary)
    assert index.path == str(path) and repr(index) == f"<WmdIndex of 8 texts, {str(path)!r}>"
    index.save(path)  # It is there already.
    assert pickle.loads(pickle.dumps(index)).search("vote") == index.search("vote")
    other = WmdIndex(headlines[8:12], embedding=WordMoversEmbedding(n_features=16))
    with pytest.raises(FileExistsError, match="it exists already"):
        other.save(path)
    other.save(path, overwrite=True)
    assert len(WmdIndex.load(path)) == 4 and len(index) == 8
    with pytest.raises(FileExistsError, match="no search index"):
        other.save(tmp_path, overwrite=True)
    again = WmdIndex(headlines[:4], embedding=WordMoversEmbedding(n_features=16))
    temporary = os.path.dirname(again._index.path)
    del again
    assert not os.path.exists(temporary)


def test_replacing_and_compacting(headlines, tmp_path):
    path = tmp_path / "docs.wmi"
    index = WmdIndex(headlines[:8], IDS[:8], embedding=WordMoversEmbedding(n_features=16))
    index.save(path)
    with pytest.raises(ValueError, match="two documents with the id \"h1\""):
        index.add(["other", "text"], ["new", "h1"])
    assert "new" not in index and len(index) == 8
    index.add(["Tea with milk", "Coffee"], ["new", "h1"], replace=True)
    assert len(index) == 9 and index["h1"] == "Coffee"
    index.remove("h2")
    expected = index.search(QUERIES, by="hybrid")
    n_bytes = sum(file.stat().st_size for file in path.iterdir())
    index.compact()
    assert index.search(QUERIES, by="hybrid") == expected
    assert sum(file.stat().st_size for file in path.iterdir()) < n_bytes
    index.verify()
    [segment] = path.glob("segment-*")
    damaged = bytearray(segment.read_bytes())
    damaged[-1] ^= 1
    segment.write_bytes(damaged)
    with pytest.raises(ValueError, match="damaged: segment-.*checksum differs"):
        WmdIndex.load(path).verify()


def test_what_is_refused(headlines, tmp_path):
    few = WordMoversEmbedding(n_features=8)
    with pytest.raises(ValueError, match="^there is no document"):
        WmdIndex([])
    with pytest.raises(ValueError, match="none of the 1 documents"):
        WmdIndex([""])
    with pytest.raises(TypeError, match="document 1 is None"):
        WmdIndex(["a", None])
    with pytest.raises(TypeError, match="document 0 is list, not a str"):
        WmdIndex([["a", "cat"]], embedding=few.fit(headlines))
    with pytest.raises(TypeError, match="found str: put a single document in a list"):
        WmdIndex("a cat")
    with pytest.raises(ValueError, match="2 texts and 1 ids"):
        WmdIndex(headlines[:2], ["a"], embedding=few)
    with pytest.raises(ValueError, match='^there are two documents with the id "a"$'):
        WmdIndex(headlines[:2], ["a", "a"], embedding=few)
    with pytest.raises(TypeError, match="id 1 is int, not a str"):
        WmdIndex(headlines[:2], ["a", 1])
    with pytest.raises(TypeError, match="expected a list of ids, found str"):
        WmdIndex(headlines[:2], "ab")
    with pytest.raises(TypeError, match="embedding is str: it must be"):
        WmdIndex(headlines, embedding="builtin")
    with pytest.raises(ValueError, match="an index cannot hold min_df"):
        WmdIndex(headlines, embedding=WordMoversEmbedding(min_df=2))
    with pytest.raises(ValueError, match="max_words is 0"):
        WmdIndex(headlines, max_words=0)
    index = WmdIndex(headlines, embedding=few)
    with pytest.raises(ValueError, match="^the documents of this index are numbered"):
        index.add(["text"], ["a"])
    with pytest.raises(ValueError, match='no document with the id "77"'):
        index.remove([1, 77])
    assert 1 in index
    with pytest.raises(TypeError, match="'a' is not a number"):
        index.remove("a")
    with pytest.raises(KeyError):
        index[40]
    index.remove(np.int64(1))
    assert 1 not in index
    with pytest.raises(ValueError, match="k is 0"):
        index.search("a", 0)
    with pytest.raises(ValueError, match='by is "words": it must be'):
        index.search("a", by="words")
    with pytest.raises(TypeError, match="document 1 is int"):
        index.search(["a", 3])
    with pytest.raises(FileNotFoundError):
        WmdIndex.load(tmp_path / "none")
    with pytest.raises(ValueError, match="not a search index"):
        WmdIndex.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        index.save(tmp_path / "none" / "docs.wmi")


def test_queries_without_words_find_nothing(headlines):
    index = WmdIndex([*headlines, ""], embedding=WordMoversEmbedding(n_features=16))
    for by in BY:
        assert index.search(["", " \t"], by=by) == [[], []]


def test_threads_search_while_another_adds(headlines):
    index = WmdIndex(headlines, embedding=WordMoversEmbedding(n_features=16))
    expected = index.search(QUERIES, 3, by="wmd")[1]
    found, stop = [], threading.Event()

    def search():
        while not stop.is_set():
            found.append(index.search(QUERIES[1], 3, by="wmd"))

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        index.add(["goat"])
    stop.set()
    for thread in threads:
        thread.join()
    assert len(index) == 50 and all(hits == expected for hits in found)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX signals")
def test_an_interrupt_leaves_the_index_as_it_was(headlines):
    index = WmdIndex(headlines, embedding=WordMoversEmbedding(n_features=512))
    many = [f"{text} {i}" for i in range(2000) for text in headlines]

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            index.add(many)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - start < 10
    assert len(index) == 40
    index.add(["goat"])
    assert len(index) == 41 and index[40] == "goat"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_searches_and_leaves_the_folder(headlines):
    index = WmdIndex(headlines, embedding=WordMoversEmbedding(n_features=16))
    expected = index.search(QUERIES[0])
    child = os.fork()
    if child == 0:
        same = index.search(QUERIES[0]) == expected
        index._temporary()
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert index.search(QUERIES[0]) == expected and os.path.isdir(index._index.path)
