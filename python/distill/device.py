"""The work of the device: the teacher, and the ridge problem."""

import numpy as np
import torch

DEVICE = "cuda"
CLS, SEP = 101, 102


@torch.no_grad()
def encode(model, tokens, starts, lengths, budget=400_000):
    """Mean-pooled, unit-length vectors of rows of word pieces, at most 126 each."""
    tokens = torch.as_tensor(tokens, device=DEVICE)
    lengths = np.minimum(lengths, 126)
    order = np.argsort(lengths, kind="stable")
    out = torch.zeros(len(lengths), model.config.hidden_size, device=DEVICE)
    at = 0
    while at < len(order):
        longest = lengths[order[min(at + 20_000, len(order) - 1)]] + 2
        rows = order[at : at + max(1, min(20_000, budget // int(longest)))]
        at += len(rows)
        n = torch.as_tensor(lengths[rows], device=DEVICE)[:, None]
        place = torch.arange(int(n.max()) + 2, device=DEVICE)[None]
        index = torch.as_tensor(starts[rows], device=DEVICE)[:, None] + place - 1
        ids = tokens[index.clamp(0, len(tokens) - 1)].long()
        ids = torch.where(place == 0, CLS, ids)
        ids = torch.where(place == n + 1, SEP, ids)
        mask = place <= n + 1
        ids = torch.where(mask, ids, 0)
        hidden = model(input_ids=ids, attention_mask=mask.long()).last_hidden_state.float()
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        out[torch.as_tensor(rows, device=DEVICE)] = torch.nn.functional.normalize(mean, dim=1)
    return out


def sparse(rows, columns, values, shape):
    index = torch.as_tensor(np.stack([rows, columns]), device=DEVICE)
    values = torch.as_tensor(values, dtype=torch.float32, device=DEVICE)
    return torch.sparse_coo_tensor(index, values, shape).coalesce().to_sparse_csr()


def ridge(design, transposed, targets, prior, strength, steps=60):
    """As `wordmover.distill` solves it: conjugate gradients around the prior."""
    residual = transposed @ (targets - design @ prior)
    change, direction = torch.zeros_like(prior), residual.clone()
    size = first = (residual * residual).sum()
    for _ in range(steps):
        image = transposed @ (design @ direction) + strength * direction
        length = size / (direction * image).sum()
        change += length * direction
        residual -= length * image
        smaller = (residual * residual).sum()
        direction, size = residual + smaller / size * direction, smaller
        if size < 1e-7 * first:
            break
    return prior + change


def cosine(a, b):
    return torch.nn.functional.cosine_similarity(a, b)
