"""What follows a worker's report: its count, and the alert once there are too many of an account or an address."""

from horde.live import LiveUnavailable
from services.moderation import reports_repo
from services.moderation.deps import Deps
from services.moderation.rules.evidence import Evidence, WorkerReport
from services.moderation.rules.problem_jobs import Level, exceeded, mute_of, notice


async def alert(report: WorkerReport, evidence: Evidence, event_id: int | None, deps: Deps) -> None:
    """Tells moderators, at most once for a report. Whatever goes wrong, the report is counted; the type is logged."""
    try:
        counts = await reports_repo.problem_job_counts(deps.store, evidence)
        account = await reports_repo.account(deps.store, evidence.account_id)
        anonymous = account is not None and account.anonymous
        alias = account.alias if account is not None else f"account {evidence.account_id}"
        for level in exceeded(counts, anonymous=anonymous, has_subject=evidence.address is not None):
            count = getattr(counts, level.counted)
            text = notice(
                level,
                count,
                report,
                evidence,
                alias=alias,
                event_id=event_id,
                frontpage_url=deps.settings.moderation_frontpage_url,
            )
            if await _tell(level, text, evidence, deps):
                return
    except Exception as error:  # noqa: BLE001 - an alert that fails must not take the report with it
        deps.events.alert_failed(error)


async def _tell(level: Level, text: str, evidence: Evidence, deps: Deps) -> bool:
    """Whether this level was not muted, and so had its try. Only a message that was taken mutes the next ones."""
    subject = mute_of(level, evidence)
    try:
        if not await deps.mutes.claim(subject):
            return False
        if await deps.discord.tell(text):
            await deps.mutes.told(subject, level.period)
            deps.events.alerted(level.counted)
        else:
            await deps.mutes.release(subject)
    except LiveUnavailable as away:
        # Without the mutes every report would be a message.
        deps.events.alert_failed(away)
    return True
