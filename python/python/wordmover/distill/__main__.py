"""The program `python -m wordmover.distill`."""

from __future__ import annotations

import argparse
import os
import sys

from . import DistillError, SentenceTransformerTeacher, distill, read_lines, read_words


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except DistillError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: cannot write {options.output}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


def _run(options: argparse.Namespace) -> None:
    if os.path.exists(options.output) and not options.force:
        raise DistillError(f"{options.output} exists already; --force replaces it")
    folder = os.path.dirname(options.output) or "."
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise DistillError(f"cannot write {options.output}: no folder to write to")
    words, counts = read_words(options.words)
    text = list(read_lines(options.text)) if options.text else None
    teacher = SentenceTransformerTeacher(options.model, options.device)
    found = distill(
        teacher,
        words,
        counts=counts,
        text=text,
        dim=options.dim,
        strength=options.strength,
        with_pieces=not options.no_pieces,
        seed=options.seed,
        progress=_Progress(options.quiet),
    )
    found.save(options.output, options.precision)
    if options.quiet:
        return
    if found.cosines:
        before, after = found.cosines
        print(f"cosine with the teacher  {before:.3f} before, {after:.3f} after", file=sys.stderr)
    n_pieces = len(found.pieces) + len(found.piece_words)
    dim = found.vectors.shape[1]
    print(f"{len(words)} words, {n_pieces} pieces, dimension {dim}", file=sys.stderr)
    if not n_pieces and not options.no_pieces:
        print("no pieces: the teacher does not cut lower-cased words by WordPiece", file=sys.stderr)


class _Progress:
    """One line per stage, rewritten on a terminal and otherwise written at tenths."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._last = ("", -1)

    def __call__(self, what: str, done: int, total: int) -> None:
        tenth = 10 * done // total
        if self._quiet or (what, tenth) == self._last:
            return
        self._last = (what, tenth)
        terminal = sys.stderr.isatty()
        end = "\n" if done == total or not terminal else ""
        start = "\r" if terminal else ""
        print(f"{start}{what}  {done} of {total}", end=end, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m wordmover.distill",
        description="Word vectors from a sentence transformer, in the native form.",
    )
    add = parser.add_argument
    add("--model", required=True, metavar="DIR_OR_NAME", help="the sentence transformer")
    add("--words", required=True, metavar="FILE",
        help="a word a line, the most frequent first, or a word, a tab and its count")  # fmt: skip
    add("--text", metavar="FILE", help="sentences to learn from, one a line")
    add("-o", "--output", required=True, metavar="FILE", help="the word-vector file to write")
    add("--dim", type=int, default=160, help="components to keep [160]")
    add("--precision", choices=["int8", "f16", "f32"], default="int8", help="[int8]")
    add("--strength", type=float, default=0.1,
        help="how strongly learnt vectors are held near single words [0.1]")  # fmt: skip
    add("--no-pieces", action="store_true", help="leave the teacher's word pieces out")
    add("--seed", type=int, default=0, help="[0]")
    add("--device", help="cpu, cuda, ...; chosen by the teacher's package if not given")
    add("--force", action="store_true", help="replace the output if it exists")
    add("-q", "--quiet", action="store_true", help="no progress, no summary")
    return parser


if __name__ == "__main__":
    sys.exit(main())
