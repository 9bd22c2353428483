"""Learns the built-in vectors on a CUDA device.

    python learn.py TEACHER CORPUS OUTPUT

TEACHER is the folder of the sentence transformer, CORPUS what `corpus.py` wrote, OUTPUT
the word-vector file. README.md has the versions and what each step gave.
"""

import sys
import time
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import AutoModel

sys.path.insert(0, str(Path(__file__).parents[1] / "python/wordmover/distill"))
sys.path.insert(0, str(Path(__file__).parent))
from _algebra import principal_axes  # noqa: E402
from _file import write_vectors  # noqa: E402
from _words import words_of  # noqa: E402
from device import DEVICE, cosine, encode, ridge, sparse  # noqa: E402
from rows import Strings, gather, text_rows  # noqa: E402

SEED, SIF_A, STRENGTH = 0, 1e-3, 0.1
N_WORDS, DIM = 81_000, 160
N_HELD_OUT, N_JUDGED = 20_000, 2_000
start_time = time.time()


def say(*what):
    print(f"{time.time() - start_time:7.1f}", *what, flush=True)


def _words(line):
    return words_of(line, _words.known)


def tokenize(lines, known):
    _words.known = known
    with Pool() as pool:
        return pool.map(_words, lines, chunksize=2000)


def main(teacher, corpus, output):
    rng = np.random.default_rng(SEED)
    vocabulary = Path(corpus, "vocabulary.tsv").read_text(encoding="utf-8")
    table = [line.split("\t") for line in vocabulary.splitlines()]
    words, p = [word for word, _ in table], np.array([float(x) for _, x in table])
    n_words = len(words)
    index = {word: i for i, word in enumerate(words)}
    tokenizer = Tokenizer.from_file(f"{teacher}/tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    pieces = Path(teacher, "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")

    strings = Strings(words)
    text8 = Path(corpus, "text8.txt").read_text().split()
    text8 = np.array([strings.id(word) for word in text8], np.int32)
    raw = Path(corpus, "sentences.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    lines = [[strings.id(w) for w in line] for line in tokenize(raw, index)]
    kept = [i for i, line in enumerate(lines) if len(line) >= 2]
    lines, raw = [lines[i] for i in kept], [raw[i] for i in kept]
    line_flat = np.array([i for line in lines for i in line], np.int32)
    counts = np.bincount(np.concatenate([text8, line_flat]), minlength=len(strings.list))
    flat, lengths, n_plain = text_rows(rng, text8, counts, n_words)
    n_text = len(lengths)
    say(n_text, "rows of text8,", len(lines), "sentences,", len(strings.list), "strings")

    # text8 has no punctuation, so the pieces of a row are those of its words.
    encoded = tokenizer.encode_batch(strings.list, add_special_tokens=False)
    piece_ids = [np.array(e.ids[:16] or [100], np.int32) for e in encoded]
    piece_len = np.array([len(ids) for ids in piece_ids])
    piece_flat = np.concatenate(piece_ids)
    piece_start = np.cumsum(piece_len) - piece_len
    tokens = gather(piece_flat, piece_start[flat], piece_len[flat])
    token_len = np.diff(np.cumsum(piece_len[flat])[np.cumsum(lengths) - 1], prepend=0)
    encoded = tokenizer.encode_batch(raw, add_special_tokens=False)
    raw_ids = [np.array(e.ids, np.int32) for e in encoded]
    tokens = np.concatenate([tokens, *raw_ids])
    token_len = np.concatenate([token_len, [len(ids) for ids in raw_ids]])

    model = AutoModel.from_pretrained(teacher, dtype=torch.float16, attn_implementation="sdpa")
    model = model.to(DEVICE).eval()
    targets = encode(model, tokens, np.cumsum(token_len) - token_len, token_len)
    n_pieces = len(pieces)
    one_by_one = encode(model, piece_flat, piece_start[:n_words], piece_len[:n_words])
    own = encode(model, np.arange(n_pieces), np.arange(n_pieces), np.ones(n_pieces, int))
    prior = torch.cat([one_by_one - one_by_one.mean(0), own - own.mean(0)])
    say("encoded", tuple(targets.shape))

    # Rows in random order, the last ones, plain text or sentences, held out.
    flat = np.concatenate([flat, line_flat])
    lengths = np.concatenate([lengths, [len(line) for line in lines]])
    n = len(lengths)
    held = rng.choice(np.r_[:n_plain, n_text:n], size=N_HELD_OUT, replace=False)
    is_held = np.zeros(n, bool)
    is_held[held] = True
    order = np.concatenate([rng.permutation(np.flatnonzero(~is_held)), held])
    n_train = n - N_HELD_OUT
    starts = np.cumsum(lengths) - lengths
    flat, lengths = gather(flat, starts[order], lengths[order]), lengths[order]
    targets = targets[torch.as_tensor(order, device=DEVICE)]
    targets -= targets[:n_train].mean(0)

    # Columns are words, then pieces that are no words. A string that is no word stands as
    # its pieces, and so does a share of the occurrences of rare words, except those of
    # words kept to judge composition by.
    weights = np.ones(len(strings.list))
    weights[:n_words] = SIF_A / (SIF_A + p)
    judged = rng.choice(np.arange(5_000, 60_000), size=N_JUDGED, replace=False)
    judged = judged[piece_len[judged] > 1]
    share_as_pieces = np.where(p < 1e-5, 0.3, np.where(p < 1e-4, 0.1, 0.02))
    share_as_pieces[judged] = 0
    known = flat < n_words
    as_pieces = ~known
    as_pieces[known] = rng.random(known.sum()) < share_as_pieces[flat[known]]
    row = np.repeat(np.arange(n), lengths)
    share = weights[flat] / np.bincount(row, weights=weights[flat], minlength=n)[row]
    column_of = np.array([index.get(piece, n_words + i) for i, piece in enumerate(pieces)])
    cut = flat[as_pieces]
    k = piece_len[cut]
    rows = np.concatenate([row[~as_pieces], np.repeat(row[as_pieces], k)])
    columns = np.concatenate([flat[~as_pieces], column_of[gather(piece_flat, piece_start[cut], k)]])
    values = np.concatenate([share[~as_pieces], np.repeat(share[as_pieces] / k, k)])
    train, width = rows < n_train, n_words + n_pieces
    design = sparse(rows[train], columns[train], values[train], (n_train, width))
    transposed = sparse(columns[train], rows[train], values[train], (width, n_train))
    test = sparse(rows[~train] - n_train, columns[~train], values[~train], (n - n_train, width))

    found = design @ prior
    prior *= (found * targets[:n_train]).sum() / (found * found).sum()
    learnt = ridge(design, transposed, targets[:n_train], prior, STRENGTH)
    for name, w in [("one by one", prior), ("learnt", learnt)]:
        say(name, "held-out cosine", round(cosine(test @ w, targets[n_train:]).mean().item(), 4))

    w = learnt.cpu().numpy()
    mean, axes = principal_axes(w[:n_words], np.sqrt(p), DIM)
    low = (w - mean) @ axes
    composed = np.array([low[column_of[piece_ids[i]]].mean(axis=0) for i in judged])
    cosines = (composed * low[judged]).sum(1)
    cosines /= np.linalg.norm(composed, axis=1) * np.linalg.norm(low[judged], axis=1)
    say("composed words, cosine with their own vectors", round(float(cosines.mean()), 3))

    words, p = words[:N_WORDS], p[:N_WORDS] / p[:N_WORDS].sum()
    own_rows = [
        i
        for i, piece in enumerate(pieces)
        if is_text(piece) and index.get(piece, N_WORDS) >= N_WORDS
    ]
    also = sorted(index[piece] for piece in pieces if index.get(piece, N_WORDS) < N_WORDS)
    listed = ([pieces[i] for i in own_rows], low[column_of[own_rows]], also)
    write_vectors(output, words, low[:N_WORDS], "int8", p, listed)
    say("written", output)


def is_text(piece):
    """Not `[CLS]`, `[unused1]` and the like."""
    return not (piece.startswith("[") and piece.endswith("]") and len(piece) > 2)


if __name__ == "__main__":
    main(*sys.argv[1:4])
