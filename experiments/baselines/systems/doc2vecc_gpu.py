"""Training of Doc2VecC on a GPU: a warp reads a passage of a document, word by word, and adds to
the vectors what it found; warps do not wait for each other."""

from collections.abc import Iterator

import numpy as np

from systems.doc2vecc import DIMENSION, NEGATIVE, RATE, WINDOW, Text

WARP, WARPS_A_BLOCK = 32, 4
PASSAGES_A_WARP, MOST_WARPS = 16, 4096
"""Of a small corpus not everything is read at once, so that what one passage teaches the next sees."""
PASSAGE, MARGIN = 128, 64
"""Words of a passage, so that nobody waits for the longest document (its cost grows with the square
of its length), and words on both sides among which those at its ends find neighbours."""

KERNEL = r"""
typedef unsigned long long u64;

// splitmix64: all lanes of a warp draw the same numbers.
__device__ u64 draw(u64& state) {
    u64 z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

__device__ float uniform(u64& state) { return (draw(state) >> 40) * (1.0f / 16777216.0f); }

// How many words are passed over until the next that stays, each with probability q.
__device__ int gap(u64& state, float to_next) { return (int)(logf(1.0f - uniform(state)) * to_next); }

// Other warps change the rows: they are read from the cache that all of them share.
__device__ void add_row(float* to, float weight, const float* row, int lane) {
    for (int i = 0; i < PARTS; i++) to[i] += weight * __ldcg(row + lane + 32 * i);
}

__device__ void add_to_row(float* row, float weight, const float* from, int lane) {
    for (int i = 0; i < PARTS; i++) atomicAdd(row + lane + 32 * i, weight * from[i]);
}

extern "C" __global__ void train_pass(
    const int* words, const long long* starts, const long long* ends, const long long* passages, int n_passages,
    const float* keep, const int* table, int table_size, float* inputs, float* outputs, int* kept,
    float q, float rate, float least, double done, double total, u64 seed)
{
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int n_warps = gridDim.x * blockDim.x / 32;
    const float to_next = 1.0f / logf(1.0f - q);
    int* sentence = kept + (size_t)warp * (PASSAGE + 2 * MARGIN);
    for (int p = warp; p < n_passages; p += n_warps) {
        // A document is [start, start + length), its passage begins at `from`.
        const long long start = starts[p], from = passages[p], to = min(from + PASSAGE, ends[p]);
        const int length = (int)(ends[p] - start);
        const int* document = words + start;
        // The words that are frequent enough to be seen now; neighbouring passages agree on them.
        int n = 0, first_own = 0, end_own = 0;
        __syncwarp();
        for (long long at = max(start, from - MARGIN); at < min(ends[p], to + MARGIN); at++) {
            if (at == from) first_own = n;
            u64 of_place = seed ^ ((u64)(at + 1) * 0xA24BAED4963EE407ull);
            if (keep[words[at]] >= 1.0f || uniform(of_place) < keep[words[at]]) {
                if (lane == 0) sentence[n] = words[at];
                n++;
            }
            if (at < to) end_own = n;
        }
        __syncwarp();
        u64 state = seed ^ ((u64)(p + 1) * 0xD1B54A32D192ED03ull);
        draw(state);
        const float weight = 1.0f / (q * length);
        for (int place = first_own; place < end_own; place++) {
            const double read = done + from + (place - first_own);
            const float alpha = fmaxf(rate * (float)(1.0 - read / total), least);
            const int reach = 1 + (int)(draw(state) % WINDOW);
            const int first = max(0, place - reach), last = min(n, place + reach + 1);
            float hidden[PARTS], error[PARTS];
            for (int i = 0; i < PARTS; i++) hidden[i] = error[i] = 0.0f;
            for (int other = first; other < last; other++)
                if (other != place) add_row(hidden, 1.0f, inputs + (size_t)sentence[other] * WIDTH, lane);
            // The document's words are drawn again when their vectors are changed.
            const u64 before = state;
            for (int other = gap(state, to_next); other < length; other += 1 + gap(state, to_next))
                add_row(hidden, weight, inputs + (size_t)document[other] * WIDTH, lane);
            const float share = 1.0f / (last - first);
            for (int i = 0; i < PARTS; i++) hidden[i] *= share;
            for (int k = 0; k <= NEGATIVE; k++) {
                int target = sentence[place];
                if (k > 0) {
                    target = table[draw(state) % table_size];
                    if (target == sentence[place]) continue;
                }
                float* row = outputs + (size_t)target * WIDTH;
                float there[PARTS], dot = 0.0f;
                for (int i = 0; i < PARTS; i++) {
                    there[i] = __ldcg(row + lane + 32 * i);
                    dot += hidden[i] * there[i];
                }
                for (int other = 16; other; other /= 2) dot += __shfl_xor_sync(0xFFFFFFFFu, dot, other);
                dot = fminf(fmaxf(dot, -30.0f), 30.0f);
                const float step = ((k == 0) - 1.0f / (1.0f + expf(-dot))) * alpha;
                for (int i = 0; i < PARTS; i++) error[i] += step * there[i];
                add_to_row(row, step, hidden, lane);
            }
            for (int i = 0; i < PARTS; i++) error[i] *= share;
            for (int other = first; other < last; other++)
                if (other != place) add_to_row(inputs + (size_t)sentence[other] * WIDTH, 1.0f, error, lane);
            u64 again = before;
            for (int other = gap(again, to_next); other < length; other += 1 + gap(again, to_next))
                add_to_row(inputs + (size_t)document[other] * WIDTH, weight, error, lane);
        }
    }
}
"""


