"""A refused submission changed nothing: no row of admission or dispatch, and no object that stays."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from horde.contract import reasons
from horde.contract.refusal import Refusal
from tests.fakes.admission_world import MODEL, AdmissionWorld, admission_world, chat, text
from tests.servers import Database

DELETED = 9
VISION: dict[str, Any] = {"chat_features": ["prompt_overflow_refused", "vision"], "image_transports": ["url"]}
PIXEL = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
PICTURE = chat(messages=[{"role": "user", "content": [PIXEL]}])
SLOW = {"slow_workers": False}
NOT_STATE = {"object_deletions"}
"""The queue of objects that are to go is what makes sure that none stays."""


@dataclass(frozen=True)
class Case:
    """One submission and why it has to be refused. `arrange` makes it so; what it sets is taken back afterwards."""

    reason: str
    body: Any
    key: str = "0000000000"
    caller: dict[str, str] = field(default_factory=dict)
    arrange: Callable[[AdmissionWorld], None] = lambda _: None


def refuses(reason: reasons.Reason) -> Callable[[AdmissionWorld], None]:
    """Moderation refuses every prompt."""

    def arrange(world: AdmissionWorld) -> None:
        world.deps.policy.has_filters = True
        world.moderation.refuses = Refusal(reason, "not allowed")

    return arrange


def unreadable(world: AdmissionWorld) -> None:
    """Media reads no image."""
    world.media.refuses = Refusal(reasons.SOURCE_IMAGE_UNREADABLE, "no image")


def media_broken(world: AdmissionWorld) -> None:
    """Media fails."""
    world.media.is_broken = True


async def state(world: AdmissionWorld) -> dict[str, list[str]]:
    """Every row of both schemas, as text."""
    tables = await world.sql.fetch(
        "SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname IN ('admission', 'dispatch')"
    )
    names = [row["name"] for row in tables if row["name"].partition(".")[2] not in NOT_STATE]
    return {
        name: [row["line"] for row in await world.sql.fetch(f"SELECT t::text AS line FROM {name} t ORDER BY 1")]  # noqa: S608 - from the catalogue
        for name in names
    }


async def chat_cases(world: AdmissionWorld) -> list[Case]:
    """Every reason that a chat submit can be refused for, in the order of the checks."""
    poor, crowded = await world.account("poor"), await world.account("crowded", concurrency=0)
    deleted = await world.account("deleted", kudos=100)
    await world.sql.execute("INSERT INTO admission.user_roles VALUES ($1, $2)", deleted.id, DELETED)
    owner = (await world.account("lender", kudos=100_000)).id
    empty = await world.lend(owner, kudos=0)
    expired = await world.lend(owner, expiry=datetime(2020, 1, 1, tzinfo=UTC))
    small, limited = await world.lend(owner, kudos=1), await world.lend(owner, max_text_tokens=10)
    operation = str(uuid4())
    await world.admit(chat(horde={"operation_key": operation}))
    long = chat("word " * 40_000)
    return [
        Case("BadRequest", b"{"),
        Case("BadRequest", chat(max_tokens="many")),
        Case("ValidationFailed", chat(temperature=6)),
        Case("UnsupportedChatParameter", chat(logprobs=True)),
        Case("ChatRequestConflict", chat(tool_choice="auto")),
        Case("NulByteInPayload", chat("a\0b")),
        Case("TooManyExtraSourceImages", chat(messages=[{"role": "user", "content": [PIXEL] * 21}])),
        Case("OperationKeyConflict", chat("else", horde={"operation_key": operation})),
        Case("InvalidAPIKey", chat(), "nobody"),
        Case("SharedKeyEmpty", chat(), empty),
        Case("SharedKeyExpired", chat(), expired),
        Case("DeletedUser", chat(), deleted.api_key),
        Case("WorkerNotFound", chat(horde={"only": [str(uuid4())]})),
        Case("TooManyPrompts", chat(), crowded.api_key),
        Case("TimeoutIP", chat(), caller={"remote_address": "198.51.100.66"}),
        Case("PromptRewrittenAway", chat(), arrange=refuses(reasons.PROMPT_REWRITTEN_AWAY)),
        Case("UnknownChatModel", chat(model="unknown")),
        Case("NoEligibleWorker", chat(model="org/big-70B")),
        Case("PromptExceedsContext", chat("word " * 40_000, horde={"context_fit": "reject"})),
        Case("PromptExceedsContext", long),
        Case("TooManyStopSequences", chat(stop=[str(number) for number in range(129)])),
        Case("ExcessiveStopSequence", chat(stop=["x" * 2001])),
        Case("ChatKudosCapExceeded", chat(horde={"max_kudos": 1})),
        Case("SharedKeyInsufficientKudos", chat(), small),
        Case("KudosUpfront", chat(horde=SLOW), poor.api_key),
        Case("NoEligibleWorker", chat(seed=1, horde=SLOW), poor.api_key),
        Case("BadRequest", chat(), limited),
        Case("SourceImageUnreadable", PICTURE, arrange=unreadable),
        Case("ChatImageStorageUnavailable", PICTURE, arrange=media_broken),
    ]


async def text_cases(world: AdmissionWorld) -> list[Case]:
    """The reasons that only a text submit can be refused for, and what it shares with chat once more."""
    poor = await world.account("poorer")
    picture = {"image": "AAAA", "strength": 1}
    return [
        Case("ValidationFailed", text(params={"n": 21})),
        Case("StyleNotFound", text(style="watercolour")),
        Case("PromptExceedsContext", text("word " * 9000, context_fit="reject")),
        Case("BadRequest", text(webhook="http://example.org")),
        Case("OnlyServiceAccountProxy", text(proxied_account="someone")),
        Case("TooManyExtraSourceImages", text(extra_source_images=[picture] * 6)),
        Case("MoreThanMinExtraSourceImage", text(extra_source_images=[picture] * 2)),
        Case("MissingPrompt", text("")),
        Case("RequiresTrust", text(params={"n": 2}, disable_batching=True)),
        Case("TokenOverflow", text(params={"max_length": 512, "max_context_length": 80})),
        Case("MissingFullSamplerOrder", text(params={"sampler_order": [1, 2]})),
        Case("InvalidExtraSourceImages", text(extra_source_images=[picture])),
        Case("KudosUpfront", text(slow_workers=False), poor.api_key),
    ]


async def check(world: AdmissionWorld, cases: list[Case], submit: Callable[..., Any]) -> None:
    """Every case is refused for its reason, and everything is as it was."""
    for case in cases:
        before = await state(world)
        case.arrange(world)
        told = "nothing"
        try:
            await submit(case.body, key=case.key, **case.caller)
        except Refusal as refusal:
            told = refusal.reason.key
        assert told == case.reason, case
        assert await state(world) == before, case
        world.media.refuses, world.media.is_broken, world.moderation.refuses = None, False, None
        world.deps.policy.has_filters = False
    await world.deps.clearing.drain(5)
    assert {request.request_id for request in world.media.stored} == set()


async def test_a_refused_submission_changed_nothing(world: AdmissionWorld) -> None:
    await world.worker(**VISION)
    world.moderation.timeouts["198.51.100.66"] = 60
    await check(world, await chat_cases(world), world.admit)
    await check(world, await text_cases(world), world.admit_text)


async def test_a_submission_refused_because_nobody_may_enter_changed_nothing(database: Database) -> None:
    async with admission_world(database, chat_admission_enabled=False) as world:
        await world.worker()
        await check(world, [Case("ChatAdmissionDisabled", chat())], world.admit)
        await world.sql.execute("UPDATE moderation.settings SET maintenance = true")
        await check(world, [Case("MaintenanceMode", text(models=[MODEL]))], world.admit_text)
