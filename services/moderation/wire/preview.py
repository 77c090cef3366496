"""Between the proto of the preview and the words of the domain."""

from horde_pb.moderation.v1 import retention_policy_pb2 as pb
from services.moderation.rules.preview import Preview


def windows(request: pb.PreviewRetentionRequest) -> tuple[str | None, str | None, str | None]:
    """The windows to try: text, address, ceiling; None: the one in force."""
    text = request.text_days if request.HasField("text_days") else None
    ipaddr = request.ipaddr_days if request.HasField("ipaddr_days") else None
    return text, ipaddr, request.ceiling_days if request.HasField("ceiling_days") else None


def preview(made: Preview, policy: pb.GetRetentionPolicyResponse) -> pb.PreviewRetentionResponse:
    """What would happen, and under which policy."""
    steps = [
        pb.PreviewStep(
            step=step.step,
            due_now=step.due_now,
            due_in_7_days=step.due_in_7_days,
            due_in_30_days=step.due_in_30_days,
            held_by_note=step.held_by_note,
            held_by_account_status=step.held_by_account_status,
            waiting_on_store=step.waiting_on_store,
        )
        for step in made.steps
    ]
    return pb.PreviewRetentionResponse(steps=steps, retention=policy)
