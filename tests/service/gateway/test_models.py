"""The model lists, their filters and their cache."""

from typing import Any

from horde_pb.dispatch.v1 import dispatch_service_pb2 as dispatch
from horde_pb.dispatch.v1 import models_pb2

PATH = "/v2/status/models"


def _listed(request: Any) -> dispatch.ListModelsResponse:
    offer = models_pb2.ChatOffer(workers=1, max_context_length=8192, max_length=1024, features=["tools", "seed"])
    return dispatch.ListModelsResponse(
        models=[
            models_pb2.ModelStatus(name="a/b", count=4, performance=12.34, chat=offer if request.chat else None),
            models_pb2.ModelStatus(name="c", count=1, custom=True),
            models_pb2.ModelStatus(name="horde_special::x", count=9),
        ]
    )


async def test_models_are_listed_with_the_fields_that_clients_need(gateway: Any) -> None:
    gateway.desk.answers["ListModels"] = _listed
    plain = (await gateway.client.get(f"{PATH}?type=text")).json()
    assert [entry["name"] for entry in plain] == ["a/b", "c"]
    assert plain[0] == {
        "name": "a/b",
        "count": 4,
        "type": "text",
        "performance": 12.3,
        "queued": 0,
        "jobs": 0,
        "eta": 0,
    }


async def test_the_chat_list_carries_offers(gateway: Any) -> None:
    gateway.desk.answers["ListModels"] = _listed
    listed = (await gateway.client.get(f"{PATH}?type=text&chat=true")).json()
    assert listed[0]["chat"] == {
        "workers": 1,
        "max_context_length": 8192,
        "max_length": 1024,
        "features": ["seed", "tools"],
        "created": None,
    }


async def test_there_are_no_image_models_and_no_chat_of_them(gateway: Any) -> None:
    assert (await gateway.client.get(PATH)).json() == []
    assert (await gateway.client.get(f"{PATH}?type=image")).json() == []
    for query in (
        "chat=true",
        "type=image&chat=true",
        "type=other",
        "type=text&min_count=x",
        "type=text&chat=2",
        "type=text&model_state=x",
    ):
        answer = await gateway.client.get(f"{PATH}?{query}")
        assert answer.status_code == 400
        assert answer.json()["errors"]
    assert gateway.desk.asked == []


async def test_counts_and_the_reference_filter(gateway: Any) -> None:
    gateway.desk.answers["ListModels"] = _listed
    for query, names in (
        ("min_count=2", ["a/b"]),
        ("max_count=2", ["c"]),
        ("min_count=5", []),
        ("model_state=known", ["a/b"]),
        ("model_state=custom", ["c"]),
        ("model_state=all", ["a/b", "c"]),
    ):
        listed = (await gateway.client.get(f"{PATH}?type=text&{query}")).json()
        assert [entry["name"] for entry in listed] == names


async def test_the_list_is_asked_for_once_in_two_seconds(gateway: Any) -> None:
    gateway.desk.answers["ListModels"] = _listed
    for _ in range(3):
        await gateway.client.get(f"{PATH}?type=text")
        await gateway.client.get(f"{PATH}?type=text&chat=true")
    assert len(gateway.desk.asked) == 2


async def test_one_model_is_a_list_of_one_and_an_unknown_one_is_404(gateway: Any) -> None:
    gateway.desk.answers["ListModels"] = _listed
    assert [entry["name"] for entry in (await gateway.client.get(f"{PATH}/a/b")).json()] == ["a/b"]
    assert (await gateway.client.get(f"{PATH}/zzz")).status_code == 404
