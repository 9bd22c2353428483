"""Single texts, one call each, as a service makes them.

1. `transform([text])` of so many distinct texts: the median of each block of calls, drawn.
2. The same texts, and a call whose work is next to nothing (one feature, one word), beside the
   same calls of the library in Rust, in turns, on one thread and on all: the difference is the
   way from Python to the library and back, and with several threads also when they are woken.
"""

import os
import statistics
import subprocess
import time
from pathlib import Path

import environment
from measure import texts

DRAWING = Path(__file__).resolve().parents[2] / "docs" / "single-texts.svg"


def timed(embedding, documents):
    clock, transform = time.perf_counter, embedding.transform
    times = []
    for text in documents:
        start = clock()
        transform([text])
        times.append((clock() - start) * 1e6)
    return times


def overhead(embedding, words, turns, run, threads):
    """Microseconds of a call of `transform` and of the library, in turns: medians."""
    from wordmover import set_num_threads

    set_num_threads(threads)
    variables = os.environ | {"RAYON_NUM_THREADS": str(threads)}
    model, lines = run.scratch / "single.wme", run.scratch / "words.txt"
    embedding.save(model)
    lines.write_text("\n".join(words) + "\n")
    program = environment.build("wordmover-bench", "time_single_texts")
    python, library = [], []
    for _ in range(turns):
        python.append(statistics.median(timed(embedding, words)))
        said = environment.call(program, model, lines, stdout=subprocess.PIPE, env=variables)
        library.append(statistics.median(map(float, said.split())))
    return statistics.median(python), statistics.median(library)


def draw(medians, block):
    """Microseconds over calls, as an SVG document."""
    width, height, left, low = 720, 260, 60, 220
    top = max(medians) * 1.15
    step = (width - left - 20) / max(1, len(medians) - 1)
    points = " ".join(f"{left + i * step:.1f},{low - value / top * 180:.1f}"
                      for i, value in enumerate(medians))
    marks = "".join(
        f'<text x="{left - 8}" y="{low - share * 180 + 4:.0f}" text-anchor="end">'
        f"{share * top:.0f}</text>" for share in (0, 0.5, 1))
    calls = len(medians) * block
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" font-size="12">'
            '<rect width="100%" height="100%" fill="white"/>'
            f'<text x="{left}" y="20" font-size="14">transform([text]): microseconds a call, '
            f"median of {block} calls each</text>{marks}"
            f'<polyline points="{points}" fill="none" stroke="#0072b2" stroke-width="1.5"/>'
            f'<text x="{left}" y="{height - 16}">1</text>'
            f'<text x="{width - 20}" y="{height - 16}" text-anchor="end">{calls:,} distinct '
            "texts</text></svg>\n")


def measure(parameters, run):
    from wordmover import WordMoversEmbedding

    made = texts.make(parameters.calls + 2000, run.seed)
    documents = [f"{text} number{i}" for i, text in enumerate(made)]
    # Of texts that were fitted on, distances are known: those are not asked for.
    documents, fitted = documents[:-2000], documents[-2000:]
    embedding = WordMoversEmbedding(n_features=parameters.features).fit(fitted)
    times = timed(embedding, documents)
    blocks = [times[i : i + parameters.block] for i in range(0, len(times), parameters.block)]
    medians = [statistics.median(block) for block in blocks]
    tenth = max(1, len(medians) // 10)
    first, last = (statistics.median(part) for part in (medians[:tenth], medians[-tenth:]))
    small = WordMoversEmbedding(n_features=1, d_max=1, components="keep").fit(fitted)
    words = ["goat", "sea", "ship", "bread", "honey"] * (parameters.block // 5)
    some, cores = documents[: parameters.block], os.cpu_count() or 1
    beside = [
        [name, n, *pair, pair[0] - pair[1]]
        for name, made, what in [
            ("one feature of one word", small, words),
            (f"{parameters.features} features of a text", embedding, some),
        ]
        for n in sorted({1, cores})
        for pair in [overhead(made, what, parameters.turns, run, n)]
    ]
    run.text(f"{parameters.calls} distinct texts, {parameters.features} features, one call each; "
             "microseconds.")
    run.table([("", "text"), ("median", ".1f"), ("least", ".1f")], [
        ["the first tenth of the calls", first, min(medians[:tenth])],
        ["the last tenth", last, min(medians[-tenth:])],
    ])
    run.text(f"Beside the same calls in Rust, {parameters.block} of them, median of "
             f"{parameters.turns} turns; the difference is Python's (the bar is 50).")
    run.table([("", "text"), ("threads", "d"), ("from Python", ".1f"), ("in Rust", ".1f"),
               ("difference", ".1f")], beside)
    if run.is_recorded:
        DRAWING.write_text(draw(medians, parameters.block), encoding="utf-8")
