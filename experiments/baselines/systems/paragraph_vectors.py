"""Paragraph vectors (Le and Mikolov, 2014) by gensim, with a linear SVM.

Trained on training and test texts, without labels, as the paper says; 300 dimensions.
"""

import numpy as np

from choice import linear, say
from corpus import Outcome, Split

DIMENSION, EPOCHS = 300, 20


def vectors(split: Split, **options) -> Outcome:
    from gensim.models.callbacks import CallbackAny2Vec
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    class Progress(CallbackAny2Vec):
        done = 0

        def on_epoch_end(self, model):
            self.done += 1
            say(f"  pass {self.done} of {EPOCHS}")

    outcome = Outcome(parameters={"dimension": DIMENSION, "epochs": EPOCHS, **options})
    with outcome.stage("features"):
        # One worker, so that a seed gives the same vectors again.
        everything = split.train.tokens + split.test.tokens
        documents = [TaggedDocument(tokens, [i]) for i, tokens in enumerate(everything)]
        model = Doc2Vec(
            documents, vector_size=DIMENSION, epochs=EPOCHS, min_count=2, negative=5, sample=1e-4,
            seed=split.seed, workers=1, callbacks=[Progress()], **options,
        )
        rows = np.array([model.dv[i] for i in range(len(documents))])
        train, test = rows[: len(split.train)], rows[len(split.train) :]
    linear(split, outcome, {"": (train, test)})
    return outcome


def dbow(split: Split) -> Outcome:
    return vectors(split, dm=0, dbow_words=0)


def dm(split: Split) -> Outcome:
    return vectors(split, dm=1, window=10)
