"""Workers behind a VPN: who is asked about, what the checker's answers mean, and what raid mode changes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from services.dispatch.vpn_check import VpnCheck
from tests.fakes.dispatch_pops import Pops, popping
from tests.fakes.http_server import serving
from tests.servers import Database


@dataclass
class Checker:
    """Answers with `text` and `status`; `asked`: the addresses; `callers`: one for each connection."""

    text: str = "0.1"
    status: int = 200
    asked: list[str] = field(default_factory=list)
    callers: set[object] = field(default_factory=set)

    async def answer(self, request: Request) -> Response:
        self.asked.append(request.query_params["ip"])
        self.callers.add(request.client)
        return PlainTextResponse(self.text, self.status)


@asynccontextmanager
async def checked(database: Database, **settings: Any) -> AsyncIterator[tuple[Pops, Checker]]:
    """A dispatch service with a checker."""
    checker = Checker()
    app = Starlette(routes=[Route("/check", checker.answer)])
    async with (
        serving(app) as url,
        popping(database, ip_checker=f"{url}/check?ip={{ipaddr}}", **settings) as pops,
    ):
        yield pops, checker


async def test_a_vpn_is_refused_and_a_home_is_not_and_each_is_asked_about_once(database: Database) -> None:
    async with checked(database, ip_checker_exempt=("198.51.100.0/24",)) as (pops, checker):
        owner = await pops.world.account()
        await pops.pop(owner)
        await pops.pop(owner)
        checker.text = "0.93"
        assert (await pops.refused(owner, address="203.0.113.8")).reason.word == "UnsafeIP"
        assert (await pops.refused(owner, "new", address="203.0.113.8")).reason.word == "UnsafeIP"
        await pops.pop(owner, address="198.51.100.7")
        assert checker.asked == ["203.0.113.7", "203.0.113.8"]
        assert await pops.world.value("SELECT count(*) FROM dispatch.workers") == 1


async def test_trusted_accounts_and_those_with_the_vpn_role_may(database: Database) -> None:
    async with checked(database) as (pops, checker):
        checker.text = "1"
        await pops.pop(await pops.world.account("trusted", 1), "one")
        assert checker.asked == []
        await pops.pop(await pops.world.account("with vpn", 5), "two")


async def test_a_checker_that_is_away_or_has_enough_lets_nobody_new_in_and_its_other_errors_everybody(
    database: Database,
) -> None:
    async with checked(database) as (pops, checker):
        owner = await pops.world.account()
        checker.status = 429
        assert (await pops.refused(owner)).reason.word == "TooManyNewIPs"
        checker.status, checker.text = 200, "no number"
        assert (await pops.refused(owner)).reason.word == "TooManyNewIPs"
        checker.status = 500
        await pops.pop(owner)
    async with popping(database, ip_checker="http://127.0.0.1:9/{ip}") as pops:
        owner = await pops.world.account()
        assert (await pops.refused(owner, "other")).reason.word == "TooManyNewIPs"


async def test_the_checker_is_asked_over_one_connection_that_ends_with_the_process(database: Database) -> None:
    async with checked(database) as (pops, checker):
        owner = await pops.world.account()
        for place in range(3):
            await pops.pop(owner, address=f"203.0.113.{place}")
        assert (len(checker.asked), len(checker.callers)) == (3, 1)
    web = pops.deps.vpn._web
    assert web is not None
    assert web.is_closed


async def test_what_no_checker_can_be_asked_about_is_unknown() -> None:
    vpn = VpnCheck("http://127.0.0.1:9/{ip}")
    assert await vpn.judge("1.2.3.4\n", now=0.0) == "unknown"
    await vpn.close()


async def test_in_raid_mode_a_vpn_pops_and_its_worker_becomes_suspicious_once(database: Database) -> None:
    async with checked(database) as (pops, checker):
        checker.text = "0.99"
        owner = await pops.world.account()
        await pops.world.run("UPDATE moderation.settings SET raid = true")
        await pops.pop(owner)
        await pops.pop(owner)
        rows = await pops.world.all("SELECT suspicion_id FROM dispatch.worker_suspicions")
        assert [row["suspicion_id"] for row in rows] == [3]


async def test_a_new_worker_with_a_profane_name_or_agent_is_refused_and_not_stored(database: Database) -> None:
    async with popping(database) as pops:
        owner = await pops.world.account()
        assert (await pops.refused(owner, "fucking worker")).reason.word == "ProfaneWorkerName"
        assert (await pops.refused(owner, bridge_agent="ShitAgent:1:url")).reason.word == "ProfaneBridgeAgent"
        assert await pops.world.value("SELECT count(*) FROM dispatch.workers") == 0
