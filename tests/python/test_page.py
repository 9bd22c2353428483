"""The page in a browser: type, wait, read, click. Skipped where there is no Chromium."""

import os
import shutil

import pytest

from service import Service

NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"]
BROWSER = os.environ.get("WORDMOVER_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
if not BROWSER:
    pytest.skip("no Chromium found: the page is not tested", allow_module_level=True)

playwright = pytest.importorskip("playwright.sync_api")

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LONG = " ".join(
    "ocean river mountain valley forest desert island lake storm cloud thunder rain snow wind sun moon star planet "
    "galaxy comet rocket engine wheel bridge tunnel road street village city market bread butter cheese apple orange "
    "banana cherry pepper salt sugar honey coffee tea water wine beer glass bottle table chair window door garden "
    "flower tree grass horse cow sheep goat pig chicken duck goose wolf bear lion tiger elephant monkey snake spider "
    "teacher student doctor nurse lawyer judge soldier sailor pilot farmer baker painter singer dancer writer poet "
    "king queen prince castle sword shield arrow battle victory peace treaty border".split()[:100]
)


@pytest.fixture(scope="module")
def service(tmp_path_factory, wordmover):
    folder = tmp_path_factory.mktemp("page")
    documents = ["The band gave a concert in Japan", "Obama speaks to the media in Illinois"]
    documents += [f"Document number {i} about {word}" for i, word in enumerate(LONG.split())]
    (folder / "docs.txt").write_text("\n".join(documents) + "\n")
    labelled = "".join(
        f"{label}\t{text}\n"
        for label, texts in {
            "sport": ["the striker scored a goal", "her team won the match", "the coach praised the players"] * 4,
            "politics": ["the senate debates the budget", "voters elected a president", "the minister resigned"] * 4,
        }.items()
        for text in texts
    )
    (folder / "train.tsv").write_text("label\ttext\n" + labelled)
    few = ["--features", "64"]
    wordmover("fit", folder / "docs.txt", "-o", folder / "m.wme", *few)
    wordmover("index", "build", folder / "docs.txt", "-o", folder / "docs.wmi", "--model", folder / "m.wme")
    columns = ["--label-column", "label", "--column", "text"]
    wordmover("train", folder / "train.tsv", *columns, "-o", folder / "c.wmc", "--views", "words", *few)
    files = ["--model", folder / "m.wme", "--index", folder / "docs.wmi", "--classifier", folder / "c.wmc"]
    service = Service(*files)
    yield service
    assert service.stop() == 0


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(params=["wide", "telephone-dark"])
def page(request, browser):
    wide = request.param == "wide"
    context = browser.new_context(
        viewport={"width": 1200, "height": 900} if wide else {"width": 375, "height": 700},
        color_scheme="light" if wide else "dark",
    )
    page = context.new_page()
    page.set_default_timeout(60000)
    said = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.said = said
    yield page
    # Nothing failed and the policy forbade nothing.
    # (Refusals, and the map that is being drawn, are answers.)
    answers = ("status of 4", "status of 503")
    assert [line for line in said if not any(answer in line for answer in answers)] == []
    picture = os.environ.get("WORDMOVER_SCREENSHOTS")
    if picture:
        page.screenshot(path=f"{picture}/{request.node.name}.png".replace("[", "-").replace("]", ""), full_page=True)
    context.close()


def words(page, side):
    groups = page.locator("#results figure:first-child svg .word")
    return [groups.nth(i).get_attribute("aria-label").split("”")[0][1:] for i in range(groups.count())]


def fits(page):
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


def test_two_texts_are_aligned_while_typing(page, service):
    page.goto(service.address)
    page.wait_for_selector("#results svg .word")
    assert {"obama", "president", "media", "press"} <= set(words(page, 0))
    before = page.text_content(".distance")
    page.fill("#b", "A kitten sleeps in Illinois")
    page.wait_for_function("before => document.querySelector('.distance').textContent !== before", arg=before)
    assert "illinois" in words(page, 1)
    fits(page)
    # The state is in the address: another visit shows the same.
    distance = page.text_content(".distance")
    page.goto("about:blank")
    page.go_back()
    page.wait_for_selector("#results svg .word")
    assert page.text_content(".distance") == distance


def test_words_are_told_dropped_and_pinned(page, service):
    page.goto(service.address)
    page.wait_for_selector("#results svg .word")
    first = page.locator("#results svg .word").first
    first.focus()
    page.wait_for_function("() => document.getElementById('told').textContent.includes('goes to')")
    full = page.text_content(".distance")
    first.press("Enter")
    page.click("#drop")
    page.wait_for_function("before => document.querySelector('.distance').textContent !== before", arg=full)
    assert page.locator(".chip.dropped").count() >= 1
    page.click("button.chip.dropped")
    page.wait_for_function("before => document.querySelector('.distance').textContent === before", arg=full)
    page.locator("#unmatched").evaluate("(slider) => { slider.value = 25; slider.dispatchEvent(new Event('input')); }")
    page.wait_for_function("() => document.querySelector('.verdict').textContent.includes('75 %')")
    assert float(page.text_content(".distance")) < float(full)
    fits(page)


def test_a_third_text_stands_beside(page, service):
    page.goto(service.address)
    page.wait_for_selector("#results svg .word")
    page.click("#compare")
    page.wait_for_selector("#results figure[data-with=c] svg .word")
    verdicts = [page.locator(".verdict").nth(i).text_content() for i in range(2)]
    assert verdicts[0].startswith("nearer") and verdicts[1].startswith("farther")
    fits(page)


def test_long_texts_are_a_heat_map_drawn_at_once(page, service):
    page.goto(service.address)
    page.wait_for_selector("#results svg .word")
    page.fill("#a", LONG)
    page.fill("#b", " ".join(reversed(LONG.split())) + " sunshine")
    page.wait_for_selector("#results svg[aria-label*='as a table']")
    # Timings are no tests: this is in the way of a page that hangs.
    assert float(page.evaluate("document.documentElement.dataset.drawn")) < 2000
    fits(page)


def test_bad_input_is_said_not_run(page, service):
    page.goto(service.address)
    page.wait_for_selector("#results svg .word")
    page.fill("#b", "<img src=x onerror=document.title='hacked'> !!!")
    page.wait_for_timeout(500)
    page.fill("#b", "!!!")
    page.wait_for_selector("#error:not([hidden])")
    assert "no word" in page.text_content("#error")
    assert "hacked" not in page.title()
    page.said.clear()


def test_search_shows_hits_and_their_plan(page, service):
    page.goto(f"{service.address}/#view=search&q=The president greets the press&by=wmd")
    page.wait_for_selector("#hits li")
    assert "Obama" in page.locator("#hits li").first.text_content()
    page.locator("#hits .open").first.click()
    page.wait_for_selector("#hits svg .word")
    fits(page)


def test_classes_are_shown_with_the_words_that_decided(page, service):
    page.goto(f"{service.address}/#view=classify")
    page.fill("#text", "the striker scored and her team won the match")
    page.wait_for_selector("#deciding mark")
    assert "sport" in page.text_content("#class-status")
    fits(page)


def test_the_map_lists_what_is_drawn_around(page, service):
    page.goto(f"{service.address}/#view=map")
    page.wait_for_function("() => document.getElementById('map-status').textContent.includes('documents.')")
    box = page.locator("#canvas").bounding_box()
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    page.mouse.down()
    for x, y in [(1, 0), (1, 1), (0, 1), (0, 0)]:
        page.mouse.move(box["x"] + 3 + x * (box["width"] - 6), box["y"] + 3 + y * (box["height"] - 6), steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
    assert page.locator("#lasso li").count() > 50
    fits(page)


def test_the_documentation_needs_no_network(page, service):
    page.goto(f"{service.address}/docs")
    assert page.locator("section").count() == 12
    fits(page)


def test_a_page_in_one_file(page, tmp_path, wordmover):
    path = tmp_path / "plan.html"
    wordmover("explain", "Obama speaks to the media", "The president greets the <b>press</b>", "--html", path)
    page.goto(f"file://{path}")
    page.wait_for_selector("svg .word")
    full = float(page.text_content("#distance"))
    page.locator("#unmatched").evaluate("(slider) => { slider.value = 3; slider.dispatchEvent(new Event('input')); }")
    assert float(page.text_content("#distance")) < full
    assert page.locator("table tbody tr").count() >= 2
    fits(page)
