"""Where recorded spans go: an OTLP/gRPC collector. Loaded only by a process that has one."""

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased


def to_collector(endpoint: str, service: str, ratio: float) -> TracerProvider:
    """A provider that sends `ratio` of the new traces, in batches, to `endpoint` (http:// means without TLS)."""
    provider = TracerProvider(
        resource=Resource.create({"service.name": f"horde-{service}", "service.namespace": "chat-horde"}),
        sampler=ParentBased(TraceIdRatioBased(ratio)),
        shutdown_on_exit=False,
    )
    exporter = OTLPSpanExporter(endpoint=endpoint, insecure=endpoint.startswith("http://"))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
