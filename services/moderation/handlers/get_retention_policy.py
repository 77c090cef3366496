"""GetRetentionPolicy: the windows in force, for the privacy document."""

from horde.contract.ip_subject import has_real_secret
from horde.contract.retention import RetentionPolicy
from services.moderation.deps import Deps


def get_retention_policy(deps: Deps) -> tuple[RetentionPolicy, bool]:
    """The policy that the pass and the listing use too, and whether addresses get pseudonyms."""
    return deps.settings.retention, has_real_secret(deps.settings.secret_key)
