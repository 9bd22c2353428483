"""Transport problems and documents made from a seed: synthetic ones, and real ones.

As in the method, points lie on the unit sphere, costs are Euclidean, and weights are word
counts over their total or, for random documents, 1/D each. Synthetic words are random
points, made with the standard library alone. Real ones are the words of documents of
corpora with their vectors (NumPy and gensim are needed); random documents are then drawn
as the embedding does it, uniformly between the extreme coordinates and scaled to length 1.
"""

import collections
import functools
import gzip
import math
import random
from array import array

DIM = 50
N_WORDS = 1024
# Mostly 1, as words of one document are.
COUNTS, FREQUENCIES = (1, 2, 3, 4, 5), (62, 20, 10, 5, 3)


def counts(rng, n):
    return rng.choices(COUNTS, FREQUENCIES, k=n)


def nbow(rng, n):
    n_words = counts(rng, n)
    total = sum(n_words)
    return array("d", (count / total for count in n_words))


@functools.cache
def ground_costs(seed, n_words):
    """Costs from every word that documents draw from to every word of the other side."""
    rng = random.Random(f"{seed} words")

    def point():
        x = [rng.random() - 0.5 for _ in range(DIM)]
        length = math.hypot(*x)
        return [value / length for value in x]

    sources, sinks = ([point() for _ in range(n_words)] for _ in range(2))
    return [[math.dist(x, y) for y in sinks] for x in sources]


def how_many(rows, columns, n_costs, least, most):
    """So many problems that they have `n_costs` costs together."""
    return max(least, min(most, n_costs // (rows * columns)))


def synthetic(seed, rows, columns, n):
    """`n` problems (costs, supply, demand): a document against a random document, or
    against another document of as many words where rows and columns are equal."""
    rng = random.Random(f"{seed} {rows}x{columns}")
    n_words = N_WORDS if max(rows, columns) <= N_WORDS else max(rows, columns) * 5 // 4
    table, words = ground_costs(seed, n_words), range(n_words)
    problems = []
    for _ in range(n):
        sources, sinks = rng.sample(words, rows), rng.sample(words, columns)
        costs = array("d", (row[j] for row in map(table.__getitem__, sources) for j in sinks))
        supply = nbow(rng, rows)
        demand = nbow(rng, columns) if rows == columns else array("d", [1 / columns] * columns)
        problems.append((costs, supply, demand))
    return problems


class Real:
    """Problems from the words of real documents."""

    def __init__(self, corpora, vectors, stop_words=()):
        import numpy
        from gensim.models import KeyedVectors

        self.numpy = numpy
        model = KeyedVectors.load_word2vec_format(str(vectors), binary=True)
        points = model.vectors / numpy.linalg.norm(model.vectors, axis=1, keepdims=True)
        self.points = points.astype(float)
        self.range = float(points.min()), float(points.max())
        # Of each document the ids of its known words and how often they occur.
        self.documents = []
        for corpus in corpora:
            with gzip.open(corpus, "rt", encoding="utf-8") as lines:
                for line in lines:
                    words = line.rstrip("\n").split("\t", 2)[2].lower().split()
                    known = (model.key_to_index.get(w) for w in words if w not in stop_words)
                    found = collections.Counter(i for i in known if i is not None)
                    self.documents.append(list(found.items()))

    def make(self, seed, rows, columns, n):
        """As `synthetic`; a document has its first words, of one of so many at least. If there
        are no two of them, documents drawn at random are joined until they have enough."""
        rng = random.Random(f"{seed} {rows}x{columns} real")
        noise = self.numpy.random.default_rng(rng.randrange(1 << 32))
        is_pair = rows == columns
        long_enough = [d for d in self.documents if len(d) >= rows]

        def words():
            if len(long_enough) >= 2:
                return rng.choice(long_enough)
            joined = collections.Counter()
            while len(joined) < rows:
                joined.update(dict(rng.choice(self.documents)))
            return list(joined.items())

        def document():
            ids, n_times = zip(*words()[:rows])
            total = sum(n_times)
            return self.points[list(ids)], array("d", (count / total for count in n_times))

        problems = []
        for _ in range(n):
            x, supply = document()
            if is_pair:
                y, demand = document()
            else:
                y = noise.uniform(*self.range, (columns, x.shape[1]))
                y /= self.numpy.linalg.norm(y, axis=1, keepdims=True)
                demand = array("d", [1 / columns] * columns)
            costs = self.numpy.sqrt(((x[:, None] - y[None]) ** 2).sum(axis=2))
            problems.append((array("d", costs.ravel()), supply, demand))
        return problems


def maker(kind, parameters, run):
    """A function that makes problems of a kind, and what they stand for."""
    if kind == "synthetic":
        return synthetic, f"synthetic: {DIM}-dimensional random points"
    corpora = [run.corpus(name) for name in parameters.corpora]
    real = Real(corpora, run.data("vectors", parameters.vectors))
    return real.make, f"real: words of {', '.join(parameters.corpora)}, {parameters.vectors}"


def write(path, problems):
    """In the form that the example `time_solver` reads."""
    with open(path, "wb") as file:
        array("Q", [len(problems)]).tofile(file)
        for costs, supply, demand in problems:
            array("Q", [len(supply), len(demand)]).tofile(file)
            for values in (costs, supply, demand):
                values.tofile(file)


def write_vectors(path, seed, n_words, dim):
    """Random word vectors in word2vec's text form; the words are w0, w1, ..."""
    rng = random.Random(f"{seed} vectors")
    with open(path, "w") as file:
        print(n_words, dim, file=file)
        for i in range(n_words):
            print(f"w{i}", *(f"{rng.gauss(0, 1):.6f}" for _ in range(dim)), file=file)


def texts(seed, n_words, n_texts, n_distinct):
    """Lists of words, each with `n_distinct` different ones."""
    rng = random.Random(f"{seed} texts")

    def text():
        ids = rng.sample(range(n_words), n_distinct)
        words = [f"w{i}" for i, count in zip(ids, counts(rng, n_distinct)) for _ in range(count)]
        rng.shuffle(words)
        return words

    return [text() for _ in range(n_texts)]