def train_passes(text: Text, inputs: np.ndarray, corruption: float, seed: int, n_passes: int) -> Iterator[int]:
    """Changes the vectors in place, after the last pass; yields the number of every pass when it is done."""
    import cupy

    parts = -(-DIMENSION // WARP)
    width = parts * WARP
    sizes = {
        "PARTS": parts, "WIDTH": width, "WINDOW": WINDOW, "NEGATIVE": NEGATIVE,
        "PASSAGE": PASSAGE, "MARGIN": MARGIN,
    }
    kernel = cupy.RawKernel(KERNEL, "train_pass", tuple(f"-D{name}={size}" for name, size in sizes.items()))
    document_starts = np.append(0, text.ends[:-1])
    document_of = np.repeat(np.arange(len(text.ends)), -(-(text.ends - document_starts) // PASSAGE))
    place = np.arange(len(document_of)) - np.searchsorted(document_of, document_of)
    starts, ends = document_starts[document_of], text.ends[document_of]
    n_passages = len(document_of)
    n_blocks = max(1, min(n_passages // PASSAGES_A_WARP, MOST_WARPS) // WARPS_A_BLOCK)
    rows = cupy.zeros((len(inputs), width), dtype=cupy.float32)
    rows[:, :DIMENSION] = cupy.asarray(inputs)
    outputs = cupy.zeros_like(rows)
    words = cupy.asarray(text.words)
    starts, ends, passages = (cupy.asarray(a, dtype=cupy.int64) for a in (starts, ends, starts + PASSAGE * place))
    keep, table = cupy.asarray(text.keep, dtype=cupy.float32), cupy.asarray(text.table)
    kept = cupy.empty((n_blocks * WARPS_A_BLOCK, PASSAGE + 2 * MARGIN), dtype=cupy.int32)
    f32 = np.float32
    for number in range(n_passes):
        kernel(
            (n_blocks,), (WARPS_A_BLOCK * WARP,),
            (
                words, starts, ends, passages, np.int32(n_passages), keep, table, np.int32(len(text.table)),
                rows, outputs, kept, f32(1 - corruption), f32(RATE), f32(RATE * 1e-4),
                np.float64(number * len(text.words)), np.float64(n_passes * len(text.words)),
                np.uint64(seed * 1000 + number),
            ),
        )
        cupy.cuda.get_current_stream().synchronize()
        yield number
    inputs[:] = rows[:, :DIMENSION].get()
