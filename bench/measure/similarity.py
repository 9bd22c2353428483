"""Which options make cosines of embeddings agree with people: the table of
docs/similarity-study.md, by `wordmover similarity` on training files and earlier years."""

import json
import subprocess

import environment


def measure(parameters, run):
    program = environment.program()
    for names in parameters.groups.values():
        for name in names:
            lines = run.data("data", "sts", f"{name}.tsv").read_text().splitlines(keepends=True)
            (run.scratch / f"{name}.tsv").write_text("".join(lines[: parameters.pairs]))
    rows = []
    for options in parameters.rows:
        means = []
        # The program's own default mixes two methods; a row is about one.
        method = [] if "--method" in options else ["--method", "wme"]
        for names in parameters.groups.values():
            found = []
            for name in names:
                said = environment.call(program, "similarity", f"{name}.tsv", "--json",
                                        *parameters.always.split(), *method, *options.split(),
                                        cwd=run.scratch, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
                found.append(100 * json.loads(said)["pearson"])
            means.append(sum(found) / len(found))
        rows.append([f"`{options}`", *means, sum(means) / len(means)])
        print(rows[-1], flush=True)
    run.text(f"Pearson correlations, means of files, at most {parameters.pairs} pairs of each:")
    run.table([("options", "text"), *((group, ".1f") for group in parameters.groups),
               ("mean", ".1f")], rows)
