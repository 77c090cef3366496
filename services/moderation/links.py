"""Links to texts in the evidence store, as the listing needs them."""

from typing import Protocol


class EvidenceLinks(Protocol):
    """Signs links. Asks nobody over the network."""

    @property
    def is_configured(self) -> bool:
        """Whether there is an evidence store at all."""
        ...

    def link(self, event_id: int) -> str | None:
        """A link that is valid for ten minutes; None without a store."""
        ...


class NoLinks:
    """No evidence store is configured."""

    is_configured = False

    def link(self, event_id: int) -> str | None:
        """None: there is nothing to link to."""
        del event_id
        return None
