"""RecordWorkerReport: write down what a worker reported of a job, count it, and tell moderators when there are many."""

from dataclasses import dataclass

from horde.failures import Outage
from services.moderation import problem_jobs, repo, reports_repo
from services.moderation.deps import Deps
from services.moderation.rules.evidence import Evidence, WorkerReport, capture_report


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a report. `event_id` None: the evidence could not be written."""

    event_id: int | None
    problem_job: bool


async def record_worker_report(report: WorkerReport, deps: Deps) -> Recorded:
    """The event of the job, and whether this call counted it. A repeat writes nothing.

    Raises StoreUnavailable: the caller keeps the report and sends it again.
    """
    evidence = capture_report(report, secret=deps.settings.secret_key)
    event_id = await _record(evidence, deps)
    if await _is_exempt(report.account_id, deps):
        return Recorded(event_id, problem_job=False)  # its jobs must not count against an address it shares
    is_new = await reports_repo.add_problem_job(deps.store, evidence)
    if is_new:
        deps.keep_going(problem_jobs.alert(report, evidence, event_id, deps))
    return Recorded(event_id, problem_job=is_new)


async def _is_exempt(account_id: int, deps: Deps) -> bool:
    """Administrators and the accounts of the setting raise no alert (moderation.md 0.2)."""
    if account_id in deps.settings.problem_job_alert_exempt_user_ids:
        return True
    account = await reports_repo.account(deps.store, account_id) if deps.settings.admins else None
    return account is not None and account.alias in deps.settings.admins


async def _record(evidence: Evidence, deps: Deps) -> int | None:
    try:
        event_id, is_new = await repo.add_event(deps.store, evidence)
    except Outage:
        raise
    except Exception as error:  # noqa: BLE001 - an error that escaped would quote the prompt in the log
        deps.events.capture_failed(error)
        return None
    if is_new:
        deps.events.captured(evidence.reason, event_id, text_state=evidence.stages.state)
    return event_id
