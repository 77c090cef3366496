"""The snapshots are refreshed. base-domain 1.6: passkeys every 5 seconds, on every replica."""

from datetime import timedelta

from horde.rpc.loops import Loop
from services.admission.snapshots import Passkeys, Policy

_EVERY = timedelta(seconds=5)


def refresh_loops(passkeys: Passkeys, policy: Policy) -> tuple[Loop, ...]:
    """One loop for each, so that moderation's absence does not age the passkeys."""
    return Loop("passkeys", _EVERY, passkeys.refresh), Loop("policy", _EVERY, policy.refresh)
