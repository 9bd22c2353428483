"""Ground costs beside OpenBLAS: operations a second, one thread each, in turns.

`sgemm` is NumPy's product of two matrices in single precision and nothing else; `costs` is
what NumPy takes for the same distances (product, norms, clamp, square root, into memory it
already has). Ours are the costs of the embedding, square roots and all, as doubles. A
multiplication and an addition are two operations; what comes on top is not counted.
"""

import sys
import time

import environment
from measure.asked import Asked

TOLERANCE = 1e-6
SECONDS_A_TURN = 0.05


def timed(function):
    """A turn of NumPy's: the fastest call within it."""
    def turn():
        least, end = float("inf"), time.perf_counter() + SECONDS_A_TURN
        while True:
            start = time.perf_counter()
            function()
            now = time.perf_counter()
            least = min(least, now - start)
            if now >= end:
                return least
    return turn


def compare(program, run, shape, repeats):
    """Billions of operations a second: ours, sgemm's, and those of NumPy's costs."""
    import numpy

    rows, columns, dim = shape
    random = numpy.random.default_rng(run.seed)
    a, b = (random.standard_normal((n, dim)).astype("f4") for n in (rows, columns))
    for vectors in (a, b):
        vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
    a_squares, b_squares = (numpy.einsum("ij,ij->i", v, v) for v in (a, b))
    b_transposed = numpy.ascontiguousarray(b.T)
    out = numpy.empty((rows, columns), "f4")

    def sgemm():
        numpy.matmul(a, b_transposed, out=out)

    def costs():
        numpy.matmul(a, b_transposed, out=out)
        numpy.multiply(out, -2, out=out)
        numpy.add(out, a_squares[:, None], out=out)
        numpy.add(out, b_squares, out=out)
        numpy.maximum(out, 0, out=out)
        numpy.sqrt(out, out=out)

    files = [run.scratch / name for name in ("rows", "columns", "costs")]
    a.tofile(files[0])
    b.tofile(files[1])
    with Asked(program, files[0], files[1], dim, files[2]) as ours:
        ours.line()
        found = numpy.fromfile(files[2]).reshape(rows, columns)
        worst = 0
        for i in range(0, rows, 1000):
            product = a[i:i + 1000].astype("f8") @ b.T.astype("f8")
            squares = [(v.astype("f8") ** 2).sum(axis=1) for v in (a[i:i + 1000], b)]
            exact = numpy.sqrt(squares[0][:, None] + squares[1] - 2 * product)
            worst = max(worst, float(numpy.abs(found[i:i + 1000] / exact - 1).max()))
        if not worst <= TOLERANCE:
            sys.exit(f"error: a cost differs from NumPy's by {worst:.1e} of its value")
        turns = {"ours": lambda: ours.ask(SECONDS_A_TURN)[0], "sgemm": timed(sgemm),
                 "costs": timed(costs)}
        least = dict.fromkeys(turns, float("inf"))
        for _ in range(repeats):
            for side, turn in turns.items():
                least[side] = min(least[side], turn())
    operations = 2 * rows * columns * dim / 1e9
    return [operations / seconds for seconds in least.values()], worst


def measure(parameters, run):
    import numpy

    blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    run.facts["BLAS"] = f"NumPy {numpy.__version__}, {blas['name']} {blas['version']}"
    program = environment.build("wordmover-bench", "time_ground_costs")
    rows = []
    for dim in parameters.dims:
        for n_words in parameters.words:
            shape = (n_words, 128, dim)
            rates, worst = compare(program, run, shape, parameters.repeats)
            rows.append(["x".join(map(str, shape)), *rates, rates[0] / rates[1],
                         rates[0] / rates[2], worst])
    run.text("Billions of operations a second:")
    run.table([("words x random words x dim", "text"), ("ours", ".1f"), ("sgemm", ".1f"),
               ("NumPy's costs", ".1f"), ("ours / sgemm", ".2f"), ("ours / NumPy's costs", ".2f"),
               ("largest error", ".0e")], rows)
    run.text(f"Ground costs over sgemm, least: {min(row[4] for row in rows):.2f}.")
