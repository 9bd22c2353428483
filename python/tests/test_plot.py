"""Drawings, and what notebooks show of estimators."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from wordmover import KNeighborsWMD, LinearSVM, TextClassifier, WordMoversEmbedding, plot, wmd

A, B = "Obama speaks to the media in Illinois", "The president greets the press in Chicago"


def texts_of(drawing):
    return [text.text for text in ET.fromstring(drawing.svg).iter("{http://www.w3.org/2000/svg}text")]


def test_a_plan_is_drawn(tmp_path):
    drawing = plot.plan(A, B)
    distance, moves = wmd(A, B, return_plan=True)
    shown = texts_of(drawing)
    assert {"obama", "president", "media", "press"} <= set(shown)
    assert f"Word Mover’s Distance {distance:.4f}" in shown
    assert drawing.svg.count("<path") == len(moves)
    assert plot.plan(moves).svg == drawing.svg == drawing._repr_html_()
    drawing.save(tmp_path / "plan.svg")
    assert (tmp_path / "plan.svg").read_text(encoding="utf-8") == drawing.svg
    assert repr(drawing).startswith("<Drawing of ")
    with pytest.raises(TypeError, match="two documents, or the plan"):
        plot.plan("alone")


def test_words_are_escaped(toy):
    assert "<b>" not in plot.plan(["cat"], ["dog"], vectors=toy).svg
    drawing = plot.corpus_map(np.eye(3), labels=["<b>", "&", "c"], texts=["<i>", "x", "y"])
    assert "<b>" not in drawing.svg and "<i>" not in drawing.svg
    ET.fromstring(drawing.svg)


def test_a_map_of_a_corpus(headlines, topics):
    rows = WordMoversEmbedding(n_features=32).fit_transform(headlines)
    drawing = plot.corpus_map(rows, labels=topics, texts=headlines, title="Headlines")
    assert drawing.svg.count("<circle") == 40 + 5
    assert {"Headlines", "politics", "culture"} <= set(texts_of(drawing))
    assert drawing.svg == plot.corpus_map(rows, labels=topics, texts=headlines,
                                          title="Headlines").svg
    assert plot.corpus_map(rows[:1]).svg.count("<circle") == 1
    flat = plot.corpus_map(np.arange(6).reshape(3, 2))
    assert flat.svg.count("<circle") == 3
    with pytest.raises(ValueError, match="40 embeddings, 3 labels and 40 texts"):
        plot.corpus_map(rows, labels=[1, 2, 3])
    with pytest.raises(ValueError, match="not finite"):
        plot.corpus_map([[np.nan, 1]])


def test_notebooks_show_estimators(headlines, topics):
    pipe = make_pipeline(WordMoversEmbedding(n_features=8, tokenizer=str.split), LinearSVM())
    for estimator in (pipe, pipe.fit(headlines, topics), KNeighborsWMD(), TextClassifier()):
        assert type(estimator).__name__ in estimator._repr_html_()
