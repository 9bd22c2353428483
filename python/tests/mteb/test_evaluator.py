"""The adapter in the hands of MTEB's own evaluators, on tasks that need no download.

Run by python/test-mteb, which installs MTEB.
"""

import os

os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"

import datasets
import mteb
import numpy as np
import pytest
import torch
from mteb.mocks import ALL_MOCK_TASK_TEST_GRID
from mteb.mocks.mock_tasks import MockSTSTask
from mteb.models import EncoderProtocol
from scipy.stats import spearmanr

from conftest import HEADLINES
from wordmover import WordMoversEmbedding
from wordmover.mteb import MtebEncoder

#: MTEB's small stand-ins, at least one for each kind of task on texts.
TASKS = {
    f"{task.metadata.type}-{task.metadata.name}": task
    for task in ALL_MOCK_TASK_TEST_GRID
    if list(task.metadata.modalities) == ["text"]
}


@pytest.fixture(scope="module")
def embedding():
    return WordMoversEmbedding(n_features=64).fit(HEADLINES)


def evaluated(encoder, task):
    result = mteb.evaluate(encoder, [task], cache=None, show_progress_bar=False, co2_tracker=False)
    [of_task] = result.task_results
    return result, of_task


def test_it_is_an_encoder_of_the_protocol(embedding):
    encoder = MtebEncoder(embedding)
    assert isinstance(encoder, EncoderProtocol)
    meta = encoder.mteb_model_meta
    assert (meta.name, meta.revision, meta.embed_dim) == ("wordmover/wme", "1", 64)


def test_tasks_of_every_kind_on_texts_are_among_them():
    kinds = {name.partition("-")[0] for name in TASKS}
    assert kinds >= {"BitextMining", "Classification", "Clustering", "PairClassification",
                     "Reranking", "Retrieval", "STS", "Summarization"}


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.filterwarnings("ignore")
def test_the_evaluator_runs(embedding, name):
    result, of_task = evaluated(MtebEncoder(embedding), TASKS[name])
    assert result.model_name == "wordmover/wme"
    assert of_task.task_name == TASKS[name].metadata.name and of_task.scores


@pytest.mark.filterwarnings("ignore")
def test_the_scores_are_those_of_our_cosines(embedding):
    left, right = HEADLINES[:20], HEADLINES[10:30]
    scores = np.random.default_rng(0).permutation(20).astype(float).tolist()

    class Headlines(MockSTSTask):
        def load_data(self, **_):
            rows = {"sentence1": left, "sentence2": right, "score": scores}
            test = datasets.Dataset.from_dict(rows)
            self.dataset = datasets.DatasetDict({"test": test})
            self.data_loaded = True

    _, of_task = evaluated(MtebEncoder(embedding), Headlines())
    a, b = (embedding.encode(texts, normalize_embeddings=True) for texts in (left, right))
    expected = spearmanr((a * b).sum(axis=1), scores).statistic
    assert of_task.get_score() == pytest.approx(expected, abs=1e-12)


def test_tensors_on_request(embedding):
    rows = embedding.encode(HEADLINES, convert_to_tensor=True)
    assert isinstance(rows, torch.Tensor) and rows.dtype == torch.float32
    assert rows.numpy().tobytes() == embedding.encode(HEADLINES).tobytes()
    assert embedding.encode(HEADLINES[0], convert_to_tensor=True).shape == (64,)
