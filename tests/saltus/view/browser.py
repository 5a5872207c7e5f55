"""Chromium without a window, and what it is asked."""

import io
import shutil
from contextlib import contextmanager
from urllib.parse import urlsplit

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

FLAGS = (
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
    "--no-sandbox",
)  # fmt: skip
SIZE = {"width": 640, "height": 400}
# Sixty pictures a second, drawn in software, would take both cores from the launch.
SELDOM = "window.requestAnimationFrame = f => setTimeout(() => f(performance.now()), 250)"
# The first picture takes 20 s of processor time: its shaders are compiled.
BLIND = """for (const name of ["drawArrays", "drawElements", "drawElementsInstanced"])
    WebGL2RenderingContext.prototype[name] = () => {}"""
PATIENCE_S = 120.0  # a small machine draws in software


@contextmanager
def chromium():
    """The browser that Debian has."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    assert program  # these tests need Chromium: make browser, or apt install chromium
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """A page that is open, and what went wrong in it.

    Attributes:
        faults: errors of its console, and requests to other hosts.
    """

    def __init__(self, browser, url, pictures=True):
        """Open a page; without pictures its words and controls take a tenth of the time."""
        self.faults = []
        self.page = browser.new_page(viewport=SIZE)
        self.page.set_default_timeout(1e3 * PATIENCE_S)
        own = urlsplit(url).netloc
        self.page.on("console", lambda m: self.faults.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda r: self._check(r.url, own))
        self.page.add_init_script(SELDOM if pictures else SELDOM + ";" + BLIND)
        self.page.goto(url)

    def _check(self, url, own):
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != own:
            self.faults.append(f"request to {url}")

    def pixels(self):
        """The left half, which no panel covers, (H, W, 3)."""
        clip = {"x": 0, "y": 0, "width": SIZE["width"] / 2, "height": SIZE["height"]}
        picture = Image.open(io.BytesIO(self.page.screenshot(clip=clip)))
        return np.asarray(picture.convert("RGB"), dtype=float)

    def text(self):
        """All words of the page."""
        return self.page.evaluate("document.body.innerText")

    def close(self):
        self.page.close()
