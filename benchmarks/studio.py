"""How quick the studio is in a browser: how long pages take to load, and clicks to be answered while a run is going."""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.studio.serving import serve

CLICK = """(selector) => new Promise((done) => {
  const board = document.querySelector(".board");
  const begin = performance.now();
  const painted = new MessageChannel();
  painted.port1.onmessage = () => done(performance.now() - begin);
  const watch = new MutationObserver(() => {
    watch.disconnect();
    requestAnimationFrame(() => painted.port2.postMessage(0));
  });
  watch.observe(board, {attributes: true, attributeFilter: ["data-painted"]});
  document.querySelector(selector).click();
})"""
"""Milliseconds from a click until the frame with its answer is painted; a message sent in that frame comes after it."""

PAUSE = 250
"""Milliseconds between clicks, as of a quick reader."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    parser.add_argument("--clicks", type=int, default=30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        served = serve(Path(folder) / "kept")
        browser = playwright.chromium.launch(executable_path=given.browser, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        try:
            measure(page, served.start, given.clicks)
        finally:
            browser.close()
            served.close()


def measure(page, start: str, clicks: int) -> None:
    page.set_default_timeout(120_000)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    page.goto(start)
    page.wait_for_selector("h1")
    page.click("#example-people")
    page.wait_for_selector("[data-step=data]")
    base = page.url.rsplit("/", 1)[0]
    for step in ("data", "roles", "promise", "method"):
        times = []
        for _ in range(5):
            page.goto(f"{base}/{step}")
            page.wait_for_selector("h1")
            times.append(page.evaluate("() => performance.now()"))
        print(f"load {step:8} median {statistics.median(times):6.0f} ms, most {max(times):6.0f} ms")
    page.goto(f"{base}/method")
    page.click("#settings > summary")
    page.fill("#f-improve", "120")
    page.press("#f-improve", "Tab")
    page.wait_for_selector("#undo:not([disabled])")
    page.click("#step-run")
    page.wait_for_selector("#run")
    page.click("#run")
    page.wait_for_selector("#stage:has-text('Looking')")
    for places in (("promise", "method"), ("data", "take-away"), ("roles", "hierarchies")):
        times = []
        for n in range(clicks):
            times.append(page.evaluate(CLICK, f"#step-{places[n % 2]}"))
            page.wait_for_timeout(PAUSE)
        print(
            f"click {'/'.join(places):22} while a run is going: median {statistics.median(times):5.0f} ms, "
            f"95 % {sorted(times)[int(0.95 * clicks)]:5.0f} ms, most {max(times):5.0f} ms"
        )
    page.click("#step-run")
    page.click("#cancel-run")
    page.wait_for_selector("#outcome")


if __name__ == "__main__":
    main()
