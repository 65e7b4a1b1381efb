"""The report in a real browser: nothing is cut off, everything can be read, in light and in dark, on phone and desk.

The pages stand in frames of a page that measures them. They have no scripts themselves.
"""

import html
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.contract.data import data_for
from tests.hand_made import run_of
from tests.tables import table

import shoal
from shoal import registry
from shoal.report.page import render
from shoal.report.pdf import BROWSERS

pytestmark = pytest.mark.browser

PHONE, DESK = 390, 1280
MEASURE = Path(__file__).with_name("measure.js")


@dataclass(frozen=True)
class Browser:
    """A browser without a window."""

    program: str
    folder: Path

    def call(self, *arguments: str, dark: bool = False) -> str:
        """Start it once, and what it writes."""
        scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        root = ["--no-sandbox"] if os.geteuid() == 0 else []
        profile = self.folder / "profile"
        shutil.rmtree(profile, ignore_errors=True)
        fixed = ["--headless=new", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--disable-sync"]
        quiet = [
            "--disable-background-networking",
            "--disable-component-update",
            f"--user-data-dir={profile}",
        ]
        done = subprocess.run(
            [self.program, *fixed, *quiet, *root, scheme, *arguments],
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        return done.stdout


@pytest.fixture(scope="module")
def browser(require_part: Callable[[object, str], None], tmp_path_factory: pytest.TempPathFactory) -> Browser:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    require_part(program, "There is no Chromium; on Debian, apt-get install chromium brings one.")
    assert program is not None
    return Browser(program, tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The report of every method, and one of names and values that are too long."""
    found = {}
    for name in registry.METHODS:
        method = registry.load("method", name)
        found[name] = render(shoal.anonymize(data_for(method), name, **method.example))
    long = "x" * 300
    wide = table({f"{long}{place}": [long, f"{long}y"] * 3 for place in range(30)})
    found["long"] = render(run_of(wide, {name: ["*", long, long] * 2 for name in wide.names}, k=2))
    return found


def frame(name: str, page: str, width: int) -> str:
    inside = html.escape(page, quote=True)
    return f'<iframe title="{name}" style="border:0;width:{width}px;height:900px" srcdoc="{inside}"></iframe>'


@pytest.fixture(scope="module")
def measure(browser: Browser) -> Callable[[dict[str, str], bool], list[dict]]:
    """What is wrong with pages, each on a phone and on a desk."""

    def measured(pages: dict[str, str], dark: bool) -> list[dict]:
        frames = [frame(name, page, width) for name, page in pages.items() for width in (PHONE, DESK)]
        around = "<!DOCTYPE html><meta charset=utf-8><title>measure</title>"
        text = f"{around}{''.join(frames)}<pre id=answer></pre><script>{MEASURE.read_text(encoding='utf-8')}</script>"
        place = browser.folder / "measure.html"
        place.write_text(text, encoding="utf-8")
        shown = browser.call("--dump-dom", place.as_uri(), dark=dark)
        answer = json.loads(html.unescape(shown.split('<pre id="answer">')[-1].split("</pre>")[0]))
        assert answer["dark"] is dark
        return answer["answer"]

    return measured


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_reports_can_be_read(pages: dict[str, str], measure: Callable, dark: bool) -> None:
    answers = measure(pages, dark)
    assert [answer["width"] for answer in answers] == [PHONE, DESK] * len(pages)
    assert {answer["name"] for answer in answers} == set(pages)
    assert all("hold" in answer["heading"] or "broken" in answer["heading"] for answer in answers)
    assert all(answer["height"] > 1000 for answer in answers)
    found = [
        f"{answer['name']} ({answer['width']}): {fault}" for answer in answers for fault in answer["faults"]
    ]
    assert not found, "\n".join(found)


WRONG = {
    "the page is 700 wide on 390 pixels": '<h1>holds</h1><p style="width:700px">wide</p>',
    "contrast of 2.8": '<h1>holds</h1><p style="color:#999">pale</p>',
    "heading 2 skips a level": "<h1>holds</h1><h3>deep</h3>",
    "is not described": '<h1>holds</h1><svg role="img" width="9" height="9"></svg>',
    "has no table beside it": '<h1>holds</h1><svg role="img" width="9" height="9"></svg>',
    "there is a script": "<h1>holds</h1><script>1</script>",
}
"""What is wrong, and a page on which it is."""


@pytest.fixture(scope="module")
def found_on_phones(measure: Callable) -> dict[str, list[str]]:
    """What is found on each of the wrong pages; the browser is started once for all of them."""
    style = "<!DOCTYPE html><style>body{margin:0;background:#fff;color:#000}</style>"
    answers = measure({fault: f"{style}{body}" for fault, body in WRONG.items()}, False)
    return {answer["name"]: answer["faults"] for answer in answers[::2]}


@pytest.mark.parametrize("fault", WRONG)
def test_what_is_wrong_is_found(found_on_phones: dict[str, list[str]], fault: str) -> None:
    assert fault in "\n".join(found_on_phones[fault])


def test_a_report_is_painted_and_printed(browser: Browser, pages: dict[str, str]) -> None:
    place = browser.folder / "report.html"
    place.write_text(pages["mondrian"], encoding="utf-8")
    picture, paper = browser.folder / "report.png", browser.folder / "report.pdf"
    browser.call(f"--window-size={PHONE},900", f"--screenshot={picture}", place.as_uri())
    browser.call("--no-pdf-header-footer", f"--print-to-pdf={paper}", place.as_uri())
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 20_000
    assert paper.read_bytes().startswith(b"%PDF")
