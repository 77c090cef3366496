"""`horde worker run`: the reference worker, which serves chat jobs from any OpenAI-compatible server.

It declares only what its backend proves or its operator vouches for, and it keeps every rule of the worker's side of
the chat reference, so it is also the example to read before writing another one.
"""

from horde.cli.worker.command import app

__all__ = ["app"]
