"""How a request that breaks its declared shape is refused (base-domain 1.2, decision 12)."""

from collections.abc import Mapping

from horde.contract import reasons
from horde.contract.refusal import Refusal

MESSAGE = "Input payload validation failed"


def invalid(errors: Mapping[str, str]) -> Refusal:
    """The refusal that holds a text for each path that is wrong."""
    return Refusal(reasons.VALIDATION_FAILED, MESSAGE, {"errors": dict(errors)})
