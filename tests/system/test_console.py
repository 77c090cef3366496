"""The page at `/` in a real Chromium: somebody picks a model, chats, stops, pastes an image, and sees what it cost."""

import base64
import re
import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from horde.contract.vocabulary import chat_declaration, chat_policy
from tests.fakes.pictures import picture
from tests.system.browsing import opened
from tests.system.services import Services
from tests.system.volunteer import Job, Volunteer

MODEL = "test/Console-7B"


def _key(services: Services, name: str) -> str:
    """The key of a new account. Made in a thread: the browser's driver keeps an event loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(services.account, name).result().api_key


def _page(browser: Browser, services: Services, **looks: Any) -> AbstractContextManager[Page]:
    """The page, freshly opened."""
    return opened(browser, services.url, **looks)


@pytest.fixture
def worker(services: Services) -> Iterator[Volunteer]:
    # A name belongs to the account that took it first, and each test has an account of its own.
    name = f"console {secrets.token_hex(4)}"
    with Volunteer(services.url, _key(services, "console-worker"), name=name, model=MODEL) as it:
        yield it


def _say(page: Page, text: str) -> None:
    page.get_by_label("Model", exact=True).select_option(MODEL)
    page.get_by_label("Your message").fill(text)
    page.keyboard.press("Enter")


def test_a_message_is_answered_with_its_cost(browser: Browser, services: Services, worker: Volunteer) -> None:
    with _page(browser, services) as page:
        _say(page, "Hello there")
        log = page.get_by_role("log")
        expect(log.get_by_text("You said: Hello there ✓")).to_be_visible()
        expect(log.get_by_text(re.compile(r"\d+ kudos · \d+ tokens · by console"))).to_be_visible()
        _say(page, "And again")
        expect(log.get_by_text("You said: And again ✓")).to_be_visible()
    assert [message["role"] for message in worker.popped[-1]["payload"]["messages"]] == ["user", "assistant", "user"]


def test_stop_ends_the_answer_and_the_request(browser: Browser, services: Services) -> None:
    begun, release = threading.Event(), threading.Event()

    def slow(job: Job) -> str:
        del job
        begun.set()
        release.wait(60)
        return "too late"

    key = _key(services, "slow-owner")
    with Volunteer(services.url, key, name="slow", model=MODEL, reply=slow), _page(browser, services) as page:
        _say(page, "Take your time")
        assert begun.wait(30)
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_role("button", name="Send")).to_be_enabled()
        expect(page.get_by_label("Your message")).to_have_value("Take your time")
        release.set()


def test_a_pasted_image_reaches_the_worker(browser: Browser, services: Services) -> None:
    see = Volunteer(
        services.url,
        _key(services, "eyes"),
        name="eyes",
        model=MODEL,
        features=frozenset({chat_policy.ChatFeature.VISION}),
        transports=frozenset({chat_declaration.ChatImageTransport.BASE64}),
    )
    png = base64.b64encode(picture()).decode()
    with see, _page(browser, services) as page:
        page.get_by_label("API key").evaluate("(field, key) => { field.value = key }", _key(services, "sender"))
        page.get_by_label("Your message").evaluate(
            """(field, png) => {
                const bytes = Uint8Array.from(atob(png), (c) => c.charCodeAt(0));
                const data = new DataTransfer();
                data.items.add(new File([bytes], "a.png", { type: "image/png" }));
                field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, cancelable: true }));
            }""",
            png,
        )
        expect(page.get_by_alt_text("image 1 to send")).to_be_visible()
        _say(page, "What is this?")
        expect(page.get_by_role("log").get_by_text(re.compile(r"\d+ kudos"))).to_be_visible()
    content = see.popped[-1]["payload"]["messages"][-1]["content"]
    assert [part["type"] for part in content] == ["image_url", "text"]


def test_a_refusal_is_told_in_words_and_the_message_is_kept(
    browser: Browser, services: Services, worker: Volunteer
) -> None:
    del worker
    with _page(browser, services) as page:
        page.get_by_label("API key").evaluate("field => { field.value = 'nobody-has-this-key-00' }")
        _say(page, "Let me in")
        expect(page.get_by_role("alert")).to_contain_text("key")
        expect(page.get_by_label("Your message")).to_have_value("Let me in")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1100])
def test_the_page_fits_a_phone_and_a_desk_and_breaks_no_rule_of_accessibility(
    browser: Browser, services: Services, worker: Volunteer, tmp_path: Path, scheme: str, width: int
) -> None:
    del worker
    looks = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}}
    with _page(browser, services, **looks) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing hangs over the edge"
        broken = Axe().run(page).response["violations"]
        assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in broken] == []
        shown = tmp_path / f"{scheme}-{width}.png"
        page.screenshot(path=shown, full_page=True)
        assert shown.stat().st_size > 10_000


def test_a_keyboard_is_enough(browser: Browser, services: Services, worker: Volunteer) -> None:
    del worker
    with _page(browser, services) as page:
        page.keyboard.press("Tab")
        expect(page.get_by_text("Skip to the chat")).to_be_focused()
        page.keyboard.press("Enter")
        page.get_by_label("Model", exact=True).select_option(MODEL)
        page.get_by_label("Your message").focus()
        page.keyboard.type("Typed")
        page.keyboard.press("Shift+Enter")
        page.keyboard.type("lines")
        page.keyboard.press("Enter")
        expect(page.get_by_role("log").get_by_text("You said: Typed lines ✓")).to_be_visible()


def test_the_figures_come_again_by_themselves(browser: Browser, services: Services, worker: Volunteer) -> None:
    del worker
    with _page(browser, services) as page, page.expect_response(re.compile("/console/status"), timeout=30_000) as got:
        pass
    assert got.value.ok
