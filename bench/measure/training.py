"""`wordmover train` and `wordmover evaluate --learn` with their defaults: time, memory, accuracy.

First a corpus with a split of its own, by the number of features; `wordmover test` tells the
accuracy. Then many classes: documents at random of several corpora, whose classes are kept
apart. At last neighbours in a learnt space, with a few test documents, so that learning is what
takes the time.
"""

import gzip
import random
import re

import environment

COLUMNS = ["--label-column", "label", "--text-column", "text"]


def lines(run, corpus):
    """Split, label and text of every document."""
    with gzip.open(run.corpus(corpus), "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.rstrip("\n").split("\t", 2)


def write(path, rows, header="label\ttext"):
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(header + "\n")
        file.writelines("\t".join(row) + "\n" for row in rows)
    return path


def drawn(run, rows, n):
    """So many rows at random."""
    rows = list(rows)
    random.Random(run.seed).shuffle(rows)
    return rows[:n]


def found(pattern, said):
    return float(re.search(pattern, said)[1].replace(",", ""))


def by_features(parameters, run, program):
    corpus = parameters.corpus
    train, test = (write(run.scratch / f"{split}.tsv", (row[1:] for row in lines(run, corpus) if row[0] == split))
                   for split in ("train", "test"))
    classifier, rows = run.scratch / "c.wmc", []
    for n_features in parameters.features:
        trained = environment.Watched(program, "train", train, *COLUMNS, "--features", n_features,
                                      "-o", classifier, "--force")
        tested = environment.Watched(program, "test", classifier, test, *COLUMNS)
        rows.append([n_features, trained.seconds, trained.processor_seconds, trained.peak, tested.seconds,
                     found(r"accuracy\s+([\d.]+) %", tested.printed)])
    run.text(f"{corpus}, training documents and test documents as it has them:")
    run.table([("R", "d"), ("training s", ".0f"), ("processor s", ".0f"), ("peak MB", ".0f"),
               ("test s", ".0f"), ("accuracy", ".2f")], rows)


def many_classes(parameters, run, program):
    mixed = ((f"{corpus} {label}", text) for corpus in parameters.mixed
             for split, label, text in lines(run, corpus) if split != "test")
    path = write(run.scratch / "mixed.tsv", drawn(run, mixed, parameters.mixed_documents))
    done = environment.Watched(program, "train", path, *COLUMNS, "--features", parameters.mixed_features,
                               "-o", run.scratch / "mixed.wmc", "--force")
    n_classes = int(found(r"([\d,]+) classes", done.said))
    run.text(f"{n_classes} classes, {parameters.mixed_documents:,} documents at random of "
             f"{', '.join(parameters.mixed)}, {parameters.mixed_features} features: {done.seconds:.0f} s, "
             f"{done.processor_seconds:.0f} s of processor time, {done.peak:.0f} MB.")


def learnt_space(parameters, run, program):
    corpus = parameters.corpus
    train = drawn(run, (row for row in lines(run, corpus) if row[0] == "train"), parameters.learnt_documents)
    test = drawn(run, (row for row in lines(run, corpus) if row[0] == "test"), parameters.learnt_tests)
    path = write(run.scratch / "learnt.tsv", train + test, "split\tlabel\ttext")
    done = environment.Watched(program, "evaluate", path, *COLUMNS, "--split-column", "split",
                               "--method", "knn-wmd", "--learn", "both")
    learning = found(r"learning the space ([\d.,]+) s", done.said)
    run.text(f"Neighbours in a learnt space (`evaluate --method knn-wmd --learn both`), {corpus}, {len(train):,} "
             f"training and {len(test)} test documents: learning {learning:.0f} s, everything "
             f"{done.seconds:.0f} s, {done.processor_seconds:.0f} s of processor time, {done.peak:.0f} MB.")


def measure(parameters, run):
    program = environment.program()
    by_features(parameters, run, program)
    many_classes(parameters, run, program)
    learnt_space(parameters, run, program)
