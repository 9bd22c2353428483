"""Instructions per solve, counted by valgrind's callgrind.

For each shape two runs that differ only in how often they solve the problems: the
difference over the number of solves is the count, free of start-up and reading. Beside it
stands POT's reference count, taken once on other problems of the shape; with the parameter
`pot`, POT is counted on these very problems (inside its C++ entry alone).
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import environment
from measure import problems

# POT 0.9.7's instructions per solve.
REFERENCE = {
    "10x3": 27_241, "40x3": 98_604, "72x3": 189_705, "72x6": 321_925, "72x12": 591_418,
    "72x21": 1_019_834, "500x6": 3_716_869, "40x40": 998_984, "72x72": 3_661_286,
    "120x120": 11_892_806, "500x500": 313_589_168,
}


def collected(options, command):
    """Instructions that callgrind collects while a command runs."""
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *options,
         *map(str, command)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
    )
    count = re.search(r"Collected\s*:\s*(\d+)", run.stderr)
    if run.returncode or not count:
        sys.exit(f"error: {Path(command[0]).name} failed under valgrind\n{run.stderr}")
    return int(count[1])


def ours(program, file):
    """One pass over the problems, after a first that warms up."""
    before, after = (collected([], [program, "transport", file, passes]) for passes in (0, 1))
    return after - before


def pot(file):
    """Inside POT's C++ entry, so without Python."""
    script = Path(__file__).parent / "solve_with_pot.py"
    return collected(["--toggle-collect=EMD_wrap(*"], [sys.executable, script, file])


def measure(parameters, run):
    if not shutil.which("valgrind"):
        sys.exit("error: valgrind is missing; install it (its tool callgrind counts instructions)")
    program = environment.build("wordmover-bench", "time_solver")
    run.facts["valgrind"] = environment.said_by("valgrind", "--version")
    file = run.scratch / "problems"
    for kind in parameters.problems:
        make, meaning = problems.maker(kind, parameters, run)
        rows = []
        for shape in parameters.shapes:
            sizes = [int(size) for size in shape.split("x")]
            n = problems.how_many(*sizes, 8192, 1 if min(sizes) > 1000 else 2, 16)
            problems.write(file, make(run.seed, *sizes, n))
            count, reference = ours(program, file) / n, REFERENCE.get(shape)
            rows.append([shape, count, reference, reference and reference / count])
            if parameters.pot:
                here = pot(file) / n
                rows[-1] += [here, here / count]
            print(f"{kind} {shape}: {count:,.0f}", file=sys.stderr)
        columns = [("shape", "text"), ("ours", ",.0f"), ("POT reference", ",d"),
                   ("reference / ours", ".2f")]
        if parameters.pot:
            columns += [("POT here", ",.0f"), ("POT here / ours", ".2f")]
        run.text(f"**{meaning}**:")
        run.table(columns, rows)
