"""Runs of `wordmover embed` on a corpus of lines `split<TAB>label<TAB>text`."""

import array
import filecmp
import math
import re
import sys

import environment

SOLVING = ("ground costs", "transport")
STAGES = ("opening", "reading", "counting words", "fitting", *SOLVING, "writing")


class Embedded:
    """One run of the program: seconds, also by stage, peak megabytes and the output."""

    def __init__(self, program, corpus, output, threads, options):
        command = [program, "--threads", threads, "embed", corpus, "--format", "tsv",
                   "--no-header", "--column", "3", "-o", output, "--force", *options]
        done = environment.Watched(*command)
        self.seconds, self.peak = done.seconds, done.peak
        self.output = output
        self.megabytes = output.stat().st_size / 1e6
        line = next(line for line in done.said.splitlines() if line.startswith("opening "))
        self.stages = {name: float(re.search(rf"{name} ([\d.]+) s", line)[1]) for name in STAGES}
        self.n_documents = int(re.search(r"([\d,]+) documents", done.said)[1].replace(",", ""))

    @property
    def solving(self):
        return sum(self.stages[stage] for stage in SOLVING)

    def check_finite(self):
        with self.output.open("rb") as file:
            file.seek(8)
            file.seek(10 + int.from_bytes(file.read(2), "little"))
            while data := file.read(1 << 20):
                if not all(map(math.isfinite, array.array("f", data))):
                    sys.exit(f"error: {self.output.name}: a value is not finite")


def on_one_and_two(program, corpus, run, options):
    """Runs on one and on two threads, which must give the same bytes."""
    runs = [Embedded(program, corpus, run.scratch / f"{threads}.npy", threads, options)
            for threads in (1, 2)]
    # Not in memory: what this process has had counts as the peak of those that it starts.
    if not filecmp.cmp(runs[0].output, runs[1].output, shallow=False):
        sys.exit(f"error: {corpus.name}: other bytes with two threads")
    runs[0].check_finite()
    return runs
