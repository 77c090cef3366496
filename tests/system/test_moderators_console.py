"""The moderators' console in a real Chromium: who may enter, what is shown when, and what a text cannot do."""

import asyncio
import hashlib
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncpg
import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect

from horde.cli.admin import create_account
from horde.cli.stack.buckets import client, let_pages_read
from tests.servers import ObjectStore, Servers
from tests.system.browsing import opened
from tests.system.services import SECRET, Services

if TYPE_CHECKING:
    from types_boto3_s3.client import S3Client

MODEL = "test/Reviewed-7B"
HOSTILE = "badword worse <script>document.title='taken'</script> \u202edesrever\u200b"
SHOWN = "badword worse <script>document.title='taken'</script> ⟦U+202E⟧desrever⟦U+200B⟧"


@dataclass
class Desk:
    """A system with refused prompts, a moderator, and the bucket their texts went to."""

    services: Services
    key: str
    stranger: str
    s3: "S3Client"
    bucket: str
    events: list[int]

    @property
    def newest(self) -> int:
        return self.events[0]


def _account(services: Services, name: str, **roles: bool) -> str:
    made = create_account(services.database_url, SECRET, name, kudos=100_000, **roles)
    # The browser's driver keeps an event loop running in this thread.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, made).result().api_key


@pytest.fixture(scope="module")
def desk(unstarted_services: Callable[..., Services], servers: Servers) -> Desk:
    store: ObjectStore = servers.object_store()
    bucket = store.bucket("evidence")
    services = unstarted_services(
        HORDE_MODERATION_UPLOAD_INTERVAL_SECONDS="0.2",
        R2_EVIDENCE_ACCOUNT=store.endpoint,
        R2_EVIDENCE_BUCKET=bucket,
        EVIDENCE_AWS_ACCESS_KEY_ID=store.access_key,
        EVIDENCE_AWS_SECRET_ACCESS_KEY=store.secret_key,
    )
    s3 = client(store.endpoint, store.access_key, store.secret_key, store.region)
    let_pages_read(s3, bucket, [services.url])
    services.start("admission", "dispatch", "progress", "media", "moderation", "gateway")
    moderator, owner = _account(services, "mod", moderator=True), _account(services, "owner", trusted=True)
    desk = Desk(services, moderator, owner, s3, bucket, [])
    with httpx.Client(base_url=f"{services.url}/api/v2", timeout=30, headers={"apikey": moderator}) as http:
        _refuse_prompts(http, owner)
        ends_at = time.monotonic() + 60
        while len(desk.events) < 3:
            assert time.monotonic() < ends_at
            listed = http.get("/operations/moderation/prompts").json()["events"]
            desk.events = [event["id"] for event in listed if event["text_state"] == "stored"]
            time.sleep(0.1)
    return desk


def _refuse_prompts(http: httpx.Client, owner: str) -> None:
    pop = {
        "name": "reviewed worker",
        "models": [MODEL],
        "chat_jobs": True,
        "model_id": MODEL,
        "chat_limits": {"max_context_length": 4096, "max_length": 512},
        "chat_features": ["prompt_overflow_refused"],
    }
    http.post("/generate/text/pop", json=pop, headers={"apikey": owner}).raise_for_status()
    for kind, word in ((10, "badword"), (20, "worse")):
        http.put("/filters", json={"regex": word, "filter_type": kind}).raise_for_status()
    refused, ends_at = 0, time.monotonic() + 60
    while refused < 3:
        assert time.monotonic() < ends_at
        body = {"model": MODEL, "messages": [{"role": "user", "content": HOSTILE}]}
        answer = http.post(
            "/generate/chat/async", json=body, headers={"apikey": owner, "X-Forwarded-For": f"7.7.8.{refused}"}
        )
        refused += answer.status_code == 400
        time.sleep(0.1)


def _console(browser: Browser, desk: Desk, query: str = "", **looks: Any) -> AbstractContextManager[Page]:
    return opened(browser, f"{desk.services.url}/admin/review{query}", **looks)


def _enter(page: Page, key: str) -> None:
    page.get_by_label("A moderator's API key").fill(key)
    page.get_by_role("button", name="Sign in").click()


def _first(page: Page, desk: Desk) -> Any:
    return page.get_by_role("article").filter(has_text=f"Event {desk.newest} ")


def test_only_a_moderator_enters_and_the_key_goes_with_the_sign_out(browser: Browser, desk: Desk) -> None:
    with _console(browser, desk) as page:
        for wrong, why in (("nobody-has-this-key-00", "key"), (desk.stranger, "moderator")):
            _enter(page, wrong)
            expect(page.get_by_role("alert")).to_contain_text(why, ignore_case=True)
            expect(page.get_by_role("article")).to_have_count(0)
        _enter(page, desk.key)
        expect(page.get_by_role("article")).to_have_count(3)
        expect(page.get_by_text("Kept: texts with the record · addresses 30 days · identity 365 days")).to_be_visible()
        page.reload()
        expect(page.get_by_role("article")).to_have_count(3)
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("article")).to_have_count(0)
        assert page.evaluate("Object.keys(sessionStorage).length") == 0


