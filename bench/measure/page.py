"""How long the page takes to redraw.

A text field is changed by one word; the page asks the service and draws the answer. Three times
are taken for each change: that of the script that draws, as the page itself tells it; that until
the browser has put the next frame on the screen after it began to draw (frames come every 17 ms,
so this is up to 17 ms more than layout and painting take); and that from the change of the field
on, with the service's answer and the pause that the page waits for more letters. Texts are posts
of 20NEWS. Needs a Chromium (WORDMOVER_BROWSER, or on the path).
"""

import os
import re
import shutil
import statistics
import subprocess

import environment
from measure.serve import texts_of

NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]

# Resolves to the three times, in milliseconds.
CHANGE = """(text) => new Promise((done) => {
  const root = document.documentElement;
  const changed = performance.now();
  new MutationObserver((_, observer) => {
    observer.disconnect();
    const script = Number(root.dataset.drawn);
    const began = performance.now() - script;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => done([script, performance.now() - began, performance.now() - changed]);
      channel.port2.postMessage(0);
    });
  }).observe(root, { attributeFilter: ["data-drawn"] });
  const field = document.getElementById("b");
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
})"""


def pairs_of(run, sizes):
    """Names, and pairs of texts."""
    corpus = run.corpus("20news")
    found = []
    for n_words in sizes:
        # Not from the start of the corpus, which is one thread of posts.
        texts = texts_of(corpus, 400, n_words)
        found.append((f"two texts of {n_words} words", texts[100], texts[300]))
    words = " ".join(texts_of(corpus, 400, 100)).lower()
    distinct = list(dict.fromkeys(re.findall(r"[a-z]{6,}", words)))
    n_words = max(sizes)
    texts = [" ".join(distinct[at:at + n_words]) for at in (200, 200 + n_words)]
    found.append((f"two texts of {n_words} distinct words", *texts))
    return found


def measure(parameters, run):
    from playwright.sync_api import sync_playwright

    browser = os.environ.get("WORDMOVER_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if not browser:
        raise SystemExit("error: there is no Chromium; name one with WORDMOVER_BROWSER")
    program = environment.program()
    service = subprocess.Popen([program, "serve", "--port", "0"], stderr=subprocess.PIPE, text=True)
    rows = []
    try:
        address = re.search(r"http://[^\s,]+", service.stderr.readline()).group()
        with sync_playwright() as started:
            chromium = started.chromium.launch(executable_path=browser, args=FLAGS)
            run.facts["Chromium"] = chromium.version
            page = chromium.new_page(viewport={"width": 1200, "height": 900})
            for name, first, second in pairs_of(run, parameters.words):
                page.goto(address)
                page.wait_for_selector("#results svg .word")
                page.fill("#a", first)
                page.evaluate(CHANGE, second)
                words = second.split()
                times = []
                for i in range(parameters.redraws):
                    words[i % len(words)] = ("ocean", "violin", "senator", "bread")[i % 4]
                    times.append(page.evaluate(CHANGE, " ".join(words)))
                shown = page.locator("#results figure:first-child svg").get_attribute("aria-label")
                kind = "table" if "as a table" in shown else "ribbons"
                middle = [statistics.median(column) for column in zip(*times)]
                rows.append([name, kind, *middle, max(frame for _, frame, _ in times)])
            chromium.close()
    finally:
        service.terminate()
        service.wait()
    run.table([("texts", "text"), ("drawn as", "text"), ("script ms", ".1f"), ("to the next frame ms", ".1f"),
               ("from the change ms", ".1f"), ("slowest to the next frame ms", ".1f")], rows)
