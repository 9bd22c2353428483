"""Classification problems made from a name, the same in Python and in Rust.

Only integers, and additions, multiplications, divisions and square roots of doubles are
used, each of which every machine rounds alike; the power of e is replaced by one of two.
tests/problems/mod.rs makes the same problems.
"""

import struct

MASK = (1 << 64) - 1

# name: documents, columns, documents of each class, spread of the distances, kind
PROBLEMS = {
    "two-classes": (120, 24, (70, 50), 0.02, "plain"),
    "three-classes": (150, 30, (60, 50, 40), 0.02, "plain"),
    "eight-classes": (200, 40, (25,) * 8, 0.02, "plain"),
    "unbalanced": (200, 30, (180, 17, 3), 0.02, "plain"),
    "one-member": (60, 16, (40, 19, 1), 0.02, "plain"),
    "two-unbalanced": (150, 20, (145, 5), 0.02, "plain"),
    "wide-spread": (150, 30, (60, 50, 40), 0.5, "plain"),
    "more-columns": (60, 150, (25, 20, 15), 0.02, "plain"),
    "duplicate-columns": (120, 32, (50, 40, 30), 0.02, "duplicates"),
    "constant-columns": (120, 24, (50, 40, 30), 0.02, "constants"),
    "empty-documents": (120, 24, (50, 40, 30), 0.02, "empty"),
    "tiny-features": (120, 24, (50, 40, 30), 0.02, "tiny"),
}
LATENT = 4


class Numbers:
    """Doubles in [0, 1) by splitmix64, from a seed that is the FNV-1a hash of a name."""

    def __init__(self, name):
        self.state = fnv1a(name.encode())

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return ((z ^ (z >> 31)) >> 11) / 9007199254740992.0

    def spread(self):
        """About normal: the sum of four, less its mean."""
        return self.next() + self.next() + self.next() + self.next() - 2.0


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def make(name):
    """Rows of features (exact in single precision) and class ids."""
    n_rows, n_columns, sizes, spread, kind = PROBLEMS[name]
    numbers = Numbers(name)
    centers = [[numbers.spread() for _ in range(LATENT)] for _ in sizes]
    columns = [[2.0 * numbers.spread() for _ in range(LATENT)] for _ in range(n_columns)]
    labels = [c for c, size in enumerate(sizes) for _ in range(size)]
    for last in range(n_rows - 1, 0, -1):
        other = int(numbers.next() * (last + 1))
        labels[last], labels[other] = labels[other], labels[last]
    root = float(n_columns) ** 0.5
    rows = []
    for i, label in enumerate(labels):
        at = [center + 0.7 * numbers.spread() for center in centers[label]]
        row = []
        for j, column in enumerate(columns):
            square = 0.0
            for a, b in zip(at, column):
                square += (a - b) * (a - b)
            distance = 1.2 + spread * square**0.5
            # About exp(-distance).
            x = 1.0 - distance / 64.0
            for _ in range(6):
                x = x * x
            x = x / root
            if kind == "tiny":
                x = x / 65536.0
            if kind == "empty" and i % 11 == 3:
                x = 0.0
            if kind == "constants" and j % 5 == 2:
                x = 0.25 * (j // 10)
            if kind == "duplicates" and j % 4 != 0:
                x = row[j - j % 4]
            row.append(f32(x))
        rows.append(row)
    return rows, labels


def checksum(rows, labels):
    data = b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows)
    return fnv1a(data + struct.pack(f"<{len(labels)}Q", *labels))
