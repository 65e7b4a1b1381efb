"""The studio in a real browser: the whole walk, what goes wrong, what it looks like, and whether all can use it."""

import os
import shutil
import signal
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.studio.serving import Served, serve, until, workers_of

import shoal
from shoal.report.pdf import BROWSERS

pytestmark = pytest.mark.browser

STEPS = ("data", "roles", "hierarchies", "promise", "method", "run", "release", "compare", "take-away")
LONG = 60_000
REPEATED = "tr:nth-child(n+5), .cluster:nth-child(n+3), .part figure"
"""What is like what stands before it, and pictures, which the tests of the report look at."""

SERIOUS = """([away, options]) => {
  const gone = [...document.querySelectorAll(away)].map((one) => [one, document.createComment("")]);
  for (const [one, mark] of gone) one.replaceWith(mark);
  return axe.run(document, options).then(({ violations }) => {
    for (const [one, mark] of gone.reverse()) mark.replaceWith(one);
    return violations.filter((one) => ["serious", "critical"].includes(one.impact))
      .flatMap((one) => one.nodes.map((node) => [one.id, node.html.slice(0, 200)]));
  });
}"""
"""The serious faults that axe-core finds; what is repeated is taken away meanwhile, for it looks at every node."""


@pytest.fixture(scope="module")
def browser(require_part: Callable[[object, str], None]) -> Iterator[Any]:
    """One browser for all tests."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    require_part(program, "There is no Chromium (Debian: apt-get install chromium).")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        require_part(None, "playwright is not installed (pip install playwright).")
        raise
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


class Tab:
    """A page that may ask nobody but the studio, and must not complain."""

    def __init__(self, browser: Any, served: Served, **options: Any) -> None:
        self.served = served
        # What turns while somebody waits would be painted sixty times a second.
        window = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"}
        self.context = browser.new_context(**{**window, **options})
        cookie = f"shoal-studio-{served.base.rpartition(':')[2]}"
        self.context.add_cookies([{"name": cookie, "value": served.token, "url": served.base}])
        self.page = self.context.new_page()
        self.page.set_default_timeout(LONG)
        self.outside: list[str] = []
        self.faults: list[str] = []
        self.context.route("**/*", self._only_here)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)

    def _only_here(self, route: Any) -> None:
        if route.request.url.startswith((self.served.base, "data:")):
            route.continue_()
        else:
            self.outside.append(route.request.url)
            route.abort()

    def open(self, path: str = "") -> None:
        self.page.goto(f"{self.served.base}{path}" if path else self.served.start)
        self.page.wait_for_selector("h1")

    def load(self, file: Path) -> str:
        """Choose a file on the first page; the key of the sitting."""
        self.open()
        self.page.set_input_files("input[type=file]", str(file))
        self.page.wait_for_selector("[data-step=data]")
        return str(self.page.url.split("/")[4])

    def go(self, step: str) -> None:
        self.page.click(f"#step-{step}")
        self.page.wait_for_selector(f"[data-step={step}]")
        self.page.wait_for_url(f"**/{step}")

    def said(self, selector: str) -> str:
        self.page.wait_for_selector(selector)
        return str(self.page.inner_text(selector))

    def run(self) -> None:
        self.go("run")
        self.page.click("#run")
        self.page.wait_for_selector("#cancel-run")
        self.page.wait_for_selector("#open-last")

    def look(self) -> None:
        """Open the release of the last run."""
        self.page.click("#open-last")
        self.page.wait_for_selector("[data-step=release]")

    def method(self, setting: str, value: str) -> None:
        """Change a setting of the method."""
        self.go("method")
        self.page.click("#settings > summary")
        self.page.fill(f"#f-{setting}", value)
        self.page.press(f"#f-{setting}", "Tab")
        self.page.wait_for_selector("#undo:not([disabled])")

    @property
    def dark(self) -> bool:
        """Whether the ground of the page is dark."""
        ground = self.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, ground[4:-1].split(","))) < 200

    def taken(self, folder: Path) -> Path:
        """The release, unpacked."""
        self.go("take-away")
        with self.page.expect_download() as waiting:
            self.page.click("#take-zip")
        packed = folder / "release.zip"
        waiting.value.save_as(packed)
        with zipfile.ZipFile(packed) as archive:
            archive.extractall(folder)
        return folder / "release"

    def close(self) -> None:
        self.context.close()
        assert not self.outside
        assert not self.faults


@pytest.fixture
def tab(browser: Any, served: Served) -> Iterator[Tab]:
    found = Tab(browser, served)
    yield found
    found.close()


@pytest.fixture(scope="module")
def walked(browser: Any, served: Served, people: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The walk with a table, from the first page to what is taken away; the key of its sitting."""
    tab = Tab(browser, served)
    key = tab.load(people)
    page = tab.page
    page.select_option("select[data-column=zip]", "nominal")
    page.wait_for_selector("#undo:not([disabled])")
    tab.go("roles")
    page.wait_for_selector("#raw-risk .figure")
    for name in ("date-of-birth", "education", "country", "hours-per-week"):
        page.check(f"input[name=chosen][value='{name}']")
    page.select_option("#role-of-many", "identifying")
    page.click("#set-many")
    page.wait_for_selector("#step-roles:has-text('5 known')")
    tab.go("hierarchies")
    page.click("button[data-column=age]")
    page.wait_for_selector("#width")
    page.evaluate("document.querySelector('#width').value = 6")
    page.dispatch_event("#width", "change")
    page.wait_for_selector(".level:has-text('[20,30)')")
    tab.go("promise")
    page.fill("#f-k", "5")
    page.fill("#f-l", "2")
    page.press("#f-l", "Tab")
    page.wait_for_selector("#step-promise:has-text('k 5, l 2')")
    tab.run()
    tab.look()
    assert "promises hold" in tab.said("h1")
    page.click("#sides [data-do=explain] >> nth=0")
    assert "Row 1" in tab.said("#explanation .answer")
    page.click("#sides [data-do=person] >> nth=0")
    assert "published rows match" in tab.said("#matches .answer")
    page.fill("#known-1", "nobody")
    page.press("#known-1", "Enter")
    page.wait_for_selector("#matches:has-text('Nothing in the release matches'), .notices .notice")
    page.click("#attack")
    page.wait_for_selector("section[aria-labelledby=attack-head] table")
    release = tab.taken(tmp_path_factory.mktemp("taken"))
    verdicts = shoal.verify(release)
    assert {verdict.model for verdict in verdicts} == {"k-anonymity", "distinct-diversity"}
    assert all(verdict.holds for verdict in verdicts)
    assert "shoal anonymize" in tab.said("#command")
    tab.close()
    return key


