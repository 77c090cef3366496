"""The text model reference: which models are known, how big they are, which are marked NSFW. base-domain 6.2."""

import re
from collections.abc import Iterable, Mapping

from horde.contract import limits

_QUANTISATION = re.compile(r"[.,-][0-9A-Za-z]+-?Q(?:-?[Ii]nt)?[2-9]{1,2}(?:[_.-][0-9A-Za-z]+)*")
_BILLION = 1_000_000_000
_MODEL_AND_ALIAS = 2


class ModelReference:
    """A snapshot of the reference: names to sizes."""

    def __init__(self, entries: Mapping[str, Mapping[str, object]]) -> None:
        self._parameters: dict[str, float] = {}
        self._nsfw: set[str] = set()
        for name, entry in entries.items():
            parameters = entry.get("parameters")
            self._parameters[name] = (
                int(parameters) / _BILLION if isinstance(parameters, int | float | str) and parameters else 1.0
            )
            if entry.get("nsfw"):
                self._nsfw.add(name)

    def __len__(self) -> int:
        return len(self._parameters)

    def _listed_name(self, model: str) -> str | None:
        parts = model.split("::")
        name = parts[0] if len(parts) == _MODEL_AND_ALIAS else model
        if name in self._parameters:
            return name
        bare = _QUANTISATION.sub("", name)
        return bare if bare in self._parameters else None

    def is_known(self, model: str) -> bool:
        """Whether the reference lists the model, quantisation and alias aside, under a name that a worker can have."""
        return len(model) <= limits.MAX_MODEL_LENGTH and self._listed_name(model) is not None

    def multiplier(self, model: str) -> float | None:
        """Billions of parameters; None when the model is unknown."""
        name = self._listed_name(model)
        return None if name is None else self._parameters[name]

    def any_nsfw(self, models: Iterable[str]) -> bool:
        """Whether one of the models is marked NSFW."""
        return any(self._listed_name(model) in self._nsfw for model in models)


def multiplier_or_one(reference: ModelReference, model: str) -> float:
    """The multiplier that holds and speed rules use: 1 for an unknown model."""
    known = reference.multiplier(model)
    return 1.0 if known is None else known
