"""Exact solves beside POT, wasserstein and gensim, one thread each.

For every shape and every repeat ours, POT and wasserstein take turns; of every sixteenth of
the shape's problems the fastest time counts. What a peer's Python call costs on a 1 x 1
problem is subtracted from its times, down to a tenth of the measured time at most. Costs of
POT that differ by more than 1e-9 end the run; those of wasserstein are listed.
"""

import gc
import math
import sys
import time

import environment
from measure import problems
from measure.asked import Asked

TOLERANCE = 1e-9
# gensim scales vectors to length 1 in single precision.
GENSIM_TOLERANCE = 1e-6
FLOOR = 0.1
MAX_ITERATIONS = 1_000_000
# A branch predictor learns dozens of problems by heart, but not these many.
N_COSTS, LEAST_PROBLEMS, MOST_PROBLEMS = 400_000, 4, 1024
# A pass over the problems is timed in parts, so that an interruption spoils only one.
N_PARTS = 16
SECONDS_A_TURN = 0.01


class Ours(Asked):
    def costs(self, n):
        return [cost for _ in range(n) for cost in self.numbers()]

    def turn(self):
        return self.ask(SECONDS_A_TURN, N_PARTS)


class Peer:
    """A function to be called with each of a list of arguments."""

    def __init__(self, function, cost, arguments):
        self.function, self.cost, self.arguments = function, cost, arguments

    def costs(self, n):
        return [self.cost(self.function(*each)) for each in self.arguments[:n]]

    def turn(self):
        """What `time_solver` does: the fastest time of every part within the turn."""
        function, clock = self.function, time.perf_counter
        size = math.ceil(len(self.arguments) / N_PARTS)
        parts = [self.arguments[i : i + size] for i in range(0, len(self.arguments), size)]
        least = [math.inf] * len(parts)
        end = clock() + SECONDS_A_TURN
        while True:
            for i, part in enumerate(parts):
                start = clock()
                for each in part:
                    function(*each)
                least[i] = min(least[i], clock() - start)
            if clock() >= end:
                return least


def alternate(sides, repeats, n):
    """Microseconds per solve of every side: the least over alternating turns."""
    turns = {name: [] for name in sides}
    for _ in range(repeats):
        for name, side in sides.items():
            turns[name].append(side.turn())
    return {name: sum(map(min, zip(*parts))) / n * 1e6 for name, parts in turns.items()}


def peers(made):
    """POT and wasserstein on the same problems, through their thinnest entries."""
    import numpy
    import wasserstein
    from ot.lp.emd_wrap import emd_c

    arrays = []
    for costs, supply, demand in made:
        costs = numpy.array(costs).reshape(len(supply), len(demand))
        arrays.append((numpy.array(supply), numpy.array(demand), costs))
    emd = wasserstein.EMD(n_iter_max=MAX_ITERATIONS)
    return {
        "POT": Peer(emd_c, lambda result: result[1],
                    [(*each, MAX_ITERATIONS, 1) for each in arrays]),
        "wasserstein": Peer(emd, float, arrays),
    }


def difference(costs, ours):
    return max(abs(cost - our) / max(abs(our), 1e-9) for cost, our in zip(costs, ours))


def compare(program, run, make, shape, repeats, overhead, notes):
    """One row: microseconds per solve of ours and of the peers, less their overhead."""
    n = problems.how_many(*shape, N_COSTS, LEAST_PROBLEMS, MOST_PROBLEMS)
    made = make(run.seed, *shape, n)
    file = run.scratch / "problems"
    problems.write(file, made)
    name = f"{shape[0]}x{shape[1]}"
    with Ours(program, "transport", file) as ours:
        sides = {"ours": ours, **peers(made)}
        costs = {side: solver.costs(n) for side, solver in sides.items()}
        for peer in ("POT", "wasserstein"):
            off = difference(costs[peer], costs["ours"])
            if not off <= TOLERANCE:
                note = f"{name}: a cost of {peer} differs from ours by {off:.1e} of its value"
                if peer == "POT":
                    sys.exit(f"error: {note}")
                notes.append(note)
        times = alternate(sides, repeats, n)
    return name, {
        side: max(time - overhead.get(side, 0), FLOOR * time) for side, time in times.items()
    }


def gensim(program, run, repeats):
    """gensim's wmdistance against wmd::distance, both from lists of words."""
    from gensim.models import KeyedVectors

    vectors, file = run.scratch / "vectors.txt", run.scratch / "texts"
    problems.write_vectors(vectors, run.seed, 2000, 100)
    texts = problems.texts(run.seed, 2000, 256, 40)
    file.write_text("".join(" ".join(text) + "\n" for text in texts))
    model = KeyedVectors.load_word2vec_format(str(vectors))
    model.fill_norms()
    pairs = [(x, y, True) for x, y in zip(texts[::2], texts[1::2])]
    with Ours(program, "documents", vectors, file) as ours:
        sides = {"ours": ours, "gensim": Peer(model.wmdistance, float, pairs)}
        costs = {side: solver.costs(len(pairs)) for side, solver in sides.items()}
        off = difference(costs["gensim"], costs["ours"])
        if not off <= GENSIM_TOLERANCE:
            sys.exit(f"error: a distance of gensim differs from ours by {off:.1e} of its value")
        times = alternate(sides, repeats, len(pairs))
    run.text(f"gensim wmdistance, 40 distinct words, 100 dimensions, random vectors: "
             f"{times['gensim']:.0f} us, ours {times['ours']:.1f} us, speed-up "
             f"{times['gensim'] / times['ours']:.1f} (largest difference {off:.0e}).")


def summary(what, rows, run):
    for peer in ("POT", "wasserstein"):
        ratios = {name: times[peer] / times["ours"] for name, times in rows}
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        least = min(ratios, key=ratios.get)
        run.text(f"{what}, speed-up over {peer}: geometric mean {mean:.2f}, least "
                 f"{ratios[least]:.2f} at {least}.")


def measure(parameters, run):
    program = environment.build("wordmover-bench", "time_solver")
    gc.disable()
    overhead = alternate(peers(problems.synthetic(0, 1, 1, MOST_PROBLEMS)),
                         4 * parameters.repeats, MOST_PROBLEMS)
    run.text("Microseconds a solve. Subtracted from every call: "
             + ", ".join(f"{peer} {time:.2f} us" for peer, time in overhead.items()) + ".")
    grid = [(rows, columns) for rows in parameters.lengths for columns in parameters.sinks]
    notes = []
    for kind in parameters.problems:
        make, meaning = problems.maker(kind, parameters, run)
        shapes = {"documents against random documents, LxD": grid,
                  "pairs of documents": [(n, n) for n in parameters.pairs]}
        for what, chosen in shapes.items():
            rows = [compare(program, run, make, shape, parameters.repeats, overhead, notes)
                    for shape in chosen]
            run.text(f"**{meaning}**; {what}:")
            run.table(
                [("shape", "text"), ("ours us", ".2f"), ("POT us", ".2f"),
                 ("wasserstein us", ".2f"), ("POT / ours", ".2f"), ("wasserstein / ours", ".2f")],
                [[name, times["ours"], times["POT"], times["wasserstein"],
                  times["POT"] / times["ours"], times["wasserstein"] / times["ours"]]
                 for name, times in rows],
            )
            summary(f"{kind} problems, {what.split(',')[0]}", rows, run)
    run.text(f"Costs that differ by more than {TOLERANCE:.0e} of their value: "
             + ("; ".join(notes) or "none") + ".")
    gensim(program, run, parameters.repeats)
