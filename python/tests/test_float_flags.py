"""Results do not depend on the processor's flags for subnormal numbers, which fast-math libraries
and PyTorch (``set_flush_denormal``) set in the calling thread. A distance of two texts of some
35 words never returned with them."""

import contextlib
import ctypes
import ctypes.util
import platform
import sys

import numpy as np
import pytest

import wordmover
from wordmover import WordMoversEmbedding, transport, transport_batch, wmd

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="the flags are set by glibc's fesetenv on x86-64",
)

#: Denormals-are-zero, flush-to-zero, both.
FLAGS = [0x40, 0x8000, 0x8040]
#: Of glibc's fenv_t on x86-64, and where MXCSR is in it.
SIZE, MXCSR = 32, slice(28, 32)


@contextlib.contextmanager
def flags_set(flags):
    """Sets flags of MXCSR in this thread; threads that are started meanwhile inherit them."""
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    found = ctypes.create_string_buffer(SIZE)
    assert libm.fegetenv(found) == 0
    changed = bytearray(found.raw)
    register = int.from_bytes(changed[MXCSR], "little") | flags
    changed[MXCSR] = register.to_bytes(4, "little")
    tiny = float.fromhex("0x1p-1022")
    assert libm.fesetenv(ctypes.create_string_buffer(bytes(changed), SIZE)) == 0
    try:
        if flags & 0x8000:
            assert tiny / 4 == 0, "the flags have no effect"
        yield
        kept = ctypes.create_string_buffer(SIZE)
        assert libm.fegetenv(kept) == 0
        assert int.from_bytes(kept.raw[MXCSR], "little") & flags == flags
    finally:
        assert libm.fesetenv(found) == 0


def problem(rng, n, m):
    points = rng.normal(size=(n, 5)), rng.normal(size=(m, 5))
    costs = np.linalg.norm(points[0][:, None] - points[1][None], axis=-1)
    a, b = rng.integers(1, 4, n).astype(float), rng.integers(1, 4, m).astype(float)
    return costs, a / a.sum(), b / b.sum()


@pytest.fixture
def new_threads():
    """Makes the next call start threads, which inherit what is set then."""
    def start():
        wordmover.set_num_threads(3 if wordmover.get_num_threads() == 2 else 2)

    yield start
    wordmover.set_num_threads(None)


@pytest.mark.parametrize("flags", FLAGS)
def test_transport(flags, new_threads):
    rng = np.random.default_rng(1)
    problems = [problem(rng, *shape) for shape in [(10, 3), (20, 12), (72, 6), (35, 35), (60, 90)]]
    expected = [transport(*one) for one in problems]
    new_threads()
    with flags_set(flags):
        assert [transport(*one) for one in problems] == expected
        found = transport_batch(*map(list, zip(*problems)))
    assert found.tolist() == expected


@pytest.mark.parametrize("flags", FLAGS)
def test_texts_of_35_words(flags, headlines, new_threads):
    first, second = " ".join(headlines[:6]), " ".join(headlines[20:26])
    expected = wmd(first, second)
    new_threads()
    with flags_set(flags):
        found = wmd(first, second)
    assert found == expected


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("gamma", [1.0, 80.0])
def test_embeddings(flags, gamma, headlines, new_threads):
    model = WordMoversEmbedding(n_features=128, d_max=12, gamma=gamma)
    expected = model.fit(headlines).encode(headlines).tobytes()
    new_threads()
    wordmover._distance_cache.clear()
    with flags_set(flags):
        model = WordMoversEmbedding(n_features=128, d_max=12, gamma=gamma)
        found = model.fit(headlines).encode(headlines)
    assert found.tobytes() == expected
