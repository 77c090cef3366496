"""ListProxyPasskeys: whose word counts for other addresses."""

import hashlib

from services.admission import repo
from services.admission.deps import Deps


async def list_proxy_passkeys(deps: Deps) -> list[bytes]:
    """The SHA-256 of every passkey that counts now: read afresh, since the caller keeps it for seconds itself."""
    return [hashlib.sha256(passkey.encode()).digest() for passkey in await repo.known_passkeys(deps.store)]
