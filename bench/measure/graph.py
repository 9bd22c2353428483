"""`wordmover search --by embedding` with a graph and without.

Documents are pieces of texts of several corpora, shuffled; queries are pieces that are not among
them. The same index is searched as it was built, and again with the graph that `wordmover index
compact --graph` adds. Recall is the share of the `k` documents found without a graph that are
found with it: candidates and their exact distances are the same otherwise. Times are CPU seconds
of one thread, of all queries less those of one, so that starting, opening and, with a graph, the
checksum of its file cancel; the latter is told beside.
"""

import gzip
import json
import os
import random
import resource
import shutil
import subprocess

import environment


def pieces_of(run, corpora, n_words):
    pieces = []
    for corpus in corpora:
        with gzip.open(run.corpus(corpus), "rt", encoding="utf-8", errors="replace", newline="\n") as file:
            for line in file:
                words = line.split("\t", 2)[2].split()
                pieces.extend(words[at:at + n_words] for at in range(0, len(words), n_words))
    random.Random(run.seed).shuffle(pieces)
    return [" ".join(piece) for piece in pieces if len(piece) >= n_words / 4]


def timed(*command):
    """CPU seconds of a command on one thread, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = environment.call(*command, stdout=subprocess.PIPE, env={**os.environ, **environment.ONE_THREAD})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, said


def megabytes(folder, start=""):
    return sum(file.stat().st_size for file in folder.iterdir() if file.name.startswith(start)) / 1e6


def measure(parameters, run):
    program = environment.build("wordmover-cli", "wordmover", features="hnsw")
    pieces = pieces_of(run, parameters.corpora, parameters.words)
    if len(pieces) < parameters.documents + parameters.queries:
        raise SystemExit(f"error: there are {len(pieces)} pieces of texts")
    queries = pieces[parameters.documents:parameters.documents + parameters.queries]
    files = {"all": run.scratch / "queries.txt", "one": run.scratch / "query.txt"}
    files["all"].write_text("".join(text + "\n" for text in queries))
    files["one"].write_text(queries[0] + "\n")
    documents, plain, graph = (run.scratch / name for name in ("documents.txt", "plain.wmi", "graph.wmi"))
    documents.write_text("".join(text + "\n" for text in pieces[:parameters.documents]))
    environment.call(program, "index", "build", documents, "-o", plain, "--features", parameters.features, "-q")
    shutil.copytree(plain, graph)
    without, _ = timed(program, "index", "compact", plain, "-q")
    building, _ = timed(program, "index", "compact", graph, "--graph", "-q")
    building -= without
    rows, starts = [], []
    for n_candidates in parameters.candidates:
        found, seconds = {}, {}
        for index in (plain, graph):
            search = [program, "search", index, "-k", parameters.k, "--by", "embedding", "--candidates",
                      n_candidates, "--json", "-q", "--queries"]
            one, _ = timed(*search, files["one"])
            all_of_them, said = timed(*search, files["all"])
            seconds[index] = (all_of_them - one) / (len(queries) - 1)
            starts.append((index == graph, one))
            answers = map(json.loads, said.splitlines())
            found[index] = [{hit["id"] for hit in answer["neighbors"]} for answer in answers]
        pairs = list(zip(found[plain], found[graph]))
        recall = sum(len(a & b) for a, b in pairs) / sum(len(a) for a, _ in pairs)
        rows.append([n_candidates, recall, 1e3 * seconds[plain], 1e3 * seconds[graph]])
    run.table([("candidates", "d"), (f"recall of {parameters.k}", ".3f"), ("CPU ms a query, all compared", ".2f"),
               ("CPU ms a query, graph", ".2f")], rows)
    first = [1e3 * min(one for is_graph, one in starts if is_graph == which) for which in (False, True)]
    run.text(f"Of {parameters.documents:,} documents with {parameters.features} features, the graph takes "
             f"{building:.0f} s of one thread to build and {megabytes(graph, 'graph'):.0f} MB beside the "
             f"{megabytes(plain):.0f} MB of the index. A program that starts, answers one query and ends takes "
             f"{first[0]:.0f} ms of CPU time without a graph and {first[1]:.0f} ms with it, most of these for the "
             "checksum of its file.")
