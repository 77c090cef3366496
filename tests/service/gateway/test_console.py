"""The pages at `/`, as the gateway renders them from what the services answer."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from horde.failures import Outage
from horde_pb.admission.v1 import admission_service_pb2 as admission
from horde_pb.dispatch.v1 import dispatch_service_pb2 as dispatch
from horde_pb.dispatch.v1 import models_pb2, worker_routes_pb2, workers_pb2
from horde_pb.moderation.v1 import moderation_service_pb2 as moderation
from tests.fakes.running_gateway import Gateway, running

HOSTILE = "<script>alert('x')</script>"


def _flow() -> admission.GetKudosFlowResponse:
    flow = admission.GetKudosFlowResponse()
    for hour in range(24):
        row = flow.hours.add(paid_hundredths=hour * 100, earned_hundredths=hour * 50, uptime_hundredths=0)
        row.hour.FromDatetime(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hour))
    return flow


def _fill(gateway: Gateway, **answers: Any) -> None:
    worker = workers_pb2.WorkerDetails(
        name=HOSTILE, online=True, requests_fulfilled=1234, threads=2, models=["test/A-7B"], trusted=True
    )
    gateway.desk.answers |= {
        "GetPerformance": dispatch.GetPerformanceResponse(
            queued_text_requests=7, queued_tokens=12345, text_worker_count=3, text_thread_count=5, past_minute_tokens=99
        ),
        "ListModels": dispatch.ListModelsResponse(
            models=[
                models_pb2.ModelStatus(
                    name="test/A-7B",
                    performance=12.34,
                    queued=640,
                    jobs=7,
                    chat=models_pb2.ChatOffer(workers=2, max_length=512),
                ),
                models_pb2.ModelStatus(name=HOSTILE, performance=1),
            ]
        ),
        "ListWorkers": worker_routes_pb2.ListWorkersResponse(workers=[worker]),
        "GetKudosFlow": _flow(),
        "GetModes": moderation.GetModesResponse(),
        **answers,
    }


async def test_the_page_shows_counts_charts_models_and_workers(gateway: Gateway) -> None:
    _fill(gateway)
    answer = await gateway.client.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = answer.text
    assert "<dt>requests waiting</dt><dd>7</dd>" in page
    assert "<dt>tokens waiting</dt><dd>12\u2009345</dd>" in page
    assert "<b>276</b> paid for replies" in page, "the sum of 0 to 23 kudos"
    assert page.count("<rect") == 3 * 24
    assert '<th scope="row">test/A-7B</th><td>2</td><td>7 <meter' in page
    assert "<td>12.3</td><td>512</td>" in page
    assert "<td>1234</td>" in page


async def test_names_that_strangers_chose_are_shown_as_text(gateway: Gateway) -> None:
    _fill(gateway)
    page = (await gateway.client.get("/")).text
    assert HOSTILE not in page
    assert page.count("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;") == 3, "picker, models, workers"


async def test_the_page_runs_no_script_but_its_own(gateway: Gateway) -> None:
    _fill(gateway)
    answer = await gateway.client.get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert answer.text.count("<script") == 2
    assert " style=" not in answer.text
    assert " onclick" not in answer.text


async def test_every_file_the_page_names_is_served_and_kept_for_ever(gateway: Gateway) -> None:
    _fill(gateway)
    page = (await gateway.client.get("/")).text
    named = {part.split('"')[0] for part in page.split('"/console/')[1:]} - {"status"}
    assert len(named) == 4
    for name in named:
        answer = await gateway.client.get(f"/console/{name}")
        assert answer.status_code == 200, name
        assert "immutable" in answer.headers["cache-control"]
    assert (await gateway.client.get("/console/0000000000000000/chat.js")).status_code == 404


async def test_the_figures_alone_can_be_had_again(gateway: Gateway) -> None:
    _fill(gateway)
    part = (await gateway.client.get("/console/status")).text
    assert "<dt>workers online</dt><dd>3</dd>" in part
    assert "<html" not in part


async def test_an_empty_horde_is_told_as_such(gateway: Gateway) -> None:
    _fill(
        gateway,
        ListModels=dispatch.ListModelsResponse(),
        ListWorkers=worker_routes_pb2.ListWorkersResponse(),
        GetKudosFlow=admission.GetKudosFlowResponse(),
    )
    page = (await gateway.client.get("/")).text
    assert "no worker takes chats now" in page
    assert "No worker is online." in page


async def test_a_mode_that_stops_people_is_on_the_page(gateway: Gateway) -> None:
    _fill(gateway, GetModes=moderation.GetModesResponse(maintenance=True, invite_only=True))
    page = (await gateway.client.get("/")).text
    assert "in maintenance" in page
    assert "by invitation only" in page


async def test_the_page_is_there_while_a_service_is_away(gateway: Gateway) -> None:
    _fill(gateway, ListWorkers=Outage("postgres", "gone"))
    answer = await gateway.client.get("/")
    assert answer.status_code == 200
    assert "The figures cannot be had now." in answer.text


async def test_the_moderators_page_holds_no_data_and_asks_nobody(gateway: Gateway) -> None:
    for path in ("/admin", "/admin/", "/admin/review?tab=prompts&event_id=5"):
        answer = await gateway.client.get(path)
        assert answer.status_code == 200, path
        assert answer.headers["cache-control"] == "private, no-store"
        assert answer.text.count("<script") == 1
    assert gateway.desk.asked == []


async def test_the_moderators_page_may_read_from_the_evidence_store_and_from_nowhere_else() -> None:
    store = "https://evidence.example.org"
    for account, origins in ((None, "'self'"), (f"{store}/some/path", f"'self' {store}")):
        async with running(evidence_account=account) as gateway:
            policy = (await gateway.client.get("/admin/review")).headers["content-security-policy"]
            assert f"connect-src {origins};" in policy
            assert "unsafe" not in policy
            assert "connect-src 'self';" in (await gateway.client.get("/")).headers["content-security-policy"]


async def test_a_script_imports_another_by_the_path_that_names_its_content(gateway: Gateway) -> None:
    page = (await gateway.client.get("/admin/review")).text
    (script,) = re.findall(r'<script src="([^"]+)"', page)
    (imported,) = re.findall(
        r'from "(/console/[0-9a-f]{16}/review_parts\.js)"', (await gateway.client.get(script)).text
    )
    answer = await gateway.client.get(imported)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
