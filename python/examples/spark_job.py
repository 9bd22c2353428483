"""Embed a DataFrame's texts on a Spark cluster: fit once on the driver, embed on the workers.

Run it as it is (two local threads), or submit it: spark-submit --master ... spark_job.py
"""

import pathlib
import tempfile

from pyspark.sql import SparkSession

import wordmover.spark
from wordmover import WordMoversEmbedding

HEADLINES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "headlines.txt"


def main() -> None:
    spark = SparkSession.builder.appName("wordmover").getOrCreate()
    texts = HEADLINES.read_text(encoding="utf-8").splitlines()
    df = spark.createDataFrame(list(enumerate(texts)), "id long, text string").repartition(4)

    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "headlines.wme"
        WordMoversEmbedding(n_features=256).fit(texts).save(model)
        embedded = wordmover.spark.embed(df, model=model, column="text")
        embedded.printSchema()
        for row in embedded.orderBy("id").limit(3).collect():
            print(row.id, row.text, [round(x, 4) for x in row.embedding[:4]], "...")
        print(embedded.count(), "documents embedded")
    spark.stop()


if __name__ == "__main__":
    main()
