"""A page in a real Chromium, and what the browser complains about while it is open."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
"""What a browser does by itself in a test is noise; a container has no sandbox of its own to give."""


@contextmanager
def opened(browser: Browser, url: str, **looks: Any) -> Iterator[Page]:
    """The page at `url`, freshly opened. Whatever the browser complains about while it is open fails the test."""
    complaints: list[str] = []
    context = browser.new_context(**looks)
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.goto(url)
    yield page
    context.close()
    # That a call was refused is the browser's news too; what the page makes of it is what a test looks at.
    assert [text for text in complaints if not text.startswith("Failed to load resource")] == []
