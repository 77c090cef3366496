"""NUL (U+0000): JSON may hold it, PostgreSQL text may not. base-domain 1.2, decision 14."""

from horde.contract import reasons
from horde.contract.refusal import Refusal

NUL = b"\\u0000"
"""How a body spells it. An escaped backslash before it is harmless, so only a body with these bytes is walked."""


def refuse_nul(value: object, path: str) -> None:
    """Raises Refusal(NulByteInPayload) with the path of the first string or key that holds one."""
    if isinstance(value, str):
        if "\0" in value:
            raise Refusal(reasons.NUL_BYTE_IN_PAYLOAD, f"{path}: NUL (U+0000) cannot be stored.", {"param": path})
    elif isinstance(value, dict):
        for key, inner in value.items():
            refuse_nul(key, f"{path}.{key}".replace("\0", "").lstrip("."))
            refuse_nul(inner, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list | tuple):
        for position, inner in enumerate(value):
            refuse_nul(inner, f"{path}[{position}]")
