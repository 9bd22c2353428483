"""Paragraph vectors (Le and Mikolov, 2014) by gensim, with a linear SVM.

Trained on training and test texts, without labels, as the paper says; 300 dimensions. How often
frequent words are left out, the window and the number of passes matter more than anything else,
by ten points on short documents, so they are chosen.
"""

import numpy as np

from choice import linear, say
from corpus import Outcome, Split

DIMENSION = 300

DBOW = {
    "": dict(sample=1e-4, epochs=20),
    "all words": dict(sample=0, epochs=20),
}
DM = {
    "": dict(sample=1e-4, epochs=20, window=10),
    "window 1": dict(sample=1e-4, epochs=20, window=1),
    "window 1, 80 passes": dict(sample=1e-4, epochs=80, window=1),
}


def vectors(split: Split, candidates: dict[str, dict], **options) -> Outcome:
    outcome = Outcome(parameters={"dimension": DIMENSION, **options})
    with outcome.stage("features"):
        found = {name: learnt(split, name, **candidate, **options) for name, candidate in candidates.items()}
    linear(split, outcome, found)
    outcome.parameters |= candidates[outcome.parameters["chosen"]]
    return outcome


def learnt(split: Split, name: str, epochs: int, **options) -> tuple[np.ndarray, np.ndarray]:
    """The vectors of the training documents, and of the test documents."""
    from gensim.models.callbacks import CallbackAny2Vec
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    class Progress(CallbackAny2Vec):
        done = 0

        def on_epoch_end(self, model):
            self.done += 1
            say(f"  {name or 'the usual'}: pass {self.done} of {epochs}")

    # One worker, so that a seed gives the same vectors again.
    everything = split.train.tokens + split.test.tokens
    documents = [TaggedDocument(tokens, [i]) for i, tokens in enumerate(everything)]
    model = Doc2Vec(
        documents, vector_size=DIMENSION, epochs=epochs, min_count=2, negative=5, seed=split.seed, workers=1,
        callbacks=[Progress()], **options,
    )
    rows = np.array([model.dv[i] for i in range(len(documents))])
    return rows[: len(split.train)], rows[len(split.train) :]


def dbow(split: Split) -> Outcome:
    return vectors(split, DBOW, dm=0, dbow_words=0)


def dm(split: Split) -> Outcome:
    return vectors(split, DM, dm=1)
