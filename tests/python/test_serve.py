"""The service through the client most people have: the `openai` package, unchanged."""

import signal
import subprocess

import numpy as np
import openai
import pytest

from service import PROGRAM, Service

TEXTS = [
    "the old sailor told the children a story about the sea",
    "a small boat left the harbour before dawn",
    "the cook baked bread with salt and honey",
]


def client_of(service, **options):
    options = {"api_key": "unused", "max_retries": 0, **options}
    return openai.OpenAI(base_url=f"{service.address}/v1", **options)


@pytest.fixture(scope="module")
def service():
    service = Service()
    yield service
    assert service.stop() == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory, wordmover):
    """A model in a file, and the embeddings of the program with it."""
    folder = tmp_path_factory.mktemp("serve")
    (folder / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    wordmover("fit", folder / "texts.txt", "-o", folder / "small.wme", "--features", "64")
    wordmover("embed", folder / "texts.txt", "--model", folder / "small.wme", "-o", folder / "texts.npy")
    return folder


@pytest.fixture(scope="module")
def small(folder):
    service = Service("--model", folder / "small.wme")
    yield service, np.load(folder / "texts.npy")
    assert service.stop() == 0


def test_embeddings_have_the_bits_of_the_program_in_both_encodings(small):
    service, due = small
    client = client_of(service)
    # The client asks for base64 by itself, and decodes it.
    answer = client.embeddings.create(model="small", input=TEXTS)
    got = np.array([entry.embedding for entry in answer.data], dtype=np.float32)
    assert got.tobytes() == due.tobytes()
    assert [entry.index for entry in answer.data] == [0, 1, 2]
    assert answer.model == "small" and answer.usage.total_tokens > 10
    answer = client.embeddings.create(model="small", input=TEXTS[1], encoding_format="float")
    assert np.array(answer.data[0].embedding, dtype=np.float32).tobytes() == due[1].tobytes()
    answer = client.embeddings.create(model="small", input=TEXTS, dimensions=16)
    got = np.array([entry.embedding for entry in answer.data], dtype=np.float32)
    assert got.tobytes() == np.ascontiguousarray(due[:, :16]).tobytes()


def test_the_built_in_model_needs_no_file(service):
    client = client_of(service)
    [model] = client.models.list().data
    assert model.id == "wordmover-general-1"
    assert client.models.retrieve(model.id).id == model.id
    answer = client.embeddings.create(
        model=model.id, input=["A cat sat on the mat", "A kitten lay on the rug", "Shares fell in Tokyo"]
    )
    z = np.array([entry.embedding for entry in answer.data])
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    assert z.shape == (3, 1024) and z[0] @ z[1] > z[0] @ z[2] + 0.2


def test_errors_are_those_the_client_knows(service):
    client = client_of(service)
    with pytest.raises(openai.NotFoundError) as error:
        client.embeddings.create(model="text-embedding-3-small", input="a")
    assert error.value.code == "model_not_found" and error.value.param == "model"
    with pytest.raises(openai.BadRequestError) as error:
        client.embeddings.create(model="wordmover-general-1", input=[[1, 2], [3]])
    assert "check_embedding_ctx_length=False" in error.value.body["message"]
    with pytest.raises(openai.BadRequestError) as error:
        client.embeddings.create(model="wordmover-general-1", input=["a", ""])
    assert error.value.param == "input[1]" and error.value.type == "invalid_request_error"
    with pytest.raises(openai.BadRequestError):
        client.embeddings.create(model="wordmover-general-1", input="a", dimensions=4096)
    with pytest.raises(openai.BadRequestError) as error:
        client.embeddings.create(model="wordmover-general-1", input="a", extra_body={"truncate": True})
    assert "truncate" in error.value.body["message"]


def test_a_text_without_words_can_be_told(service):
    answer = client_of(service).embeddings.create(model="wordmover-general-1", input=["a cat", "!!!"])
    assert not any(answer.data[1].embedding)
    assert answer.model_extra["warnings"][0]["index"] == 1


def test_a_key_is_asked_for(folder):
    (folder / "key").write_text("a-key-of-twenty-characters\n")
    service = Service("--model", folder / "small.wme", "--api-key-file", folder / "key")
    with pytest.raises(openai.AuthenticationError):
        client_of(service).models.list()
    client = client_of(service, api_key="a-key-of-twenty-characters")
    assert client.models.list().data
    assert service.stop() == 0


def test_a_public_address_without_a_key_is_a_usage_error():
    ended = subprocess.run([PROGRAM, "serve", "--host", "0.0.0.0", "--port", "0"], capture_output=True, text=True)
    assert ended.returncode == 2
    assert "--api-key-file" in ended.stderr


def test_a_model_replaced_on_disk_is_taken_up_on_sighup(tmp_path, wordmover):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    model = tmp_path / "m.wme"
    wordmover("fit", tmp_path / "texts.txt", "-o", model, "--features", "8")
    service = Service("--model", model)
    before = service.post("/v1/embeddings", {"input": TEXTS[0]})["data"]
    wordmover("fit", tmp_path / "texts.txt", "-o", model, "--features", "8", "--seed", "5", "--force")
    service.process.send_signal(signal.SIGHUP)
    service.wait_for("reloaded")
    assert service.post("/v1/embeddings", {"input": TEXTS[0]})["data"] != before
    assert service.stop() == 0


def test_killed_and_started_again_it_serves_at_the_same_port(folder):
    service = Service("--model", folder / "small.wme")
    port = service.address.rsplit(":", 1)[1]
    service.process.kill()
    service.process.wait()
    again = Service("--model", folder / "small.wme", port=port)
    assert again.address == service.address
    assert again.stop() == 0


def test_langchain_works_unchanged(small):
    langchain = pytest.importorskip("langchain_openai")
    service, due = small
    embeddings = langchain.OpenAIEmbeddings(
        model="small", base_url=f"{service.address}/v1", api_key="unused", check_embedding_ctx_length=False
    )
    got = np.array(embeddings.embed_documents(TEXTS), dtype=np.float32)
    assert got.tobytes() == due.tobytes()
    assert np.array(embeddings.embed_query(TEXTS[0]), dtype=np.float32).tobytes() == due[0].tobytes()


def test_llama_index_works_unchanged(small):
    llama_index = pytest.importorskip("llama_index.embeddings.openai")
    service, due = small
    embeddings = llama_index.OpenAIEmbedding(
        model_name="small", api_base=f"{service.address}/v1", api_key="unused"
    )
    got = np.array(embeddings.get_text_embedding_batch(TEXTS), dtype=np.float32)
    assert got.tobytes() == due.tobytes()
    assert np.array(embeddings.get_query_embedding(TEXTS[0]), dtype=np.float32).tobytes() == due[0].tobytes()
