"""The first step of a pop: who the worker is, and what is written of what it says. Order of checks: base-domain 4.2."""

import uuid
from dataclasses import replace
from datetime import datetime, timedelta

from horde.contract import reasons
from horde.contract.api_keys import hash_api_key
from horde.contract.refusal import Refusal
from horde.store import UniqueViolation
from services.dispatch.deps import Deps
from services.dispatch.repo import workers as repo
from services.dispatch.rules import workers as rules
from services.dispatch.rules.declaration import Declaration, PopAsk
from services.dispatch.rules.workers import Account, Worker


async def check_in(ask: PopAsk, declared: Declaration, deps: Deps, now: datetime) -> tuple[Account, Worker]:
    """The account and its worker as it is from now on. Raises Refusal; then nothing was written."""
    account, worker = await _popper(ask, declared, deps)
    rules.refuse_account(account)
    rules.refuse_foreign_models(account, declared.models)
    await deps.addresses.refuse_timeout(ask.address)
    if worker is None:
        worker = await _registered(account, ask, declared, deps, now)
    rules.refuse_stranger(account, worker)
    return account, await _checked_in(worker, ask, declared, deps, now)


async def _popper(ask: PopAsk, declared: Declaration, deps: Deps) -> tuple[Account, Worker | None]:
    found = await repo.read_popper(deps.store, hash_api_key(deps.settings.secret_key, ask.api_key), declared.name)
    if found is None:
        raise Refusal(reasons.INVALID_API_KEY, "No account has this API key.")
    return found


async def _registered(account: Account, ask: PopAsk, declared: Declaration, deps: Deps, now: datetime) -> Worker:
    """A new worker; or the one that took the name a moment ago."""
    worker_id = uuid.uuid4()
    try:
        async with deps.store.transaction() as unit:
            owned = await repo.count_owned(unit, account.id, ask.address)
            rules.refuse_new_worker(account, declared.name, owned)
            await repo.register(unit, worker_id, account.id, ask.address, declared, now)
    except UniqueViolation:
        worker = (await _popper(ask, declared, deps))[1]
        if worker is None:
            raise
        return worker
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
