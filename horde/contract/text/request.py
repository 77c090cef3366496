"""A parsed text request: what the client asked for, checked in itself, nothing yet looked up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from horde.contract import limits

type TextFit = Literal["ignore", "reject", "grow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRequest:
    """One text request. Defaults are those of base-domain 3.1 and 3.2."""

    prompt: str
    # The sampling values that were sent, without `n` and the lengths.
    sampling: Mapping[str, Any]
    # Generations asked for: `params.n`.
    jobs: int = 1
    max_length: int = limits.DEFAULT_TEXT_MAX_LENGTH
    max_context_length: int = limits.DEFAULT_CONTEXT_LENGTH
    # Empty: any model.
    models: tuple[str, ...] = ()
    # Every worker the client named; each of them has to exist.
    named_workers: tuple[str, ...] = ()
    worker_blacklist: bool = False
    trusted_workers: bool = False
    validated_backends: bool = False
    slow_workers: bool = True
    softprompt: str | None = None
    webhook: str | None = None
    proxied_account: str | None = None
    style: str | None = None
    has_template_fields: bool = False
    extra_source_images: int = 0
    disable_batching: bool = False
    allow_downgrade: bool = False
    dry_run: bool = False
    context_fit: TextFit = "ignore"

    @property
    def workers(self) -> tuple[str, ...]:
        """The worker ids that count: the first few (decision 11)."""
        return self.named_workers[: limits.MAX_WORKER_LIST]
