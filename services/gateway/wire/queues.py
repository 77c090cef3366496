"""The review queues, accounts before trust and paused workers: moderation.md A8.4, with the keys horde-sdk reads."""

from collections.abc import Mapping, Sequence

import orjson

from horde.contract import reasons
from horde.contract.refusal import Refusal
from horde.contract.suspicions import CATALOGUE
from horde_pb.admission.v1 import account_details_pb2 as accounts_pb
from horde_pb.admission.v1 import accounts_service_pb2 as admission_pb
from horde_pb.dispatch.v1 import worker_review_pb2 as dispatch_pb
from services.gateway.answers import Answer
from services.gateway.wire.fields import MAX_INT32
from services.gateway.wire.operations import Parameters, one_of
from services.gateway.wire.review import MAX_HISTORY_PAGE, utc

type Active = accounts_pb.ActiveSuspicion | dispatch_pb.WorkerSuspicion

_TYPES = ("image", "text", "interrogation")
_SORTS: Mapping[str, dispatch_pb.PausedWorkerSort.ValueType] = {
    "last_check_in": dispatch_pb.PAUSED_WORKER_SORT_LAST_CHECK_IN,
    "suspicion": dispatch_pb.PAUSED_WORKER_SORT_SUSPICION,
    "name": dispatch_pb.PAUSED_WORKER_SORT_NAME,
    "owner": dispatch_pb.PAUSED_WORKER_SORT_OWNER,
}


def requests(
    query: Parameters,
) -> tuple[admission_pb.ListPromotionsRequest, dispatch_pb.ListPausedWorkersRequest]:
    """The messages that ask for the queues. Raises the first Refusal."""
    limit = query.limit(default=100, most=MAX_HISTORY_PAGE)
    types = [one_of(one, _TYPES, "worker_type", reasons.INVALID_WORKER_TYPE) for one in query.all("worker_type")]
    suspicions = [_suspicion(one) for one in query.all("suspicion_id")]
    online = query.flag("online")
    sort = query.text("sort")
    sort = "last_check_in" if sort is None else one_of(sort, _SORTS, "sort", reasons.INVALID_OPERATIONS_SORT)
    paused = dispatch_pb.ListPausedWorkersRequest(
        limit=limit, types=types, suspicion_ids=suspicions, online=online, sort=_SORTS[sort]
    )
    return admission_pb.ListPromotionsRequest(limit=limit), paused


def _suspicion(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < len(str(MAX_INT32)) else -1
    if number not in CATALOGUE:
        known = ", ".join(str(one) for one in CATALOGUE)
        raise Refusal(reasons.INVALID_SUSPICION_ID, f"'suspicion_id' has to be one of {known}.")
    return number


def answer(promotions: admission_pb.ListPromotionsResponse, paused: dispatch_pb.ListPausedWorkersResponse) -> Answer:
    """The queues, side by side."""
    threshold = promotions.threshold_hundredths if promotions.HasField("threshold_hundredths") else None
    value = {
        "promotion_threshold": None if threshold is None else _kudos(threshold),
        "suspicion_threshold": promotions.suspicion_threshold,
        "worker_suspicion_threshold": paused.suspicion_threshold,
        "promotion_blocked_users": [_account(row) for row in promotions.blocked],
        "promotion_eligible_users": [_account(row) for row in promotions.eligible],
        "paused_workers": [_worker(row) for row in paused.workers],
        "paused_workers_total": paused.total,
    }
    return Answer(orjson.dumps(value))


def _account(row: accounts_pb.PromotionRow) -> dict[str, object]:
    suspicions = _suspicions(row.suspicions)
    total = sum(one.count for one in row.suspicions)
    return {
        "user_id": row.user_id,
        "id": row.user_id,
        "username": row.username,
        "created": utc(row.created),
        "last_active": utc(row.last_active),
        "account_age": row.account_age_seconds,
        "kudos": _kudos(row.kudos_hundredths),
        "evaluating_kudos": _kudos(row.evaluating_hundredths),
        "worker_count": row.worker_count,
        "workers_online": row.workers_online,
        "workers_paused": row.workers_paused,
        "paused_worker_count": row.workers_paused,
        "worker_kudos": _kudos(row.worker_kudos_hundredths),
        "contributions": row.contributions,
        "fulfilments": row.fulfilments,
        "worker_fulfilments": row.fulfilments,
        "flagged": row.flagged,
        "deleted": row.deleted,
        "vpn": row.vpn,
        "suspicions": suspicions,
        "suspicion_reasons": suspicions,
        "suspicion_total": total,
        "suspicious": total,
        "contact": row.contact if row.HasField("contact") else None,
        "admin_comment": row.admin_comment if row.HasField("admin_comment") else None,
    }


def _worker(row: dispatch_pb.PausedWorker) -> dict[str, object]:
    suspicions = _suspicions(row.suspicions)
    total = sum(one.count for one in row.suspicions)
    return {
        "id": row.id,
        "name": row.name,
        "worker_type": row.type,
        "type": row.type,
        # horde-sdk reads the alias here; the whole owner stands beside it.
        "owner": row.owner,
        "owner_id": row.owner_id,
        "owner_details": {
            "user_id": row.owner_id,
            "username": row.owner,
            "trusted": row.owner_trusted,
            "flagged": row.owner_flagged,
            "suspicion_total": row.owner_suspicion,
        },
        "owner_trusted": row.owner_trusted,
        "owner_flagged": row.owner_flagged,
        "owner_suspicion": row.owner_suspicion,
        "contact": row.contact if row.HasField("contact") else None,
        "online": row.online,
        "last_check_in": utc(row.last_check_in),
        "created": utc(row.created),
        "info": row.info if row.HasField("info") else None,
        "bridge_agent": row.bridge_agent,
        "models": list(row.models),
        "maintenance": row.maintenance,
        "maintenance_mode": row.maintenance,
        "maintenance_msg": row.maintenance_msg if row.HasField("maintenance_msg") else None,
        "uptime": row.uptime_seconds,
        "uncompleted_jobs": row.uncompleted_jobs,
        "aborted_jobs": row.aborted_jobs,
        "nonconformant_replies": row.nonconformant_replies,
        "requests_fulfilled": row.requests_fulfilled,
        "suspicions": suspicions,
        "suspicion_reasons": suspicions,
        "suspicion_total": total,
        "suspicious": total,
    }


def _suspicions(active: Sequence[Active]) -> list[dict[str, object]]:
    return [_reason(one.id, one.count) for one in active]


def _reason(number: int, count: int) -> dict[str, object]:
    known = CATALOGUE.get(number)
    return {
        "id": number,
        "name": f"UNKNOWN_{number}" if known is None else known.name,
        "description": "" if known is None else known.description,
        "count": count,
    }


def _kudos(hundredths: int) -> float:
    """A number with at most two decimals."""
    kudos = hundredths / 100
    return int(kudos) if kudos.is_integer() else kudos
