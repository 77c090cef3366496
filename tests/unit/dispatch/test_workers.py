import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from horde.contract.refusal import Refusal
from services.dispatch.rules.declaration import PopAsk, read_declaration
from services.dispatch.rules.workers import (
    Account,
    CheckIn,
    OwnedWorkers,
    Worker,
    check_in,
    newborn,
    refuse_foreign_models,
    refuse_new_worker,
    uptime_reward,
)

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
OWNER = Account(7, "hash", trusted=False, flagged=False, deleted=False, worker_invited=0, invite_only=False)
DECLARED = read_declaration(PopAsk("key", "", "w", ["m"], "TabbyAPI:1:url", max_context_length=8192))
OLD = replace(newborn(uuid.uuid4(), OWNER, DECLARED, NOW), created=NOW - timedelta(days=1))


def due(worker: Worker, seconds: float) -> CheckIn | None:
    return check_in(
        worker,
        DECLARED,
        NOW + timedelta(seconds=seconds),
        every=timedelta(seconds=30),
        online=timedelta(seconds=300),
        multiplier=13.0,
    )


def test_nothing_is_due_within_thirty_seconds() -> None:
    assert due(OLD, 29.9) is None
    assert due(OLD, 30) == CheckIn(30, 0, 0)


def test_a_worker_that_was_just_created_checks_in_every_time() -> None:
    assert due(replace(OLD, created=NOW), 5) == CheckIn(5, 0, 0)


@pytest.mark.parametrize("idle", [replace(OLD, paused=True), replace(OLD, maintenance=True)])
def test_a_worker_that_may_not_work_gathers_no_uptime(idle: Worker) -> None:
    assert due(replace(idle, uptime=500, last_reward_uptime=100), 40) == CheckIn(500, 500, 0)


def test_more_than_ten_minutes_are_rewarded() -> None:
    assert due(replace(OLD, uptime=570), 30) == CheckIn(600, 0, 0)
    assert due(replace(OLD, uptime=571), 30) == CheckIn(601, 601, 26929)


def test_the_reward_is_the_reference_s_example() -> None:
    assert uptime_reward(DECLARED, 13.0) == 26929
    assert uptime_reward(replace(DECLARED, validated_backend=False), 13.0) == 8079
    assert uptime_reward(DECLARED, None) == 7250
    assert uptime_reward(DECLARED, 0.5) == 3625


@pytest.mark.parametrize(
    ("account", "owned", "reason"),
    [
        (OWNER, OwnedWorkers(3, 0), "TooManyWorkers"),
        (replace(OWNER, trusted=True), OwnedWorkers(20, 0), "TooManyWorkersTrusted"),
        (replace(OWNER, invite_only=True), OwnedWorkers(0, 0), "WorkerInviteOnly"),
        (replace(OWNER, invite_only=True, worker_invited=2), OwnedWorkers(2, 0), "WorkerInviteOnly"),
    ],
)
def test_one_worker_too_many_is_refused(account: Account, owned: OwnedWorkers, reason: str) -> None:
    with pytest.raises(Refusal) as refused:
        refuse_new_worker(account, "w", "TabbyAPI:1:url", owned)
    assert refused.value.reason.key == reason


@pytest.mark.parametrize(
    ("account", "owned"),
    [
        (OWNER, OwnedWorkers(2, 2)),
        (replace(OWNER, trusted=True), OwnedWorkers(19, 19)),
        (replace(OWNER, trusted=True, worker_invited=30), OwnedWorkers(29, 29)),
        (replace(OWNER, invite_only=True, worker_invited=1), OwnedWorkers(0, 0)),
    ],
)
def test_the_last_worker_within_the_limit_is_let_in(account: Account, owned: OwnedWorkers) -> None:
    refuse_new_worker(account, "w", "TabbyAPI:1:url", owned)


def test_a_hosted_model_is_its_host_s_alone() -> None:
    refuse_foreign_models(OWNER, ("m", "m::me#7"))
    with pytest.raises(Refusal, match="somebody else"):
        refuse_foreign_models(OWNER, ("m::you#77",))
