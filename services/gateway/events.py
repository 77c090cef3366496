"""What the gateway tells of itself, beside the time of each request, which `horde.telemetry.asgi` measures."""

from horde.failures import Outage
from horde.telemetry import logs
from horde.telemetry.asgi import METHODS
from horde.telemetry.metrics import Counter

log = logs.get(__name__)

_REJECTIONS = Counter(
    "horde_api_rejections_total",
    "Answers that say no, by return code.",
    ("rc", "http_response_status_code", "http_route", "http_request_method"),
)
_FAULTS = Counter("horde_gateway_faults_total", "Bugs: exceptions nobody expected.", ("route",))
_OUTAGES = Counter("horde_gateway_outages_total", "Answers that had to say that a service is away.", ("neighbour",))

_UNLISTED = "Unlisted"
"""The label of a refusal without a return code, such as an unknown address. base-domain 1.2."""


class Events:
    """One method for each thing that happens."""

    def rejected(self, rc: str | None, status: int, route: str, method: str) -> None:
        """A caller was told no."""
        known = method if method in METHODS else "OTHER"
        _REJECTIONS.labels(rc or _UNLISTED, str(status), route, known).inc()

    def unavailable(self, outage: Outage, route: str) -> None:
        """A service could not be asked."""
        _OUTAGES.labels(outage.whom).inc()
        log.warning("unavailable", whom=outage.whom, why=outage.detail, route=route)

    def faulted(self, error: BaseException, route: str) -> None:
        """A bug of ours. The caller learns nothing but the request's id."""
        _FAULTS.labels(route).inc()
        log.error("fault", route=route, exc_info=error)
