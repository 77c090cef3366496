"""Whether a worker may pop from its address: not from one in timeout, and not from a VPN. base-domain 7.3."""

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.dispatch.deps import Deps
from services.dispatch.repo import reports
from services.dispatch.repo import workers as repo
from services.dispatch.rules.suspicions import Reason, Suspicion
from services.dispatch.rules.workers import Account, Worker

_SUSPECTED_SECONDS = 6 * 3600.0
"""The suspicion counts once for a worker; it need not be written again at every pop."""


async def refuse_address(address: str, account: Account, deps: Deps) -> bool:
    """True for a VPN's address that pops all the same, because in raid mode nobody is told.

    Raises Refusal: TimeoutIP, TooManyNewIPs, UnsafeIP.
    """
    await deps.addresses.refuse_timeout(address)
    if account.trusted:
        return False
    verdict = await deps.vpn.judge(address, now=deps.clock.monotonic())
    if verdict == "safe":
        return False
    may_use_vpn, raid = await repo.read_vpn_standing(deps.store, account.id)
    if may_use_vpn:
        return False
    if verdict == "unknown":
        raise Refusal(reasons.TOO_MANY_NEW_IPS, "Too many new addresses have to be checked now; try again later.")
    if not raid:
        raise Refusal(
            reasons.UNSAFE_IP,
            "Workers of accounts that are not trusted may not connect through a VPN; ask a moderator.",
        )
    return True


async def suspect_address(worker: Worker, deps: Deps) -> None:
    """The worker pops from a VPN."""
    now = deps.clock.monotonic()
    key = "unsafe address", worker.id
    if deps.memory.get(key, now=now) is None:
        reason = Reason(Suspicion.UNSAFE_IP, "The worker connects from an address that looks like a VPN.")
        await reports.suspect_worker(deps.store, worker.id, reason, deps.clock.now())
        deps.memory.put(key, reason, _SUSPECTED_SECONDS, now=now)
