"""The admission process: the only place that reads the environment and opens stores and channels."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

from horde.clock import Clock, SystemClock
from horde.contract.api_keys import ANONYMOUS_KEY, hash_api_key
from horde.reference import ReferenceSource
from horde.rpc.loops import Loop
from horde.rpc.server import Service, run, serve
from horde.settings import load
from horde.store import Store
from horde.telemetry import logs
from services.admission import repo
from services.admission.clearing import Clearing
from services.admission.deps import Deps
from services.admission.events import Events
from services.admission.loops import ledger_proof, measure_kudos, monthly_kudos, promotion
from services.admission.neighbours import Neighbours
from services.admission.servicer import add_to
from services.admission.settings import AdmissionSettings
from services.admission.snapshots import Loads, Passkeys, Policy, Standings
from services.admission.telling import Telling

_REFRESH = timedelta(seconds=5)
"""How often the snapshots are refreshed. base-domain 1.6."""

_POLICY = timedelta(seconds=1)
"""A moderator who writes the first filter expects the next prompt to be judged by it."""

_LAST_SECONDS = 0.5
"""Seconds that work after an answer gets once the last call has ended: half of what the drain leaves for closing."""

_PROTO_NAME = "horde_pb.admission.v1.AdmissionService"


@asynccontextmanager
async def opened(settings: AdmissionSettings, clock: Clock) -> AsyncIterator[Deps]:
    """Everything the handlers need, opened; the schema is checked and the anonymous account is there.

    Raises StartError for a database that is away or of another version.
    """
    async with Store.open(settings, application_name="horde-admission") as store:
        await store.check_schema()
        await repo.ensure_anonymous(store, hash_api_key(settings.secret_key, ANONYMOUS_KEY))
        neighbours = Neighbours(settings)
        telling, clearing = Telling(store), Clearing(neighbours.media)
        try:
            yield Deps(
                store=store,
                moderation=neighbours.moderation,
                media=neighbours.media,
                clock=clock,
                settings=settings,
                events=Events(),
                reference=ReferenceSource(settings),
                passkeys=Passkeys(store),
                policy=Policy(neighbours.moderation),
                standings=Standings(neighbours.moderation, clock),
                loads=Loads(store, clock),
                telling=telling,
                clearing=clearing,
            )
        finally:
            await asyncio.gather(telling.drain(_LAST_SECONDS), clearing.drain(_LAST_SECONDS))
            await neighbours.close()


def loops(deps: Deps) -> list[Loop]:
    """What runs besides the calls. Nobody is promoted while no threshold is set."""
    threshold = deps.settings.trust_threshold
    monthly = monthly_kudos.MonthlyKudos(deps.store, deps.events, deps.clock)
    standing = [
        Loop("passkeys", _REFRESH, deps.passkeys.refresh),
        Loop("policy", _POLICY, deps.policy.refresh),
        Loop("monthly_kudos", monthly_kudos.EVERY, monthly.run),
        Loop("prove_ledger", ledger_proof.EVERY, ledger_proof.LedgerProof(deps.store, deps.events).run),
        Loop("measure_kudos", measure_kudos.EVERY, partial(measure_kudos.measure_kudos, deps.store, deps.events)),
        deps.reference.loop(),
    ]
    if threshold is None:
        return standing
    promoting = promotion.Promotion(deps.store, deps.events, threshold)
    return [*standing, Loop("promotion", promotion.EVERY, promoting.run)]


async def _serve() -> None:
    settings = load(AdmissionSettings)
    logs.configure(settings, "admission")
    async with opened(settings, SystemClock()) as deps:
        await deps.reference.load()  # before the first submission: until then every model would be unknown
        service = Service("admission", partial(add_to, deps=deps), _PROTO_NAME)
        await serve(service, settings, ready={"postgres": deps.store.ping}, loops=loops(deps))


def main() -> int:
    """Runs the service; gives its exit code."""
    return run(_serve())


if __name__ == "__main__":
    raise SystemExit(main())
