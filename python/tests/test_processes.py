"""Forks, process pools, threads and interrupts."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import joblib
import pytest

import wordmover
from wordmover import KNeighborsWMD, WordMoversEmbedding, transport

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


@pytest.fixture
def embedding(headlines):
    """Fitted, with the pool of this process at work."""
    fitted = WordMoversEmbedding(n_features=64).fit(headlines)
    fitted.encode(headlines)
    return fitted


def encode(embedding, texts):
    return embedding.encode(texts).tobytes()


@needs_fork
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_children_of_a_fork_have_threads_of_their_own(embedding, headlines):
    expected = encode(embedding, headlines)
    context = multiprocessing.get_context("fork")
    with context.Pool(3) as pool:
        answers = pool.starmap_async(encode, [(embedding, headlines)] * 9).get(timeout=60)
    assert answers == [expected] * 9
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert pool.submit(encode, embedding, headlines).result(timeout=60) == expected
    assert encode(embedding, headlines) == expected


@needs_fork
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_fork_amid_work_and_of_a_fork(embedding, headlines):
    """As servers do that load a model before they fork, again and again."""
    expected = encode(embedding, headlines)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            embedding.encode(headlines)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    grandchild = os.fork()
                    is_same = encode(embedding, headlines) == expected
                    if grandchild == 0:
                        os._exit(0 if is_same else 1)
                    status = os.waitpid(grandchild, 0)[1] if is_same else 1
                finally:
                    os._exit(1 if status else 0)
            deadline = time.monotonic() + 60
            done = (0, 0)
            while done[0] == 0 and time.monotonic() < deadline:
                done = os.waitpid(child, os.WNOHANG)
                time.sleep(0.01)
            if done[0] == 0:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            assert done == (child, 0), "the child hangs or failed"
    finally:
        stop.set()
        worker.join()


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_joblib(embedding, headlines, backend):
    expected = encode(embedding, headlines)
    jobs = joblib.Parallel(n_jobs=2, backend=backend, timeout=120)
    answers = jobs(joblib.delayed(encode)(embedding, headlines) for _ in range(6))
    assert answers == [expected] * 6


def test_many_threads_share_an_estimator(embedding, headlines):
    expected = encode(embedding, headlines)
    neighbors = KNeighborsWMD().fit(headlines)
    nearest = neighbors.kneighbors(headlines)[1].tolist()
    with ThreadPoolExecutor(6) as pool:
        answers = [pool.submit(encode, embedding, headlines) for _ in range(30)]
        found = [pool.submit(neighbors.kneighbors, headlines) for _ in range(6)]
        assert {answer.result() for answer in answers} == {expected}
        assert all(search.result()[1].tolist() == nearest for search in found)


#: What takes much longer than a second.
LONG_CALLS = {
    "fit": """
        words = WordVectors.builtin().words
        documents = [words[i * 60 : i * 60 + 500] for i in range(1000)]
        call = lambda: WordMoversEmbedding(n_features=4096, d_max=21).fit(documents)
    """,
    "fit of a linear SVM": """
        rng = np.random.default_rng(0)
        X, y = rng.random((6000, 1500), dtype=np.float32), rng.integers(0, 20, 6000)
        call = lambda: LinearSVM(C=1e6, tol=1e-9, max_iter=10**6).fit(X, y)
    """,
    "fit of the paper's SVM": """
        rng = np.random.default_rng(0)
        X, y = rng.random((6000, 1500), dtype=np.float32), rng.integers(0, 20, 6000)
        call = lambda: LinearSVM.paper(C=1e6, tol=1e-9).fit(X, y)
    """,
    "fit_transform": """
        embedding = WordMoversEmbedding(n_features=4096, d_max=21)
        call = lambda: embedding.fit_transform(texts * 3000)
    """,
    "transform of long documents": """
        words = WordVectors.builtin().words
        embedding = WordMoversEmbedding(n_features=2048, d_max=21).fit([words[:500]])
        call = lambda: embedding.encode([words[i : i + 500] for i in range(1, 8193)])
    """,
    "kneighbors": """
        words = WordVectors.builtin().words
        documents = [words[i * 300 : i * 300 + 300] for i in range(200)]
        neighbors = KNeighborsWMD(n_neighbors=150, max_words=300).fit(documents)
        call = lambda: [neighbors.kneighbors(documents * 40) for _ in range(100)]
    """,
    "transport": """
        C = np.random.default_rng(0).random((9000, 9000))
        a = np.full(9000, 1 / 9000)
        call = lambda: [transport(C, a, a) for _ in range(100)]
    """,
    "transport_batch of large problems": """
        C = np.random.default_rng(0).random((2, 4000, 4000))
        a = np.full(4000, 1 / 4000)
        call = lambda: [transport_batch(C, a, a) for _ in range(100)]
    """,
    "transport_batch": """
        C = np.random.default_rng(0).random((40, 700, 700))
        a = np.full(700, 1 / 700)
        call = lambda: [transport_batch(C, a, a) for _ in range(100)]
    """,
}


@pytest.mark.parametrize("name", LONG_CALLS)
def test_an_interrupt_is_answered_within_a_second(name, tmp_path):
    script = tmp_path / "long.py"
    script.write_text(textwrap.dedent("""
        import signal, sys, time
        import numpy as np
        from wordmover import *
        texts = open(sys.argv[1]).read().splitlines()
        PREPARE
        print("ready", flush=True)
        try:
            call()
        except KeyboardInterrupt:
            print(time.time(), flush=True)
            if sys.argv[2] == "ends":
                time.sleep(0.9)
                before = time.process_time()
                time.sleep(0.5)
                assert time.process_time() - before < 0.25, "work goes on that nobody waits for"
            # The interpreter and our threads are still of use.
            assert WordMoversEmbedding(n_features=2).fit_transform(texts).shape == (40, 2)
            print("alive")
    """).replace("PREPARE", textwrap.dedent(LONG_CALLS[name])), encoding="utf-8")
    texts = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "headlines.txt")
    # A search ends with its query, and a transport problem only once it has a plan to improve.
    ends = "goes on" if name in ("kneighbors", "transport") else "ends"
    command = [sys.executable, script, texts, ends]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.5)
        assert process.poll() is None, "the call was not long enough"
        sent = time.time()
        process.send_signal(signal.SIGINT)
        answered = float(process.stdout.readline())
        assert answered - sent < 1
        assert process.communicate(timeout=60)[0] == "alive\n"
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(("environment", "n_threads"), [
    ({"WORDMOVER_NUM_THREADS": "3", "OMP_NUM_THREADS": "5"}, 3),
    ({"OMP_NUM_THREADS": "5"}, 5),
    ({"OMP_NUM_THREADS": "none"}, os.cpu_count()),
])
def test_the_environment_limits_threads(environment, n_threads):
    names = ("WORDMOVER_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_NUM_THREADS")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    code = "import wordmover; print(wordmover.get_num_threads())"
    output = subprocess.run([sys.executable, "-c", code], env={**kept, **environment},
                            capture_output=True, text=True, check=True).stdout
    if environment["OMP_NUM_THREADS"].isdigit():
        assert int(output) == n_threads
    else:
        assert 1 <= int(output) <= n_threads


def test_a_number_of_threads_that_makes_no_sense_is_refused():
    for n_threads in (0, 5000):
        with pytest.raises(ValueError, match=f"n_threads is {n_threads}"):
            wordmover.set_num_threads(n_threads)


def test_a_large_problem_is_solved_on_another_thread():
    import numpy as np

    costs = np.random.default_rng(0).random((600, 600))
    weights = np.full(600, 1 / 600)
    cost, plan = transport(costs, weights, weights, return_plan=True)
    assert cost == transport(costs, weights, weights)
    assert (plan * costs).sum() == pytest.approx(cost, abs=1e-12)
