"""How the time of an exact query grows with the corpus.

Documents of several corpora, shuffled together, are indexes of growing size; queries are
documents that are in none of them. The time is that of one thread, of `wordmover search --by wmd`
with all queries less that with one, so that starting and opening cancel; it is CPU time, since
others may use the machine. Opening is timed from outside: `wordmover index info`, the least of
some. The exponent is the slope of a straight line through the logarithms.
"""

import gzip
import math
import os
import random
import resource
import subprocess
import time

import environment


def texts_of(run, corpora):
    texts = []
    for corpus in corpora:
        with gzip.open(run.corpus(corpus), "rt", encoding="utf-8", errors="replace", newline="\n") as file:
            texts.extend(" ".join(line.split("\t", 2)[2].split()) for line in file)
    texts = [text for text in texts if text]
    random.Random(run.seed).shuffle(texts)
    return texts


def cpu_seconds(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment.call(*command, stdout=subprocess.DEVNULL,
                     env={**os.environ, **environment.ONE_THREAD})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def wall_seconds(*command):
    start = time.perf_counter()
    environment.call(*command, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def slope(points):
    xs, ys = zip(*((math.log(x), math.log(y)) for x, y in points))
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    return (sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys))
            / sum((x - x_mean) ** 2 for x in xs))


def draw(path, times, exponent):
    """A figure of the times, both axes logarithmic."""
    width, height, margin = 420, 260, 48
    (x_least, y_least), (x_most, y_most) = (map(min, zip(*times)), map(max, zip(*times)))
    decades = range(math.floor(math.log10(1e3 * y_least)), math.ceil(math.log10(1e3 * y_most)) + 1)

    def at(size, seconds):
        x = math.log(size / x_least) / math.log(x_most / x_least)
        y = (math.log10(1e3 * seconds) - decades[0]) / (decades[-1] - decades[0])
        return margin + x * (width - 2 * margin), height - margin - y * (height - 2 * margin)

    def text(x, y, what, anchor="middle"):
        return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{what}</text>'

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             'font-family="sans-serif" font-size="11" fill="#555">',
             f'<title>CPU time of an exact query, exponent {exponent:.2f}</title>']
    for decade in decades:
        _, y = at(x_least, 10**decade / 1e3)
        parts.append(f'<line x1="{margin}" x2="{width - margin}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(text(margin - 6, y + 4, f"{10**decade:g} ms", "end"))
    points = [at(*time) for time in times]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#2a6fbb" stroke-width="2"/>')
    for (x, y), (size, _) in zip(points, times):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#2a6fbb"/>')
        parts.append(text(x, height - margin + 16, f"{size:,}"))
    parts.append(text(width / 2, height - 12, f"documents; time of a query on one thread, exponent {exponent:.2f}"))
    path.write_text("\n".join([*parts, "</svg>", ""]))


def measure(parameters, run):
    program = environment.program()
    texts = texts_of(run, parameters.corpora)
    queries, texts = texts[:parameters.queries], texts[parameters.queries:]
    files = {"all": run.scratch / "queries.txt", "one": run.scratch / "query.txt"}
    files["all"].write_text("".join(text + "\n" for text in queries))
    files["one"].write_text(queries[0] + "\n")
    rows, times = [], []
    for size in parameters.sizes:
        if size > len(texts):
            raise SystemExit(f"error: there are {len(texts)} documents, not {size}")
        documents, index = run.scratch / "documents.txt", run.scratch / f"{size}.wmi"
        documents.write_text("".join(text + "\n" for text in texts[:size]))
        # Exact search does not look at embeddings: few features are built sooner.
        environment.call(program, "index", "build", documents, "-o", index, "--features", 16, "-q")
        search = [program, "search", index, "-k", parameters.k, "--by", "wmd", "--json", "-q", "--queries"]
        seconds = {name: cpu_seconds(*search, file) for name, file in files.items()}
        query = (seconds["all"] - seconds["one"]) / (len(queries) - 1)
        opening = min(wall_seconds(program, "index", "info", index) for _ in range(5))
        times.append((size, query))
        rows.append([size, 1e3 * query, 1e3 * opening])
    run.table([("documents", "d"), ("CPU ms a query", ".1f"), ("ms to start, open and end", ".1f")], rows)
    if run.is_recorded:
        draw(environment.ROOT / "docs" / "search-growth.svg", times, slope(times))
    run.text(f"Exponent of the time of a query: {slope(times):.2f}; of the last step "
             f"{slope(times[-2:]):.2f}.")
