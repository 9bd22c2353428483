"""Documents a second that Spark embeds on two workers, beside one process, and what becomes
of a job one of whose workers is killed.

Everybody embeds the same texts with the same model, already in memory: one process with one
thread and with two (`WordMoversEmbedding.encode`); Spark with one worker and with two, each a
process with one core (`wordmover.spark.embed` and a sum over the embeddings, so that
collecting them is not timed). Starting Spark and its first job, which opens the model, are
told apart.
"""

import collections
import hashlib
import os
import pathlib
import shutil
import sys
import time

from measure import texts as made


def cluster(n_workers, folder):
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["SPARK_HOME"] = str(pathlib.Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master(f"local-cluster[{n_workers},1,1536]").appName("bench")
        .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        .config("spark.local.dir", str(folder))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    return session


def stop(spark):
    """Workers of a local cluster leave what they were sent with the package."""
    spark.stop()
    shutil.rmtree(pathlib.Path(os.environ["SPARK_HOME"]) / "work", ignore_errors=True)


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def in_one_process(embedding, texts, repeats):
    """Seconds with one thread and with two, and the sum that Spark must find."""
    import wordmover

    best, total = {1: float("inf"), 2: float("inf")}, None
    for _ in range(repeats):
        for n_threads in best:
            wordmover.set_num_threads(n_threads)
            seconds, rows = timed(lambda: embedding.encode(texts))
            best[n_threads] = min(best[n_threads], seconds)
            total = rows[:, 0].sum(dtype=float)
    return best, total


def on_spark(n_workers, model, texts, repeats, folder):
    """Seconds to start, of the first job and of the fastest after it, and the sum."""
    from pyspark.sql import functions as F

    import wordmover.spark

    start_up, spark = timed(lambda: cluster(n_workers, folder))
    rows = list(enumerate(texts))
    df = spark.createDataFrame(rows, "id long, text string").repartition(16).cache()
    df.count()

    def job():
        embedded = wordmover.spark.embed(df, model=model, column="text")
        return embedded.select(F.count("*"), F.sum(F.element_at("embedding", 1))).first()

    first, _ = timed(job)
    best = float("inf")
    for _ in range(repeats):
        seconds, (count, total) = timed(job)
        best = min(best, seconds)
        if count != len(texts):
            sys.exit(f"error: Spark embedded {count} documents of {len(texts)}")
    stop(spark)
    return start_up, first, best, total


def with_a_kill(embedding, model, texts, folder):
    """A job on two workers, one of which is killed in the middle; what was seen."""
    import numpy as np

    import wordmover.spark

    expected = hashlib.sha256(embedding.encode(texts).tobytes()).hexdigest()
    seen = folder / "seen"
    seen.mkdir()
    spark = cluster(2, folder)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    df = spark.createDataFrame(list(enumerate(texts)), "id long, text string").repartition(8)

    def killing(batches):
        from pyspark import TaskContext

        task = TaskContext.get()
        named = f"{task.partitionId()}-{task.attemptNumber()}-{os.getpid()}"
        (seen / named).touch()
        for n, batch in enumerate(batches):
            if n == 2 and task.partitionId() == 5:
                try:
                    (seen / "killed").touch(exist_ok=False)
                except FileExistsError:
                    pass
                else:
                    java = os.getppid()
                    while b"java" not in pathlib.Path(f"/proc/{java}/cmdline").read_bytes():
                        status = pathlib.Path(f"/proc/{java}/stat").read_text()
                        java = int(status.rpartition(")")[2].split()[1])
                    os.kill(java, 9)
                    time.sleep(60)
            yield batch

    passed = df.mapInArrow(killing, df.schema)
    embedded = wordmover.spark.embed(passed, model=model, column="text")
    seconds, rows = timed(lambda: sorted(embedded.select("id", "embedding").collect()))
    stop(spark)
    if not (seen / "killed").exists():
        sys.exit("error: no worker was killed")
    (seen / "killed").unlink()
    tasks = sorted(tuple(map(int, file.name.split("-"))) for file in seen.iterdir())
    partitions = collections.Counter(partition for partition, _, _ in tasks)
    found = np.array([row.embedding for row in rows], dtype=np.float32).tobytes()
    return {
        "seconds": seconds,
        "ids_once_each": [row.id for row in rows] == list(range(len(texts))),
        "same_bits": hashlib.sha256(found).hexdigest() == expected,
        "tasks": len(partitions),
        "attempts": len(tasks),
        "again": sorted(task for task, n in partitions.items() if n > 1),
        "processes": len({process for _, _, process in tasks}),
    }


def report(parameters, run, alone, spark, fault):
    def row(name, seconds):
        return [name, seconds, parameters.documents / seconds, alone[1] / seconds]

    run.text(f"{parameters.documents} documents of about 70 words, 512 features, the fastest of "
             f"{parameters.repeats} runs:")
    run.table([("", "text"), ("seconds", ".1f"), ("documents a second", ".0f"), ("ratio", ".2f")], [
        row("one process, one thread", alone[1]), row("one process, two threads", alone[2]),
        row("Spark, one worker with one core", spark[1][2]),
        row("Spark, two workers with one core each", spark[2][2]),
    ])
    start_up, first, best = spark[2]
    run.text(f"Not in these times: starting Spark on two workers took {start_up:.1f} s, and its "
             f"first job, in which every worker opens the model, {first - best:.1f} s more than "
             "the fastest.")
    run.text(f"A worker killed: {parameters.killed} documents in {fault['tasks']} tasks on two "
             "workers; in the third batch of task 5 its worker (the Java process, and with it its "
             "Python processes) was killed. Every document was embedded once, with the bits of "
             f"one process, in {fault['attempts']} attempts of {fault['processes']} Python "
             f"processes; run again were tasks {', '.join(map(str, fault['again']))}. It took "
             f"{fault['seconds']:.1f} s, in which Spark starts another worker.")


def measure(parameters, run):
    from wordmover import WordMoversEmbedding

    texts = made.make(parameters.documents, run.seed)
    embedding = WordMoversEmbedding().fit(texts)
    model = run.scratch / "bench.wme"
    embedding.save(model)
    alone, total = in_one_process(embedding, texts, parameters.repeats)
    spark = {}
    # Two workers first: what follows finds the driver's Java process running.
    for n_workers in (2, 1):
        *times, found = on_spark(n_workers, model, texts, parameters.repeats, run.scratch)
        if abs(found / total - 1) > 1e-9:
            sys.exit("error: Spark embedded something else")
        spark[n_workers] = times
    fault = with_a_kill(embedding, model, texts[: parameters.killed], run.scratch)
    if not (fault["ids_once_each"] and fault["same_bits"]):
        sys.exit("error: after a worker was killed, documents were lost, doubled or changed")
    report(parameters, run, alone, spark, fault)
