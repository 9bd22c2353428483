"""Batches of transport problems on a GPU and on all cores beside it.

Both sides start with problems in memory and end with costs in memory. Of the GPU, the first call
counts by itself, since the driver compiles the kernels and memory is reserved in it; the others
by their median. A single cost that differs by more than 1e-9 of its value ends the run.
"""

import subprocess
from pathlib import Path

import environment


def printed(parameters, run):
    if parameters.outputs:
        yield from (Path(file).read_text() for file in parameters.outputs)
        return
    program = environment.build("wordmover-bench", "time_batch")
    options = ["--seed", str(run.seed), "--repeat", str(parameters.repeat)]
    large = [*parameters.large, "--problems", str(parameters.large_problems)]
    for arguments in (parameters.shapes, large if parameters.large else []):
        for weights in ([], ["--weights"]):
            if arguments:
                yield environment.call(program, *arguments, *options, *weights,
                                       stdout=subprocess.PIPE)


def measure(parameters, run):
    rows = []
    for output in printed(parameters, run):
        for name, *values in (line.split("\t") for line in output.splitlines()):
            match name:
                case "GPU" | "CPU":
                    run.facts[name] = values[0]
                case "measured":
                    shape, masses, n, *seconds, largest, on_host = values
                    first, gpu, cpu = map(float, seconds)
                    n = int(n)
                    rows.append([shape, masses, n, first, gpu, cpu, 1e6 * gpu / n, 1e6 * cpu / n,
                                 cpu / gpu, float(largest), int(on_host)])
    run.table([("shape", "text"), ("weights", "text"), ("problems", ",d"), ("first s", ".3f"),
               ("GPU s", ".4f"), ("CPU s", ".4f"), ("GPU us each", ".2f"), ("CPU us each", ".2f"),
               ("CPU / GPU", ".2f"), ("largest difference", ".1e"), ("on the CPU", ",d")], rows)
