"""The systems: a function of a split for each name."""

from importlib import import_module

SYSTEMS = {
    "bow": "counts:bow",
    "tf-idf": "counts:tfidf",
    "bm25": "counts:bm25",
    "bow-l1": "counts:bow_l1",
    "tf-idf-l1": "counts:tfidf_l1",
    "lsi": "topics:lsi",
    "lda": "topics:lda",
    "msda": "msda:msda",
    "pv-dbow": "paragraph_vectors:dbow",
    "pv-dm": "paragraph_vectors:dm",
    "doc2vecc": "doc2vecc:transductive",
    "doc2vecc-train": "doc2vecc:inductive",
    "word2vec-nbow": "averages:nbow",
    "word2vec-tf-idf": "averages:tfidf",
    "sif": "averages:sif",
    "tf-idf-svm": "peers:tfidf_svm",
    "fasttext": "peers:fasttext",
    "wordllama": "peers:wordllama",
    "minilm": "peers:minilm",
}


def system(name: str):
    """The function of a system."""
    module, function = SYSTEMS[name].split(":")
    return getattr(import_module(f"systems.{module}"), function)
