"""How an API key is stored and named: what admission, dispatch and progress have to agree on."""

import hashlib

ANONYMOUS_KEY = "0000000000"
ANONYMOUS_ID = 0
"""The account of the anonymous key. base-domain 1.5."""


def hash_api_key(secret_key: str, api_key: str) -> str:
    """The stored form of a key: SHA-256 hex of the deployment's secret followed by the key."""
    return hashlib.sha256(f"{secret_key}{api_key}".encode("utf-8", "surrogatepass")).hexdigest()


def lease_key(stored_hash: str) -> str:
    """What a stream lease keeps of its owner's key: the SHA-256 hex of the stored hash, never the hash itself."""
    return hashlib.sha256(stored_hash.encode()).hexdigest()