def test_a_text_is_proved_then_shown_as_text_and_leaves_the_page_again(browser: Browser, desk: Desk) -> None:
    with _console(browser, desk) as page:
        _enter(page, desk.key)
        row = _first(page, desk)
        row.get_by_role("button", name="Reveal").wait_for()
        assert "desrever" not in page.content(), "nothing of a text is on the page before it is asked for"
        row.get_by_role("button", name="Reveal").click()
        expect(row.get_by_text(SHOWN)).to_have_count(2)  # submitted and judged
        expect(row.get_by_text("digest verified")).to_be_visible()
        assert page.title() == "chat-horde review"
        page.keyboard.press("Escape")
        expect(row.get_by_text(SHOWN)).to_have_count(0)
        assert "desrever" not in page.content()
        kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
        assert "desrever" not in kept


def test_a_link_from_an_alert_opens_its_event_and_no_other(browser: Browser, desk: Desk) -> None:
    wanted = desk.events[1]
    with _console(browser, desk, f"?tab=prompts&event_id={wanted}") as page:
        _enter(page, desk.key)
        expect(page.get_by_role("article")).to_have_count(1)
        expect(page.get_by_role("link", name=f"Event {wanted}")).to_be_visible()
    with _console(browser, desk, "?tab=prompts&event_id=999999999") as page:
        _enter(page, desk.key)
        expect(page.get_by_text("There is no such event.")).to_be_visible()


def test_what_is_not_what_was_recorded_is_withheld_and_what_is_missing_is_told(browser: Browser, desk: Desk) -> None:
    changed, gone = desk.events[1], desk.events[2]
    body = json.dumps({"submitted_prompt": "somebody else's words"}).encode()
    kept = desk.s3.get_object(Bucket=desk.bucket, Key=f"evidence/{changed}.json")["Body"].read()
    assert hashlib.sha256(kept).hexdigest() != hashlib.sha256(body).hexdigest()
    desk.s3.put_object(Bucket=desk.bucket, Key=f"evidence/{changed}.json", Body=body)
    desk.s3.delete_object(Bucket=desk.bucket, Key=f"evidence/{gone}.json")
    with _console(browser, desk) as page:
        _enter(page, desk.key)
        rows = {event: page.get_by_role("article").filter(has_text=f"Event {event} ") for event in desk.events}
        rows[changed].get_by_role("button", name="Reveal").click()
        expect(rows[changed].get_by_text("The digest does not match")).to_be_visible()
        assert "somebody else" not in page.content()
        rows[changed].get_by_role("button", name="Show it all the same").click()
        expect(rows[changed].get_by_text("somebody else's words")).to_be_visible()
        expect(rows[changed].get_by_text("NOT what was recorded")).to_be_visible()
        rows[gone].get_by_role("button", name="Reveal").click()
        expect(page.get_by_role("alert")).to_contain_text(f"Object missing: the store has no text of event {gone}")


def test_the_first_note_says_that_it_holds_and_marks_hold_nothing(browser: Browser, desk: Desk) -> None:
    with _console(browser, desk) as page:
        _enter(page, desk.key)
        row = _first(page, desk)
        row.get_by_role("button", name="Seen").click()
        expect(row.get_by_text("seen by mod#")).to_be_visible()
        row.get_by_role("button", name="Seen").click()
        expect(row.get_by_text("seen by mod#")).to_have_count(0)
        expect(row.get_by_text("held:")).to_have_count(0)
        for words, is_first in (("It was a joke.", True), ("No, it was not.", False)):
            row.get_by_role("button", name="Note").click()
            expect(page.get_by_text("keeps this event, with its account and address, without end")).to_be_visible(
                visible=is_first
            )
            page.get_by_label("What you found").fill(words)
            page.get_by_role("button", name="Save the note").click()
            expect(row.get_by_text(words)).to_be_visible()
        expect(row.get_by_text("held: note")).to_be_visible()


def test_hands_that_stay_on_the_keyboard_are_enough_and_can_switch_that_off(browser: Browser, desk: Desk) -> None:
    with _console(browser, desk) as page:
        _enter(page, desk.key)
        row = _first(page, desk)
        row.wait_for()
        page.keyboard.press("j")
        expect(row).to_be_focused()
        page.keyboard.press("r")
        expect(row.get_by_text(SHOWN)).to_have_count(2)
        page.keyboard.press("r")
        expect(row.get_by_text(SHOWN)).to_have_count(0)
        page.get_by_label("Keyboard shortcuts").uncheck()
        row.focus()
        page.keyboard.press("r")
        page.wait_for_timeout(300)
        expect(row.get_by_text(SHOWN)).to_have_count(0)


