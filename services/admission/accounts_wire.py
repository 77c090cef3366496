"""Accounts: proto to domain and back."""

from collections.abc import Iterable
from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp

from horde.contract.suspicions import USER_SUSPICION_THRESHOLD
from horde_pb.admission.v1 import account_details_pb2 as pb
from horde_pb.admission.v1 import accounts_service_pb2 as service_pb
from horde_pb.admission.v1 import shared_keys_pb2 as keys_pb
from services.admission.rules.account_changes import Change
from services.admission.rules.accounts import (
    AccountOfTest,
    Described,
    Privilege,
    Promotion,
    Promotions,
    Role,
    Shown,
    Usage,
)
from services.admission.rules.shared_keys import KeyChange, KeyLoad, KnownKey

_RECORD_TYPES = {"0": "contribution", "1": "usage", "3": "fulfillment", "4": "request", "5": "style"}
"""base-domain 2.10."""

_CHANGES = (
    "monthly_kudos",
    "usage_multiplier",
    "moderator",
    "concurrency",
    "worker_invited",
    "trusted",
    "flagged",
    "customizer",
    "vpn",
    "service",
    "education",
    "special",
    "reset_suspicion",
    "admin_comment",
    "public_workers",
    "username",
    "contact",
    "generate_proxy_passkey",
    "undelete",
)
"""Fields of a change that proto and domain name and type alike."""

_KEY_CHANGES = ("name", "expiry_days", "max_image_pixels", "max_image_steps", "max_text_tokens")


def shown(one: Shown, now: datetime) -> pb.AccountDetails:
    """An account, as much of it as may be told."""
    account = one.account
    is_private = one.privilege > Privilege.PUBLIC
    told = pb.AccountDetails(
        id=account.id,
        username=account.alias,
        kudos_hundredths=account.kudos,
        kudos_details=account.stats,
        records=_records(account),
        concurrency=account.concurrency,
        worker_invited=account.worker_invited,
        moderator=Role.MODERATOR in account.roles,
        trusted=Role.TRUSTED in account.roles,
        flagged=Role.FLAGGED in account.roles,
        pseudonymous=account.pseudonymous,
        service=Role.SERVICE in account.roles,
        deleted=Role.DELETED in account.roles,
        education=Role.EDUCATION in account.roles,
        customizer=Role.CUSTOMIZER in account.roles,
        account_age_seconds=max(int((now - account.created).total_seconds()), 0),
        worker_count=account.workers,
        public_workers=account.public_workers,
        worker_ids=[str(worker) for worker in account.worker_ids] if is_private or account.public_workers else [],
        created=stamp(account.created),
        anonymous=account.anonymous,
    )
    if is_private:
        told.own.CopyFrom(_own(one))
    if one.privilege is Privilege.MODERATOR:
        told.file.CopyFrom(_file(account))
    return told


def _records(account: Described) -> dict[str, float]:
    named = ((key.partition("."), value) for key, value in account.records.items())
    return {f"{_RECORD_TYPES[kind]}.{record}": value for (kind, _, record), value in named if kind in _RECORD_TYPES}


def _own(one: Shown) -> pb.PrivateDetails:
    account = one.account
    return pb.PrivateDetails(
        sharedkey_ids=[str(key) for key in account.sharedkeys],
        contact=account.contact,
        vpn=Role.VPN in account.roles,
        special=Role.SPECIAL in account.roles,
        active_text_requests=[str(request) for request in one.active],
    )


def _file(account: Described) -> pb.ModeratorDetails:
    received = account.monthly_kudos_last_received
    return pb.ModeratorDetails(
        evaluating_hundredths=account.evaluating_kudos,
        monthly_kudos=account.monthly_kudos,
        monthly_kudos_last_received=None if received is None else stamp(received),
        suspicious=account.suspicion_count,
        admin_comment=account.admin_comment,
        proxy_passkey=account.proxy_passkey,
    )


