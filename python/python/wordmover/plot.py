"""Drawings as SVG, which notebooks show and browsers open: transport plans and maps of texts.

They need no plotting package. What the functions give has `_repr_html_`, `svg` and `save`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from wordmover._distance import WordMove, wmd

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from wordmover._parameters import Document

#: Colours that people with any kind of colour vision can tell apart (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#b8a100")


class Drawing:
    """An SVG drawing, shown by notebooks.

    Attributes
    ----------
    svg : str
        The document.
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_html_(self) -> str:
        return self.svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the drawing to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def __repr__(self) -> str:
        return f"<Drawing of {len(self.svg)} bytes: save(path), or show it in a notebook>"


def plan(
    a: Document | Mapping[str, float] | Sequence[WordMove],
    b: Document | Mapping[str, float] | None = None,
    **options: Any,
) -> Drawing:
    """Draws which words of a document move to which of the other, how much and how far.

    Parameters
    ----------
    a, b : documents
        As those of `wmd`; or `a` alone, the plan that `wmd(..., return_plan=True)` gave.
    **options
        Those of `wmd`.

    Examples
    --------
    >>> from wordmover import plot
    >>> drawing = plot.plan("Obama speaks to the media", "The president greets the press")
    >>> drawing.svg[:4], "media" in drawing._repr_html_()
    ('<svg', True)
    """
    moves: Sequence[Any]
    if b is None:
        moves = list(a) if isinstance(a, (list, tuple)) else []
        if not moves or not all(isinstance(move, WordMove) for move in moves):
            raise TypeError("expected two documents, or the plan of wmd(a, b, return_plan=True)")
    else:
        document: Any = a
        found: Any = wmd(document, b, **{**options, "return_plan": True})
        moves = found[1]
    return Drawing(_draw_plan(list(moves)))


def corpus_map(
    embeddings: ArrayLike,
    *,
    labels: Iterable[Any] | None = None,
    texts: Iterable[str] | None = None,
    title: str = "",
    width: int = 720,
    height: int = 540,
) -> Drawing:
    """Draws a point for each document, coloured by label, with its text as a tooltip.

    Parameters
    ----------
    embeddings : array of shape (n_documents, n_features)
        With two columns they are drawn as they are (those of t-SNE or UMAP, say); others are
        taken to their first two principal components.
    labels : iterable or None, default None
        A class or cluster for each document.
    texts : iterable of str or None, default None
        What is shown when the mouse is on a point.
    title : str
    width, height : int, default 720 and 540
        Size in pixels.

    Examples
    --------
    >>> from wordmover import WordMoversEmbedding, plot
    >>> texts = ["The senate votes", "A minister resigns", "The band plays", "A new album"]
    >>> rows = WordMoversEmbedding(n_features=64).fit_transform(texts)
    >>> drawing = plot.corpus_map(rows, labels=["a", "a", "b", "b"], texts=texts)
    >>> drawing.svg.count("<circle")
    6
    """
    points = _plane(embeddings)
    groups = ["" for _ in points] if labels is None else [str(label) for label in labels]
    hints = ["" for _ in points] if texts is None else [str(text) for text in texts]
    if not len(points) == len(groups) == len(hints):
        raise ValueError(
            f"{len(points)} embeddings, {len(groups)} labels and {len(hints)} texts: "
            "they must be as many"
        )
    names = sorted(set(groups)) if labels is not None else []
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    margin, legend = 24, 150 if names else 0
    low, high = points.min(axis=0), points.max(axis=0)
    spread = np.where(high > low, high - low, 1)
    room = np.array([width - 2 * margin - legend, height - 2 * margin - 20])
    places = (points - low) / spread * room + [margin, margin + 20]
    parts = [_head(width, height)]
    if title:
        parts.append(f'<text x="{margin}" y="24" font-size="16">{escape(title)}</text>')
    for (x, y), group, hint in zip(places, groups, hints):
        colour = colours.get(group, COLOURS[0])
        told = escape(f"{group}: {hint}" if group and hint else group or hint)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" fill-opacity="0.7">'
            f"<title>{told}</title></circle>"
        )
    for i, name in enumerate(names):
        x, y = width - legend, margin + 28 + 20 * i
        shown = name if len(name) <= 18 else name[:17] + "…"
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="5" fill="{colours[name]}"/>'
            f'<text x="{x + 12}" y="{y + 4}" font-size="13">{escape(shown)}</text>'
        )
    return Drawing("\n".join([*parts, "</svg>"]))


