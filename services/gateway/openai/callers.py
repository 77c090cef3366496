"""Whose key a call to /v1 carries, and how its repeats are told apart from other calls."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from uuid import UUID, uuid5

from starlette.types import Scope

from horde.contract.api_keys import ANONYMOUS_KEY
from services.gateway.caller import UNKNOWN_AGENT, Caller, caller_of
from services.gateway.openai.errors import FrontError, invalid

AGENT = "openai-front:1:chat-horde"
"""What the horde sees of a client that does not name itself as horde clients do."""

_OPERATIONS = UUID("6f1c1f2e-8d0b-5c57-9a34-3d6a0a4c7e11")
"""The namespace of operation keys made from an `Idempotency-Key`. It never changes: a retry has to find its request."""

_LONGEST_IDEMPOTENCY_KEY = 255

_SHARE = 10.0
"""Seconds before a client's own time-out at which a plain call is answered: its SDK would send it again."""


@dataclass(frozen=True, slots=True)
class FrontCaller:
    """One caller of /v1, and what its SDK tells of itself."""

    caller: Caller
    idempotency_key: str | None
    is_sdk: bool
    is_retry: bool
    # Seconds after which the client gives up; None when it does not say.
    patience: float | None

    @property
    def subject(self) -> bytes:
        """Whose calls are the same person's. The anonymous key is everybody's, so there the address counts too."""
        key = self.caller.api_key or ""
        place = self.caller.remote_address if key == ANONYMOUS_KEY else ""
        return hashlib.sha256(f"{key}\0{place}".encode()).digest()

    @property
    def comes_back(self) -> bool:
        """Whether a repeat of this call may be expected when its connection breaks."""
        return self.is_sdk or self.idempotency_key is not None

    def fingerprint(self, body: bytes) -> bytes:
        """Equal for two calls of one caller with one body."""
        return hashlib.sha256(self.subject + body).digest()

    def operation_key(self, named: UUID | None) -> UUID | None:
        """The operation key of the call; `named`: the body's own. Raises FrontError when the two disagree.

        Made from the API key rather than from the account's id, which would cost a call to look up; admission keeps
        keys of different accounts apart in any case.
        """
        if self.idempotency_key is None:
            return named
        made = uuid5(_OPERATIONS, f"{self.subject.hex()}\0{self.idempotency_key}")
        if named is not None and named != made:
            message = "The header Idempotency-Key and horde.operation_key name different operations; send one of them."
            raise invalid("conflicting_parameters", message, "horde.operation_key")
        return made

    def budget(self, most: float, *, stream: bool) -> float:
        """Seconds the call may take: less than its client waits, for a plain one. `most` bounds both."""
        if stream or self.patience is None:
            return most
        return min(most, self.patience - _SHARE if self.patience > 2 * _SHARE else self.patience / 2)


def front_caller(scope: Scope, trusted_hops: int) -> FrontCaller:
    """Reads the headers. The key stands in `Authorization: Bearer`, `apikey` or `api-key`.

    Raises FrontError for an `Idempotency-Key` that is none.
    """
    told = {name: value.decode("latin-1").strip() for name, value in scope["headers"]}
    caller = caller_of(scope, trusted_hops)
    scheme, _, token = told.get(b"authorization", "").partition(" ")
    key = (token.strip() if scheme.lower() == "bearer" else "") or caller.api_key or told.get(b"api-key")
    agent = AGENT if caller.client_agent == UNKNOWN_AGENT else caller.client_agent
    return FrontCaller(
        caller=replace(caller, api_key=key or None, client_agent=agent),
        idempotency_key=_idempotency_key(told),
        is_sdk=any(name.startswith(b"x-stainless-") for name in told),
        is_retry=told.get(b"x-stainless-retry-count", "0") not in {"", "0"},
        patience=_seconds(told.get(b"x-stainless-read-timeout")) or _seconds(told.get(b"x-stainless-timeout")),
    )


def missing_key() -> FrontError:
    """The answer to a call without a key. There is no silent anonymous account."""
    message = (
        "You didn't provide an API key. Send it as 'Authorization: Bearer YOUR_KEY'; "
        f"the anonymous key of this horde is {ANONYMOUS_KEY}."
    )
    return FrontError(401, "invalid_request_error", "invalid_api_key", message)


def _idempotency_key(told: Mapping[bytes, str]) -> str | None:
    key = told.get(b"idempotency-key")
    if key is None:
        return None
    if not (0 < len(key) <= _LONGEST_IDEMPOTENCY_KEY and key.isascii() and key.isprintable()):
        message = f"Idempotency-Key has to be 1 to {_LONGEST_IDEMPOTENCY_KEY} printable ASCII characters."
        raise invalid("invalid_idempotency_key", message, None)
    return key


def _seconds(text: str | None) -> float | None:
    """A header's positive number of seconds; None for anything else."""
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if 0 < seconds < float("inf") else None
