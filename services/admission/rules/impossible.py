"""The refusal of a request that nobody online can serve.

Chat reference, Free output allowance and Impossible reason.
"""

from horde.contract import reasons
from horde.contract.refusal import Refusal
from services.admission.rules.facts import Availability


def unserved_warning(lifetime_seconds: int) -> str:
    """The 202's message. base-domain 3.3."""
    minutes = max(1, round(lifetime_seconds / 60))
    return (
        "No online worker can serve this request right now. It waits until one can, and expires in "
        f"{minutes} minutes when none does; asking for fewer tokens or fewer features may help."
    )


def nobody_can_serve(available: Availability) -> Refusal:
    """NoEligibleWorker; with the gap, when the workers' declarations are the cause."""
    if not available.gap:
        return Refusal(reasons.NO_ELIGIBLE_WORKER, "No online worker can serve this request.")
    clauses = []
    if available.missing:
        clauses.append(f"no online worker serving the model declares {', '.join(available.missing)}")
    if available.exceeded:
        noun = "limit" if len(available.exceeded) == 1 else "limits"
        clauses.append(
            f"the request exceeds the {', '.join(available.exceeded)} {noun} of every online worker serving the model"
        )
    return Refusal(
        reasons.NO_ELIGIBLE_WORKER,
        f"No online worker can serve this request: {'; '.join(clauses)}.",
        {
            "impossible_reason": {
                "kind": "declaration_gap",
                "missing_declarations": list(available.missing),
                "exceeded_limits": list(available.exceeded),
            }
        },
    )