def _plane(embeddings: ArrayLike) -> Any:
    rows = np.asarray(embeddings, dtype=np.float64)
    if rows.ndim != 2 or len(rows) == 0:
        raise ValueError("embeddings must be a matrix with a row for each document")
    if not np.isfinite(rows).all():
        raise ValueError("embeddings have values that are not finite")
    if rows.shape[1] == 2:
        return rows
    centered = rows - rows.mean(axis=0)
    left, strengths, _ = np.linalg.svd(centered, full_matrices=False)
    plane = np.zeros((len(rows), 2))
    n = min(2, len(strengths))
    plane[:, :n] = left[:, :n] * strengths[:n]
    # The sign of a component is nobody's choice: the largest value is positive.
    largest = plane[np.abs(plane).argmax(axis=0), [0, 1]]
    return plane * np.where(largest < 0, -1, 1)


def _head(width: float, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" font-family="sans-serif" font-size="14">\n'
        '<rect width="100%" height="100%" fill="white"/>'
    )


#: Of a plan: where words stand, the height of a mass of one, and between words.
LEFT, RIGHT, TOP, MASS_HEIGHT, GAP, LEAST_HEIGHT = 240.0, 520.0, 70.0, 260.0, 12.0, 16.0


def _draw_plan(moves: list[WordMove]) -> str:
    """Words in two columns, a band for every move, as wide as its mass and the redder the
    farther it goes. As the program draws it with --svg."""
    left = _column([(move.source, move.mass) for move in moves])
    # Words stand opposite to where their mass comes from, so that bands cross little.
    middles: dict[str, float] = {}
    for word in dict.fromkeys(move.target for move in moves):
        own = [move for move in moves if move.target == word]
        mass = sum(move.mass for move in own) or 1.0
        middles[word] = sum(_middle(left, move.source) * move.mass for move in own) / mass
    by_middle = sorted(moves, key=lambda move: middles[move.target])
    right = _column([(move.target, move.mass) for move in by_middle])
    height = max(_bottom(left), _bottom(right)) + 40
    farthest = max((move.cost for move in moves), default=0.0) or 1.0
    distance = sum(move.mass * move.cost for move in moves)
    parts = [
        _head(760, height),
        f'<text x="380" y="28" font-size="18" text-anchor="middle">'
        f"Word Mover&#8217;s Distance {distance:.4f}</text>",
        '<text x="380" y="50" fill="#666" text-anchor="middle">'
        "band: mass moved; number: distance between the two words</text>",
    ]
    used = {("l", word): place[0] for word, place in left.items()}
    used |= {("r", word): place[0] for word, place in right.items()}
    labels = []
    order = sorted(moves, key=lambda m: (_middle(left, m.source), _middle(right, m.target)))
    for move in order:
        thickness = move.mass * MASS_HEIGHT
        begin, end = used["l", move.source], used["r", move.target]
        used["l", move.source] += thickness
        used["r", move.target] += thickness
        y, z, middle = begin + thickness / 2, end + thickness / 2, (LEFT + RIGHT) / 2
        parts.append(
            f'<path d="M{LEFT} {y:.1f} C{middle} {y:.1f} {middle} {z:.1f} {RIGHT} {z:.1f}" '
            f'fill="none" stroke="{_colour(move.cost / farthest)}" '
            f'stroke-width="{max(1.0, thickness):.1f}" stroke-opacity="0.55"><title>'
            f"{escape(move.source)} to {escape(move.target)}: mass {move.mass:.4f}, "
            f"distance {move.cost:.4f}</title></path>"
        )
        if thickness >= 9:
            labels.append(
                f'<text x="{LEFT + 40}" y="{y + 0.04 * (z - y) + 4:.1f}" font-size="12" '
                'text-anchor="middle" fill="#222" stroke="white" stroke-width="3" '
                f'paint-order="stroke">{move.cost:.2f}</text>'
            )
    parts += labels
    for column, x, anchor in ((left, LEFT - 10, "end"), (right, RIGHT + 10, "start")):
        for word, (top, size) in column.items():
            parts.append(
                f'<text x="{x}" y="{top + size / 2 + 5:.1f}" text-anchor="{anchor}">'
                f"{escape(word)}</text>"
            )
    return "\n".join([*parts, "</svg>"])


def _column(masses: list[tuple[str, float]]) -> dict[str, tuple[float, float]]:
    """Top and height of each word, in order of appearance."""
    sums: dict[str, float] = {}
    for word, mass in masses:
        sums[word] = sums.get(word, 0.0) + mass
    places, top = {}, TOP
    for word, mass in sums.items():
        places[word] = (top, mass * MASS_HEIGHT)
        top += max(mass * MASS_HEIGHT, LEAST_HEIGHT) + GAP
    return places


def _middle(column: dict[str, tuple[float, float]], word: str) -> float:
    top, size = column[word]
    return top + size / 2


def _bottom(column: dict[str, tuple[float, float]]) -> float:
    return max(top + max(size, LEAST_HEIGHT) for top, size in column.values())


def _colour(share: float) -> str:
    """From teal for words that stay to red for the farthest move."""
    near, far = (0, 128, 128), (200, 40, 40)
    return "#" + "".join(f"{round(n + (f - n) * share):02x}" for n, f in zip(near, far))
