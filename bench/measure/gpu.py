"""Distances to random documents on a GPU and on all cores beside it.

Both sides start with bags in memory and end with distances in memory. Of the GPU, the first
call counts by itself, since the driver compiles the kernels in it; the others by their
median. A single distance that differs by more than 1e-6 of its value ends the run.
"""

import subprocess
from pathlib import Path

import environment


def printed(parameters, run):
    if parameters.outputs:
        yield from (Path(file).read_text() for file in parameters.outputs)
        return
    program = environment.build("wordmover-bench", "time_gpu")
    for corpus, *options in parameters.runs:
        yield environment.call(program, run.corpus(corpus), *options, stdout=subprocess.PIPE)


def measure(parameters, run):
    measured, growth = [], []
    for output in printed(parameters, run):
        for name, *values in (line.split("\t") for line in output.splitlines()):
            match name:
                case "GPU" | "CPU":
                    run.facts[name] = values[0]
                case "arguments":
                    options = values[0]
                case "problem":
                    problem = values[0]
                case "measured":
                    first, median, cpu, n, other, largest, on_host, compared = map(float, values)
                    measured.append([options, first, median, cpu, cpu / median, int(n),
                                     int(other), largest, int(on_host), int(compared)])
                    run.text(f"`{options}`: {problem}.")
                case "growth":
                    growth.append([values[0], int(values[1]), *map(float, values[2:4])])
    if measured:
        run.table([("options", "text"), ("first s", ".2f"), ("GPU s", ".4f"), ("CPU s", ".2f"),
                   ("CPU / GPU", ".1f"), ("distances", ",d"), ("other bits", ",d"),
                   ("largest difference", ".1e"), ("on the CPU", ",d"), ("compared", ",d")],
                  measured)
    if growth:
        run.text("Growth with one thing at a time (nan: not asked for):")
        run.table([("varied", "text"), ("value", ",d"), ("GPU s", ".4f"), ("CPU s", ".3f")], growth)
