"""Tests of what is written by hand: python -m unittest tests, in the environment of the lab."""

import unittest

import numpy as np
from scipy import sparse

import choice
from corpus import Documents, Outcome, Split
from squared_hinge import SquaredHinge
from systems import SYSTEMS, counts, doc2vecc, msda, system

WORDS = ["goal match team score league", "stock market share price bank", "song album band concert guitar"]


def toy(n: int = 90, seed: int = 3) -> Split:
    """Three classes of documents with words of their own and words of all."""
    random = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    tokens = [
        list(random.choice(WORDS[label].split(), 6)) + list(random.choice("the of and to in".split(), 4))
        for label in labels
    ]

    def side(chosen) -> Documents:
        picked = [tokens[i] for i in chosen]
        return Documents([" ".join(t) for t in picked], picked, picked, labels[chosen])

    return Split(side(np.arange(0, 60)), side(np.arange(60, n)), 3, 1, 5, {})


class Choosing(unittest.TestCase):
    def test_without_a_majority_k_falls_by_two(self):
        predicted = choice.vote(np.array([[2, 0, 0, 1, 1, 2]]), 3)[0]
        # 1: 2. 2: a tie, the nearest. 3: 0. 4: 0. 5: 0 and 1 tie, as with 3. 6: all tie, as with 4.
        self.assertEqual(list(predicted[:6]), [2, 2, 0, 0, 0, 0])

    def test_equal_distances_are_taken_in_the_order_of_documents(self):
        distances = np.ones((1, 50))
        self.assertEqual(list(choice.nearest(distances)[0]), list(range(21)))

    def test_every_document_is_held_out_once_with_few_folds(self):
        split, outcome = toy(), Outcome()
        choice.MANY_DOCUMENTS, before = 50, choice.MANY_DOCUMENTS
        try:
            rows = np.eye(3)[split.train.labels], np.eye(3)[split.test.labels]
            seen = []

            class Counting:
                def fit(self, x, y):
                    seen.append(len(x))
                    return self

                def predict(self, x):
                    return x.argmax(axis=1)

            choice.linear(split, outcome, {"": rows}, make=lambda c, _: Counting(), cs=[1.0])
        finally:
            choice.MANY_DOCUMENTS = before
        # Three parts, and then all documents.
        self.assertEqual((len(seen), sum(seen[:3]), seen[3]), (4, 120, 60))
        self.assertEqual((outcome.held_out_accuracy, outcome.accuracy), (1.0, 1.0))
        self.assertEqual(outcome.parameters["folds"], choice.FEW_FOLDS)

    def test_neighbours_are_never_of_the_own_fold(self):
        split = toy()
        seen = []

        def within(rows, columns):
            seen.append(set(split.folds[rows]) & set(split.folds[columns]))
            return np.zeros((len(rows), len(columns)))

        choice.held_out_by_k(split, within)
        self.assertTrue(seen and not any(seen))


class Machines(unittest.TestCase):
    def test_the_squared_hinge_is_at_liblinear_s_minimum(self):
        from sklearn.svm import LinearSVC

        random = np.random.default_rng(5)
        labels = random.integers(0, 3, 200)
        rows = random.normal(size=(200, 7)) + labels[:, None] * random.normal(size=7)
        for c in [1e-2, 1.0, 1e2]:
            ours = SquaredHinge(c).fit(rows, labels)
            theirs = LinearSVC(C=c, tol=1e-10, dual=False, max_iter=100_000).fit(rows, labels)
            weights = np.column_stack([theirs.coef_, theirs.intercept_]).T
            np.testing.assert_allclose(ours.weights, weights, rtol=1e-5, atol=1e-6)
            np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))


class Distances(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(0)
        self.a = sparse.random(7, 20, 0.3, random_state=1, format="csr")
        self.b = sparse.random(9, 20, 0.3, random_state=2, format="csr")
        self.rows, self.columns = np.array([0, 3, 6]), random.permutation(9)[:5]

    def test_sums_of_absolute_differences(self):
        found = counts.l1(self.a, self.b)(self.rows, self.columns)
        a, b = self.a.toarray()[self.rows], self.b.toarray()[self.columns]
        np.testing.assert_allclose(found, np.abs(a[:, None] - b[None]).sum(axis=2), atol=1e-12)

    def test_squared_euclidean(self):
        found = choice.euclidean(self.a, self.b)(self.rows, self.columns)
        a, b = self.a.toarray()[self.rows], self.b.toarray()[self.columns]
        np.testing.assert_allclose(found, ((a[:, None] - b[None]) ** 2).sum(axis=2), atol=1e-12)


class ByHand(unittest.TestCase):
    def test_the_map_of_msda_is_the_mean_over_noise(self):
        random = np.random.default_rng(1)
        source, target = random.poisson(1.0, (40, 4)).astype(float), random.normal(size=(40, 2))
        found = msda.mapping(np, source, target, 0.3)
        # The normal equations of many noisy copies approach the closed form.
        copies = 20_000
        q, p = np.zeros((5, 5)), np.zeros((2, 5))
        for _ in range(copies):
            noisy = np.hstack([source * (random.random(source.shape) > 0.3), np.ones((40, 1))])
            q += noisy.T @ noisy
            p += target.T @ noisy
        np.testing.assert_allclose(found, np.linalg.solve(q, p.T).T, atol=0.02)

    def test_doc2vecc_tells_topics_apart(self):
        split = toy()
        text = doc2vecc.Text.of(split.train.tokens)
        vectors = doc2vecc.train(text, 0.9, seed=1, n_passes=60)
        train, test = (doc2vecc.means(side.tokens, text.ids, vectors) for side in (split.train, split.test))
        train, test = choice.unit(train - train.mean(axis=0)), choice.unit(test - train.mean(axis=0))
        nearest = (test @ train.T).argmax(axis=1)
        right = np.mean(split.train.labels[nearest] == split.test.labels)
        self.assertGreater(right, 0.9)

    def test_every_system_of_counts_solves_an_easy_corpus(self):
        for name in ("bow", "tf-idf", "bm25", "bow-l1", "tf-idf-l1", "lsi", "tf-idf-svm"):
            outcome: Outcome = system(name)(toy())
            self.assertGreater(outcome.accuracy, 0.9, name)
            self.assertGreater(sum(outcome.seconds.values()), 0.0)
        # The fifth of the words that mSDA predicts are words of all classes here.
        self.assertGreater(system("msda")(toy()).accuracy, 0.5)
        self.assertTrue(set(SYSTEMS) >= {"lda", "pv-dbow", "doc2vecc", "fasttext", "minilm"})


if __name__ == "__main__":
    unittest.main()
