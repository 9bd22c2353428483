# %% [markdown]
# # Transport without texts
# The solver takes any costs and weights. Here images of digits (scikit-learn's, 8 x 8 pixels) are
# heaps of ink, and their distance is the least work that makes one of the other, wherever they
# stand: positions are taken from the middle of the ink. Nearest neighbours by it beside those by
# differences of pixels, and the same again with images that are shifted by a pixel.

# %%
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from wordmover import emd, transport_batch

PIXELS = np.argwhere(np.ones((8, 8), dtype=bool)).astype(float)

Matrix = NDArray[np.float64]


# %%
# All distances between two sets of images, by one call on all threads: problems of any shapes,
# since pixels without ink take no part.


def heap(image: Matrix) -> tuple[Matrix, Matrix]:
    """Where there is ink, from the middle of all of it, and how much."""
    is_inked = image > 0
    return PIXELS[is_inked] - image @ PIXELS, image[is_inked]


def distances(first: Matrix, second: Matrix) -> Matrix:
    costs, supplies, demands = [], [], []
    for a in first:
        for b in second:
            sources, supply = heap(a)
            sinks, demand = heap(b)
            costs.append(np.linalg.norm(sources[:, None] - sinks, axis=-1))
            supplies.append(supply)
            demands.append(demand)
    found = transport_batch(costs, supplies, demands)
    return found.reshape(len(first), len(second))


def nearest(similar: Matrix, labels: NDArray[np.int64], expected: NDArray[np.int64]) -> float:
    return float((labels[similar.argmin(axis=1)] == expected).mean())


def shifted(images: Matrix) -> Matrix:
    return np.roll(images.reshape(-1, 8, 8), 1, axis=2).reshape(-1, 64)


def main() -> None:
    images, digits = load_digits(return_X_y=True)
    ink = images / images.sum(axis=1, keepdims=True)
    train, test, train_digits, test_digits = train_test_split(
        ink, digits, train_size=100, test_size=50, random_state=0, stratify=digits
    )
    for name, queries in (("as they are", test), ("shifted by a pixel", shifted(test))):
        by_pixels = np.linalg.norm(queries[:, None] - train, axis=-1)
        by_ink = distances(queries, train)
        print(
            f"{name:<20} nearest by pixels {nearest(by_pixels, train_digits, test_digits):5.1%}, "
            f"by transport {nearest(by_ink, train_digits, test_digits):5.1%}"
        )

    # %%
    # A plan, by POT's names: how much ink goes from which pixel to which.
    costs = np.linalg.norm(PIXELS[:, None] - PIXELS, axis=-1)
    plan, log = emd(train[0], train[1], costs, log=True)
    moved = int((plan > 0).sum())
    print(f"from a {train_digits[0]} to a {train_digits[1]}: work {log['cost']:.3f}, {moved} moves")


if __name__ == "__main__":
    main()
