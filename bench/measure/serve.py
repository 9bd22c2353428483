"""`wordmover serve` under load, beside `wordmover embed` with the same model on the same texts.

Texts are so many words of posts of 20NEWS each. The load comes from a program on the same
machine, which takes its share of the processor. MiniLM runs under sentence-transformers in an
environment of its own (gigabytes, the first time), in batches of 32 on all threads.
"""

import gzip
import json
import re
import statistics
import subprocess
import time
from pathlib import Path

import environment


def texts_of(corpus, n_texts, n_words):
    words = re.findall(r"[A-Za-z']+", gzip.decompress(corpus.read_bytes()).decode("utf-8", "replace"))
    chunks = (words[at:at + n_words] for at in range(0, len(words) - n_words, n_words))
    return [" ".join(chunk) for chunk, _ in zip(chunks, range(n_texts))]


def resident(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


def measure(parameters, run):
    program, load = environment.program(), environment.build("wordmover-bench", "serve_load")
    texts = texts_of(run.corpus("20news"), parameters.requests, parameters.words)
    path = run.scratch / "texts.txt"
    path.write_text("".join(text + "\n" for text in texts))
    model = run.scratch / "model.wme"
    environment.call(program, "fit", path, "-o", model, "--quiet")
    def embedded():
        """Texts a second of the program."""
        start = time.perf_counter()
        environment.call(program, "embed", path, "--model", model, "-o", run.scratch / "texts.npy",
                         "--force", "--quiet")
        return len(texts) / (time.perf_counter() - start)

    service = subprocess.Popen([program, "serve", "--port", "0", "--model", model],
                               stderr=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://([^\s,]+)", service.stderr.readline()).group(1)

        def answered(n_requests):
            said = environment.call(load, address, path, parameters.connections, n_requests,
                                    stdout=subprocess.PIPE)
            found = json.loads(said)
            assert found["requests"] == n_requests and not found["failed_connections"], found
            return found

        # In turns, since what a machine does in a second changes from minute to minute.
        turns = [(embedded(), answered(parameters.requests)) for _ in range(parameters.turns)]
        memory = [resident(service.pid)]
        answered(parameters.endurance)
        memory.append(resident(service.pid))
    finally:
        service.terminate()
        service.wait()
    n_requests = parameters.requests * parameters.turns

    def median(name):
        return statistics.median(found[name] for _, found in turns)

    rows = [["wordmover embed", statistics.median(alone for alone, _ in turns), None, None, None, None],
            [f"wordmover serve, {parameters.connections} connections", median("requests_per_second"),
             median("p50_ms"), median("p90_ms"), median("p99_ms"), memory[0]]]
    rows += minilm(path, parameters.minilm_texts)
    run.text(f"Medians of {parameters.turns} turns of both:")
    run.table([("what", "text"), ("texts/s", ".0f"), ("p50 ms", ".1f"), ("p90 ms", ".1f"),
               ("p99 ms", ".1f"), ("resident MB", ".0f")], rows)
    shares = [100 * found["requests_per_second"] / alone for alone, found in turns]
    run.text(f"The service embeds {statistics.median(shares):.0f} % of the program's texts a second (the "
             f"median; turn by turn {', '.join(f'{share:.0f}' for share in shares)}). After "
             f"{n_requests:,} requests it had {memory[0]:.0f} MB, after "
             f"{parameters.endurance:,} more {memory[1]:.0f} MB "
             f"({100 * (memory[1] / memory[0] - 1):+.1f} %).")


def minilm(path, n_texts):
    if not n_texts:
        return []
    program = Path(__file__).with_name("embed_with_minilm.py")
    said = environment.call(environment.python("minilm"), program, path, n_texts, stdout=subprocess.PIPE)
    return [["all-MiniLM-L6-v2, batches of 32", float(said), None, None, None, None]]