def change(request: pb.UpdateAccountRequest) -> Change:
    """What somebody wants changed."""
    given = {field.name: value for field, value in request.ListFields()}
    return Change(
        kudos=given.get("kudos_hundredths"),
        **{name: getattr(request, name) for name in _CHANGES if name in given},
    )


def changed(values: dict[str, object]) -> pb.UpdateAccountResponse:
    """The changed values alone."""
    renamed = {"new_kudos": "new_kudos_hundredths"}
    told = pb.UpdateAccountResponse()
    for name, value in values.items():
        setattr(told, renamed.get(name, name), value)
    return told


def key_change(told: keys_pb.SharedKeyChange) -> KeyChange:
    """What a key is to be."""
    given = {field.name for field, _ in told.ListFields()}
    return KeyChange(
        kudos=told.kudos_hundredths if "kudos_hundredths" in given else None,
        **{name: getattr(told, name) for name in _KEY_CHANGES if name in given},
    )


def shared_key(key: KnownKey, load: KeyLoad | None = None) -> keys_pb.SharedKeyDetails:
    """A key; with its outstanding work for its owner."""
    told = keys_pb.SharedKeyDetails(
        id=str(key.id),
        username=key.username,
        name=key.name,
        kudos_hundredths=key.kudos,
        expiry=None if key.expiry is None else stamp(key.expiry),
        utilized_hundredths=key.utilized,
        max_image_pixels=key.max_image_pixels,
        max_image_steps=key.max_image_steps,
        max_text_tokens=key.max_text_tokens,
    )
    if load is not None:
        told.active_text.CopyFrom(
            keys_pb.ActiveUsage(
                requests=load.requests,
                queued=load.queued,
                processing=load.processing,
                finished=load.finished,
                oldest_queued_age_seconds=load.oldest_queued_seconds,
            )
        )
    return told


def usage(days: Iterable[Usage]) -> service_pb.GetUsageResponse:
    """What requests cost."""
    told = service_pb.GetUsageResponse()
    told.days.extend(
        service_pb.UsageOfDay(
            day=one.day,
            model=one.model,
            shared_key=None if one.sharedkey is None else str(one.sharedkey),
            requests=one.requests,
            generations=one.generations,
            tokens=one.tokens,
            kudos_hundredths=one.kudos,
        )
        for one in days
    )
    return told


def test_account(request: service_pb.MakeTestAccountRequest) -> AccountOfTest:
    """What a test's account is to be."""
    return AccountOfTest(
        username=request.username,
        oauth_id=request.oauth_id,
        moderator=request.moderator,
        trusted=request.trusted,
        kudos=request.kudos_hundredths,
    )


def promotions(known: Promotions) -> service_pb.ListPromotionsResponse:
    """Both queues."""
    told = service_pb.ListPromotionsResponse(
        threshold_hundredths=known.threshold, suspicion_threshold=USER_SUSPICION_THRESHOLD
    )
    told.blocked.extend(_promotion(one) for one in known.blocked)
    told.eligible.extend(_promotion(one) for one in known.eligible)
    return told


def _promotion(one: Promotion) -> pb.PromotionRow:
    return pb.PromotionRow(
        user_id=one.id,
        username=one.alias,
        created=stamp(one.created),
        last_active=stamp(one.last_active),
        account_age_seconds=one.age_seconds,
        kudos_hundredths=one.kudos,
        evaluating_hundredths=one.evaluating_kudos,
        worker_count=one.workers,
        workers_online=one.online,
        workers_paused=one.paused,
        worker_kudos_hundredths=one.worker_kudos,
        contributions=one.contributions,
        fulfilments=one.fulfilments,
        flagged=Role.FLAGGED in one.roles,
        deleted=Role.DELETED in one.roles,
        vpn=Role.VPN in one.roles,
        suspicions=[pb.ActiveSuspicion(id=number, count=count) for number, count in one.suspicions],
        contact=one.contact,
        admin_comment=one.admin_comment,
    )


def stamp(moment: datetime) -> Timestamp:
    """A moment on the wire."""
    made = Timestamp()
    made.FromDatetime(moment)
    return made
