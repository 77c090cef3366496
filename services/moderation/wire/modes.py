"""GetModes and SetModes: between the proto and the words of the domain."""

from horde_pb.moderation.v1 import moderation_service_pb2 as pb
from services.moderation.rules.modes import Modes, ModesChange


def told(modes: Modes) -> pb.GetModesResponse:
    """What holds now."""
    return pb.GetModesResponse(maintenance=modes.maintenance, invite_only=modes.invite_only, raid=modes.raid)


def change(request: pb.SetModesRequest) -> ModesChange:
    """What is asked for."""
    return ModesChange(
        maintenance=request.maintenance if request.HasField("maintenance") else None,
        invite_only=request.invite_only if request.HasField("invite_only") else None,
        raid=request.raid if request.HasField("raid") else None,
    )


def changed(change: ModesChange) -> pb.SetModesResponse:
    """What was changed, and nothing else."""
    return pb.SetModesResponse(maintenance=change.maintenance, invite_only=change.invite_only, raid=change.raid)