@pytest.fixture(scope="module")
def basketed(browser: Any, served: Served, baskets: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The walk with baskets; the key of its sitting."""
    tab = Tab(browser, served)
    key = tab.load(baskets)
    page = tab.page
    tab.go("roles")
    page.fill("#wanted", "secr")
    page.wait_for_selector("tr:has-text('secret') select >> nth=0")
    page.wait_for_function("document.querySelectorAll('[data-do=role][data-name]').length < 3")
    page.select_option("select[data-name=secret]", "sensitive")
    page.wait_for_selector(".tags li:has-text('secret')")
    tab.go("promise")
    page.fill("#combinations-k", "4")
    page.press("#combinations-k", "Tab")
    page.wait_for_selector("#step-promise:has-text('k 4')")
    tab.run()
    tab.look()
    page.wait_for_selector("#clusters-head")
    page.click("#draw")
    page.wait_for_selector("#drawn code")
    page.fill("#known-items", "bread, item1")
    page.click("#find")
    assert "published baskets match" in tab.said("#matches .answer")
    assert all(verdict.holds for verdict in shoal.verify(tab.taken(tmp_path_factory.mktemp("taken"))))
    tab.go("promise")
    page.click("#promise-degree")
    page.wait_for_selector("#step-promise:has-text('p 4')")
    tab.run()
    tab.look()
    page.wait_for_selector("#groups-head")
    tab.close()
    return key


def test_the_walk_with_a_table(walked: str) -> None:
    assert walked


def test_the_walk_with_baskets(basketed: str) -> None:
    assert basketed


def test_undo_marks_what_is_stale(tab: Tab, walked: str) -> None:
    tab.open(f"/s/{walked}/release")
    assert not tab.page.query_selector("#stale")
    tab.go("promise")
    tab.page.fill("#f-k", "7")
    tab.page.press("#f-k", "Tab")
    tab.page.wait_for_selector("#step-promise:has-text('k 7')")
    tab.page.wait_for_selector("li.stale #step-release")
    tab.go("release")
    assert "other settings" in tab.said("#stale")
    tab.page.reload()
    assert "other settings" in tab.said("#stale")
    tab.page.click("#undo")
    tab.page.wait_for_selector("li.done #step-release")
    assert not tab.page.query_selector("#stale")
    tab.page.click("#redo")
    tab.page.wait_for_selector("#stale")
    tab.page.click("#take-settings")
    tab.page.wait_for_selector("#step-promise:has-text('k 5')")


def test_points_arrive_and_open_their_release(tab: Tab, walked: str) -> None:
    tab.open(f"/s/{walked}/compare")
    before = len(tab.page.query_selector_all("g.point[role=button]"))
    boxes = tab.page.query_selector_all("input[name=method]")
    for place, box in enumerate(boxes):
        box.set_checked(place == 1)
    tab.page.fill("#values", "3, 8")
    tab.page.click("#compare")
    tab.page.wait_for_function(f"document.querySelectorAll('g.point[role=button]').length == {before + 2}")
    tab.page.wait_for_selector("#compare:not([disabled])")
    point = tab.page.query_selector_all("g.point[role=button]")[-1]
    run = point.get_attribute("data-run")
    point.focus()
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("[data-step=release]")
    assert f"Run {run}" in tab.said(".eyebrow")


def test_cancel_reload_and_death_of_a_run(tab: Tab, served: Served, people: Path) -> None:
    key = tab.load(people)
    tab.method("improve", "60")
    tab.go("run")
    tab.page.click("#run")
    tab.page.wait_for_selector("#cancel-run")
    tab.page.reload()
    tab.page.wait_for_selector("#stage")
    tab.page.click("#cancel-run")
    assert "canceled" in tab.said("#outcome")
    tab.page.click("#run")
    tab.page.wait_for_selector("#cancel-run")
    for process in until(lambda: workers_of(served.folder / key)):
        os.kill(process, signal.SIGKILL)
    assert "failed" in tab.said("#outcome")
    tab.go("data")
    assert "300 rows" in tab.said(".lead")


def test_bad_files_give_sentences(tab: Tab, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text('a,b\n1,2\n"3,4\n', encoding="utf-8")
    tab.open()
    tab.page.set_input_files("input[type=file]", str(bad))
    assert "bad.csv" in tab.said(".notice.broken")
    tab.page.fill("#path", "/nowhere/people.csv")
    tab.page.press("#path", "Enter")
    tab.page.wait_for_selector(".notice.broken:has-text('no such file')")
    tab.open("/s/nobody/data")
    assert "no sitting" in tab.said(".lead").lower()


def test_two_tabs_do_not_disturb_each_other(
    browser: Any, tab: Tab, served: Served, people: Path, baskets: Path
) -> None:
    first = tab.load(people)
    other = Tab(browser, served)
    second = other.load(baskets)
    assert first != second
    other.go("promise")
    tab.go("promise")
    tab.page.fill("#f-k", "9")
    tab.page.press("#f-k", "Tab")
    tab.page.wait_for_selector("#step-promise:has-text('k 9')")
    assert "k 5, m 2" in other.said("#step-promise")
    same = Tab(browser, served)
    same.open()
    same.open(f"/s/{first}/promise")
    assert "k 9" in same.said("#step-promise")
    same.page.click("#undo")
    tab.page.wait_for_selector("#step-promise:has-text('k 10')")
    other.close()
    same.close()


def test_the_keyboard_alone_is_enough(tab: Tab, people: Path) -> None:
    tab.open()

    def reach(selector: str) -> None:
        for _ in range(120):
            if tab.page.evaluate(f"document.activeElement.matches({selector!r})"):
                return
            tab.page.keyboard.press("Tab")
        raise AssertionError(f"{selector} is not reached by the keyboard.")

    reach("#path")
    tab.page.keyboard.type(str(people))
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("[data-step=data]")
    for step in ("roles", "hierarchies", "promise", "method", "run"):
        reach("#next")
        tab.page.keyboard.press("Enter")
        tab.page.wait_for_selector(f"[data-step={step}]")
        tab.page.wait_for_function("document.activeElement.tagName == 'H1'")
    reach("#run")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("#open-last")
    reach("#open-last")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("[data-step=release]")
    assert "promise holds" in tab.said("h1")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_whole(browser: Any, served: Served, walked: str, basketed: str, scheme: str) -> None:
    """No serious fault of accessibility at the desk, nothing wider than the window at 800 pixels, light and dark."""
    width = 1280 if scheme == "light" else 800
    tab = Tab(browser, served, color_scheme=scheme, viewport={"width": width, "height": 900})
    for place in ("/", "/api"):
        tab.open(place)
        whole(tab, place, scheme)
    others = STEPS if scheme == "light" else ("roles", "promise", "release")
    for key, steps in ((walked, STEPS), (basketed, others)):
        tab.open(f"/s/{key}/{steps[0]}")
        for step in steps:
            tab.go(step)
            if step == "release":
                tab.page.wait_for_selector(".part section >> nth=-1")
            whole(tab, f"{key}/{step}", scheme)
    tab.page.click("#look")
    assert tab.dark != (scheme == "dark")
    tab.page.reload()
    tab.page.wait_for_selector("h1")
    assert tab.dark != (scheme == "dark")
    tab.close()


def whole(tab: Tab, place: str, scheme: str) -> None:
    """Assert that a page is as wide as its window, as dark as was asked for, and can be used by all."""
    from axe_core_python.base import AXE_SCRIPT

    if tab.page.evaluate("typeof axe") == "undefined":
        tab.page.evaluate(AXE_SCRIPT)
    # What others looked at in the light is the same in the dark, but for its colors.
    rules = {} if scheme == "light" else {"runOnly": ["color-contrast"]}
    serious = tab.page.evaluate(SERIOUS, [REPEATED, {**rules, "resultTypes": ["violations"]}])
    assert not serious, (place, serious)
    wide = tab.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0, (place, wide)
    assert tab.dark == (scheme == "dark"), place


def test_a_sitting_survives_a_restart(browser: Any, people: Path, tmp_path: Path, nicegui: None) -> None:
    first = serve(tmp_path / "kept")
    tab = Tab(browser, first)
    key = tab.load(people)
    tab.run()
    tab.close()
    first.close()
    second = serve(tmp_path / "kept")
    try:
        again = Tab(browser, second)
        again.open()
        again.page.click("text=people.csv")
        again.page.wait_for_selector("[data-step=data]")
        assert key in again.page.url
        again.go("release")
        assert "promise holds" in again.said("h1")
        again.page.click(".brand a")
        again.page.wait_for_selector("[data-step=first]")
        again.page.click("[data-do=delete]")
        again.page.click(".ask .danger")
        again.page.wait_for_selector("#earlier", state="detached")
        assert not (tmp_path / "kept" / key).exists()
        again.close()
    finally:
        second.close()
