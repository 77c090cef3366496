"""With an OTLP endpoint set, one request is one trace from the gateway to the store."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import grpc
import httpx
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

from tests.system.services import Services


class Receiver(trace_service_pb2_grpc.TraceServiceServicer):
    """Keeps every span it is sent, by trace."""

    def __init__(self) -> None:
        self.spans: dict[bytes, list[tuple[str, str]]] = {}
        self._lock = threading.Lock()

    def Export(self, request: Any, context: Any) -> trace_service_pb2.ExportTraceServiceResponse:  # noqa: ARG002, N802 - the signature is the generated one
        with self._lock:
            for resource in request.resource_spans:
                service = next(a.value.string_value for a in resource.resource.attributes if a.key == "service.name")
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        self.spans.setdefault(span.trace_id, []).append((service, span.name))
        return trace_service_pb2.ExportTraceServiceResponse()

    def trace(self, of: Callable[[list[tuple[str, str]]], bool]) -> list[tuple[str, str]] | None:
        """The first trace that `of` says yes to."""
        with self._lock:
            return next((spans for spans in self.spans.values() if of(spans)), None)


@pytest.fixture
def receiver() -> Iterator[tuple[Receiver, str]]:
    server = grpc.server(futures.ThreadPoolExecutor(4))
    keeper = Receiver()
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(keeper, server)  # type: ignore[no-untyped-call]  # generated
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield keeper, f"http://127.0.0.1:{port}"
    server.stop(None).wait()


def test_a_chat_submit_is_one_trace_from_the_gateway_to_the_store(
    receiver: tuple[Receiver, str], new_services: Callable[..., Services]
) -> None:
    keeper, endpoint = receiver
    services = new_services(
        OTEL_EXPORTER_OTLP_ENDPOINT=endpoint, OTEL_BSP_SCHEDULE_DELAY="200", OTEL_EXPORTER_OTLP_INSECURE="true"
    )
    owner, client = services.account("trace_owner"), services.account("trace_client")
    with httpx.Client(base_url=f"{services.url}/api/v2", timeout=30) as http:
        pop = {
            "name": "trace worker",
            "models": ["test/Trace-7B"],
            "chat_jobs": True,
            "model_id": "test/Trace-7B",
            "chat_limits": {"max_context_length": 4096, "max_length": 512},
            "chat_features": ["prompt_overflow_refused"],
        }
        http.post("/generate/text/pop", json=pop, headers={"apikey": owner.api_key}).raise_for_status()
        body = {"model": "test/Trace-7B", "messages": [{"role": "user", "content": "a secret sentence"}]}
        http.post("/generate/chat/async", json=body, headers={"apikey": client.api_key}).raise_for_status()

    def whole(spans: list[tuple[str, str]]) -> bool:
        names = {name for service, name in spans if service.endswith("admission")}
        return any(service.endswith("gateway") for service, _ in spans) and any("activate" in name for name in names)

    end = time.monotonic() + 20
    while (trace := keeper.trace(whole)) is None and time.monotonic() < end:
        time.sleep(0.1)
    assert trace is not None, keeper.spans
    assert any("AdmitChat" in name for _, name in trace)
