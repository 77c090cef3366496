"""What a refused prompt costs the address that it came from. moderation.md A6, base-domain 7.2 and 8.3.

Nothing here changes the refusal: when Redis is away, the address stays in, and that is counted.
"""

from horde.contract.ip_subject import ip_subject, ip_subject_key
from horde.live import LiveUnavailable
from services.moderation import standings
from services.moderation.deps import Deps
from services.moderation.rules import notices
from services.moderation.rules.evidence import Path
from services.moderation.rules.screening import PromptAsk, Proxy
from services.moderation.rules.timeouts import (
    NO_LIMIT,
    SERVICE_ADDRESS,
    Leniency,
    model_rejection_times_out,
    proxy_earns_notice,
)


async def answer_rejection(path: Path, ask: PromptAsk, event_id: int | None, deps: Deps) -> None:
    """Moderators probe the filters on purpose: theirs cost nothing and are not counted."""
    if ask.moderator:
        return
    subject = ip_subject(ask.address)
    if subject is not None:
        leniency = _leniency(ask.address, deps)
        if path is Path.FILTER:
            await _put_out(subject, leniency, path, deps)
        else:
            await _answer_model_rejection(subject, leniency, event_id, deps)
    if ask.proxy is not None:
        await _count_proxied(ask.proxy, deps)


def _leniency(address: str, deps: Deps) -> Leniency:
    services = {ip_subject(one) for one in deps.settings.rate_limit_whitelist}
    return SERVICE_ADDRESS if ip_subject(address) in services else NO_LIMIT


async def _put_out(subject: str, leniency: Leniency, path: Path, deps: Deps) -> int:
    """Whole seconds for which the subject is out now; 0 when Redis did not take it."""
    try:
        length = await standings.report_suspicion(subject, leniency, deps)
    except LiveUnavailable as away:
        deps.events.countermeasure_failed(away)
        return 0
    deps.events.timed_out(path, length)
    return int(length.total_seconds())


async def _answer_model_rejection(subject: str, leniency: Leniency, event_id: int | None, deps: Deps) -> None:
    raid = await _is_raid(deps)
    try:
        count = await deps.addresses.count_model_rejection(subject)
    except LiveUnavailable as away:
        deps.events.countermeasure_failed(away)
        count = 0
    if not model_rejection_times_out(count, threshold=deps.settings.model_rejection_timeout_threshold, raid=raid):
        return
    seconds = await _put_out(subject, leniency, Path.MODEL, deps)
    if not seconds or not await _is_first_in_its_hour(subject, deps):
        return
    deps.events.first_model_timeout()
    notice = notices.model_timeout(
        ip_subject_key(subject, deps.settings.secret_key),
        count=count,
        minutes=seconds // 60,
        event_id=event_id,
        frontpage_url=deps.settings.moderation_frontpage_url,
    )
    # The refusal does not wait for Discord.
    deps.keep_going(deps.discord.tell(notice))


async def _is_first_in_its_hour(subject: str, deps: Deps) -> bool:
    try:
        return await deps.addresses.claim_model_rejection_notice(subject)
    except LiveUnavailable as away:
        deps.events.countermeasure_failed(away)
        return False


async def _is_raid(deps: Deps) -> bool:
    try:
        return (await deps.modes.get()).raid
    except Exception as error:  # noqa: BLE001 - without Postgres there is no raid mode, and the refusal stands
        deps.events.countermeasure_failed(error)
        return False


async def _count_proxied(proxy: Proxy, deps: Deps) -> None:
    """A service is never put out for its users; past some rejections moderators are told of it."""
    subject = ip_subject(proxy.address)
    if subject is None:
        return
    try:
        count = await deps.addresses.count_proxied_rejection(subject)
    except LiveUnavailable as away:
        deps.events.countermeasure_failed(away)
        return
    if proxy_earns_notice(count):
        deps.keep_going(deps.discord.tell(notices.proxy_suspicion(proxy.owner, count=count)))
