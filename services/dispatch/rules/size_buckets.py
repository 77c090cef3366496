"""The sizes that metrics tell apart. Chat reference, Job lease."""

_BOUNDS = ((512, "<=512"), (1024, "513-1024"), (2048, "1025-2048"), (4096, "2049-4096"))


def size_bucket(max_length: int) -> str:
    """The label of a `max_length`."""
    return next((label for bound, label in _BOUNDS if max_length <= bound), ">4096")
