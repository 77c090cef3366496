"""The first step of a pop: who the worker is, and what is written of what it says. Order of checks: base-domain 4.2."""

import uuid
from dataclasses import replace
from datetime import datetime, timedelta

from horde.store import UniqueViolation
from services.dispatch.deps import Deps
from services.dispatch.events import durations
from services.dispatch.pop import vetting
from services.dispatch.pop.meeting import Met
from services.dispatch.repo import reports
from services.dispatch.repo import workers as repo
from services.dispatch.rules import suspicions
from services.dispatch.rules import workers as rules
from services.dispatch.rules.declaration import Declaration, PopAsk
from services.dispatch.rules.workers import Account, Worker


class Replaced(Exception):
    """The worker declared something else while this pop waited, and what a worker said last is what holds."""


@durations.check_in
async def check_in(
    met: Met, ask: PopAsk, declared: Declaration, deps: Deps, now: datetime, *, has_waited: bool
) -> Worker:
    """The worker as it is from now on. Raises Refusal, or Replaced; then nothing was written."""
    account, worker = met.account, met.worker
    if has_waited and worker is not None and worker.chat != declared.chat:
        raise Replaced
    rules.refuse_account(account)
    rules.refuse_foreign_models(account, declared.models)
    is_unsafe = await vetting.refuse_address(ask.address, account, deps)
    if worker is None:
        worker = await _registered(account, ask, declared, deps, now)
    rules.refuse_stranger(account, worker)
    if is_unsafe:
        await vetting.suspect_address(worker, deps)
    return await _checked_in(worker, ask, declared, deps, now)


async def _registered(account: Account, ask: PopAsk, declared: Declaration, deps: Deps, now: datetime) -> Worker:
    """A new worker; or the one that took the name a moment ago."""
    worker_id = uuid.uuid4()
    try:
        async with deps.store.transaction() as unit:
            owned = await repo.count_owned(unit, account.id, ask.address)
            rules.refuse_new_worker(account, declared.name, declared.bridge_agent, owned)
            await repo.register(unit, worker_id, account.id, ask.address, declared, now)
            for reason in suspicions.by_name(ask.name.strip()):
                await reports.suspect_worker(unit, worker_id, reason, now)
    except UniqueViolation:
        popper = await repo.read_popper(deps.store, account.api_key_hash, declared.name)
        if popper is None or popper[1] is None:
            raise
        return popper[1]
    return rules.newborn(worker_id, account, declared, now)


async def _checked_in(worker: Worker, ask: PopAsk, declared: Declaration, deps: Deps, now: datetime) -> Worker:
    """Writes what is due: everything now and then, the chat declaration whenever it changed, mostly nothing."""
    settings = deps.settings
    if worker.last_check_in == now:
        return worker
    due = rules.check_in(
        worker,
        declared,
        now,
        every=timedelta(seconds=settings.worker_check_in_seconds),
        online=timedelta(seconds=settings.worker_online_seconds),
        multiplier=deps.reference.current.multiplier(declared.models[0]),
    )
    if due is not None:
        await repo.write_check_in(deps.store, worker, ask.address, declared, now, due)
    elif declared.chat != worker.chat:
        await repo.write_chat_declaration(deps.store, worker, declared.chat)
    return replace(worker, chat=declared.chat)