def test_filters_stay_in_the_pages_address_and_an_address_does_not(browser: Browser, desk: Desk) -> None:
    with _console(browser, desk) as page:
        _enter(page, desk.key)
        page.get_by_label("Reason").select_option("filter_rejection")
        page.get_by_label("Address").fill("7.7.8.1")
        page.get_by_role("button", name="Look").click()
        expect(page.get_by_role("article")).to_have_count(1)
        assert "reason=filter_rejection" in page.url
        assert "7.7.8" not in page.url
        page.get_by_label("Reason").select_option("worker_csam")
        page.get_by_role("button", name="Look").click()
        expect(page.get_by_text("No event fits.")).to_be_visible()


@pytest.mark.parametrize(
    ("tab", "shown"),
    [
        ("promotions", "No threshold is set"),
        ("paused", "Paused workers, 0 in all: none."),
        ("suspicions", "Suspicions of workers"),
        ("retention", "What the windows in force remove next"),
        ("access", "Who was given what to read"),
    ],
)
def test_every_tab_shows_its_list(browser: Browser, desk: Desk, tab: str, shown: str) -> None:
    with _console(browser, desk, f"?tab={tab}") as page:
        _enter(page, desk.key)
        expect(page.get_by_text(shown).first).to_be_visible()
        expect(page.locator("nav a[aria-current]")).to_have_count(1)


def test_too_many_calls_are_counted_down_and_what_reads_is_asked_again(browser: Browser, desk: Desk) -> None:
    with _console(browser, desk) as page:
        asked: list[str] = []

        def refuse_once(route: Route) -> None:
            asked.append(route.request.method)
            if len(asked) == 1:
                route.fulfill(status=429, headers={"Retry-After": "2"}, json={"message": "2 per 1 second", "rc": "x"})
            else:
                route.continue_()

        page.route("**/operations/moderation/prompts?*", refuse_once)
        _enter(page, desk.key)
        expect(page.get_by_text("Too many calls; 2 s to wait.")).to_be_visible()
        expect(page.get_by_role("article")).to_have_count(3)
        assert asked == ["GET", "GET"]


def test_a_moderator_whose_role_is_taken_away_is_out_at_the_next_step(browser: Browser, desk: Desk) -> None:
    name = "soon no moderator"
    key = _account(desk.services, name, moderator=True)
    with _console(browser, desk) as page:
        _enter(page, key)
        row = _first(page, desk)
        row.wait_for()
        _on_database(
            desk,
            "DELETE FROM admission.user_roles r USING admission.users u"
            " WHERE u.id = r.user_id AND u.username = $1 AND r.user_role = 0",
            name,
        )
        ends_at = time.monotonic() + 60  # the role is remembered for a moment
        while page.get_by_label("A moderator's API key").is_hidden():
            assert time.monotonic() < ends_at
            row.get_by_role("button", name="Reveal").click()
            page.wait_for_timeout(500)
        expect(page.get_by_role("article")).to_have_count(0)
        assert page.evaluate("Object.keys(sessionStorage).length") == 0


def test_a_paused_worker_is_let_work_again(browser: Browser, desk: Desk) -> None:
    _on_database(
        desk,
        "INSERT INTO dispatch.workers (user_id, name, paused)"
        " SELECT id, $1, true FROM admission.users WHERE username = 'owner'",
        "a paused volunteer",
    )
    with _console(browser, desk, "?tab=paused") as page:
        _enter(page, desk.key)
        expect(page.get_by_role("row", name="a paused volunteer")).to_contain_text("owner#")
        page.get_by_role("button", name="Unpause a paused volunteer").click()
        expect(page.get_by_text("a paused volunteer gets jobs again.")).to_be_visible()
        expect(page.get_by_text("Paused workers, 0 in all: none.")).to_be_visible()


def _on_database(desk: Desk, statement: str, *args: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(desk.services.database_url)
        try:
            await connection.execute(statement, *args)
        finally:
            await connection.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, run()).result()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1100])
def test_the_console_fits_a_phone_and_a_desk_and_breaks_no_rule_of_accessibility(
    browser: Browser, desk: Desk, tmp_path: Path, scheme: str, width: int
) -> None:
    with _console(browser, desk, color_scheme=scheme, viewport={"width": width, "height": 800}) as page:
        for is_in in (False, True):
            if is_in:
                _enter(page, desk.key)
                _first(page, desk).get_by_role("button", name="Reveal").click()
                expect(page.get_by_text("digest verified")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing hangs over the edge"
            broken = Axe().run(page).response["violations"]
            assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in broken] == []
        shown = tmp_path / f"{scheme}-{width}.png"
        page.screenshot(path=shown, full_page=True)
        assert shown.stat().st_size > 10_000
