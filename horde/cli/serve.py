"""`horde serve SERVICE`: one service from its settings, as a container starts it."""

import os
import runpy
from enum import StrEnum

import typer


class ServiceName(StrEnum):
    """The six services."""

    GATEWAY = "gateway"
    ADMISSION = "admission"
    DISPATCH = "dispatch"
    PROGRESS = "progress"
    MEDIA = "media"
    MODERATION = "moderation"


def serve(service: ServiceName) -> None:
    """Run one service until it is told to stop. Its settings come from the environment.

    The service is found by name at run time: this package may not import services.
    """
    # gRPC's C core reads this when it is loaded: its plain-text notes on closed connections don't belong in a JSON log
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    main = runpy.run_module(f"services.{service.value}", run_name=f"services.{service.value}.__main__")["main"]
    raise typer.Exit(main())
